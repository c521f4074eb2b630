//! All functions of a few variables, against truth tables computed point by point.

mod common;

use common::{Random, Seed, Table, build, manager, random_table};
use tremula_diagrams::{Attention, Bdd, Budget, Manager, Options, Relation, Sizing, UBig};

const VARIABLES: u32 = 4;
const LEVELS: [u32; 4] = [0, 1, 2, 3];

/// All functions of some variables: the function of a truth table is at the table's number.
struct Universe {
    manager: Manager,
    functions: Vec<Bdd>,
    variables: u32,
}

impl Universe {
    fn new(variables: u32) -> Universe {
        let manager = manager();
        let mut functions = vec![manager.constant(false), manager.constant(true)];
        // One more variable at a time, from the bottom: a pair of functions becomes the branches of a new one.
        for level in (0..variables).rev() {
            let variable = manager.var(level).unwrap();
            let half = 1 << (variables - level - 1);
            let table = |low: usize, high: usize| interleave(low, half) | interleave(high, half) << 1;
            let mut next = vec![None; functions.len() * functions.len()];
            for (low_table, low) in functions.iter().enumerate() {
                for (high_table, high) in functions.iter().enumerate() {
                    next[table(low_table, high_table)] = Some(variable.ite(high, low).unwrap());
                }
            }
            functions = next.into_iter().map(Option::unwrap).collect();
        }
        Universe { manager, functions, variables }
    }

    fn all(&self) -> impl Iterator<Item = (usize, &Bdd)> {
        self.functions.iter().enumerate()
    }

    fn points(&self) -> usize {
        1 << self.variables
    }

    /// The function whose value at each point is `value(point)`.
    fn function(&self, mut value: impl FnMut(usize) -> bool) -> &Bdd {
        &self.functions[(0..self.points()).map(|point| usize::from(value(point)) << point).sum::<usize>()]
    }
}

/// Spread `count` bits out so that every second position is free: the new variable is the lowest bit of a point.
fn interleave(bits: usize, count: u32) -> usize {
    (0..count).map(|at| (bits >> at & 1) << (2 * at)).sum()
}

fn at(table: usize, point: usize) -> bool {
    table >> point & 1 != 0
}

#[test]
fn functions_are_canonical_and_evaluate() {
    let universe = Universe::new(VARIABLES);
    let minterms: Vec<Bdd> = (0..universe.points())
        .map(|point| universe.manager.cube(&LEVELS.map(|level| (level, at(point, level as usize)))).unwrap())
        .collect();
    for (table, f) in universe.all() {
        (0..16).for_each(|point| assert_eq!(f.eval(|level| at(point, level as usize)), at(table, point)));
        // Another way to the same table must end at the same handle.
        let chosen = minterms.iter().enumerate().filter(|(point, _)| at(table, *point));
        let sum = chosen.fold(universe.manager.constant(false), |sum, (_, minterm)| sum.or(minterm).unwrap());
        assert!(sum == *f, "table {table:#06x}");
        assert!(!f == universe.functions[table ^ 0xFFFF], "table {table:#06x}");
    }
    universe.manager.check().unwrap();
}

#[test]
fn quantification_of_every_set() {
    let universe = Universe::new(VARIABLES);
    for set in 0..16usize {
        let levels: Vec<u32> = LEVELS.into_iter().filter(|&level| at(set, level as usize)).collect();
        for (table, f) in universe.all() {
            // All points that differ from `point` in the set only.
            let within = |point: usize| (0..16).filter(move |other| (point ^ other) & !set == 0);
            let exists = universe.function(|point| within(point).any(|other| at(table, other)));
            let forall = universe.function(|point| within(point).all(|other| at(table, other)));
            assert!(f.exists(&levels).unwrap() == *exists, "∃ {levels:?}. {table:#06x}");
            assert!(f.forall(&levels).unwrap() == *forall, "∀ {levels:?}. {table:#06x}");
        }
    }
}

