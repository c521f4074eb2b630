//! Files: round trips, foreign files, and every kind of damage.

mod common;

use common::{Random, Seed, Table, build, manager, random_table, table};
use std::collections::HashSet;
use tremula_diagrams::io::{self, FileError};
use tremula_diagrams::{Attention, Bdd, Budget, Error, ImportEdge, ImportNode, Manager, Options};

const VARIABLES: u32 = 8;

fn several(manager: &Manager, random: &mut Random, count: usize) -> Vec<Bdd> {
    (0..count).map(|_| build(manager, &random_table(VARIABLES, random))).collect()
}

fn named<'a>(names: &'a [String], functions: &'a [Bdd]) -> Vec<(&'a str, &'a Bdd)> {
    names.iter().map(String::as_str).zip(functions).collect()
}

fn compact(manager: &Manager, roots: &[(&str, &Bdd)], metadata: &[(&str, &str)]) -> Vec<u8> {
    let mut file = Vec::new();
    manager.save_compact(roots, metadata, &mut file).unwrap();
    file
}

fn dddmp(manager: &Manager, roots: &[(&str, &Bdd)]) -> String {
    let mut file = Vec::new();
    manager.save_dddmp(roots, &io::numbered, &mut file).unwrap();
    String::from_utf8(file).unwrap()
}

#[test]
fn exports_are_children_first_and_canonical() {
    let seed = Seed(0xE1);
    let mut random = Random::new(seed.0);
    let manager = manager();
    for count in [0, 1, 5, 20] {
        let functions = several(&manager, &mut random, count);
        let borrowed: Vec<&Bdd> = functions.iter().collect();
        let export = manager.export(&borrowed).unwrap();
        assert_eq!(export.nodes.len(), manager.shared_node_count(&borrowed).unwrap());
        let distinct: HashSet<_> =
            export.nodes.iter().map(|n| (n.level, n.low.node, n.high.node, n.high.complement)).collect();
        assert_eq!(distinct.len(), export.nodes.len());
        for (at, node) in export.nodes.iter().enumerate() {
            assert!(node.low.node <= at as u32 && node.high.node <= at as u32);
            assert!(!node.low.complement && node.low != node.high);
        }
        assert_eq!(manager.import(export.nodes, &export.roots).unwrap(), functions);
    }
    let stranger = common::manager().constant(true);
    assert_eq!(manager.export(&[&stranger]).unwrap_err(), Error::DifferentManagers);
}

#[test]
fn exports_are_paid_from_the_budget() {
    let manager = manager();
    let f = build(&manager, &random_table(VARIABLES, &mut Random::new(1)));
    let used = manager.budget().used();
    let export = manager.export(&[&f]).unwrap();
    assert!(manager.budget().used() > used);
    drop(export);
    assert_eq!(manager.budget().used(), used);
}

#[test]
fn compact_files_round_trip() {
    let seed = Seed(0xC0);
    let mut random = Random::new(seed.0);
    let (here, there) = (manager(), manager());
    for count in [0, 1, 2, 10] {
        let functions = several(&here, &mut random, count);
        let names: Vec<String> = (0..count).map(|at| format!("größe {at}")).collect();
        let metadata = [("widths", "1 2 3"), ("", ""), ("widths", "again")];
        let file = compact(&here, &named(&names, &functions), &metadata);
        let same = here.load_compact(file.as_slice(), usize::MAX).unwrap();
        assert_eq!(same.roots, names.iter().cloned().zip(functions.iter().cloned()).collect::<Vec<_>>());
        assert_eq!(same.metadata, metadata.map(|(key, value)| (key.to_string(), value.to_string())));
        assert_eq!((same.value("widths"), same.value("height")), (Some("1 2 3"), None));
        let other = there.load_compact(file.as_slice(), usize::MAX).unwrap();
        for ((_, theirs), ours) in other.roots.iter().zip(&functions) {
            assert_eq!(table(VARIABLES, theirs), table(VARIABLES, ours));
        }
    }
    for value in [false, true] {
        let constant = here.constant(value);
        let contents = there.load_compact(compact(&here, &[("c", &constant)], &[]).as_slice(), 0).unwrap();
        assert_eq!(contents.root("c").unwrap().as_constant(), Some(value));
    }
}

