//! What tables and caches over ranks do, written once against the fabric; `conformance.rs` and `over_processes.rs` run it.
//!
//! All ranks run the same function, which leaves them in step.

mod caches;
mod owners;
mod tables;

pub use caches::{all_ranks_find_what_any_has_cached, caches_make_nothing_up, gets_read_at_most_twice};
pub use owners::{
    all_ranks_find_what_owners_remember, many_puts_arrive, owners_make_nothing_up, owners_messages_are_counted,
};
pub use tables::{
    any_tables_conform_one_sided, any_tables_conform_owned, inline_tables_conform, one_sided_tables_conform,
    owned_tables_conform, preferred_tables_conform,
};

use tremula_distributed::{Form, Key};
use tremula_fabric::Fabric;

/// Calls another macro with the arguments that it gets, a semicolon, and the names of all cases.
macro_rules! with_all_cases {
    ($then:ident! $($arguments:tt)*) => {
        $then! { $($arguments)*;
            one_sided_tables_conform, owned_tables_conform, inline_tables_conform, preferred_tables_conform,
            any_tables_conform_one_sided, any_tables_conform_owned, all_ranks_find_what_any_has_cached,
            gets_read_at_most_twice, caches_make_nothing_up, all_ranks_find_what_owners_remember,
            owners_make_nothing_up, many_puts_arrive, owners_messages_are_counted
        }
    };
}
pub(crate) use with_all_cases;

/// The key with a number, with all bits in use.
fn key(number: u64) -> Key {
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), !number]
}

/// The only result that is ever put for a key, with all bits in use.
fn result(key: Key) -> u64 {
    key[0].rotate_left(11) ^ key[1].wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn pairs(numbers: impl Iterator<Item = u64>) -> Vec<(Key, u64)> {
    numbers.map(|number| (key(number), result(key(number)))).collect()
}

/// *Collective.* So often, or less where each time goes through a network.
fn rounds(fabric: &impl Fabric, near: u64, far: u64) -> u64 {
    if Form::preferred(fabric).unwrap() == Form::OneSided { near } else { far }
}
