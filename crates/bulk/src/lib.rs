//! Reachability in bulk: all requests of a level at once.
//!
//! ```
//! use tremula_diagrams::{Attention, Budget, Manager};
//! use tremula_engines::{Order, Strategy, explore};
//! use tremula_bulk::{Bulk, Diagram, Graph, Twin};
//! use tremula_models::{Limits, read_file};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
//! let model = read_file(path.as_ref(), &Limits::default())?;
//! let graph = Graph::compile(&model)?;
//! let machine = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), 64 << 20)?;
//! let space = Bulk::new(machine, &graph, Attention::default());
//! let strategy = Strategy { order: Order::Par, frontier: true };
//! let reached = explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error)?;
//! let manager = Manager::new(&Budget::new(64 << 20))?;
//! let states = space.bring_back(&reached.states, &manager)?;
//! let levels: Vec<u32> = (0..model.state_bits()).map(|bit| 2 * bit).collect();
//! assert_eq!(states.count(&levels)?.to_string(), "80");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There is one operation, a *sweep*: the union of images of several sets under several relations, without the states
//! of another set. Down the levels, every request is split in two by the bit of its level; what is left of its elements
//! is sorted, equal requests become one, and plain ones are answered at once. Up the levels, every request becomes a
//! node. No union is ever computed of two results, so that the number of steps is twice the number of levels, whatever
//! the sets and relations are. `docs/gpu.md` tells more.
//!
//! Invariants: those of [`Machine`]; of the [`Graph`], that children of a relation lie at greater levels; of a request,
//! that its elements ascend, that none is plain, and that its level is the least of its parts.
//!
//! A [`Machine`] is what computes: the [`Twin`], one thread in plain Rust, or a device (crate `tremula-gpu`).
//!
//! Not yet: a machine of several threads; sets that are too large for the memory of one machine.

#![forbid(unsafe_code)]

mod diagram;
pub mod graph;
pub mod layout;
mod machine;
mod pace;
pub mod question;
pub mod shares;
mod space;
mod twin;
mod wide;

pub use diagram::Diagram;
pub use graph::{Graph, OutsideGroup};
pub use machine::{Costs, Figures, Grown, Machine, Part, Root, Trouble, as_they_are, take};
pub use shares::Shares;
pub use space::{Bulk, Set};
pub use twin::{GROWTH, Twin, first_table};
pub use wide::Wide;