/// Functions with many nodes: random ones in rows, each of which refers to the row below.
fn many_nodes(manager: &Manager) -> Vec<Bdd> {
    let mut random = Random::new(0x1A46E);
    let edge = |node, complement| ImportEdge { node, complement };
    let (rows, width) = (20, 4000);
    let mut nodes: Vec<ImportNode> = Vec::new();
    for row in 0..rows {
        let below = |random: &mut Random| match row {
            0 => 0,
            _ => (nodes.len() - random.below(width)) as u32,
        };
        let fresh: Vec<ImportNode> = (0..width)
            .map(|_| ImportNode {
                level: rows - row,
                low: edge(below(&mut random), false),
                high: edge(below(&mut random), random.below(2) == 0),
            })
            .collect();
        nodes.extend(fresh);
    }
    let functions: Vec<ImportEdge> = (0..width as u32).map(|at| edge(nodes.len() as u32 - at, false)).collect();
    manager.import(nodes, &functions).unwrap()
}

#[test]
fn several_workers_write_the_same_file() {
    let files = [1, 2, 5].map(|workers| {
        let options = Options { workers, ..Options::default() };
        let manager = Manager::with_options(&Budget::new(256 << 20), options, Attention::default()).unwrap();
        let functions = many_nodes(&manager);
        let count = manager.shared_node_count(&functions.iter().collect::<Vec<_>>()).unwrap();
        assert!(count > 50_000, "{count}");
        let file = compact(&manager, &functions.iter().map(|f| ("f", f)).collect::<Vec<_>>(), &[]);
        let again = manager.load_compact(file.as_slice(), usize::MAX).unwrap();
        assert!(again.roots.iter().map(|root| &root.1).eq(&functions));
        file
    });
    assert!(files.iter().all(|file| *file == files[0]));
}

#[test]
fn compact_files_are_compact() {
    let manager = manager();
    let mut parity = manager.constant(false);
    for level in 0..1000 {
        parity = parity.xor(&manager.var(level).unwrap()).unwrap();
    }
    let size = compact(&manager, &[("parity", &parity)], &[]).len();
    let nodes = parity.node_count().unwrap();
    assert!(size < 3 * nodes + 40, "{size} bytes for {nodes} nodes");
}

#[test]
fn reading_in_small_pieces_makes_no_difference() {
    struct Drip<'a>(&'a [u8]);
    impl std::io::Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(buffer.len()).min(1);
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }
    let manager = manager();
    let f = build(&manager, &random_table(VARIABLES, &mut Random::new(2)));
    let file = compact(&manager, &[("f", &f)], &[("k", "v")]);
    assert_eq!(manager.load_compact(Drip(&file), usize::MAX).unwrap().roots[0].1, f);
}

#[test]
fn damaged_compact_files_are_refused_everywhere() {
    let seed = Seed(0xDA);
    let manager = manager();
    let f = build(&manager, &random_table(6, &mut Random::new(seed.0)));
    let file = compact(&manager, &[("f", &f), ("not f", &!&f)], &[("key", "value")]);
    let load = |bytes: &[u8]| manager.load_compact(bytes, 10_000).map(|_| ());
    for length in 0..file.len() {
        let error = load(&file[..length]).unwrap_err();
        let FileError::Bytes { offset, .. } = error else { panic!("{error} after {length} bytes") };
        assert!(offset <= length as u64);
    }
    // The checksum finds every single flipped bit, whatever the reader makes of it before.
    for at in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        load(&damaged).unwrap_err();
    }
    let mut longer = file.clone();
    longer.push(0);
    assert_eq!(load(&longer).unwrap_err().to_string(), format!("byte {}: expected the end of the file", file.len()));
    manager.check().unwrap();
}

