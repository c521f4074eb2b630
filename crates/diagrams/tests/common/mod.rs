//! What the test files share: a seeded generator, truth tables, and the way from diagrams to tables.
#![allow(dead_code, reason = "each test file uses its own part")]

use tremula_diagrams::{Bdd, Budget, Export, ImportEdge, ImportNode, Manager};

/// SplitMix64: small, good enough, the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A random subset of the levels `0..end`.
    pub fn levels(&mut self, end: u32) -> Vec<u32> {
        let bits = self.bits();
        (0..end).filter(|level| bits >> level & 1 != 0).collect()
    }

    /// The levels `0..end` in random order.
    pub fn permutation(&mut self, end: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..end).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// Names the seed when a test fails, however it fails.
pub struct Seed(pub u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {:#x}", self.0);
        }
    }
}

/// The truth table of a function of a few variables: bit `p` is the value where variable `v` has the value of bit `v` of
/// `p`. Tables of fewer than six variables repeat themselves, so that all bits always mean something.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Table {
    pub variables: u32,
    pub words: Vec<u64>,
}

impl Table {
    pub fn constant(variables: u32, value: bool) -> Table {
        let words = 1usize << variables.saturating_sub(6);
        Table { variables, words: vec![if value { u64::MAX } else { 0 }; words] }
    }

    pub fn variable(variables: u32, level: u32) -> Table {
        const PATTERNS: [u64; 6] = [
            0xAAAA_AAAA_AAAA_AAAA,
            0xCCCC_CCCC_CCCC_CCCC,
            0xF0F0_F0F0_F0F0_F0F0,
            0xFF00_FF00_FF00_FF00,
            0xFFFF_0000_FFFF_0000,
            0xFFFF_FFFF_0000_0000,
        ];
        assert!(level < variables);
        let mut table = Table::constant(variables, false);
        for (at, word) in table.words.iter_mut().enumerate() {
            *word = match level.checked_sub(6) {
                None => PATTERNS[level as usize],
                Some(bit) => 0u64.wrapping_sub((at >> bit & 1) as u64),
            };
        }
        table
    }

    /// The table whose value at each point is `value(point)`.
    pub fn from_points(variables: u32, mut value: impl FnMut(usize) -> bool) -> Table {
        let mut table = Table::constant(variables, false);
        for point in 0..table.words.len() * 64 {
            if value(point & ((1 << variables) - 1)) {
                table.words[point / 64] |= 1 << (point % 64);
            }
        }
        table
    }

    pub fn value(&self, point: usize) -> bool {
        self.words[point / 64] >> (point % 64) & 1 != 0
    }

    pub fn map2(&self, other: &Table, f: impl Fn(u64, u64) -> u64) -> Table {
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| f(a, b)).collect();
        Table { variables: self.variables, words }
    }

    pub fn not(&self) -> Table {
        Table { variables: self.variables, words: self.words.iter().map(|word| !word).collect() }
    }

    pub fn and(&self, other: &Table) -> Table {
        self.map2(other, |a, b| a & b)
    }

    pub fn or(&self, other: &Table) -> Table {
        self.map2(other, |a, b| a | b)
    }

    pub fn xor(&self, other: &Table) -> Table {
        self.map2(other, |a, b| a ^ b)
    }

    pub fn ite(&self, yes: &Table, no: &Table) -> Table {
        self.and(yes).or(&self.not().and(no))
    }

    pub fn cofactor(&self, level: u32, value: bool) -> Table {
        let mut result = self.clone();
        match level.checked_sub(6) {
            None => {
                let variable = Table::variable(6, level).words[0];
                let shift = 1 << level;
                for word in &mut result.words {
                    let half = if value { *word & variable } else { *word & !variable };
                    *word = if value { half | half >> shift } else { half | half << shift };
                }
            }
            Some(bit) => {
                for at in 0..result.words.len() {
                    result.words[at] = self.words[at & !(1 << bit) | usize::from(value) << bit];
                }
            }
        }
        result
    }

    pub fn exists(&self, levels: &[u32]) -> Table {
        levels.iter().fold(self.clone(), |f, &level| f.cofactor(level, false).or(&f.cofactor(level, true)))
    }

    pub fn forall(&self, levels: &[u32]) -> Table {
        self.not().exists(levels).not()
    }

    pub fn compose(&self, level: u32, g: &Table) -> Table {
        g.ite(&self.cofactor(level, true), &self.cofactor(level, false))
    }

    /// Variable `level` becomes variable `to[level]`; `to` is a permutation.
    pub fn rename(&self, to: &[u32]) -> Table {
        Table::from_points(self.variables, |point| {
            let source = to.iter().enumerate().map(|(from, &to)| (point >> to & 1) << from).sum();
            self.value(source)
        })
    }

    pub fn support(&self) -> Vec<u32> {
        let depends = |&level: &u32| self.cofactor(level, false) != self.cofactor(level, true);
        (0..self.variables).filter(depends).collect()
    }

    pub fn count(&self) -> u64 {
        let ones: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        ones >> 6u32.saturating_sub(self.variables)
    }
}

