//! Models of list decision diagrams, and the `.ldd` files they are read from.
//!
//! ```
//! use tremula_models::{LddSystem, ListGroup, ListNode};
//!
//! // One integer that starts at 0 and, from 0, becomes 1. Ids from 2 on are positions in `nodes`.
//! let node = |value, down| ListNode { value, copy: false, down, right: LddSystem::EMPTY };
//! let system = LddSystem {
//!     integers: 1,
//!     nodes: vec![node(0, LddSystem::UNIT), node(1, LddSystem::UNIT), node(0, 3)],
//!     initial: 2,
//!     groups: vec![ListGroup { reads: vec![0], writes: vec![0], relation: 4 }],
//!     reachable: None,
//!     action_labels: Vec::new(),
//! };
//! assert_eq!(system.check(), Ok(()));
//! ```

mod read;
mod shape;
mod system;

pub use read::{read_ldd, read_ldd_file};
pub use system::{LddSystem, ListError, ListGroup, ListNode, MAX_INTEGERS};
