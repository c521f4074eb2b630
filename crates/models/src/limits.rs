//! How much a file may cost to read.

/// Bounds on the resources that reading one file may take.
///
/// The defaults suit files of up to a gigabyte; a file that needs more is refused with an
/// error that names the bound.
///
/// ```
/// use tremula_models::{Limits, read_bdd};
///
/// let limits = Limits { max_bytes: 8, ..Limits::default() };
/// let error = read_bdd([0_u8; 9].as_slice(), &limits).unwrap_err();
/// assert!(error.to_string().contains("8 bytes"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file after decompression. All of them are held while reading a `.bdd` file; PNML is read as a
    /// stream.
    pub max_bytes: u64,
    /// Decision nodes in the file, counted before equal nodes are merged.
    pub max_nodes: u64,
    /// Integers in the read and write lists of all groups together. Groups of the legacy layout
    /// can share one description of such a list, so the file's size alone does not bound this.
    pub max_projections: u64,
    /// The sizes of all sets, relations and cubes of variables added up, a node counting once for
    /// every one that uses it. Bounds the time that checking a file takes, and the size of the
    /// same system in the Sylvan layout.
    pub max_relation_nodes: u64,
    /// Places, transitions, arcs, references, units and names in lists of a PNML file, all together. Bounds the memory
    /// for a net, as the shortest of them take fewer bytes in a file than in memory.
    pub max_net_items: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            max_nodes: 1 << 26,
            max_projections: 1 << 26,
            max_relation_nodes: 1 << 32,
            max_net_items: 1 << 26,
        }
    }
}
