//! Long random sequences of operations over a pool of live functions, against truth tables and against another library.
//!
//! `TREMULA_ALGEBRA_STEPS` sets the number of steps of the first test, `TREMULA_ALGEBRA_PEER_STEPS` of the second.

mod common;

use biodivine_lib_bdd as peer;
use common::{Random, Seed, Table, random_table, table, tables};
use tremula_diagrams::{Attention, Bdd, Budget, Manager, Options, Sizing};

const POOL: usize = 20;
/// Results are checked together, at the latest before the first of them is replaced.
const BATCH: usize = 16;
const _: () = assert!(BATCH <= POOL);

/// Share of the steps, in percent, for each number of variables. Larger tables cost more and find the same.
const SHARES: [(u32, usize); 7] = [(6, 24), (7, 22), (8, 20), (9, 14), (10, 10), (11, 6), (12, 4)];

fn steps(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |value| value.parse().expect("a number of steps"))
}

/// One operation; operands are positions in the pool.
#[derive(Clone, Debug)]
enum Step {
    Fresh,
    Not(usize),
    Binary(Binary, usize, usize),
    Ite(usize, usize, usize),
    Exists(usize, Vec<u32>),
    Forall(usize, Vec<u32>),
    AndExists(usize, usize, Vec<u32>),
    Compose(usize, u32, usize),
    Restrict(usize, usize),
    Cofactor(usize, Vec<(u32, bool)>),
    Rename(usize, Vec<u32>),
    /// Successors or predecessors of a set under a relation on some pairs of variables.
    Image {
        set: usize,
        relation: usize,
        group: Vec<u32>,
        forward: bool,
    },
}

#[derive(Copy, Clone, Debug)]
enum Binary {
    And,
    Or,
    Xor,
    Implies,
    Equiv,
    Minus,
}

const BINARY: [Binary; 6] = [Binary::And, Binary::Or, Binary::Xor, Binary::Implies, Binary::Equiv, Binary::Minus];

impl Step {
    fn random(variables: u32, random: &mut Random) -> Step {
        let kind = random.below(100);
        let [f, g, h] = [0; 3].map(|_| random.below(POOL));
        let level = random.below(variables as usize) as u32;
        match kind {
            0..10 => Step::Fresh,
            10..13 => Step::Not(f),
            13..50 => Step::Binary(*random.pick(&BINARY), f, g),
            50..62 => Step::Ite(f, g, h),
            62..67 => Step::Exists(f, random.levels(variables)),
            67..71 => Step::Forall(f, random.levels(variables)),
            71..78 => Step::AndExists(f, g, random.levels(variables)),
            78..85 => Step::Compose(f, level, g),
            85..91 => Step::Restrict(f, g),
            91..95 => {
                let literals = random.levels(variables).into_iter().map(|level| (level, random.below(2) == 0));
                Step::Cofactor(f, literals.collect())
            }
            95..98 => Step::Rename(f, random.permutation(variables)),
            _ => {
                Step::Image { set: f, relation: g, group: random.levels(variables / 2), forward: random.below(2) == 0 }
            }
        }
    }
}

fn apply(pool: &[Bdd], fresh: &Table, step: &Step) -> Result<Bdd, tremula_diagrams::Error> {
    match *step {
        Step::Fresh => Ok(common::build(pool[0].manager(), fresh)),
        Step::Not(f) => Ok(!&pool[f]),
        Step::Binary(operation, f, g) => match operation {
            Binary::And => pool[f].and(&pool[g]),
            Binary::Or => pool[f].or(&pool[g]),
            Binary::Xor => pool[f].xor(&pool[g]),
            Binary::Implies => pool[f].implies(&pool[g]),
            Binary::Equiv => pool[f].equiv(&pool[g]),
            Binary::Minus => pool[f].minus(&pool[g]),
        },
        Step::Ite(f, g, h) => pool[f].ite(&pool[g], &pool[h]),
        Step::Exists(f, ref levels) => pool[f].exists(levels),
        Step::Forall(f, ref levels) => pool[f].forall(levels),
        Step::AndExists(f, g, ref levels) => pool[f].and_exists(&pool[g], levels),
        Step::Compose(f, level, g) => pool[f].compose(level, &pool[g]),
        // Nothing is promised outside the care set, so that part is taken off before comparing.
        Step::Restrict(f, care) if pool[care].is_false() => Ok(pool[f].clone()),
        Step::Restrict(f, care) => pool[f].restrict(&pool[care])?.and(&pool[care]),
        Step::Cofactor(f, ref literals) => pool[f].cofactor(literals),
        Step::Rename(f, ref to) => pool[f].rename(&(0..).zip(to.iter().copied()).collect::<Vec<_>>()),
        Step::Image { set, relation, ref group, forward } => {
            let (now, next, outside) = image_levels(fresh.variables, group);
            let pairs: Vec<(u32, u32)> = now.iter().copied().zip(next.iter().copied()).collect();
            let relation = pool[0].manager().relation(&pool[relation].exists(&outside)?, &pairs)?;
            let set = pool[set].exists(&odd_levels(fresh.variables))?;
            if forward { set.relnext(&relation) } else { set.relprev(&relation) }
        }
    }
}

