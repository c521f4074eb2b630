//! `--engine gpu`: the right answer where there is a device, a clear refusal where there is none.

mod common;

use common::{assert_refused, code, exit, json, model, run, stderr};

const PHILOSOPHERS: &str = "beem/phils.1.bdd";

#[test]
fn a_missing_device_is_named() {
    let output = run(&["reach", &model(PHILOSOPHERS), "--engine", "gpu", "--gpu-mem", "256M", "--json"]);
    if code(&output) == exit::COMPLETE {
        let result = json(&output);
        assert_eq!((result["states"].as_str(), result["engine"].as_str()), (Some("80"), Some("gpu")));
    } else {
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert!(stderr(&output).starts_with("tremula: --engine gpu: "), "{output:?}");
    }
}

#[test]
fn other_models_are_refused() {
    let words = ".ldd models are explored with --engine ldd";
    assert_refused(&["reach", &model("sylvan/blocks.2.ldd"), "--engine", "gpu"], words);
    assert_refused(&["reach", &model("pnml/Kanban-PT-00005.pnml"), "--engine", "gpu"], "--engine mdd");
}