/// A compact file from raw numbers, with a checksum that fits: what an attacker would write.
fn forged(numbers: &[u64]) -> Vec<u8> {
    let mut file = b"\x89TBDD\r\n\x1A".to_vec();
    for &number in numbers {
        let mut value = number;
        while value > 0x7F {
            file.push(value as u8 | 0x80);
            value >>= 7;
        }
        file.push(value as u8);
    }
    file.extend(crc32fast::hash(&file).to_le_bytes());
    file
}

#[test]
fn forged_compact_files_are_refused_with_the_place() {
    let manager = manager();
    let refused = |numbers: &[u64], message: &str| {
        let error = manager.load_compact(forged(numbers).as_slice(), 1000).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    refused(&[2], "byte 8: expected format version 1");
    refused(&[1, 1 << 40], "byte 9: expected a number of levels");
    refused(&[1, 4, u64::MAX], "byte 10: expected a number of nodes");
    refused(&[1, 4, 1001], "1001 nodes, but no more than 1000");
    refused(&[1, 4, 0, u64::MAX], "a metadata");
    refused(&[1, 4, 0, 1, 1 << 60], "a metadata key");
    refused(&[1, 4, 0, 1, 1, 0xFF, 0x01], "a metadata key in UTF-8");
    refused(&[1, 4, 0, 0, u64::MAX], "a root");
    refused(&[1, 4, 0, 0, 1, 0, 2], "a root's node");
    refused(&[1, 4, 1, 0, 0, 4, 0, 1], "leaves a level above");
    refused(&[1, 4, 1, 0, 0, 0, 1, 1], "a low child that comes before");
    refused(&[1, 4, 1, 0, 0, 0, 0, 2], "a high child that comes before");
    refused(&[1, 0, 1, 0, 0, 0, 0, 1], "leaves a level above");
}

#[test]
fn nodes_that_are_not_canonical_are_normalised() {
    let manager = manager();
    // Twice the same node, one with equal children, and a root on each.
    let numbers = [1, 4, 3, 0, 3, 0, 2, 0, 5, 0, 6, 0, 0, 1, 0, 0, 1, 0, 1, 2];
    let contents = manager.load_compact(forged(&numbers).as_slice(), 3).unwrap();
    let x = manager.var(3).unwrap();
    assert_eq!(contents.roots.iter().map(|root| &root.1).collect::<Vec<_>>(), [&x, &!&x, &x]);
}

#[test]
fn random_bytes_are_no_diagrams() {
    let seed = Seed(0xBAD);
    let mut random = Random::new(seed.0);
    let manager = manager();
    for _ in 0..20_000 {
        let numbers: Vec<u64> = (0..random.below(40)).map(|_| random.bits() >> random.below(64)).collect();
        let start = [1, random.below(6) as u64, random.below(6) as u64, 0, 0];
        let _ = manager.load_compact(forged(&[&start, &numbers[..]].concat()).as_slice(), 1000);
        let small: Vec<u64> = (0..18).map(|_| random.below(4) as u64).collect();
        let _ = manager.load_compact(forged(&[&start, &small[..]].concat()).as_slice(), 1000);
    }
    manager.check().unwrap();
    assert_eq!(manager.collect(), 0);
}

#[test]
fn a_file_may_be_too_large_for_the_table() {
    let (large, small) = (manager(), Manager::new(&tremula_diagrams::Budget::new(120_000)).unwrap());
    let mut random = Random::new(3);
    let f = build(&large, &Table::from_points(16, |_| random.below(2) == 0));
    let file = compact(&large, &[("f", &f)], &[]);
    let text = dddmp(&large, &[("f", &f)]);
    for error in [
        small.load_compact(file.as_slice(), usize::MAX).unwrap_err(),
        small.load_dddmp(text.as_bytes(), usize::MAX).unwrap_err(),
    ] {
        assert!(matches!(error, FileError::Diagram(Error::TableFull)), "{error}");
    }
    for error in [
        large.load_compact(file.as_slice(), f.node_count().unwrap() - 1).unwrap_err(),
        large.load_dddmp(text.as_bytes(), f.node_count().unwrap() - 1).unwrap_err(),
    ] {
        assert!(matches!(error, FileError::TooManyNodes { .. }), "{error}");
    }
    assert_eq!(small.collect(), 0);
    assert!(large.load_dddmp(text.as_bytes(), f.node_count().unwrap()).is_ok());
}

#[test]
fn writers_report_failures() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let manager = manager();
    let f = manager.var(0).unwrap();
    let roots = [("f", &f)];
    for result in [
        manager.save_compact(&roots, &[], Full),
        manager.save_dddmp(&roots, &io::numbered, Full),
        manager.write_dot(&roots, &io::numbered, Full),
        manager.write_svg(&roots, &io::numbered, 10, Full),
    ] {
        assert!(matches!(result, Err(FileError::Io(_))));
    }
}