/// Next-state variables of all pairs, and the variable without a partner if there is one.
fn odd_levels(variables: u32) -> Vec<u32> {
    (0..variables).filter(|level| level % 2 == 1 || level + 1 == variables).collect()
}

/// Levels now and next of the pairs in a group, and all other levels.
fn image_levels(variables: u32, group: &[u32]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let outside = (0..variables).filter(|level| level / 2 >= variables / 2 || !group.contains(&(level / 2)));
    (group.iter().map(|pair| 2 * pair).collect(), group.iter().map(|pair| 2 * pair + 1).collect(), outside.collect())
}

fn expect(pool: &[Table], fresh: &Table, step: &Step) -> Table {
    match *step {
        Step::Fresh => fresh.clone(),
        Step::Not(f) => pool[f].not(),
        Step::Binary(operation, f, g) => pool[f].map2(&pool[g], |a, b| match operation {
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Implies => !a | b,
            Binary::Equiv => !(a ^ b),
            Binary::Minus => a & !b,
        }),
        Step::Ite(f, g, h) => pool[f].ite(&pool[g], &pool[h]),
        Step::Exists(f, ref levels) => pool[f].exists(levels),
        Step::Forall(f, ref levels) => pool[f].forall(levels),
        Step::AndExists(f, g, ref levels) => pool[f].and(&pool[g]).exists(levels),
        Step::Compose(f, level, g) => pool[f].compose(level, &pool[g]),
        Step::Restrict(f, care) if pool[care].count() == 0 => pool[f].clone(),
        Step::Restrict(f, care) => pool[f].and(&pool[care]),
        Step::Cofactor(f, ref literals) => {
            literals.iter().fold(pool[f].clone(), |table, &(level, value)| table.cofactor(level, value))
        }
        Step::Rename(f, ref to) => pool[f].rename(to),
        Step::Image { set, relation, ref group, forward } => expect_image(&pool[set], &pool[relation], group, forward),
    }
}

/// An image as the textbook has it: conjunction, quantification, renaming; pairs outside the group stay.
fn expect_image(set: &Table, relation: &Table, group: &[u32], forward: bool) -> Table {
    let variables = set.variables;
    let (now, next, outside) = image_levels(variables, group);
    let set = set.exists(&odd_levels(variables));
    let relation = relation.exists(&outside);
    let swap: Vec<u32> = (0..variables)
        .map(|level| if now.contains(&level) || next.contains(&level) { level ^ 1 } else { level })
        .collect();
    if forward { relation.and(&set).exists(&now).rename(&swap) } else { relation.and(&set.rename(&swap)).exists(&next) }
}

fn small_tables(variables: u32, random: &mut Random) -> Options {
    let sizing = Sizing { initial_nodes: 1 << 10, eager_nodes: 1 << 12, ..Sizing::default() };
    // Tables grow with the number of variables, and so does the cost of a collection.
    let every = 1u64 << (variables + random.below(4) as u32);
    // Most runs go into lanes early, some at once, some never.
    let lane_threshold = [1, 10, 100, u64::MAX][random.below(4)];
    let lanes = 2 + random.below(8);
    let stress = (random.below(3) > 0).then_some(every);
    Options { sizing, stress, lanes, lane_threshold, lanes_always: true, ..Options::default() }
}

