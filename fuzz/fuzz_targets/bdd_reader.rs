//! Any bytes are a model or an error; a model comes back from both layouts.
#![no_main]

#[path = "../../crates/models/tests/common/property.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::reading_is_safe(data));
