//! The packages under comparison, one module each behind a Cargo feature.
//!
//! A further peer is a module with a type that implements [`Peer`], a feature,
//! and a line in [`PEERS`]. Every peer may use about 1 GB for its tables.

#[cfg(feature = "biodivine")]
mod biodivine;
#[cfg(feature = "buddy")]
mod buddy;
#[cfg(feature = "cudd")]
mod cudd;
#[cfg(feature = "oxidd")]
mod oxidd;
#[cfg(feature = "sylvan")]
mod sylvan;
#[cfg(feature = "tremula")]
mod tremula;

use crate::Outcome;

/// A package's manager, as far as the benchmark needs one.
pub trait Peer: Sized {
    /// A diagram that stays valid until dropped.
    type Node;

    /// Creates a manager of `variables` variables, ordered by their number,
    /// and runs `job` on it, perhaps on a thread of the package.
    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T;

    /// The variable, or its negation.
    fn literal(&mut self, variable: u32, positive: bool) -> Self::Node;

    /// The conjunction.
    fn and(&mut self, left: &Self::Node, right: &Self::Node) -> Self::Node;

    /// The disjunction.
    fn or(&mut self, left: &Self::Node, right: &Self::Node) -> Self::Node;

    /// The number of satisfying assignments over all variables.
    fn count(&mut self, node: &Self::Node) -> u64;
}

/// The peers compiled in: name, and how to solve a board of a size.
pub const PEERS: &[(&str, fn(u32) -> Outcome)] = &[
    #[cfg(feature = "biodivine")]
    ("biodivine-lib-bdd", crate::solve::<biodivine::Biodivine>),
    #[cfg(feature = "buddy")]
    ("buddy", crate::solve::<buddy::Buddy>),
    #[cfg(feature = "cudd")]
    ("cudd", crate::solve::<cudd::Cudd>),
    #[cfg(feature = "oxidd")]
    ("oxidd", crate::solve::<oxidd::Oxidd>),
    #[cfg(feature = "sylvan")]
    ("sylvan", crate::solve::<sylvan::Sylvan>),
    #[cfg(feature = "tremula")]
    ("tremula", crate::solve::<tremula::Tremula<false>>),
    #[cfg(feature = "tremula")]
    ("tremula-defaults", crate::solve::<tremula::Tremula<true>>),
];
