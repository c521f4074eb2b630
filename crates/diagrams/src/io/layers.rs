//! Layered layout: rows from levels, orders with few crossings, positions that keep edges straight.
//!
//! Row 0 is above the first level in use; then comes one row per level in use; the terminal has the last row. An edge that
//! passes rows bends there. Edges of one kind into one node share their bends: they flow together like rivers, so even
//! the many edges into the terminal stay readable.
//!
//! Invariants: every [`Link`] joins neighbouring rows; items of a row are sorted by position and never overlap.

use super::export::Export;
use crate::manager::ImportEdge;
use std::collections::{BTreeSet, HashMap};

/// Sweeps down and up that look for better orders.
const ORDER_SWEEPS: usize = 24;
/// Sweeps down and up that look for better positions.
const POSITION_SWEEPS: usize = 200;
/// Free space between neighbours of a row.
const GAP: f64 = 16.0;
/// How much more a straight long edge is worth than a straight short one.
const BEND_WEIGHT: f64 = 8.0;

/// Kinds of edges; each has its own look.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// To the child where the variable is false.
    Low,
    /// To the child where the variable is true.
    High,
    /// The same, complemented.
    HighComplement,
    /// From a function's name to its node.
    Root,
    /// The same, complemented.
    RootComplement,
}

impl Kind {
    /// The side at which an edge leaves a node: -1 left, 1 right.
    pub fn port(self) -> i8 {
        match self {
            Kind::Low => -1,
            Kind::High | Kind::HighComplement => 1,
            Kind::Root | Kind::RootComplement => 0,
        }
    }
}

/// What sits at a place of a row.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Item {
    /// A node by its number in the export; zero is the terminal.
    Node(u32),
    /// The name of the root at this position.
    Root(usize),
    /// Where edges of one kind into one node pass a row.
    Bend {
        /// The node they lead to.
        target: u32,
        /// Their kind.
        kind: Kind,
    },
}

/// An item with its place.
#[derive(Copy, Clone, Debug)]
pub struct Place {
    /// What it is.
    pub item: Item,
    /// Its row.
    pub row: usize,
    /// Its width.
    pub width: f64,
    /// Horizontal position of its centre.
    pub x: f64,
}

/// Part of an edge between neighbouring rows; places by number.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Link {
    /// Upper end.
    pub from: usize,
    /// Lower end.
    pub to: usize,
    /// Kind of the edge.
    pub kind: Kind,
}

/// A finished layout.
pub struct Layers {
    /// All items.
    pub places: Vec<Place>,
    /// All links.
    pub links: Vec<Link>,
    /// Levels in use, ascending; the first is that of row 1.
    pub levels: Vec<u32>,
    /// Place numbers of each row, left to right.
    pub rows: Vec<Vec<usize>>,
}

/// Upper and lower neighbours of a place, with the port at which each sends its edge.
#[derive(Clone, Default)]
struct Neighbours {
    sides: [Vec<(usize, i8)>; 2],
}

impl Layers {
    /// Lay out an export; `width` tells how much room an item needs.
    pub fn new(export: &Export, width: &dyn Fn(Item) -> f64) -> Layers {
        let mut builder = Builder::new(export, width);
        for (at, &edge) in export.roots.iter().enumerate() {
            let kind = if edge.complement { Kind::RootComplement } else { Kind::Root };
            let row = builder.row_of(edge.node) - 1;
            let from = builder.place(Item::Root(at), row);
            builder.connect(from, edge, kind);
        }
        // Parents first, so that the first order follows the diagram from its roots.
        for number in (1..=export.nodes.len() as u32).rev() {
            let node = export.nodes[number as usize - 1];
            let from = builder.place(Item::Node(number), builder.row_of(number));
            let kind = if node.high.complement { Kind::HighComplement } else { Kind::High };
            builder.connect(from, node.low, Kind::Low);
            builder.connect(from, node.high, kind);
        }
        let mut layers = builder.layers;
        layers.links.sort_unstable();
        layers.links.dedup();
        let neighbours = layers.neighbours();
        layers.reduce_crossings(&neighbours);
        layers.position(&neighbours);
        layers
    }

    /// Leftmost and rightmost extent.
    pub fn extent(&self) -> (f64, f64) {
        let left = self.places.iter().map(|place| place.x - place.width / 2.0).reduce(f64::min);
        let right = self.places.iter().map(|place| place.x + place.width / 2.0).reduce(f64::max);
        (left.unwrap_or(0.0), right.unwrap_or(0.0))
    }

