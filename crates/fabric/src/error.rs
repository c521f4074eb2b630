//! What can go wrong: calls that make no sense are values; a lost rank ends the computation.

use std::fmt;

/// Why a call was refused. Nothing has been changed by it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// The computation has no such rank.
    #[error("there is no rank {rank} among {ranks}")]
    NoSuchRank {
        /// The rank asked for.
        rank: usize,
        /// How many there are.
        ranks: usize,
    },
    /// Words outside a segment.
    #[error("{length} words at offset {offset} of rank {rank} lie outside a segment of {words} words on {ranks} ranks")]
    OutOfSegment {
        /// The rank asked for.
        rank: usize,
        /// The offset of the first word asked for.
        offset: usize,
        /// How many words were asked for.
        length: usize,
        /// The words of the segment on each rank.
        words: usize,
        /// How many ranks there are.
        ranks: usize,
    },
    /// Words outside a block-distributed array.
    #[error("{length} words at index {index} lie outside an array of {words} words")]
    OutOfArray {
        /// The index of the first word asked for.
        index: usize,
        /// How many words were asked for.
        length: usize,
        /// The length of the array.
        words: usize,
    },
    /// A rank could not get the memory for its part of a segment.
    #[error("rank {rank} cannot allocate {words} words")]
    NoMemory {
        /// The lowest rank without memory.
        rank: usize,
        /// The words it needed.
        words: usize,
    },
    /// The ranks called the same collective with arguments that do not fit together.
    #[error("rank {rank} does not call `{call}` with the root, operation and length of rank 0")]
    Disagreement {
        /// The collective, as rank 0 calls it.
        call: &'static str,
        /// The lowest rank that differs from rank 0.
        rank: usize,
    },
    /// An `all_to_all` without exactly one message for each rank.
    #[error("`all_to_all` needs a message for each of {ranks} ranks and got {messages}")]
    MessageCount {
        /// The messages given.
        messages: usize,
        /// How many ranks there are.
        ranks: usize,
    },
    /// A rank was lost. Only a rank that is unwinding already gets to see this; all others are unwound.
    #[error(transparent)]
    Lost(#[from] RankLost),
}

/// A rank is gone, and the whole computation with it.
///
/// From then on no rank waits any more: a call to the fabric does not return but unwinds its rank, without running the
/// panic hook. What started the ranks returns this error, naming the rank that was lost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankLost {
    /// The rank that was lost first.
    pub rank: usize,
    /// Where it runs, or ran, if ranks may run on several hosts.
    pub host: Option<String>,
    /// How it was lost.
    pub cause: LossCause,
}

impl RankLost {
    /// A loss on a host that nobody needs to be told.
    pub(crate) fn new(rank: usize, cause: LossCause) -> RankLost {
        RankLost { rank, host: None, cause }
    }
}

impl std::error::Error for RankLost {}

impl fmt::Display for RankLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankLost { rank, host, cause } = self;
        match host {
            Some(host) => write!(f, "rank {rank} on {host} {cause}"),
            None => write!(f, "rank {rank} {cause}"),
        }
    }
}

/// How a rank was lost.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LossCause {
    /// It panicked, with this message.
    #[error("panicked: {0}")]
    Panicked(String),
    /// Its program came to an end while another rank waits for it in a barrier or collective.
    #[error("ended while other ranks wait for it")]
    EndedEarly,
    /// It has not been heard of for some time.
    #[error("has not been heard of for {seconds} s")]
    Silent {
        /// For how long.
        seconds: u64,
    },
    /// The connection to it has broken down.
    #[error("is gone: its connection has broken down")]
    Disconnected,
    /// Its process does not exist any more.
    #[error("is gone: its process has died")]
    Died,
    /// Its network refuses requests, and no lost rank explains it.
    #[error("cannot use its network: {0}")]
    Network(String),
    /// It was stopped, and has come to life again.
    #[error("was stopped for {seconds} s")]
    Stopped {
        /// For how long.
        seconds: u64,
    },
    /// Another rank says so.
    #[error("is lost, says rank {by}")]
    Reported {
        /// The rank that has seen it.
        by: usize,
    },
    /// The system would not start it.
    #[error("could not be started: {0}")]
    NotStarted(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_names_the_host_where_there_are_several() {
        let lost = RankLost::new(2, LossCause::Stopped { seconds: 9 });
        assert_eq!(lost.to_string(), "rank 2 was stopped for 9 s");
        let lost = RankLost { host: Some("n4".to_owned()), ..lost };
        assert_eq!(lost.to_string(), "rank 2 on n4 was stopped for 9 s");
    }
}