#[test]
fn dddmp_round_trips() {
    let seed = Seed(0xDD);
    let mut random = Random::new(seed.0);
    let (here, there) = (manager(), manager());
    for count in [1, 2, 10] {
        let functions = several(&here, &mut random, count);
        let names: Vec<String> = (0..count).map(|at| format!("root{at}")).collect();
        let file = dddmp(&here, &named(&names, &functions));
        let same = here.load_dddmp(file.as_bytes(), 10_000).unwrap();
        let expected: Vec<_> = names.iter().cloned().map(Some).zip(functions.iter().cloned()).collect();
        assert_eq!(same.roots, expected);
        assert!(same.variables.iter().all(|(level, name)| *name == io::numbered(*level)));
        let other = there.load_dddmp(file.as_bytes(), 10_000).unwrap();
        for ((_, theirs), ours) in other.roots.iter().zip(&functions) {
            assert_eq!(table(VARIABLES, theirs), table(VARIABLES, ours));
        }
    }
    for value in [false, true] {
        let file = dddmp(&here, &[("", &here.constant(value))]);
        assert_eq!(there.load_dddmp(file.as_bytes(), 0).unwrap().roots[0].1.as_constant(), Some(value));
    }
}

#[test]
fn dddmp_edges_follow_cudds_convention() {
    let seed = Seed(0xDC);
    let mut random = Random::new(seed.0);
    let manager = manager();
    for _ in 0..50 {
        let f = build(&manager, &random_table(VARIABLES, &mut random));
        let file = dddmp(&manager, &[("", &f)]);
        let nodes = file.lines().skip_while(|line| *line != ".nodes").skip(1).take_while(|line| *line != ".end");
        let mut count = 0;
        for (at, line) in nodes.enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let [id, _, _, then, otherwise] = words[..] else { panic!("{line}") };
            let (then, otherwise): (i64, i64) = (then.parse().unwrap(), otherwise.parse().unwrap());
            assert_eq!(id, (at + 1).to_string());
            assert!(if at == 0 { line == "1 T 1 0 0" } else { then > 0 && then != otherwise }, "{line}");
            assert!(then <= at as i64 && otherwise.abs() <= at as i64);
            count += 1;
        }
        assert_eq!(count, f.node_count().unwrap() + 1);
    }
}

/// As CUDD 3.0 wrote it.
const FROM_CUDD: &str = "\
.ver DDDMP-2.0
.mode A
.varinfo 3
.nnodes 7
.nvars 5
.nsuppvars 4
.suppvarnames a b c d
.orderedvarnames a b unused c d
.ids 0 1 3 4
.permids 0 1 3 4
.nroots 1
.rootids 7
.nodes
1 T 1 0 0
2 d 3 1 -1
3 c 2 2 1
4 b 1 3 1
5 c 2 2 -2
6 b 1 3 5
7 a 0 4 6
.end
";

/// `(a ∧ ¬b) ∨ (c ↔ d) ∨ (b ∧ ¬c)`, what the file above holds.
fn expected_from_cudd(manager: &Manager) -> Bdd {
    let [a, b, c, d] = [0, 1, 3, 4].map(|level| manager.var(level).unwrap());
    a.minus(&b).unwrap().or(&c.equiv(&d).unwrap()).unwrap().or(&b.minus(&c).unwrap()).unwrap()
}