    fn neighbours(&self) -> Vec<Neighbours> {
        let mut neighbours = vec![Neighbours::default(); self.places.len()];
        for link in &self.links {
            neighbours[link.to].sides[0].push((link.from, link.kind.port()));
            neighbours[link.from].sides[1].push((link.to, 0));
        }
        neighbours
    }

    /// Sort rows by the mean position of neighbours in the row before (down) or after (up), and keep the best order seen.
    fn reduce_crossings(&mut self, neighbours: &[Neighbours]) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..ORDER_SWEEPS {
            let side = sweep % 2;
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            if side == 1 {
                order.reverse();
            }
            for row in order {
                let keys = self.barycentres(row, side, neighbours);
                self.rows[row].sort_by(|a, b| keys[a].total_cmp(&keys[b]));
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// For each place of a row, the mean index of its neighbours on one side; lone places stay where they are in
    /// proportion.
    fn barycentres(&self, row: usize, side: usize, neighbours: &[Neighbours]) -> HashMap<usize, f64> {
        let other = if side == 0 { row.checked_sub(1) } else { Some(row + 1) };
        let other = other.and_then(|row| self.rows.get(row)).map_or(&[][..], Vec::as_slice);
        let index: HashMap<usize, usize> = other.iter().enumerate().map(|(at, &place)| (place, at)).collect();
        let stretch = other.len().max(1) as f64 / self.rows[row].len() as f64;
        let key = |(at, &place): (usize, &usize)| {
            let beside = |&(other, port): &(usize, i8)| index[&other] as f64 + 0.25 * f64::from(port);
            let centre = mean(neighbours[place].sides[side].iter().map(beside));
            (place, centre.unwrap_or((at as f64 + 0.5) * stretch - 0.5))
        };
        self.rows[row].iter().enumerate().map(key).collect()
    }

    /// Number of pairs of links that cross.
    fn crossings(&self) -> usize {
        let mut index = vec![0; self.places.len()];
        self.rows.iter().for_each(|row| row.iter().enumerate().for_each(|(at, &place)| index[place] = at));
        let mut by_row = vec![Vec::new(); self.rows.len()];
        for link in &self.links {
            let start = 3 * index[link.from] as i64 + i64::from(link.kind.port());
            by_row[self.places[link.from].row].push((start, index[link.to]));
        }
        by_row.into_iter().map(inversions).sum()
    }

    /// Move every item towards the mean of its neighbours, as far as its row's order and the gaps allow.
    fn position(&mut self, neighbours: &[Neighbours]) {
        for row in 0..self.rows.len() {
            let wishes: Vec<(f64, f64)> = self.rows[row].iter().map(|_| (0.0, 1.0)).collect();
            self.settle(row, &wishes);
        }
        for sweep in 0..POSITION_SWEEPS {
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            if sweep % 2 == 1 {
                order.reverse();
            }
            for row in order {
                let wishes: Vec<(f64, f64)> = self.rows[row].iter().map(|&at| self.wish(at, neighbours)).collect();
                self.settle(row, &wishes);
            }
        }
    }

    /// Where a place would like to be, and how strongly.
    fn wish(&self, at: usize, neighbours: &[Neighbours]) -> (f64, f64) {
        let is_bend = |at: usize| matches!(self.places[at].item, Item::Bend { .. });
        let (mut sum, mut weight) = (0.0, 0.0);
        for &(other, _) in neighbours[at].sides.iter().flatten() {
            let strength = if is_bend(at) && is_bend(other) { BEND_WEIGHT } else { 1.0 };
            sum += strength * self.places[other].x;
            weight += strength;
        }
        if weight == 0.0 { (self.places[at].x, 1.0) } else { (sum / weight, weight) }
    }

    /// The positions of a row nearest to the wishes, in least squares: pool neighbours that would overlap.
    fn settle(&mut self, row: usize, wishes: &[(f64, f64)]) {
        let mut offsets = Vec::new();
        let mut edge = 0.0;
        for &at in &self.rows[row] {
            offsets.push(edge + self.places[at].width / 2.0);
            edge += self.places[at].width + GAP;
        }
        // Blocks of (position, weight, members): members keep their offsets from each other.
        let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
        for (&(wish, weight), offset) in wishes.iter().zip(&offsets) {
            let mut block = (wish - offset, weight, 1);
            while let Some(&(position, weight, members)) = blocks.last().filter(|last| last.0 >= block.0) {
                let total = weight + block.1;
                block = ((position * weight + block.0 * block.1) / total, total, members + block.2);
                blocks.pop();
            }
            blocks.push(block);
        }
        let bases = blocks.iter().flat_map(|&(position, _, members)| std::iter::repeat_n(position, members));
        for ((&at, offset), base) in self.rows[row].iter().zip(&offsets).zip(bases) {
            self.places[at].x = base + offset;
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// Pairs that are in order on one side and out of order on the other: counted in a Fenwick tree.
fn inversions(mut links: Vec<(i64, usize)>) -> usize {
    links.sort_unstable();
    let size = links.iter().map(|link| link.1 + 1).max().unwrap_or(0);
    let mut tree = vec![0usize; size + 1];
    let mut total = 0;
    for (seen, &(_, to)) in links.iter().enumerate() {
        let mut not_right = 0;
        let mut at = to + 1;
        while at > 0 {
            not_right += tree[at];
            at &= at - 1;
        }
        total += seen - not_right;
        at = to + 1;
        while at <= size {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    total
}

struct Builder<'a> {
    export: &'a Export,
    width: &'a dyn Fn(Item) -> f64,
    known: HashMap<(Item, usize), usize>,
    layers: Layers,
}

impl<'a> Builder<'a> {
    fn new(export: &'a Export, width: &'a dyn Fn(Item) -> f64) -> Builder<'a> {
        let levels: BTreeSet<u32> = export.nodes.iter().map(|node| node.level).collect();
        let levels: Vec<u32> = levels.into_iter().collect();
        let rows = vec![Vec::new(); levels.len() + 2];
        let layers = Layers { places: Vec::new(), links: Vec::new(), levels, rows };
        Builder { export, width, known: HashMap::new(), layers }
    }

    fn row_of(&self, node: u32) -> usize {
        if node == 0 {
            return self.layers.levels.len() + 1;
        }
        let level = self.export.nodes[node as usize - 1].level;
        1 + self.layers.levels.binary_search(&level).expect("levels come from the nodes")
    }

    /// The place of an item, new or known.
    fn place(&mut self, item: Item, row: usize) -> usize {
        let layers = &mut self.layers;
        *self.known.entry((item, row)).or_insert_with(|| {
            layers.rows[row].push(layers.places.len());
            layers.places.push(Place { item, row, width: (self.width)(item), x: 0.0 });
            layers.places.len() - 1
        })
    }

    /// Lead an edge down to its node, through a bend in each row that it passes.
    fn connect(&mut self, mut from: usize, edge: ImportEdge, kind: Kind) {
        let last = self.row_of(edge.node);
        for row in self.layers.places[from].row + 1..=last {
            let bend = Item::Bend { target: edge.node, kind };
            let to = self.place(if row == last { Item::Node(edge.node) } else { bend }, row);
            self.layers.links.push(Link { from, to, kind });
            from = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Manager};

    #[test]
    fn crossings_are_counted() {
        assert_eq!(inversions(vec![(0, 1), (1, 0)]), 1);
        assert_eq!(inversions(vec![(0, 0), (0, 1), (1, 1), (2, 2)]), 0);
        assert_eq!(inversions(vec![(0, 3), (1, 2), (2, 1), (3, 0)]), 6);
    }

    #[test]
    fn rows_are_sorted_without_overlap() {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        let x: Vec<_> = (0..10).map(|level| manager.var(level).unwrap()).collect();
        let mut f = manager.constant(false);
        for (a, b) in [(0, 5), (1, 7), (2, 6), (3, 9), (4, 8)] {
            f = f.or(&x[a].and(&x[b]).unwrap()).unwrap();
        }
        let layers = Layers::new(&manager.export(&[&f]).unwrap(), &|_| 20.0);
        assert!(layers.links.iter().all(|l| layers.places[l.from].row + 1 == layers.places[l.to].row));
        for row in &layers.rows {
            for two in row.windows(2) {
                assert!(layers.places[two[1]].x - layers.places[two[0]].x > 20.0 + GAP - 1e-6);
            }
        }
    }
}
