//! Any bytes are a net or an error; a net comes back when it is written plainly.
#![no_main]

#[path = "../../crates/models/tests/common/net_property.rs"]
mod net_property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| net_property::reading_a_net_is_safe(data));