#[test]
fn support_count_and_assignments() {
    let universe = Universe::new(VARIABLES);
    // These walk the diagram in fresh memory each time, which costs much more than the walk: a third has to do.
    for (table, f) in universe.all().step_by(3) {
        let depends = |&level: &u32| (0..16).any(|point| at(table, point) != at(table, point ^ 1 << level));
        assert_eq!(f.support().unwrap(), LEVELS.into_iter().filter(depends).collect::<Vec<_>>(), "table {table:#06x}");
        assert_eq!(f.count(&LEVELS).unwrap(), UBig::from(table.count_ones()), "table {table:#06x}");
        // Lexicographic order has variable 0 as the most significant one.
        let mut expected: Vec<Vec<bool>> = (0..16usize)
            .filter(|&point| at(table, point))
            .map(|point| LEVELS.iter().map(|&level| at(point, level as usize)).collect())
            .collect();
        expected.sort();
        if table % 5 == 0 {
            assert_eq!(f.pick(&LEVELS).unwrap(), expected.first().cloned(), "table {table:#06x}");
            assert_eq!(f.assignments(&LEVELS).unwrap().collect::<Vec<_>>(), expected, "table {table:#06x}");
        }
    }
}

#[test]
fn cofactors_by_every_literal() {
    let universe = Universe::new(VARIABLES);
    for (table, f) in universe.all() {
        for level in LEVELS {
            let bit = 1usize << level;
            let low = universe.function(|point| at(table, point & !bit));
            let high = universe.function(|point| at(table, point | bit));
            assert!(f.cofactor(&[(level, false)]).unwrap() == *low, "{table:#06x} at level {level}");
            assert!(f.cofactor(&[(level, true)]).unwrap() == *high, "{table:#06x} at level {level}");
        }
    }
}

#[test]
fn composition_with_variables_and_functions() {
    let universe = Universe::new(VARIABLES);
    let seed = Seed(0xC0);
    let mut random = Random::new(seed.0);
    let compose = |table: usize, level: u32, g: usize| {
        let bit = 1usize << level;
        universe.function(|point| at(table, if at(g, point) { point | bit } else { point & !bit }))
    };
    for (table, f) in universe.all() {
        for (level, other) in LEVELS.into_iter().flat_map(|level| LEVELS.map(|other| (level, other))) {
            let variable = (0..16).filter(|point| at(*point, other as usize)).map(|point| 1 << point).sum::<usize>();
            let result = f.compose(level, &universe.functions[variable]).unwrap();
            assert!(result == *compose(table, level, variable), "{table:#06x}[{level} := x{other}]");
        }
        let (level, g) = (*random.pick(&LEVELS), random.below(1 << 16));
        let result = f.compose(level, &universe.functions[g]).unwrap();
        assert!(result == *compose(table, level, g), "{table:#06x}[{level} := {g:#06x}]");
    }
}

#[test]
fn renaming_by_every_permutation() {
    let universe = Universe::new(VARIABLES);
    let mut permutations = Vec::new();
    for code in 0..256usize {
        let to: Vec<u32> = (0..4).map(|at| (code >> (2 * at) & 3) as u32).collect();
        if LEVELS.iter().all(|level| to.contains(level)) {
            permutations.push(to);
        }
    }
    assert_eq!(permutations.len(), 24);
    for (number, to) in permutations.iter().enumerate() {
        let pairs: Vec<(u32, u32)> = LEVELS.iter().copied().zip(to.iter().copied()).collect();
        // All functions against all permutations would take too long: every second function meets one.
        for (table, f) in universe.all().skip(number).step_by(49) {
            let back = |point: usize| LEVELS.iter().map(|&l| (point >> to[l as usize] & 1) << l).sum();
            let expected = universe.function(|point| at(table, back(point)));
            assert!(f.rename(&pairs).unwrap() == *expected, "{table:#06x} by {pairs:?}");
        }
    }
}

#[test]
fn binary_operations_on_all_pairs() {
    let universe = Universe::new(3);
    for (a, f) in universe.all() {
        for (b, g) in universe.all() {
            let check = |name: &str, result: Bdd, table: usize| {
                assert!(result == universe.functions[table & 0xFF], "{a:#04x} {name} {b:#04x}");
            };
            check("and", f.and(g).unwrap(), a & b);
            check("or", f.or(g).unwrap(), a | b);
            check("xor", f.xor(g).unwrap(), a ^ b);
            check("implies", f.implies(g).unwrap(), !a | b);
            check("equiv", f.equiv(g).unwrap(), !(a ^ b));
            check("minus", f.minus(g).unwrap(), a & !b);
        }
    }
}

