//! Any bytes, compressed or not, are a model of lists or an error.
#![no_main]

#[path = "../../crates/models/tests/common/property.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::reading_lists_is_safe(data));
