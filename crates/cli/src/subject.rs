//! What a device explores beside the processors, and the memory that is kept for it until then.

use crate::binary::BYTES_PER_NODE;
use crate::model;
use std::sync::Arc;
use tremula_diagrams::Budget;
use tremula_models::{BddSystem, LddSystem};

/// Bytes for each byte of the model while the device's relations are made, which takes more than keeping them. Measured: adding.3
/// takes 20.
const RELATIONS_PER_MODEL: usize = 20;
/// The part of all memory in which lists are brought into bits.
const SHARE_FOR_BITS: usize = 8;

/// A model in bits.
pub struct Model {
    pub system: Arc<BddSystem>,
    /// Its bytes, if nobody else has them.
    pub bytes: usize,
}

/// A model that the processors explore, as a device will want it.
pub struct Subject {
    /// Bytes that are kept before the processors begin and take what there is.
    pub kept: usize,
    /// Brings it into bits, in so many bytes.
    pub make: Box<dyn FnOnce(usize) -> Option<Model> + Send>,
}

impl Subject {
    /// A model that is in bits already.
    pub fn in_bits(system: &Arc<BddSystem>) -> Subject {
        let system = Arc::clone(system);
        Subject {
            kept: RELATIONS_PER_MODEL * model::bytes(&system),
            make: Box::new(|_| Some(Model { system, bytes: 0 })),
        }
    }

    /// Lists, which become bits when the device begins: most models are done by then.
    pub fn in_lists(lists: &Arc<LddSystem>, budget: &Budget) -> Subject {
        let lists = Arc::clone(lists);
        let make = move |bytes| {
            let system = lists.in_bits(bytes / BYTES_PER_NODE).ok()?.without_reachable();
            let bytes = model::bytes(&system);
            Some(Model { system: Arc::new(system), bytes })
        };
        Subject { kept: budget.limit() / SHARE_FOR_BITS, make: Box::new(make) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_models::{Limits, read_ldd_file};

    #[test]
    fn lists_become_bits_where_they_fit() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sylvan/anderson.4.ldd");
        let lists = Arc::new(read_ldd_file(path.as_ref(), &Limits::default()).unwrap());
        let make = |bytes| (Subject::in_lists(&lists, &Budget::new(bytes)).make)(bytes);
        assert!(make(1000).is_none());
        assert!(make(1 << 20).is_some_and(|model| model.bytes > 0));
    }
}
