//! PNML files made to cost much are refused soon, and before much of them is held.
//!
//! The files are streams without an end, so that a reader that waits for one, or keeps what it reads, shows.

mod common;

use std::io::{self, Cursor, Read, Write};
use std::time::{Duration, Instant};

use common::gzip;
use common::net_property::reading_a_net_is_safe;
use tremula_models::{FormatError, Limits, PetriNet, read_pnml};

/// What a refusal may take. Ten times what it should, as other tests run at the same time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most memory that this program may ever have held, in KiB.
const MEMORY: u64 = 50 << 10;

const START: &str = "<pnml>\n<net id='n' type='ptnet'>\n";

/// One text over and over.
struct Endless {
    text: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (&self.text[self.at..]).read(buffer)?;
        self.at = (self.at + count) % self.text.len();
        Ok(count)
    }
}

/// A start, then one text without an end.
fn endless(start: &str, text: &str) -> impl Read {
    // Large pieces, so that reading them is not what takes time.
    let text = text.repeat(1 + (1 << 16) / text.len()).into_bytes();
    Cursor::new(start.as_bytes().to_vec()).chain(Endless { text, at: 0 })
}

/// The peak of this program's memory in KiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Asserts that a file is refused in time and memory, with these words.
fn assert_refused(what: &str, reader: impl Read, words: &str) {
    let started = Instant::now();
    let message = read_pnml(reader, &Limits::default()).expect_err(what).to_string();
    let elapsed = started.elapsed();
    println!("{what}: {elapsed:.1?}, peak {:?} KiB so far", peak_memory());
    assert!(message.contains(words), "{what}: {message:?} should contain {words:?}");
    assert!(elapsed < PATIENCE, "{what} took {elapsed:?}");
    assert!(peak_memory().is_none_or(|peak| peak < MEMORY), "{what} took {:?} KiB", peak_memory());
}

#[test]
fn items_without_an_end() {
    let too_large =
        "expected a tag, text or comment of at most 4194304 bytes (a limit of the reader), found a longer one";
    let cases = [
        ("no XML at all", String::new(), "x"),
        ("white space", String::new(), " \n"),
        ("an open tag", String::new(), "<"),
        ("a name of an element", "<p".to_owned(), "p"),
        ("attributes", "<pnml".to_owned(), " a='b'"),
        ("an attribute", "<pnml a='".to_owned(), "b"),
        ("a comment", "<!--".to_owned(), "- "),
        ("an instruction", "<?".to_owned(), "? "),
        ("declarations", "<!DOCTYPE pnml [".to_owned(), "<!ENTITY a 'b'>"),
        ("broken declarations", "<!DOCTYPE pnml [".to_owned(), "<!"),
        ("a marking", format!("{START}<place id='p'><initialMarking><text>"), "9"),
        ("a marking in pieces", format!("{START}<place id='p'><initialMarking><text>"), "9<!-- -->"),
        (
            "a list of places",
            format!("{START}<toolspecific tool='nupn' version='1.1'><structure root='u'><unit id='u'><places>"),
            "abcdefg ",
        ),
        ("CDATA", format!("{START}<place id='p'><name><text><![CDATA["), "]"),
        ("a reference", format!("{START}<place id='p'><name><text>&"), "a"),
    ];
    for (what, start, text) in cases {
        assert_refused(what, endless(&start, text), too_large);
    }
}

#[test]
fn elements_within_elements_without_an_end() {
    let words = "expected at most 256 elements within each other (a limit of the reader)";
    assert_refused("pages", endless(START, "<page id='p'>"), words);
    assert_refused("unknown elements", endless(&format!("{START}<graphics>"), "<a>"), words);
    let start = format!("{START}<toolspecific tool='other' version='1'>");
    assert_refused("data of other tools", endless(&start, "<toolspecific>"), words);
}

#[test]
fn many_attributes() {
    let attributes: String = (0..1 << 18).map(|number| format!(" a{number}=''")).collect();
    let file = format!("{START}<place id='p'{attributes}/></net></pnml>");
    assert_refused("attributes", file.as_bytes(), "expected at most 64 attributes (a limit of the reader), found more");
}

#[test]
fn billion_laughs() {
    let mut text = "<!DOCTYPE pnml [<!ENTITY a0 'ha'>".to_owned();
    for level in 1..=30 {
        let before = format!("&a{};", level - 1).repeat(10);
        text += &format!("<!ENTITY a{level} '{before}'>");
    }
    text += &format!("]>\n{START}<place id='p'><name><text>&a30;</text></name></place></net></pnml>");
    let words = "line 1, column 1: expected a file without declarations of entities";
    assert_refused("a billion laughs", text.as_bytes(), words);
    let external = "<!DOCTYPE pnml [<!ENTITY a SYSTEM '/etc/passwd'>]><pnml>&a;</pnml>";
    assert_refused("a foreign file", external.as_bytes(), words);
    let inside = format!("{START}<!DOCTYPE pnml></net></pnml>");
    assert_refused("a late document type", inside.as_bytes(), "line 3, column 1: expected an element");
    let undeclared = format!("{START}<place id='&a30;'/></net></pnml>");
    assert_refused(
        "an entity of nobody",
        undeclared.as_bytes(),
        "line 3, column 1: expected the value of an attribute",
    );
}

