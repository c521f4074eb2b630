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
        } else if !is_short_of_memory(&output) {
            assert_eq!(code(&output), exit::INPUT, "{output:?}");
            assert!(stderr(&output).starts_with("tremula: --engine gpu: "), "{output:?}");
        }
    }
}

/// There is a device, and others have its memory.
fn is_short_of_memory(output: &std::process::Output) -> bool {
    code(output) == exit::LIMIT && format!("{output:?}").contains("device memory cannot be had")
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
    } else if !is_short_of_memory(&output) {
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

/// Knobs with which the twin plays the device, in a process of its own, from the first moment on.
const PLAYED: [&str; 4] = ["--tune", "device-twin=1", "--tune", "device-delay=0"];

#[test]
fn the_answer_of_an_envoy_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("states").to_string_lossy().into_owned();
    // The processors collect at every node, so that the envoy is first.
    for (path, states, is_saved) in [("beem/bakery.1.bdd", "1506", true), ("sylvan/anderson.4.ldd", "29641", false)] {
        let path = model(path);
        let mut arguments = vec!["reach", &path, "--json", "--workers", "1", "--stress", "1", "--timeout", "300"];
        arguments.extend(PLAYED);
        if is_saved {
            arguments.extend(["--save-states", &saved, "--check-stored"]);
        }
        let output = run(&arguments);
        let result = json(&output);
        assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
        assert_eq!((result["states"].as_str(), result["engine"].as_str()), (Some(states), Some("gpu")), "{output:?}");
    }
    let counted = run(&["count", &saved]);
    assert!(common::stdout(&counted).starts_with("1506\n"), "{counted:?}");
}

#[test]
fn processors_that_are_first_do_not_wait_for_an_envoy() {
    let path = model("beem/phils.1.bdd");
    let output = run(&["reach", &path, "--json", "--tune", "device-twin=1"]);
    let result = json(&output);
    assert_eq!((result["states"].as_str(), result["engine"].as_str()), (Some("80"), Some("bdd")), "{output:?}");
}

#[test]
fn an_envoy_without_a_model_ends() {
    for input in [&b""[..], b"few", b"\x04\0\0\0\0\0\0\0junk"] {
        let mut child = tremula(&["envoy", "--strategy", "par", "--mem", "1000000", "--twin"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), output.stdout.len()), (exit::LIMIT, 0), "{output:?}");
    }
}

/// Processes that the threads of a process have started, as Linux tells.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>()).collect()
}

/// However the program ends, its envoy does not outlive it.
#[cfg(target_os = "linux")]
#[test]
fn an_envoy_ends_with_its_sender() {
    use rustix::process::{Pid, Signal, kill_process};
    let path = model("beem/at.1.bdd.gz");
    for signal in [Signal::KILL, Signal::INT] {
        let mut arguments = vec!["reach", &path, "--quiet", "--workers", "1", "--stress", "1", "--timeout", "300"];
        arguments.extend(PLAYED);
        let mut sender = tremula(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
        let envoy = loop {
            match children(sender.id()).first() {
                Some(&envoy) => break envoy,
                None => assert!(sender.try_wait().unwrap().is_none(), "it ended without an envoy"),
            }
        };
        kill_process(Pid::from_child(&sender), signal).unwrap();
        sender.wait().unwrap();
        let is_there =
            || std::fs::read_to_string(format!("/proc/{envoy}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        let began = std::time::Instant::now();
        while is_there() {
            assert!(began.elapsed().as_secs() < 60, "the envoy is still there");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
