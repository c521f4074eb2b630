//! Counting in a tree that unfolds as one walks it: a task per node, spawned by its parent.

use super::Program;
use super::for_ranks::{ForRanks, Whole};
use crate::tasks_study::our_pool::OurPool;
use tremula_tasks::{Deque, Panicked, Plain, Work, Worker};

/// A tree given by its root and a rule for children.
pub(crate) trait Tree: Sync {
    /// Everything one needs to know to go on from a node.
    type Node: Plain;

    fn root(&self) -> Self::Node;

    /// What the node itself adds to the count.
    fn weight(&self, node: Self::Node) -> u64;

    fn children(&self, node: Self::Node) -> impl Iterator<Item = Self::Node> + Send;
}

/// The program that sums the weights of all nodes of a tree.
pub(crate) struct Count<T>(pub T);

fn sequential<T: Tree>(tree: &T, node: T::Node) -> u64 {
    tree.weight(node) + tree.children(node).map(|child| sequential(tree, child)).sum::<u64>()
}

fn node_count<T: Tree>(tree: &T, node: T::Node) -> u64 {
    1 + tree.children(node).map(|child| node_count(tree, child)).sum::<u64>()
}

impl<T: Tree> Work for Count<T> {
    type Task = T::Node;
    type Answer = u64;
    type State = ();

    fn state(&self, _: usize) {}

    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, node: T::Node) -> u64 {
        let spawned = self.0.children(node).map(|child| worker.spawn(child)).count();
        self.0.weight(node) + (0..spawned).map(|_| worker.join()).sum::<u64>()
    }
}

impl<T: Tree> Whole for Count<T> {
    fn whole(&self) -> T::Node {
        self.0.root()
    }
}

#[cfg(feature = "peers")]
fn by_rayon<T: Tree>(tree: &T, node: T::Node) -> u64 {
    tree.weight(node) + siblings_by_rayon(tree, &mut tree.children(node))
}

/// Offers a sibling and goes on to the next, as spawning in a loop does.
#[cfg(feature = "peers")]
fn siblings_by_rayon<T: Tree>(tree: &T, siblings: &mut (impl Iterator<Item = T::Node> + Send)) -> u64 {
    let Some(node) = siblings.next() else { return 0 };
    let (others, this) = rayon::join(|| siblings_by_rayon(tree, siblings), move || by_rayon(tree, node));
    others + this
}

#[cfg(feature = "peers")]
fn by_lace<T: Tree>(worker: &mut lace_ws::Worker, (tree, node): (&T, T::Node)) -> u64 {
    // Tokens have no size, so this vector is a counter.
    let mut spawned: Vec<_> = tree.children(node).map(|child| worker.spawn(by_lace, (tree, child))).collect();
    tree.weight(node) + std::iter::from_fn(|| spawned.pop().map(|token| worker.sync(token))).sum::<u64>()
}

impl<T: Tree> Program for Count<T> {
    fn sequential(&self) -> u64 {
        sequential(&self.0, self.0.root())
    }

    fn tasks(&self) -> u64 {
        node_count(&self.0, self.0.root()) - 1
    }

    fn pool(&self, pool: &mut OurPool) -> Result<u64, Panicked> {
        pool.run(self, self.0.root())
    }

    fn for_ranks(&self) -> Option<&dyn ForRanks> {
        Some(self)
    }

    #[cfg(feature = "peers")]
    fn rayon(&self) -> u64 {
        by_rayon(&self.0, self.0.root())
    }

    #[cfg(feature = "peers")]
    fn lace(&self, worker: &mut lace_ws::Worker) -> u64 {
        by_lace(worker, (&self.0, self.0.root()))
    }
}
