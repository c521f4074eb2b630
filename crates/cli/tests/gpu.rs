//! `--engine gpu`: the right answer where there is a device, a clear refusal where there is none.

mod common;

use common::{code, exit, json, model, run, stderr, tremula};

#[test]
fn a_missing_device_is_named() {
    let models =
        [("beem/phils.1.bdd", "80"), ("sylvan/anderson.4.ldd", "29641"), ("pnml/Kanban-PT-00005.pnml", "2546432")];
    for (path, states) in models {
        let output = run(&["reach", &model(path), "--engine", "gpu", "--gpu-mem", "256M", "--json"]);
        if code(&output) == exit::COMPLETE {
            let result = json(&output);
            assert_eq!((result["states"].as_str(), result["engine"].as_str()), (Some(states), Some("gpu")));
        } else {
            assert_eq!(code(&output), exit::INPUT, "{output:?}");
            assert!(stderr(&output).starts_with("tremula: --engine gpu: "), "{output:?}");
        }
    }
}

#[test]
fn a_missing_device_is_named_before_any_limit() {
    for limit in [["--mem", "1K"], ["--timeout", "0"], ["--gpu-mem", "1"]] {
        let output = run(&[&["reach", &model("beem/phils.1.bdd"), "--engine", "gpu"][..], &limit].concat());
        if stderr(&output).contains("--engine gpu: there is no") {
            assert_eq!(code(&output), exit::INPUT, "{output:?}");
        } else {
            assert_eq!(code(&output), exit::LIMIT, "{output:?}");
        }
    }
}

#[test]
fn the_study_names_a_missing_device() {
    let output = run(&["bench", "gpu", "--quick", "--reps", "1", "--json"]);
    if code(&output) == exit::COMPLETE {
        let report = json(&output);
        for part in ["table", "cache", "levels"] {
            assert!(report[part].as_array().is_some_and(|rows| !rows.is_empty()), "{part}");
        }
    } else {
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert!(stderr(&output).contains("cannot be loaded") || stderr(&output).contains("device"), "{output:?}");
    }
}

/// A folder with libraries that are called like a driver and a compiler of kernels, and lack what these have.
#[cfg(target_os = "linux")]
fn hollow_libraries() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (source, cuda) = (folder.path().join("hollow.c"), "int cuInit(unsigned flags) { return 100; }");
    for (library, text) in [("libcuda.so.1", cuda), ("libnvrtc.so", "int nothing;")] {
        std::fs::write(&source, text).unwrap();
        let target = folder.path().join(library);
        let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&target, &source]).status();
        assert!(built.is_ok_and(|status| status.success()), "cc makes no library");
    }
    std::fs::copy(folder.path().join("libcuda.so.1"), folder.path().join("libcuda.so")).unwrap();
    folder
}

/// A driver and a compiler that do not fit are refused; without `--engine gpu` they do no harm.
#[cfg(target_os = "linux")]
#[test]
fn libraries_that_lack_everything_are_no_device() {
    let folder = hollow_libraries();
    let with_them = |arguments: &[&str]| {
        tremula(arguments).env("LD_LIBRARY_PATH", folder.path()).output().expect("the program starts")
    };
    let model = model("beem/at.1.bdd.gz");
    let output = with_them(&["reach", &model, "--engine", "gpu"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert!(stderr(&output).starts_with("tremula: --engine gpu: "), "{output:?}");
    // Slow enough for the device to take part: it has no head start to wait for.
    let output = with_them(&["reach", &model, "--json", "--tune", "device-delay=0", "--stress", "2000"]);
    assert_eq!((code(&output), json(&output)["states"].as_str()), (exit::COMPLETE, Some("39354")), "{output:?}");
}
