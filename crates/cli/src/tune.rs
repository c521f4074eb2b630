//! Hidden knobs for measurements: `--tune key=value`, once per knob.

use std::str::FromStr;
use tremula_diagrams::Options;

/// The knobs, as the error message lists them.
const KEYS: &str = "always-shared, worker-threshold, least-far-levels, lanes, lanes-always, lane-threshold, cache-per-node, initial-nodes, eager-nodes, eager-cache, live-share, node-patience, cache-patience, full-share, images-within, fibers, level-block, node-copies, window-patience, device-delay or device-twin";

/// One knob and where to turn it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Tune {
    /// Lanes that large operations run in; one switches them off.
    Lanes(usize),
    /// Use lanes for every operation beyond the threshold (1), or where they prove faster (0).
    LanesAlways(u8),
    /// Expansions that an operation does before it goes on in lanes.
    LaneThreshold(u64),
    /// Expansions that an operation does before it goes on with all workers.
    WorkerThreshold(u64),
    /// Levels that a task must have to go through before it goes to another rank of the host; zero if all may go.
    LeastFarLevels(u32),
    /// Use the shared table even with one worker (1), or not (0).
    AlwaysShared(u8),
    /// Cache entries per node.
    CachePerNode(f64),
    /// Nodes to start with.
    InitialNodes(usize),
    /// Grow at every collection up to this many nodes.
    EagerNodes(usize),
    /// Let misses alone grow the cache up to this many entries.
    EagerCache(usize),
    /// Grow when more than this share is alive after a collection.
    LiveShare(f64),
    /// Or when so many times the table was made since it last grew.
    NodePatience(usize),
    /// Let misses grow a large cache when they are so many times its entries.
    CachePatience(usize),
    /// Give up when more than this share is alive.
    FullShare(f64),
    /// Take known states away within images (1), or from whole images (0).
    ImagesWithin(u8),
    /// Fibers of each worker where other ranks are waited for.
    Fibers(usize),
    /// Levels of a block that belongs to one rank; zero to spread nodes by hash.
    LevelBlock(u32),
    /// Nodes of other ranks that a rank keeps copies of, at most.
    NodeCopies(usize),
    /// Steps that ranks wait for each other before their windows change.
    WindowPatience(u64),
    /// Milliseconds that the processors have for themselves before a device takes part.
    DeviceDelay(u64),
    /// Let the twin play the device beside the processors (1), or not (0).
    DeviceTwin(u8),
}

impl Tune {
    /// Is it about steps that travel between ranks?
    pub fn is_for_steps(self) -> bool {
        matches!(self, Tune::Fibers(_) | Tune::LevelBlock(_) | Tune::NodeCopies(_))
    }

    /// Is it about ranks that do not address each other's memory?
    pub fn is_for_hosts(self) -> bool {
        self.is_for_steps() || matches!(self, Tune::WindowPatience(_))
    }

    /// Turn the knob, if it is one of the tables'.
    pub fn apply(self, options: &mut Options) {
        let sizing = &mut options.sizing;
        match self {
            Tune::Lanes(value) => options.lanes = value,
            Tune::LanesAlways(value) => options.lanes_always = value == 1,
            Tune::LaneThreshold(value) => options.lane_threshold = value,
            Tune::AlwaysShared(value) => options.always_shared = value == 1,
            Tune::WorkerThreshold(value) => options.worker_threshold = value,
            Tune::LeastFarLevels(value) => options.least_far_levels = value,
            Tune::CachePerNode(value) => sizing.cache_per_node = value,
            Tune::InitialNodes(value) => sizing.initial_nodes = value,
            Tune::EagerNodes(value) => sizing.eager_nodes = value,
            Tune::EagerCache(value) => sizing.eager_cache = value,
            Tune::LiveShare(value) => sizing.live_share = value,
            Tune::NodePatience(value) => sizing.node_patience = value,
            Tune::CachePatience(value) => sizing.cache_patience = value,
            Tune::FullShare(value) => sizing.full_share = value,
            Tune::Fibers(value) => options.fibers = value,
            Tune::LevelBlock(value) => options.level_block = Some(value),
            Tune::NodeCopies(value) => options.node_copies = value,
            Tune::ImagesWithin(_) | Tune::WindowPatience(_) | Tune::DeviceDelay(_) | Tune::DeviceTwin(_) => {}
        }
    }
}

impl FromStr for Tune {
    type Err = String;

    fn from_str(text: &str) -> Result<Tune, String> {
        let (key, value) = text.split_once('=').ok_or("expected key=value")?;
        match key {
            "lanes" => within(value, 1, 256).map(Tune::Lanes),
            "lanes-always" => within(value, 0, 1).map(Tune::LanesAlways),
            "always-shared" => within(value, 0, 1).map(Tune::AlwaysShared),
            "worker-threshold" => within(value, 1, u64::MAX).map(Tune::WorkerThreshold),
            "least-far-levels" => within(value, 0, u32::MAX).map(Tune::LeastFarLevels),
            "lane-threshold" => within(value, 1, u64::MAX).map(Tune::LaneThreshold),
            "cache-per-node" => within(value, 0.001, 1000.0).map(Tune::CachePerNode),
            "initial-nodes" => within(value, 1, 1 << 31).map(Tune::InitialNodes),
            "eager-nodes" => within(value, 0, usize::MAX).map(Tune::EagerNodes),
            "eager-cache" => within(value, 0, usize::MAX).map(Tune::EagerCache),
            "live-share" => within(value, 0.01, 1.0).map(Tune::LiveShare),
            "node-patience" => within(value, 1, usize::MAX).map(Tune::NodePatience),
            "cache-patience" => within(value, 1, usize::MAX).map(Tune::CachePatience),
            "images-within" => within(value, 0, 1).map(Tune::ImagesWithin),
            "fibers" => within(value, 1, 4096).map(Tune::Fibers),
            "level-block" => within(value, 0, 1 << 22).map(Tune::LevelBlock),
            "node-copies" => within(value, 1, 1 << 28).map(Tune::NodeCopies),
            "window-patience" => within(value, 1, u64::MAX).map(Tune::WindowPatience),
            "device-delay" => within(value, 0, 3_600_000).map(Tune::DeviceDelay),
            "device-twin" => within(value, 0, 1).map(Tune::DeviceTwin),
            "full-share" => within(value, 0.01, 1.0).map(Tune::FullShare),
            _ => Err(format!("no knob `{key}`: expected {KEYS}")),
        }
    }
}

/// A number from `least` to `most`.
fn within<T: FromStr + PartialOrd + std::fmt::Display>(text: &str, least: T, most: T) -> Result<T, String> {
    match text.parse() {
        Ok(value) if value >= least && value <= most => Ok(value),
        _ => Err(format!("expected a number from {least} to {most}, not `{text}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_turn() {
        let mut options = Options::default();
        for text in ["lanes=1", "cache-per-node=0.5", "live-share=0.5", "eager-nodes=0"] {
            text.parse::<Tune>().unwrap().apply(&mut options);
        }
        assert_eq!((options.lanes, options.sizing.eager_nodes), (1, 0));
        assert_eq!((options.sizing.cache_per_node, options.sizing.live_share), (0.5, 0.5));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["lanes", "lanes=", "lanes=0", "lanes=-1", "live-share=nan", "cache-per-node=inf", "speed=2"] {
            assert!(text.parse::<Tune>().is_err(), "{text}");
        }
    }
}
