//! Sets of vectors beyond the usual: long lists, long vectors, large counts, and what is refused.

use tremula_diagrams::{Attention, Budget, Error, ImportList, Manager, Options, Transitions, UBig};

const FIRST: u32 = ImportList::FIRST;

fn manager(workers: usize) -> Manager {
    let options = Options { workers, ..Options::default() };
    Manager::with_options(&Budget::new(512 << 20), options, Attention::default()).unwrap()
}

fn node(value: u32, down: u32, right: u32) -> ImportList {
    ImportList { value, copy: false, down, right }
}

/// A list of every `step`-th value below `end`, the last first, each with the set of the empty vector below it.
fn list(end: u32, step: u32) -> (Vec<ImportList>, u32) {
    let mut nodes: Vec<ImportList> = Vec::new();
    for value in (0..end).step_by(step as usize).rev() {
        let right = if nodes.is_empty() { 0 } else { nodes.len() as u32 - 1 + FIRST };
        nodes.push(node(value, 1, right));
    }
    let root = nodes.len() as u32 - 1 + FIRST;
    (nodes, root)
}

#[test]
fn lists_of_a_million() {
    const LONG: u32 = 1_000_000;
    for workers in [1, 2] {
        let manager = manager(workers);
        let [all, even] = [1, 2].map(|step| {
            let (nodes, root) = list(LONG, step);
            manager.import_lists(&nodes, &[root]).unwrap().remove(0)
        });
        let odd = all.minus(&even).unwrap();
        assert_eq!(odd.count().unwrap(), UBig::from(LONG / 2));
        assert!(odd.contains(&[LONG - 1]) && !odd.contains(&[LONG - 2]));
        assert_eq!(odd.union(&even).unwrap(), all);
        assert!(odd.intersection(&even).unwrap().is_empty());
        assert_eq!(all.project(&[]).unwrap().count().unwrap(), UBig::ONE);
        assert_eq!(all.matching(&[0], &even).unwrap(), even);
        assert_eq!(odd.vectors().nth(77), Some(vec![155]));
        // Each even number becomes the next odd one; written without reading, everything becomes 5.
        let mut nodes: Vec<ImportList> = Vec::new();
        let mut right = 0;
        for value in (0..LONG).step_by(2).rev() {
            nodes.push(node(value + 1, 1, 0));
            nodes.push(node(value, nodes.len() as u32 - 1 + FIRST, right));
            right = nodes.len() as u32 - 1 + FIRST;
        }
        let transitions = Transitions { nodes: &nodes, root: right, length: 1, reads: &[0], writes: &[0] };
        let successor = manager.list_relation(transitions).unwrap();
        assert_eq!(even.relnext(&successor).unwrap(), odd);
        assert_eq!(odd.relprev(&successor, &all).unwrap(), even);
        // Values that come between others are put there one by one, so fewer must do.
        let (nodes, root) = list(LONG / 20, 2);
        let some = manager.import_lists(&nodes, &[root]).unwrap().remove(0);
        let bundle = manager.list_bundle(&[successor]).unwrap();
        assert_eq!(some.saturate(&bundle, 0).unwrap().count().unwrap(), UBig::from(LONG / 20));
        let five = [node(5, 1, 0)];
        let transitions = Transitions { nodes: &five, root: FIRST, length: 1, reads: &[], writes: &[0] };
        let set_five = manager.list_relation(transitions).unwrap();
        assert_eq!(all.relnext(&set_five).unwrap(), manager.vector(&[5]).unwrap());
        manager.check().unwrap();
    }
}

#[test]
fn vectors_of_ten_thousand() {
    const LONG: usize = 10_000;
    for workers in [1, 2] {
        let manager = manager(workers);
        let zeros = manager.vector(&[0; LONG]).unwrap();
        let ones = manager.vector(&[1; LONG]).unwrap();
        let both = zeros.union(&ones).unwrap();
        assert_eq!(both.count().unwrap(), UBig::from(2_u32));
        assert_eq!(both.minus(&zeros).unwrap(), ones);
        // The last value, if it is zero, becomes one; so does the first.
        let flip = [node(1, 1, 0), node(0, FIRST, 0)];
        let [first, last] = [0, LONG as u32 - 1].map(|level| {
            let (reads, writes) = (&[level][..], &[level][..]);
            let length = LONG as u32;
            manager.list_relation(Transitions { nodes: &flip, root: FIRST + 1, length, reads, writes }).unwrap()
        });
        assert_eq!((first.level(), last.level()), (Some(0), Some(LONG as u32 - 1)));
        let bundle = manager.list_bundle(&[first.clone(), last.clone()]).unwrap();
        assert_eq!(zeros.saturate(&bundle, 0).unwrap().count().unwrap(), UBig::from(4_u32));
        assert_eq!(zeros.relnext_all(&bundle).unwrap().count().unwrap(), UBig::from(2_u32));
        assert_eq!(zeros.relnext(&last).unwrap().relprev(&last, &zeros).unwrap(), zeros);
        assert_eq!(both.project(&[LONG as u32 - 1]).unwrap().count().unwrap(), UBig::from(2_u32));
    }
}

