//! The same for compressed files: bytes that may be gzip data, and gzip data of any bytes.
#![no_main]

#[path = "../../crates/models/tests/common/property.rs"]
mod property;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // The fuzzer seldom finds the magic number and the checksum, so it gets help with both.
    let mut damaged = vec![0x1f, 0x8b, 8];
    damaged.extend(data);
    property::reading_is_safe(&damaged);
    property::reading_is_safe(data);

    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("writing to memory");
    property::reading_is_safe(&encoder.finish().expect("writing to memory"));
});
