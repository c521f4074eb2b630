//! `--engine gpu`: the right answer where there is a device, a clear refusal where there is none.

mod common;

use common::{code, exit, json, model, run, stderr};

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