/// All vectors of so many bits: one node for each value and level.
#[test]
fn counts_beyond_machine_words() {
    const LENGTH: u32 = 200;
    let manager = manager(1);
    let mut nodes: Vec<ImportList> = Vec::new();
    let mut below = 1;
    for _ in 0..LENGTH {
        nodes.push(node(1, below, 0));
        nodes.push(node(0, below, nodes.len() as u32 - 1 + FIRST));
        below = nodes.len() as u32 - 1 + FIRST;
    }
    let all = manager.import_lists(&nodes, &[below]).unwrap().remove(0);
    assert_eq!(all.count().unwrap(), UBig::ONE << LENGTH as usize);
    assert_eq!(all.node_count().unwrap(), 2 * LENGTH as usize);
    assert_eq!((all.length(), manager.no_vectors().length()), (Some(200), None));
    let none = all.minus(&all).unwrap();
    assert!(none.is_empty() && none.vectors().next().is_none() && none.count().unwrap() == UBig::ZERO);
    let empty_vector = manager.vector(&[]).unwrap();
    assert_eq!(empty_vector.vectors().collect::<Vec<_>>(), [Vec::<u32>::new()]);
    assert!(empty_vector.contains(&[]) && !empty_vector.contains(&[1]) && !all.contains(&[1]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let manager = manager(1);
    let (short, long) = (manager.vector(&[1]).unwrap(), manager.vector(&[1, 2]).unwrap());
    assert_eq!(short.union(&long), Err(Error::DifferentLengths));
    assert_eq!(short.project(&[1]), Err(Error::LevelTooLarge { level: 1 }));
    assert_eq!(long.matching(&[0, 1], &short), Err(Error::DifferentLengths));
    let elsewhere = self::manager(1).vector(&[1]).unwrap();
    assert_eq!(short.union(&elsewhere), Err(Error::DifferentManagers));
    let refused = |nodes: &[ImportList], root| manager.import_lists(nodes, &[root]).unwrap_err();
    for (nodes, root) in [
        (&[node(1, 1, 0)][..], 3),
        (&[node(1, 2, 0)], 2),
        (&[node(1, 0, 0)], 2),
        (&[node(1, 1, 1)], 2),
        (&[node(1, 1, 0), node(1, 1, 2)], 3),
        (&[node(1, 1, 0), node(0, 2, 2)], 3),
        (&[ImportList { copy: true, ..node(1, 1, 0) }], 2),
    ] {
        assert!(matches!(refused(nodes, root), Error::MalformedNode { .. }), "{nodes:?}");
    }
    let relation = |nodes: &[ImportList], root, reads: &[u32], writes: &[u32]| {
        manager.list_relation(Transitions { nodes, root, length: 2, reads, writes }).map(drop)
    };
    let one = [node(1, 1, 0)];
    assert_eq!(relation(&one, 2, &[0], &[]), Ok(()));
    assert_eq!(relation(&one, 2, &[1, 0], &[]), Err(Error::UnorderedLevels));
    assert_eq!(relation(&one, 2, &[2], &[]), Err(Error::UnorderedLevels));
    assert!(matches!(relation(&one, 2, &[0], &[0]), Err(Error::MalformedNode { .. })));
    assert!(matches!(relation(&one, 9, &[0], &[]), Err(Error::MalformedNode { .. })));
    let copy = [ImportList { copy: true, ..node(0, 1, 0) }];
    assert!(matches!(relation(&copy, 2, &[0], &[]), Err(Error::MalformedNode { .. })));
    assert_eq!(relation(&copy, 2, &[], &[0]), Ok(()));
}
