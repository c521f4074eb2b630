//! Any bytes are a net or an error; a net comes back when it is written plainly.
#![no_main]

#[path = "../../crates/models/tests/common/property.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::reading_a_net_is_safe(data));
