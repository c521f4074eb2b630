//! The conformance suite on ranks that are threads: where ranks address each other's memory and where they do not.

mod cases;
mod common;

use common::Veiled;
use tremula_distributed::Form;
use tremula_fabric::threads::{self, ThreadFabric};

/// Each case as two tests.
macro_rules! conformance {
    (; $($case:ident),*) => {
        mod in_memory_that_all_ranks_address {
            use super::*;

            $(#[test]
            fn $case() {
                on_all(cases::$case);
            })*
        }

        mod through_the_fabric {
            use super::*;

            $(#[test]
            fn $case() {
                on_all(|fabric| cases::$case(&Veiled(fabric)));
            })*
        }
    };
}
cases::with_all_cases! { conformance! }

fn on_all(case: fn(&ThreadFabric)) {
    [1, 2, 3, 5].into_iter().for_each(|ranks| drop(threads::run(ranks, case).unwrap()));
}

#[test]
fn owners_are_asked_where_memory_cannot_be_addressed() {
    let near = threads::run(3, |fabric| Form::preferred(fabric).unwrap()).unwrap();
    let far = threads::run(3, |fabric| Form::preferred(&Veiled(fabric)).unwrap()).unwrap();
    let alone = threads::run(1, |fabric| Form::preferred(&Veiled(fabric)).unwrap()).unwrap();
    assert_eq!((near, far, alone), (vec![Form::OneSided; 3], vec![Form::Owned; 3], vec![Form::OneSided]));
}