#[test]
fn if_then_else() {
    let small = Universe::new(2);
    for (a, f) in small.all() {
        for (b, g) in small.all() {
            for (c, h) in small.all() {
                assert!(f.ite(g, h).unwrap() == small.functions[a & b | !a & c & 0xF], "{a:x} ? {b:x} : {c:x}");
            }
        }
    }
    let large = Universe::new(VARIABLES);
    let seed = Seed(0x17E);
    let mut random = Random::new(seed.0);
    for _ in 0..300_000 {
        let [a, b, c] = [0; 3].map(|_| random.below(1 << 16));
        let result = large.functions[a].ite(&large.functions[b], &large.functions[c]).unwrap();
        assert!(result == large.functions[a & b | !a & c & 0xFFFF], "{a:#06x} ? {b:#06x} : {c:#06x}");
    }
}

#[test]
fn relational_product_and_restriction() {
    let universe = Universe::new(VARIABLES);
    let seed = Seed(0xAE);
    let mut random = Random::new(seed.0);
    for _ in 0..200_000 {
        let (a, b, levels) = (random.below(1 << 16), random.below(1 << 16), random.levels(VARIABLES));
        let (f, g) = (&universe.functions[a], &universe.functions[b]);
        let expected = universe.functions[a & b].exists(&levels).unwrap();
        assert!(f.and_exists(g, &levels).unwrap() == expected, "∃ {levels:?}. {a:#06x} ∧ {b:#06x}");
        if b != 0 {
            let simple = f.restrict(g).unwrap();
            assert!(simple.and(g).unwrap() == universe.functions[a & b], "{a:#06x} restricted to {b:#06x}");
        }
    }
    let (f, none) = (&universe.functions[5], &universe.functions[0]);
    assert_eq!(f.restrict(none), Err(tremula_diagrams::Error::EmptyCareSet));
}

/// A random relation on some bits of a state: variables `2k` and `2k + 1` are bit `k` now and next, and an action
/// variable comes below all of them.
struct Transitions {
    bits: u32,
    group: Vec<u32>,
    table: Table,
}

impl Transitions {
    fn random(bits: u32, group: &[u32], random: &mut Random) -> Transitions {
        let mut table = random_table(2 * bits + 1, random);
        // Sparse relations leave something to see; variables outside the group must not occur.
        (0..random.below(3)).for_each(|_| table = table.and(&random_table(2 * bits + 1, random)));
        for bit in (0..bits).filter(|bit| !group.contains(bit)) {
            table = table.cofactor(2 * bit, false).cofactor(2 * bit + 1, false);
        }
        Transitions { bits, group: group.to_vec(), table }
    }

    fn on_random_group(bits: u32, random: &mut Random) -> Transitions {
        let group = groups(bits).nth(random.below(1 << bits)).expect("one group for each set of bits");
        Transitions::random(bits, &group, random)
    }

    fn compile(&self, manager: &Manager) -> Relation {
        manager.relation(&build(manager, &self.table), &self.pairs()).unwrap()
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        self.group.iter().map(|bit| (2 * bit, 2 * bit + 1)).collect()
    }

    /// Is there a step from one state to the other, by any action?
    fn steps(&self, from: usize, to: usize) -> bool {
        let outside = (0..self.bits).filter(|bit| !self.group.contains(bit)).map(|bit| 1usize << bit).sum::<usize>();
        let point = interleave(from, self.bits) | interleave(to, self.bits) << 1;
        (from ^ to) & outside == 0 && (self.table.value(point) || self.table.value(point | 1 << (2 * self.bits)))
    }

    /// The set of states reached, forwards or backwards, as a bit vector.
    fn image(&self, set: usize, forward: bool) -> usize {
        let states = 1usize << self.bits;
        let arrives = |to: usize| {
            (0..states).any(|from| at(set, from) && if forward { self.steps(from, to) } else { self.steps(to, from) })
        };
        (0..states).filter(|&to| arrives(to)).map(|to| 1 << to).sum()
    }
}

