//! Switches of the ablation study, as compile-time constants.
//!
//! Each constant is one technique whose worth `bench/ablation.py` measures by building with the cargo feature that
//! turns it off. The default build has them all on; the branches on these constants cost nothing.

/// Prefetch cache entries and nodes of sub-problems before they are needed.
pub const PREFETCH: bool = !cfg!(feature = "no-prefetch");
/// Ask the kernel for huge pages under all tables.
pub const HUGE_PAGES: bool = !cfg!(feature = "no-huge-pages");
/// Compare the hash tag in the index word before reading the node.
pub const INDEX_TAGS: bool = !cfg!(feature = "no-index-tags");
/// Keep cache entries of neighbouring nodes on one page.
pub const NEAR_CACHE: bool = !cfg!(feature = "scattered-cache");
/// Keep index slots of nodes with neighbouring children on one page.
pub const NEAR_INDEX: bool = !cfg!(feature = "scattered-index");
/// Start with small tables and grow, instead of taking the whole budget at once.
pub const GROW: bool = !cfg!(feature = "full-size-start");
/// Keep cache entries whose nodes all survive a collection.
pub const KEEP_CACHE: bool = !cfg!(feature = "clear-cache-on-collect");
