//! What the study of a device tells, without a device.

use tremula_studies::Spread;
use tremula_studies::gpu_study::{CacheReport, GpuReport, LevelReport, ModelReport, TableReport};

fn spread(value: f64) -> Spread {
    Spread::of(vec![value]).unwrap()
}

fn report() -> GpuReport {
    GpuReport {
        device: "a device".to_owned(),
        reps: 1,
        places: 1 << 20,
        reads: spread(38.0),
        table: vec![TableReport { load: 0.25, put: 9.0, find: spread(34.0) }],
        index: 1 << 20,
        cache: vec![CacheReport { load: 0.5, make: 2.0, hit: spread(11.0), miss: spread(13.0) }],
        levels: vec![LevelReport {
            width: 128,
            requests: 64_000,
            levels: 500,
            first_seconds: 0.02,
            first_collections: 3,
            seconds: spread(0.005),
        }],
        models: vec![ModelReport {
            name: "phils.1".to_owned(),
            seconds: Some(spread(0.1)),
            states: Some("80".to_owned()),
            sweeps: 5,
            requests: 100,
            elements: 200,
        }],
    }
}

/// Is there a row that begins like this?
fn has_row(text: &str, cells: &[&str]) -> bool {
    text.lines().any(|line| cells.iter().eq(line.split_whitespace().take(cells.len()).collect::<Vec<_>>().iter()))
}

#[test]
fn text_tells_what_was_measured() {
    let text = report().to_string();
    for row in
        [&["0.5", "11.00", "13.00", "2.000"][..], &["128", "500", "20", "ms", "3", "5", "ms"], &["phils.1", "80"]]
    {
        assert!(has_row(&text, row), "{row:?} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn json_and_pictures_hold_the_same() {
    let json = serde_json::to_value(report()).unwrap();
    assert_eq!(json["cache"][0]["miss"]["median"], 13.0);
    assert_eq!((&json["levels"][0]["first_collections"], &json["models"][0]["states"]), (&3.into(), &"80".into()));
    assert_eq!(report().pictures().len(), 2);
}