/// A set of states, given as a bit vector, over the current-state variables.
fn states(manager: &Manager, bits: u32, set: usize) -> Bdd {
    build(
        manager,
        &Table::from_points(2 * bits, |point| at(set, (0..bits).map(|bit| (point >> (2 * bit) & 1) << bit).sum())),
    )
}

fn groups(bits: u32) -> impl Iterator<Item = Vec<u32>> {
    (0..1u32 << bits).map(move |group| (0..bits).filter(|bit| group >> bit & 1 != 0).collect())
}

#[test]
fn images_under_relations_on_every_group() {
    let seed = Seed(0x4E1);
    let mut random = Random::new(seed.0);
    for bits in [2, 3] {
        let manager = manager();
        for group in groups(bits) {
            for _ in 0..400 {
                let transitions = Transitions::random(bits, &group, &mut random);
                let relation = transitions.compile(&manager);
                for set in [0, random.below(1 << (1 << bits)), random.below(1 << (1 << bits)), (1 << (1 << bits)) - 1] {
                    let f = states(&manager, bits, set);
                    let (next, previous) = (transitions.image(set, true), transitions.image(set, false));
                    assert!(f.relnext(&relation).unwrap() == states(&manager, bits, next), "{group:?} of {set:#x}");
                    assert!(f.relprev(&relation).unwrap() == states(&manager, bits, previous), "{group:?} of {set:#x}");
                }
            }
        }
    }
}

#[test]
fn images_under_several_relations() {
    let seed = Seed(0xB1D);
    let mut random = Random::new(seed.0);
    let bits = 3;
    let manager = manager();
    for round in 0..2000 {
        let count = 1 + random.below(4);
        let several: Vec<_> = (0..count).map(|_| Transitions::on_random_group(bits, &mut random)).collect();
        let relations: Vec<_> = several.iter().map(|one| one.compile(&manager)).collect();
        let set = random.below(1 << (1 << bits));
        let f = states(&manager, bits, set);
        let image = |forward| several.iter().fold(0, |all, one| all | one.image(set, forward));
        let (next, previous) = (states(&manager, bits, image(true)), states(&manager, bits, image(false)));
        let whole = relations[1..].iter().fold(relations[0].clone(), |a, b| a.union(b, 10_000).unwrap().unwrap());
        assert!(f.relnext(&whole).unwrap() == next, "union in round {round}");
        assert!(f.relprev(&whole).unwrap() == previous, "union in round {round}");
        let bundle = manager.bundle(&relations).unwrap();
        assert!(f.relnext_all(&bundle).unwrap() == next, "bundle in round {round}");
        let tree = manager.tree(&relations).unwrap();
        let known = states(&manager, bits, random.below(1 << (1 << bits)));
        let new = f.relnext_new(&tree, &known).unwrap();
        assert!(f.relnext_new_within(&tree, &known).unwrap() == new, "known states within images in round {round}");
        assert!(new == next.minus(&known).unwrap(), "tree in round {round}");
    }
}

/// A manager that collects at every few nodes, with or without lanes and threads.
fn stressed(random: &mut Random) -> Manager {
    let lanes_always = random.below(2) == 0;
    let sizing = Sizing { initial_nodes: 1 << 11, ..Sizing::default() };
    let stress = Some(1 + random.below(12) as u64);
    // Threads cost too much to start for each of thousands of managers.
    let workers = if random.below(10) == 0 { 3 } else { 1 };
    let options =
        Options { stress, sizing, lanes_always, lane_threshold: 4, workers, worker_threshold: 4, ..Options::default() };
    Manager::with_options(&Budget::new(4 << 20), options, Attention::default()).unwrap()
}

#[test]
fn new_successors_while_garbage_is_collected() {
    let seed = Seed(0x2E7);
    let mut random = Random::new(seed.0);
    let bits = 4;
    for round in 0..1000 {
        let manager = stressed(&mut random);
        let several: Vec<_> =
            (0..1 + random.below(5)).map(|_| Transitions::on_random_group(bits, &mut random)).collect();
        let relations: Vec<_> = several.iter().map(|one| one.compile(&manager)).collect();
        let tree = manager.tree(&relations).unwrap();
        let [set, known] = [(); 2].map(|()| random.below(1 << (1 << bits)));
        let image = several.iter().fold(0, |all, one| all | one.image(set, true));
        let [set, known, new] = [set, known, image & !known].map(|set| states(&manager, bits, set));
        assert!(set.relnext_new(&tree, &known).unwrap() == new, "after images in round {round}");
        assert!(set.relnext_new_within(&tree, &known).unwrap() == new, "within images in round {round}");
    }
}