/// Tables of several functions, bottom-up through their nodes: independent of the operations under test.
pub fn tables(variables: u32, nodes: &[ImportNode], roots: &[ImportEdge]) -> Vec<Table> {
    let literals: Vec<Table> = (0..variables).map(|level| Table::variable(variables, level)).collect();
    let width = 1usize << variables.saturating_sub(6);
    // All tables in one array, by node number; an edge is a slice of it and a mask to negate it.
    let mut known = vec![0u64; (nodes.len() + 1) * width];
    let slice = |edge: ImportEdge| edge.node as usize * width..(edge.node as usize + 1) * width;
    let mask = |edge: ImportEdge| 0u64.wrapping_sub(u64::from(edge.complement));
    for (at, node) in nodes.iter().enumerate() {
        let (below, here) = known.split_at_mut((at + 1) * width);
        let (low, high) = (&below[slice(node.low)], &below[slice(node.high)]);
        let (low_mask, high_mask) = (mask(node.low), mask(node.high));
        for (word, &variable) in literals[node.level as usize].words.iter().enumerate() {
            here[word] = variable & (high[word] ^ high_mask) | !variable & (low[word] ^ low_mask);
        }
    }
    let table = |&root: &ImportEdge| known[slice(root)].iter().map(|word| word ^ mask(root)).collect();
    roots.iter().map(|root| Table { variables, words: table(root) }).collect()
}

/// The table of one function.
pub fn table(variables: u32, f: &Bdd) -> Table {
    let Export { nodes, roots, .. } = f.manager().export(&[f]).unwrap();
    tables(variables, &nodes, &roots).remove(0)
}

/// The function of a table, built from its nodes without any operation.
pub fn build(manager: &Manager, table: &Table) -> Bdd {
    let mut nodes = Vec::new();
    let root = build_below(table, 0, 0, &mut nodes);
    manager.import(nodes, &[root]).unwrap().remove(0)
}

fn build_below(table: &Table, level: u32, point: usize, nodes: &mut Vec<ImportNode>) -> ImportEdge {
    if level == table.variables {
        return ImportEdge { node: 0, complement: table.value(point) };
    }
    let low = build_below(table, level + 1, point, nodes);
    let high = build_below(table, level + 1, point | 1 << level, nodes);
    if low == high {
        return low;
    }
    nodes.push(ImportNode { level, low, high });
    ImportEdge { node: nodes.len() as u32, complement: false }
}

pub fn manager() -> Manager {
    Manager::new(&Budget::new(256 << 20)).unwrap()
}

/// A random function: often of few variables, sparse or dense, so that operations meet their special cases.
pub fn random_table(variables: u32, random: &mut Random) -> Table {
    let (style, mask) = (random.below(4), random.bits());
    let mut table = Table::from_points(variables, |_| false);
    for word in &mut table.words {
        *word = match style {
            0 => random.bits(),
            1 => random.bits() & random.bits() & random.bits(),
            2 => random.bits() | random.bits() | random.bits(),
            _ => mask,
        };
    }
    let dropped = if random.below(2) == 0 { random.levels(variables) } else { Vec::new() };
    // Below six variables the words must repeat; cofactors of the surplus variables see to that.
    let table = (variables..6).fold(table, |table, level| table.cofactor(level, false));
    dropped.iter().fold(table, |table, &level| table.cofactor(level, random.below(2) == 0))
}