/// A manager, a pool of functions in it, and what they must be.
struct Round {
    manager: Manager,
    pool: Vec<Bdd>,
    expected: Vec<Table>,
    log: Vec<Step>,
}

impl Round {
    fn new(variables: u32, random: &mut Random) -> Round {
        let options = small_tables(variables, random);
        let manager = Manager::with_options(&Budget::new(64 << 20), options, Attention::default()).unwrap();
        let expected: Vec<Table> = (0..POOL).map(|_| random_table(variables, random)).collect();
        let pool = expected.iter().map(|table| common::build(&manager, table)).collect();
        Round { manager, pool, expected, log: Vec::new() }
    }

    fn run(&mut self, steps: usize, random: &mut Random) {
        let variables = self.expected[0].variables;
        for number in 0..steps {
            let step = Step::random(variables, random);
            let fresh = match step {
                Step::Fresh => random_table(variables, random),
                _ => Table::constant(variables, false),
            };
            let result = apply(&self.pool, &fresh, &step).unwrap_or_else(|e| panic!("{e} in step {number}: {step:?}"));
            let expected = expect(&self.expected, &fresh, &step);
            (self.pool[number % POOL], self.expected[number % POOL]) = (result, expected);
            self.log.push(step);
            match random.below(2000) {
                0 => drop(self.manager.collect()),
                1 => self.manager.compact(),
                2 => self.manager.check().unwrap(),
                _ => {}
            }
            if self.log.len() == BATCH || number + 1 == steps {
                self.compare(number);
            }
        }
        self.manager.check().unwrap();
    }

    fn compare(&mut self, number: usize) {
        let functions: Vec<&Bdd> = self.pool.iter().collect();
        let export = self.manager.export(&functions).unwrap();
        let actual = tables(self.expected[0].variables, &export.nodes, &export.roots);
        for (at, (actual, expected)) in actual.iter().zip(&self.expected).enumerate() {
            assert!(actual == expected, "function {at} is wrong after step {number}; steps: {:#?}", self.log);
        }
        self.log.clear();
    }
}

#[test]
fn a_million_steps_against_truth_tables() {
    let steps = steps("TREMULA_ALGEBRA_STEPS", 1_000_000);
    for (variables, share) in SHARES {
        for round in 0..10 {
            let seed = Seed(u64::from(variables) << 8 | round);
            let mut random = Random::new(seed.0);
            Round::new(variables, &mut random).run(steps * share / 1000, &mut random);
        }
    }
}

#[test]
fn collections_at_every_node() {
    for round in 0..4 {
        let seed = Seed(0x5712E55 + round);
        let mut random = Random::new(seed.0);
        let sizing = Sizing { initial_nodes: 1 << 10, eager_nodes: 0, ..Sizing::default() };
        let options = Options {
            sizing,
            stress: Some(1 + round),
            lane_threshold: 1 + round % 20,
            lanes_always: true,
            ..Options::default()
        };
        let mut fresh = Round::new(6, &mut random);
        fresh.manager = Manager::with_options(&Budget::new(64 << 20), options, Attention::default()).unwrap();
        fresh.pool = fresh.expected.iter().map(|table| common::build(&fresh.manager, table)).collect();
        fresh.run(steps("TREMULA_ALGEBRA_STEPS", 1_000_000) / 400, &mut random);
    }
}

#[test]
fn several_workers() {
    for round in 0..12 {
        let seed = Seed(0x3A11 + round);
        let mut random = Random::new(seed.0);
        let mut options = small_tables(8, &mut random);
        // Some operations start in one thread and go on in all of them, some are parallel at once.
        options.workers = 2 + random.below(3);
        options.worker_threshold = [1, 10, 50][random.below(3)];
        let mut fresh = Round::new(8, &mut random);
        fresh.manager = Manager::with_options(&Budget::new(64 << 20), options, Attention::default()).unwrap();
        fresh.pool = fresh.expected.iter().map(|table| common::build(&fresh.manager, table)).collect();
        fresh.run(steps("TREMULA_ALGEBRA_STEPS", 1_000_000) / 400, &mut random);
    }
}