#[test]
fn closures_under_several_relations() {
    let seed = Seed(0x5A7);
    let mut random = Random::new(seed.0);
    let bits = 4;
    let (mut grown, mut partial) = (0, 0);
    for round in 0..3000 {
        let manager = stressed(&mut random);
        let count = 2 + random.below(6);
        let several: Vec<_> = (0..count).map(|_| Transitions::on_random_group(bits, &mut random)).collect();
        let relations: Vec<_> = several.iter().map(|one| one.compile(&manager)).collect();
        let start = 1 << random.below(1 << bits) | 1 << random.below(1 << bits);
        let closure = closed(start, &several.iter().collect::<Vec<_>>());
        let set = states(&manager, bits, start);
        let bundle = manager.bundle(&relations).unwrap();
        assert!(set.saturate(&bundle).unwrap() == states(&manager, bits, closure), "round {round}");
        if let Some(below) = bundle.below() {
            let top = relations.iter().filter_map(Relation::level).min();
            let deeper: Vec<_> =
                several.iter().zip(&relations).filter(|(_, r)| r.level() != top).map(|(t, _)| t).collect();
            let lower = states(&manager, bits, closed(start, &deeper));
            assert!(set.saturate(&below).unwrap() == lower, "below the top in round {round}");
            partial += 1;
        }
        grown += usize::from(closure != start);
    }
    assert!(grown > 1500 && partial > 1500, "{grown} {partial}");
}

#[test]
fn closures_go_as_deep_as_the_order() {
    let bits = 10_000;
    for (lanes_always, workers) in [(false, 1), (true, 1), (false, 3)] {
        let options = Options { lanes_always, lane_threshold: 100, workers, ..Options::default() };
        let manager = Manager::with_options(&Budget::new(1 << 30), options, Attention::default()).unwrap();
        let relations: Vec<Relation> = (0..bits).map(|bit| flip(&manager, bit)).collect();
        let zero = manager.cube(&(0..bits).map(|bit| (2 * bit, false)).collect::<Vec<_>>()).unwrap();
        assert!(zero.saturate(&manager.bundle(&relations).unwrap()).unwrap().is_true());
    }
}

/// Everything reachable from a set, step by step.
fn closed(mut set: usize, relations: &[&Transitions]) -> usize {
    loop {
        let next = relations.iter().fold(set, |all, one| all | one.image(all, true));
        if next == set {
            return set;
        }
        set = next;
    }
}

/// The relation that flips one bit of the state.
fn flip(manager: &Manager, bit: u32) -> Relation {
    let (now, next) = (manager.var(2 * bit).unwrap(), manager.var(2 * bit + 1).unwrap());
    manager.relation(&now.xor(&next).unwrap(), &[(2 * bit, 2 * bit + 1)]).unwrap()
}

#[test]
fn the_union_of_relations_respects_its_limit() {
    let manager = manager();
    let (a, b) = (flip(&manager, 0), flip(&manager, 1));
    assert!(a.union(&b, 0).unwrap().is_none());
    assert!(a.union(&a, 0).unwrap().is_some());
    assert!(a.union(&b, 10).unwrap().is_some());
}

#[test]
fn a_bundle_keeps_relations_that_change_nothing() {
    let manager = manager();
    let (now, next) = (manager.var(0).unwrap(), manager.var(1).unwrap());
    let stay = manager.relation(&now.equiv(&next).unwrap(), &[(0, 1)]).unwrap();
    let set = manager.cube(&[(0, true), (2, true)]).unwrap();
    assert_eq!(set.relnext(&stay).unwrap(), set);
    let bundle = manager.bundle(&[stay, flip(&manager, 1)]).unwrap();
    assert_eq!(set.relnext_all(&bundle).unwrap(), now);
    assert_eq!(set.saturate(&bundle).unwrap(), now);
    assert!(set.saturate(&manager.bundle(&[]).unwrap()).unwrap() == set);
}
