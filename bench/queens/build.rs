//! Links the peers that are C libraries installed outside of Cargo.

use std::env;

fn main() {
    if env::var_os("CARGO_FEATURE_CUDD").is_some() {
        link_cudd();
    }
    #[cfg(feature = "sylvan")]
    link_sylvan();
}

/// Links libcudd.a from CUDD_LIB_DIR, unless cudd-sys builds its own.
fn link_cudd() {
    if env::var_os("CARGO_FEATURE_CUDD_DOWNLOAD").is_some() {
        return;
    }
    let directory = required("CUDD_LIB_DIR");
    println!("cargo:rustc-link-search=native={directory}");
    println!("cargo:rustc-link-lib=static=cudd");
}

/// Compiles the shim against the installation below SYLVAN_PREFIX and links both.
#[cfg(feature = "sylvan")]
fn link_sylvan() {
    let prefix = required("SYLVAN_PREFIX");
    let shim = "src/peers/sylvan_shim.c";
    println!("cargo:rerun-if-changed={shim}");
    cc::Build::new()
        .file(shim)
        .include(format!("{prefix}/include"))
        .std("gnu11")
        .opt_level(3)
        .warnings(false)
        .compile("sylvan_shim");
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=static=sylvan");
    println!("cargo:rustc-link-lib=static=lace");
}

/// The value of an environment variable that a feature cannot do without.
fn required(variable: &str) -> String {
    println!("cargo:rerun-if-env-changed={variable}");
    env::var(variable).unwrap_or_else(|_| panic!("set {variable} (see Cargo.toml)"))
}
