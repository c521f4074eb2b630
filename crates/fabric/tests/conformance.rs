//! The conformance suite on backends that start their ranks from inside a program. A backend joins with one line at the
//! end of this file.

mod cases;

use cases::{
    a_panic_releases_those_in_a_barrier, a_panic_releases_those_in_a_collective, a_panic_releases_those_that_poll,
    a_panic_releases_those_that_sleep, an_early_end_releases_those_that_wait,
    destructors_may_wait_while_a_rank_unwinds,
};
use tremula_fabric::{Fabric, LossCause, RankLost};

/// One, two, an odd number, a power of two, and more than this machine may have processors.
const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

/// How ranks are started: on so many of them, run this.
type Launch<F> = fn(usize, fn(&F)) -> Result<Vec<()>, RankLost>;

fn expect_panic<F: Fabric>(launch: Launch<F>, body: fn(&F), told: &str) {
    for ranks in RANKS {
        let lost = launch(ranks, body).expect_err("a rank panicked");
        assert_eq!(lost.rank, ranks - 1);
        let LossCause::Panicked(message) = &lost.cause else { panic!("{lost}") };
        assert!(message.contains(told), "{lost}");
    }
}

fn expect_early_end<F: Fabric>(launch: Launch<F>) {
    for ranks in RANKS {
        let ended = launch(ranks, an_early_end_releases_those_that_wait);
        let lost = RankLost { rank: ranks - 1, host: None, cause: LossCause::EndedEarly };
        assert_eq!(ended, if ranks == 1 { Ok(vec![()]) } else { Err(lost) });
    }
}

/// All cases for a backend: its name, its endpoint, and what starts its ranks.
macro_rules! conformance {
    ($backend:ident, $fabric:ty, $launch:expr) => {
        cases::with_all_cases! { conformance! @cases $backend, $fabric, $launch }
    };
    (@cases $backend:ident, $fabric:ty, $launch:expr; $($case:ident),*) => {
        mod $backend {
            use super::*;

            const LAUNCH: Launch<$fabric> = $launch;

            $(#[test]
            fn $case() {
                for ranks in RANKS {
                    assert_eq!(LAUNCH(ranks, cases::$case), Ok(vec![(); ranks]));
                }
            })*

            #[test]
            fn a_panic_of_one_rank_ends_all() {
                expect_panic(LAUNCH, a_panic_releases_those_in_a_barrier, "as it should");
                expect_panic(LAUNCH, a_panic_releases_those_in_a_collective, "as it should");
                expect_panic(LAUNCH, a_panic_releases_those_that_poll, "as it should");
                expect_panic(LAUNCH, a_panic_releases_those_that_sleep, "as it should");
                expect_panic(LAUNCH, destructors_may_wait_while_a_rank_unwinds, "unwinding");
            }

            #[test]
            fn an_early_end_of_one_rank_ends_all() {
                expect_early_end(LAUNCH);
            }
        }
    };
}

conformance!(threads, tremula_fabric::threads::ThreadFabric, tremula_fabric::threads::run);