#[test]
fn files_from_cudd_are_read_and_written_alike() {
    let manager = manager();
    let contents = manager.load_dddmp(FROM_CUDD.as_bytes(), 100).unwrap();
    let f = expected_from_cudd(&manager);
    assert_eq!(contents.roots, [(None, f.clone())]);
    assert_eq!(contents.variables[2], (2, "unused".to_string()));
    let mut written = Vec::new();
    let name = |level: u32| ["a", "b", "unused", "c", "d"][level as usize].to_string();
    manager.save_dddmp(&[("", &f)], &name, &mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    let header = |text: &str| text.lines().take_while(|line| *line != ".nodes").map(str::to_string).collect::<Vec<_>>();
    assert_eq!(header(&written), header(FROM_CUDD));
}

#[test]
fn other_dialects_of_dddmp_are_read() {
    let manager = manager();
    let f = expected_from_cudd(&manager);
    // No names at all (`.varinfo 4`), unknown fields, comments, blank lines, other line ends, a negative root.
    let plain: String = FROM_CUDD
        .replace(".varinfo 3", ".varinfo 4\n.unknown field 1 2 3\n\n# a comment")
        .replace(".rootids 7", ".rootids -7")
        .lines()
        .filter(|line| !line.contains("varnames"))
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [id, _, variable, then, otherwise] if id.parse::<u32>().is_ok() => {
                format!("{id} {variable} {then} {otherwise}\r\n")
            }
            _ => format!("{line}\r\n"),
        })
        .collect();
    let contents = manager.load_dddmp(plain.as_bytes(), 100).unwrap();
    assert_eq!((&contents.roots[0].1, contents.variables.len()), (&!&f, 0));
    // Another variable order than the numbering, names of the support only, no complements but two terminals.
    let permuted = "\
.ver DDDMP-2.0\n.mode A\n.varinfo 3\n.nnodes 4\n.nvars 9\n.nsuppvars 2\n.suppvarnames p q\n.ids 0 1\n.permids 5 2
.nroots 2\n.rootnames both q\n.rootids 4 -3\n.nodes\n1 T 0 0 0\n2 T 1 0 0\n3 q 0 1 2\n4 p 1 1 3\n.end\n";
    let contents = manager.load_dddmp(permuted.as_bytes(), 100).unwrap();
    let neither = manager.cube(&[(2, false), (5, false)]).unwrap();
    assert_eq!(contents.roots[0], (Some("both".to_string()), neither));
    assert_eq!(contents.roots[1], (Some("q".to_string()), manager.var(5).unwrap()));
    assert_eq!(contents.variables, [(5, "p".to_string()), (2, "q".to_string())]);
}

