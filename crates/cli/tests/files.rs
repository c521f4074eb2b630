//! Files that the program writes: states, converted models, events, pictures.

mod common;

use common::{LARGE, SMALL, at, code, complete, exit, json, model, run, stderr, stdout};
use serde_json::Value;

/// Save the reachable states of a small model.
fn saved(folder: &tempfile::TempDir) -> String {
    let path = at(folder, "states.tbdd");
    complete(&["reach", &model(SMALL), "--save-states", &path]);
    path
}

#[test]
fn the_model_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "model.bdd");
    std::fs::copy(model(SMALL), &path).unwrap();
    for option in ["--save-states", "--events"] {
        let output = run(&["reach", &path, option, &path]);
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert!(stderr(&output).contains("would be overwritten"), "{output:?}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(model(SMALL)).unwrap());
}

#[test]
fn saved_states_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(complete(&["count", &saved(&folder)]), "1506\n");
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "no temporary file is left");
}

#[test]
fn picked_states_are_contained_and_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&folder);
    let all = complete(&["pick", &path, "-n", "2000"]);
    let mut states: Vec<&str> = all.lines().collect();
    assert_eq!(states.len(), 1506);
    assert_eq!(complete(&["pick", &path]), format!("{}\n", states[0]));
    let answers = complete(&[&["contains", &path], &states[..]].concat());
    assert!(answers.lines().zip(&states).all(|(answer, state)| answer == format!("{state} yes")));
    states.sort_unstable();
    states.dedup();
    assert_eq!(states.len(), 1506);
}

#[test]
fn states_outside_are_not_contained() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&folder);
    let inside = complete(&["pick", &path]).trim().to_owned();
    let integers = inside.split(',').count();
    // Too large for the width of any integer here.
    let outside = vec!["4000000000"; integers].join(",");
    let output = run(&["contains", &path, &inside, &outside]);
    assert_eq!(code(&output), exit::VIOLATED);
    assert_eq!(stdout(&output), format!("{inside} yes\n{outside} no\n"));
}

#[test]
fn malformed_states_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&folder);
    for (state, words) in
        [("1,2", "integers separated by commas, found 2"), ("one", "expected a number"), ("", "number")]
    {
        let output = run(&["contains", &path, state]);
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert!(stderr(&output).contains(words), "{output:?}");
    }
}

#[test]
fn other_files_are_not_sets_of_states() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(saved(&folder)).unwrap();
    let half = bytes.len() / 2;
    bytes[half] ^= 0xff;
    let broken = at(&folder, "broken.tbdd");
    std::fs::write(&broken, bytes).unwrap();
    for path in [model(SMALL), broken] {
        let output = run(&["count", &path]);
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert!(stderr(&output).contains("byte "), "{output:?}");
    }
}

#[test]
fn incomplete_states_are_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "states.tbdd");
    let output = run(&["reach", &model(LARGE), "--timeout", "0.2", "--save-states", &path]);
    assert_eq!(code(&output), exit::LIMIT);
    assert!(stderr(&output).contains("not saved"));
    assert!(!std::path::Path::new(&path).exists());
}

#[test]
fn conversion_keeps_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    for (name, expected) in [(SMALL, "1506"), ("sylvan/schedule_world.2.bdd", "1570340")] {
        for (out, layout) in [("a.bdd", "sylvan"), ("b.bdd.gz", "legacy"), ("c.bdd.gz", "sylvan")] {
            let out = at(&folder, out);
            assert_eq!(complete(&["convert", &model(name), &out, "--layout", layout]), "");
            let compressed = std::fs::read(&out).unwrap().starts_with(&[0x1f, 0x8b]);
            assert_eq!(compressed, out.ends_with(".gz"));
            assert_eq!(json(&run(&["reach", &out, "--json"]))["states"], expected, "{name} {layout}");
            let info = complete(&["info", &out]);
            assert!(info.to_lowercase().contains(&format!("{layout} layout")), "{info}");
            assert!(info.contains("Reachable   not in the file"), "{info}");
        }
    }
}

#[test]
fn the_reachable_set_is_kept_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let out = at(&folder, "kept.bdd");
    complete(&["convert", &model(SMALL), &out, "--keep-reachable"]);
    assert!(complete(&["info", &out]).contains("1,506 states, says the file"));
}

/// The events of a run, each a JSON object of its own.
fn events(args: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "events");
    run(&[args, &["--events", &path]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn events_are_lines_of_json() {
    let events = events(&["reach", &model(LARGE), "--strategy", "bfs", "--timeout", "3", "--json"]);
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("start", "end"));
    for name in ["round", "progress", "collect"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let times: Vec<f64> = events.iter().map(|event| event["elapsed"].as_f64().unwrap()).collect();
    assert!(times.is_sorted());
    for event in events.iter().filter(|event| event["event"] == "round") {
        for key in ["round", "live_nodes", "table_nodes", "memory_used", "memory_budget", "created_nodes"] {
            assert!(event[key].is_u64(), "{key} in {event}");
        }
    }
    assert_eq!(events[events.len() - 1]["verdict"], "unknown");
}

#[test]
fn the_last_event_is_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "events");
    let result = json(&run(&["reach", &model(SMALL), "--json", "--events", &path]));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let object = last.as_object_mut().unwrap();
    assert_eq!(object.remove("event"), Some("end".into()));
    assert!(object.remove("elapsed").is_some());
    assert_eq!(last, result);
}

#[test]
fn many_rounds_make_few_events() {
    let events = events(&["reach", &model("beem/resistance.1.bdd"), "--strategy", "bfs", "--timeout", "5"]);
    let end = events.last().unwrap();
    let rounds = events.iter().filter(|event| event["event"] == "round").count() as f64;
    assert!(rounds <= 1.0 + 20.0 * end["elapsed"].as_f64().unwrap(), "{rounds} rounds, {end}");
}

#[test]
fn info_tells_what_is_in_a_model() {
    let text = complete(&["info", &model(SMALL), "--matrix"]);
    for words in ["legacy layout", "integers", "Groups", "Initial     1 state\n", "does not tell reading from writing"]
    {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
    let text = complete(&["info", &model("sylvan/collision.4.bdd"), "--matrix"]);
    assert!(text.contains("Sylvan layout") && text.contains("    0 +r----"), "{text}");
    assert!(!text.contains("does not tell"));
}

#[test]
fn the_matrix_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "matrix.svg");
    complete(&["info", &model(SMALL), "--svg", &path]);
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(svg.contains("bakery.1.bdd"));
    assert!(!svg.contains("href"), "self-contained");
}
