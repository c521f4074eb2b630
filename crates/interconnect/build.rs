//! Makes bindings for the UCX that is installed.

use std::env;
use std::path::PathBuf;

fn main() {
    let ucx = pkg_config::Config::new().atleast_version("1.10").probe("ucx").expect("UCX with its headers");
    let include = ucx.include_paths.iter().map(|path| format!("-I{}", path.display()));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("ucp.rs");
    bindgen::Builder::default()
        .header_contents("wrapper.h", "#include <ucp/api/ucp.h>\n#include <ucs/config/global_opts.h>")
        .clang_args(include)
        .allowlist_function("ucp_.*|ucs_status_string|ucs_global_opts_set_value")
        .allowlist_type("ucp_.*|ucs_status_t|ucs_thread_mode_t")
        .allowlist_var("UCP_.*")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .generate_comments(false)
        .layout_tests(false)
        .generate()
        .expect("bindings for UCX")
        .write_to_file(out)
        .expect("the build folder can be written");
}
