//! Real PNML files: they hold what a plain search in their text finds, and small ones have the known answers.

mod common;

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use common::{collection, field, files_in, testdata};
use flate2::read::MultiGzDecoder;
use tremula_models::{Limits, PetriNet, read_pnml_file};

fn load(path: &Path) -> PetriNet {
    let net = read_pnml_file(path, &Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(net.check(), Ok(()));
    net
}

fn text_of(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("a file");
    let mut text = String::new();
    if path.extension().is_some_and(|ending| ending == "gz") {
        MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("gzip data");
    } else {
        bytes.as_slice().read_to_string(&mut text).expect("text");
    }
    text
}

/// All numbers in elements of this name, which have one `<text>` each.
fn numbers(text: &str, element: &str) -> Vec<u64> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let labels = text.split(&open).skip(1).map(|rest| rest.split(&close).next().expect("an end"));
    let inside = labels.map(|label| label.split("<text>").nth(1).and_then(|rest| rest.split('<').next()));
    inside.map(|number| number.expect("a text").trim().parse().expect("a number")).collect()
}

/// Compares a net with its file, in which nothing is repeated and nothing is a reference.
fn assert_is_in_its_file(path: &Path) {
    let (net, text) = (load(path), text_of(path));
    let count = |tag: &str| text.matches(tag).count();
    assert_eq!(net.places.len(), count("<place "), "{}", path.display());
    assert_eq!(net.transitions.len(), count("<transition "), "{}", path.display());
    let arcs = || net.transitions.iter().flat_map(|transition| transition.inputs.iter().chain(&transition.outputs));
    assert_eq!(arcs().count(), count("<arc "), "{}", path.display());
    let units = net.units.as_ref().map_or(0, |units| units.units.len());
    assert_eq!(units, count("<unit "), "{}", path.display());

    let sum = |numbers: &[u64]| numbers.iter().map(|&number| u128::from(number)).sum::<u128>();
    let markings = numbers(&text, "initialMarking");
    assert_eq!(sum(&net.initial_marking()), sum(&markings), "{}", path.display());
    let weights = numbers(&text, "inscription");
    let silent = (count("<arc ") - weights.len()) as u128;
    let all: Vec<u64> = arcs().map(|arc| arc.weight).collect();
    assert_eq!(sum(&all), sum(&weights) + silent, "{}", path.display());
    let in_text: HashSet<&str> = text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let in_net =
        net.places.iter().map(|place| &place.id).chain(net.transitions.iter().map(|transition| &transition.id));
    in_net.for_each(|id| assert!(in_text.contains(id.as_str()), "{}: {id}", path.display()));
}

#[test]
fn small_nets_are_what_their_files_say() {
    let files = files_in(&testdata(), "pnml");
    assert!(files.len() >= 6);
    files.iter().for_each(|path| assert_is_in_its_file(path));
}

#[test]
fn whole_collection() {
    let files = files_in(&collection(), "pnml");
    let files: Vec<_> = files.iter().filter(|path| !path.parent().is_some_and(|p| p.ends_with("coloured"))).collect();
    if files.is_empty() {
        println!("skipped: there is no collection of models beside the repository");
        return;
    }
    files.iter().for_each(|path| assert_is_in_its_file(path));
    println!("{} nets are what their files say", files.len());
}

/// States, transitions, most tokens in a place and in a marking; found by firing every transition in every state.
fn explore(net: &PetriNet) -> [u64; 4] {
    let mut visited = HashSet::from([net.initial_marking()]);
    let mut waiting = vec![net.initial_marking()];
    let [mut transitions, mut in_place, mut in_all] = [0; 3];
    while let Some(marking) = waiting.pop() {
        in_place = in_place.max(marking.iter().copied().max().unwrap_or(0));
        in_all = in_all.max(marking.iter().sum());
        for transition in &net.transitions {
            if transition.inputs.iter().any(|arc| marking[arc.place as usize] < arc.weight) {
                continue;
            }
            let mut next = marking.clone();
            transition.inputs.iter().for_each(|arc| next[arc.place as usize] -= arc.weight);
            transition.outputs.iter().for_each(|arc| next[arc.place as usize] += arc.weight);
            transitions += 1;
            if visited.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    [visited.len() as u64, transitions, in_place, in_all]
}

#[test]
fn small_nets_have_the_expected_answers() {
    let text = std::fs::read_to_string(testdata().join("expected.toml")).expect("expected.toml");
    let mut checked = 0;
    for entry in text.split("[[net]]").skip(1) {
        let path = testdata().join(field(entry, "path").expect("a path"));
        let number = |name| field(entry, name).and_then(|number| number.parse().ok());
        let Some(states) = number("states").filter(|&states: &u64| states <= 20_000) else { continue };
        let others =
            ["transitions", "max_token_in_place", "max_token_per_marking"].map(|name| number(name).expect(name));
        let found = explore(&load(&path));
        assert_eq!((found[0], &found[1..]), (states, others.as_slice()), "{}", path.display());
        checked += 1;
    }
    assert!(checked >= 6);
}
