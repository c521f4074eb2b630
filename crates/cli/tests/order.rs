//! Orders of Petri nets, and what is in a net: as text, as JSON, as a picture.

mod common;

use common::{SMALL, assert_refused, assert_well_formed, at, complete, json, model, run};

const KANBAN: &str = "pnml/Kanban-PT-00005.pnml";
const WITH_UNITS: &str = "pnml/AutoFlight-PT-01a.pnml";

fn assert_narrow(text: &str) {
    // The path of the model is as long as it is.
    let rest = text.lines().filter(|line| !line.starts_with("Model"));
    rest.for_each(|line| assert!(line.chars().count() <= 80, "{line}"));
}

#[test]
fn orders_are_listed_best_first() {
    for net in [KANBAN, WITH_UNITS] {
        let text = complete(&["order", &model(net)]);
        assert_narrow(&text);
        let rows: Vec<Vec<&str>> = text.lines().skip(4).map(|line| line.split_whitespace().collect()).collect();
        assert!(rows.len() > 10, "{text}");
        for (at, row) in rows.iter().enumerate() {
            assert_eq!((row.len(), row[0]), (5, (at + 1).to_string().as_str()), "{row:?}");
        }
        let ranks: Vec<u64> = rows.iter().map(|row| row[2].replace(',', "").parse().unwrap()).collect();
        // The second one is the rival by another metric.
        assert!(ranks[0] <= ranks[1] && ranks.iter().skip(2).is_sorted(), "{ranks:?}");
        assert!(rows.iter().any(|row| row[1] == "given"), "{text}");
    }
}

#[test]
fn json_tells_the_same() {
    let text = complete(&["order", &model(KANBAN)]);
    let value = json(&run(&["order", &model(KANBAN), "--json"]));
    assert_eq!((value["places"].as_u64(), value["transitions"].as_u64()), (Some(16), Some(16)));
    let orders = value["orders"].as_array().unwrap();
    assert_eq!(orders.len(), text.lines().count() - 4);
    for (order, line) in orders.iter().zip(text.lines().skip(4)) {
        let row: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(order["name"], row[1]);
        for (key, shown) in ["rank", "spans", "height"].iter().zip(&row[2..]) {
            assert_eq!(order[key].to_string(), *shown);
        }
    }
    assert!(value.get("order").is_none());
}

#[test]
fn one_order_can_be_named_and_listed() {
    let path = model(KANBAN);
    let value = json(&run(&["order", &path, "--order", "sloan+reversed", "--places", "--json"]));
    let orders = value["orders"].as_array().unwrap();
    assert_eq!((orders.len(), orders[0]["name"].as_str()), (1, Some("sloan+reversed")));
    let places: Vec<&str> = value["order"].as_array().unwrap().iter().map(|place| place.as_str().unwrap()).collect();
    let listed = complete(&["order", &path, "--order", "sloan", "--places"]);
    assert_eq!(listed.lines().rev().collect::<Vec<_>>(), places);
    assert_eq!(places.len(), 16);
    let given = complete(&["order", &path, "--order", "given", "--places"]);
    assert_ne!(given, complete(&["order", &path, "--places"]));
}

#[test]
fn the_order_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "order.svg");
    for (net, order) in [(KANBAN, "auto"), (WITH_UNITS, "units")] {
        complete(&["order", &model(net), "--order", order, "--svg", &path]);
        let svg = std::fs::read_to_string(&path).unwrap();
        assert_well_formed(&svg);
        for words in ["places (columns)", "transitions (rows)", ">takes<", ">gives<", ">both<", "order "] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(!svg.contains("href"), "self-contained");
    }
}

#[test]
fn what_has_no_order_is_refused() {
    assert_refused(&["order", &model(SMALL)], "is not a Petri net");
    assert_refused(&["order", &model(KANBAN), "--order", "units"], "there is no order `units` of this net");
    assert_refused(&["order", &model(KANBAN), "--order", "random"], "random");
    assert_refused(&["order", "missing.pnml"], "missing.pnml: No such file");
    assert_refused(&["order", &model(KANBAN), "--svg", "/nonexistent/a.svg"], "/nonexistent/a.svg: No such file");
}

#[test]
fn info_tells_what_is_in_a_net() {
    let text = complete(&["info", &model(KANBAN)]);
    assert_narrow(&text);
    for line in [
        "Name        Kanban-PT-00005",
        "Places      16",
        "Transitions 16",
        "Arcs        40, each of weight 1",
        "Initial     20 tokens in 4 places",
        "Units       none",
        "Bounds      all places bounded by 5",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} in\n{text}");
    }
    let text = complete(&["info", &model(WITH_UNITS)]);
    assert!(text.contains("Units       10 (NUPN), safe, says the file\n"), "{text}");
    assert!(text.contains("Bounds      all places bounded by 1\n"), "{text}");
    let text = complete(&["info", &model("pnml/PGCD-PT-D02N005.pnml")]);
    assert!(text.contains("of weights up to 3\n"), "{text}");
}

#[test]
fn the_matrix_of_a_net_is_printed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "net.svg");
    let text = complete(&["info", &model(KANBAN), "--matrix", "--svg", &path]);
    assert_narrow(&text);
    assert!(text.contains("t takes, g gives, + both") && text.contains("\n    0 -gt-------------\n"), "{text}");
    assert_well_formed(&std::fs::read_to_string(&path).unwrap());
}
