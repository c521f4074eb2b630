//! The conformance suite on ranks that are processes: this program starts itself again under `mpirun`, on 1 to 4 ranks,
//! with their memory mapped and through the network.

mod cases;
#[path = "../../fabric/tests/mpirun/mod.rs"]
mod mpirun;

use mpirun::{Case, Test, all_cases};
use std::process::ExitCode;
use tremula_distributed::Form;
use tremula_fabric::processes::ProcessFabric;
use tremula_fabric::{Distance, Fabric};

macro_rules! list {
    (; $($case:ident),*) => {
        const CASES: &[Case] = &[
            ("owners_are_asked_through_the_network", owners_are_asked_through_the_network),
            $((stringify!($case), cases::$case as fn(&ProcessFabric))),*
        ];
    };
}
cases::with_all_cases! { list! }

const TESTS: &[Test] =
    &[("all_cases_with_mapped_memory", || all_cases(false)), ("all_cases_through_the_network", || all_cases(true))];

fn main() -> ExitCode {
    mpirun::main(TESTS, CASES, |_, role| panic!("no role {role}"))
}

fn owners_are_asked_through_the_network(fabric: &ProcessFabric) {
    let is_far = |rank: usize| fabric.distance(rank) == Ok(Distance::Remote);
    let network = fabric.ranks() > 1 && (mpirun::no_mapping() || (0..fabric.ranks()).any(is_far));
    assert_eq!(Form::preferred(fabric), Ok(if network { Form::Owned } else { Form::OneSided }));
}