#[test]
fn malformed_dddmp_is_refused_with_line_and_expectation() {
    let manager = manager();
    let refused = |from: &str, to: &str, message: &str| {
        assert!(FROM_CUDD.contains(from));
        let error = manager.load_dddmp(FROM_CUDD.replacen(from, to, 1).as_bytes(), 100).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    refused(".ver DDDMP-2.0\n", "", "line 1: expected `.ver DDDMP-2.0`, found \".mode A\"");
    refused(".mode A", ".mode B", "line 2: expected `.mode A`");
    refused(".nnodes 7", ".nnodes seven", "line 4: expected a number");
    refused(".nnodes 7", ".nnodes 8", "line 21: expected 8 nodes");
    refused(".nnodes 7", ".nnodes 18446744073709551615", "no more than 100");
    refused(".permids 0 1 3 4", ".permids 0 1 3", "expected `.ids` and `.permids` of 4");
    refused(".permids 0 1 3 4", ".permids 0 1 3 4000000000", "expected levels below");
    refused(".permids 0 1 3 4", ".permids 0 1 3 -4", "line 10: expected levels, found \"-4\"");
    refused(".suppvarnames a b c d", ".suppvarnames a b", "`.suppvarnames` of 4");
    refused(".rootids 7", ".rootids 8", "line 12: expected roots among the nodes, found \"8\"");
    refused(".rootids 7", ".rootids 0", "roots among the nodes");
    refused(".rootids 7", ".rootids 7 7", "as `.nroots` says");
    refused(".rootids 7\n", "", "`.rootids`");
    refused("1 T 1 0 0", "1 T 2 0 0", "line 14: expected the terminal 1 or 0");
    refused("2 d 3 1 -1", "2 d 3 1", "line 15: expected a node");
    refused("2 d 3 1 -1", "2 d 9 1 -1", "line 15: expected the position of a variable");
    refused("2 d 3 1 -1", "3 d 3 1 -1", "line 15: expected node number 2");
    refused("2 d 3 1 -1", "2 d 3 1 -3", "children that come before");
    refused("2 d 3 1 -1", "2 d 3 1 0", "children that come before");
    refused("3 c 2 2 1", "3 c 3 2 1", "line 16: expected a variable before those of the children");
    refused(".end\n", "", "line 21: expected a node or `.end`, found \"the end of the file\"");
}

#[test]
fn damaged_dddmp_never_panics() {
    let manager = manager();
    let file = FROM_CUDD.as_bytes();
    for length in 0..file.len() - 1 {
        let complete = manager.load_dddmp(&file[..length], 1000).is_ok();
        assert!(!complete, "{length} bytes were enough");
    }
    for at in 0..file.len() * 8 {
        let mut damaged = file.to_vec();
        damaged[at / 8] ^= 1 << (at % 8);
        let _ = manager.load_dddmp(damaged.as_slice(), 1000);
    }
    let seed = Seed(0xDDD);
    let mut random = Random::new(seed.0);
    for _ in 0..20_000 {
        let mut damaged = file.to_vec();
        for _ in 0..1 + random.below(6) {
            let at = random.below(damaged.len());
            damaged[at] = *random.pick(b"0123456789-. \nT\xFF");
        }
        let _ = manager.load_dddmp(damaged.as_slice(), 1000);
    }
    manager.check().unwrap();
    assert_eq!(manager.collect(), 0);
}

#[test]
fn names_that_dddmp_cannot_hold_are_refused() {
    let manager = manager();
    let f = manager.cube(&[(0, true), (1, true)]).unwrap();
    let refused = |root: &str, name: &dyn Fn(u32) -> String| {
        let result = manager.save_dddmp(&[(root, &f), ("other", &f)], name, Vec::new());
        assert!(matches!(result, Err(FileError::BadName { .. })), "{result:?}");
    };
    refused("f", &|_| "same".to_string());
    refused("f", &|level| format!("x {level}"));
    refused("f", &|level| ".x#"[level as usize..].to_string());
    refused("f", &|_| String::new());
    refused("a root", &io::numbered);
    refused("other", &io::numbered);
}

#[test]
fn pictures_contain_what_they_should() {
    let manager = manager();
    let (x, y) = (manager.var(0).unwrap(), manager.var(7).unwrap());
    let f = x.xor(&y).unwrap();
    let names = |level: u32| if level == 0 { "a<\"b\">&\\".to_string() } else { "y".repeat(40) };
    let roots = [("f", &f), ("not f", &!&f), ("x", &x)];
    let mut dot = Vec::new();
    manager.write_dot(&roots, &names, &mut dot).unwrap();
    let dot = String::from_utf8(dot).unwrap();
    assert!(dot.contains(r#"label="a<\"b\">&\\""#), "{dot}");
    assert_eq!((dot.matches("style=dashed").count(), dot.matches("arrowhead=odot").count()), (3, 4), "{dot}");
    let mut svg = Vec::new();
    manager.write_svg(&roots, &names, 3, &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains("a&lt;&quot;b&quot;&gt;&amp;\\"), "{svg}");
    assert_eq!(svg.matches("class=\"node\"").count(), 3, "{svg}");
    assert_eq!(svg.matches("class=\"terminal\"").count(), 1, "{svg}");
    let result = manager.write_svg(&roots, &names, 2, Vec::new());
    assert!(matches!(result, Err(FileError::TooManyNodes { nodes: 3, limit: 2 })));
    manager.write_svg(&[], &names, 0, Vec::new()).unwrap();
    manager.write_dot(&[], &names, Vec::new()).unwrap();
    manager.write_svg(&[("no", &manager.constant(false))], &names, 0, Vec::new()).unwrap();
}