#[test]
fn claimed_counts_reserve_nothing() {
    let structure = "<size places='18446744073709551615'/><structure units='18446744073709551615' root='u'>\
        <unit id='u'/></structure>";
    let file = format!("{START}<toolspecific tool='nupn' version='1.1'>{structure}</toolspecific></net></pnml>");
    assert_refused("a count of units", file.as_bytes(), "expected as many units as the attribute says");
    let digits = "9".repeat(1 << 20);
    let file =
        format!("{START}<place id='p'><initialMarking><text>{digits}</text></initialMarking></place></net></pnml>");
    assert_refused("a number with a million digits", file.as_bytes(), "expected a number of tokens from 0 to ");
}

#[test]
fn references_in_a_long_circle() {
    let mut text = START.to_owned();
    let count = 20_000;
    for number in 0..count {
        text += &format!("<referencePlace id='r{number}' ref='r{}'/>\n", (number + 1) % count);
    }
    text += "</net></pnml>";
    assert_refused("a circle of references", text.as_bytes(), "found a circle of references");
}

#[test]
fn long_chains_of_references_and_units_are_fine() {
    let count = 20_000;
    let mut text = START.to_owned();
    // Each refers to the next, which is the worst order to follow them in.
    for number in 0..count {
        text += &format!("<referencePlace id='r{number}' ref='r{}'/>", number + 1);
    }
    text += &format!("<place id='r{count}'/><toolspecific tool='nupn' version='1.1'><structure root='u0'>");
    for number in 0..count {
        text += &format!("<unit id='u{number}'><subunits>u{}</subunits></unit>", number + 1);
    }
    text += &format!("<unit id='u{count}'><places>r0</places></unit></structure></toolspecific></net></pnml>");
    let net = read_pnml(text.as_bytes(), &Limits::default()).expect("a net");
    assert_eq!(net.check(), Ok(()));
    assert_eq!(net.units.expect("units").units.len(), count + 1);
}

#[test]
fn limits_hold() {
    let places: String = (0..10).map(|number| format!("<place id='p{number}'/>\n")).collect();
    let file = format!("{START}{places}</net></pnml>");
    let read = |limits: Limits| -> Result<PetriNet, FormatError> { read_pnml(file.as_bytes(), &limits) };
    let exact = Limits { max_bytes: file.len() as u64, max_net_items: 10, ..Limits::default() };
    assert_eq!(read(exact.clone()).expect("a net").places.len(), 10);
    let message = read(Limits { max_net_items: 9, ..exact.clone() }).expect_err("too many").to_string();
    let rest =
        "expected at most 9 places, transitions, arcs, references, units and names in lists (a limit of the reader)";
    assert_eq!(message, format!("line 12, column 1: {rest}, found more"));
    let short = Limits { max_bytes: file.len() as u64 - 1, ..exact };
    let message = read(short.clone()).expect_err("too large").to_string();
    assert_eq!(message, format!("larger than the limit of {} bytes", short.max_bytes));
    let message = read_pnml(gzip(file.as_bytes()).as_slice(), &short).expect_err("too large").to_string();
    assert_eq!(message, format!("larger than the limit of {} bytes when uncompressed", short.max_bytes));
    let message = read_pnml(endless(START, "<graphics/>"), &short).expect_err("too large").to_string();
    assert_eq!(message, format!("larger than the limit of {} bytes", short.max_bytes));
}

#[test]
fn decompression_bombs_are_cut_off() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let spaces = [b' '; 1 << 16];
    for _ in 0..1 << 12 {
        encoder.write_all(&spaces).expect("compressed");
    }
    let bomb = encoder.finish().expect("compressed");
    assert!(bomb.len() < 4 << 20);
    assert_refused("a bomb", bomb.as_slice(), "expected a tag, text or comment of at most");
}

#[test]
fn failures_to_read_are_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let error = read_pnml(START.as_bytes().chain(Broken), &Limits::default()).expect_err("broken");
    assert!(matches!(error, FormatError::Io(_)), "{error:?}");
    assert_eq!(error.to_string(), "cannot read: the disk is on fire");
}

#[test]
fn no_flipped_bit_and_no_missing_byte_causes_a_panic() {
    let text = include_bytes!("../../../fuzz/seeds/all.pnml");
    for at in 0..text.len() {
        let mut cut = text.to_vec();
        cut.remove(at);
        reading_a_net_is_safe(&cut);
        for bit in 0..8 {
            let mut flipped = text.to_vec();
            flipped[at] ^= 1 << bit;
            reading_a_net_is_safe(&flipped);
        }
    }
}