/// The table of another library's diagram: a list of nodes, children first, after the two terminals.
fn peer_table(variables: u32, f: &peer::Bdd) -> Table {
    let mut known = vec![Table::constant(variables, false), Table::constant(variables, true)];
    for node in f.clone().to_nodes().into_iter().skip(2) {
        let (low, high) = (node.low_link.to_index(), node.high_link.to_index());
        let level = node.var.to_index() as u32;
        known.push(Table::variable(variables, level).ite(&known[high], &known[low]));
    }
    // The other library stores a false function as the zero terminal alone.
    if f.is_false() { known.swap_remove(0) } else { known.pop().expect("two terminals at least") }
}

fn peer_apply(set: &peer::BddVariableSet, pool: &[peer::Bdd], fresh: &Table, step: &Step) -> Option<peer::Bdd> {
    let variable = |level: u32| peer::BddVariable::from_index(level as usize);
    let variables = |levels: &[u32]| levels.iter().map(|&level| variable(level)).collect::<Vec<_>>();
    Some(match *step {
        Step::Fresh => peer_build(set, fresh),
        Step::Not(f) => pool[f].not(),
        Step::Binary(operation, f, g) => match operation {
            Binary::And => pool[f].and(&pool[g]),
            Binary::Or => pool[f].or(&pool[g]),
            Binary::Xor => pool[f].xor(&pool[g]),
            Binary::Implies => pool[f].imp(&pool[g]),
            Binary::Equiv => pool[f].iff(&pool[g]),
            Binary::Minus => pool[f].and_not(&pool[g]),
        },
        Step::Ite(f, g, h) => peer::Bdd::if_then_else(&pool[f], &pool[g], &pool[h]),
        Step::Exists(f, ref levels) => pool[f].exists(&variables(levels)),
        Step::Forall(f, ref levels) => pool[f].for_all(&variables(levels)),
        Step::AndExists(f, g, ref levels) => {
            peer::Bdd::binary_op_with_exists(&pool[f], &pool[g], peer::op_function::and, &variables(levels))
        }
        Step::Compose(f, level, g) => {
            // Their substitution is not meant for functions that depend on the variable themselves.
            let branch = |value| pool[f].restrict(&[(variable(level), value)]);
            peer::Bdd::if_then_else(&pool[g], &branch(true), &branch(false))
        }
        Step::Cofactor(f, ref literals) => {
            pool[f].restrict(&literals.iter().map(|&(level, value)| (variable(level), value)).collect::<Vec<_>>())
        }
        // No counterpart there that promises the same.
        Step::Restrict(..) | Step::Rename(..) | Step::Image { .. } => return None,
    })
}

fn peer_build(set: &peer::BddVariableSet, table: &Table) -> peer::Bdd {
    fn below(set: &peer::BddVariableSet, table: &Table, level: u32, point: usize) -> peer::Bdd {
        if level == table.variables {
            return if table.value(point) { set.mk_true() } else { set.mk_false() };
        }
        let variable = set.mk_var(peer::BddVariable::from_index(level as usize));
        let high = below(set, table, level + 1, point | 1 << level);
        peer::Bdd::if_then_else(&variable, &high, &below(set, table, level + 1, point))
    }
    below(set, table, 0, 0)
}

#[test]
fn the_same_steps_in_another_library() {
    let steps = steps("TREMULA_ALGEBRA_PEER_STEPS", 100_000);
    for (variables, share) in [(6, 50), (7, 30), (8, 15), (10, 5)] {
        let seed = Seed(0xB10 + u64::from(variables));
        let mut random = Random::new(seed.0);
        let mut ours = Round::new(variables, &mut random);
        let set = peer::BddVariableSet::new_anonymous(variables as u16);
        let mut theirs: Vec<peer::Bdd> = ours.expected.iter().map(|table| peer_build(&set, table)).collect();
        let mut done = 0;
        while done < steps * share / 100 {
            let step = Step::random(variables, &mut random);
            let fresh = random_table(variables, &mut random);
            let Some(their_result) = peer_apply(&set, &theirs, &fresh, &step) else { continue };
            let our_result = apply(&ours.pool, &fresh, &step).unwrap();
            let our_table = table(variables, &our_result);
            assert!(our_table == peer_table(variables, &their_result), "step {done}: {step:?}");
            (ours.pool[done % POOL], theirs[done % POOL]) = (our_result, their_result);
            done += 1;
        }
    }
}
