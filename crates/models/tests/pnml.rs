//! PNML files made by hand: each feature decodes to what it says, each mistake is named with its line and column.

mod common;

use common::gzip;
use tremula_models::{Arc, FormatError, Limits, PetriNet, Unit, Units, read_pnml};

/// A file with this in its only net, which starts in line 3.
fn file(content: &str) -> String {
    let net = r#"<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">"#;
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pnml>{net}\n{content}\n</net></pnml>\n")
}

fn read(text: &str) -> Result<PetriNet, FormatError> {
    let net = read_pnml(text.as_bytes(), &Limits::default())?;
    assert_eq!(net.check(), Ok(()));
    Ok(net)
}

fn net(content: &str) -> PetriNet {
    read(&file(content)).unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts where a file fails, and what the message is after that.
fn assert_file_fails(text: &str, line: u64, column: u64, rest: &str) {
    let error = read(text).expect_err("a mistake");
    assert_eq!(error.to_string(), format!("line {line}, column {column}: {rest}"));
    assert!(matches!(error, FormatError::Text(_) | FormatError::Unsupported(_)), "{error:?}");
}

fn assert_fails(content: &str, line: u64, column: u64, rest: &str) {
    assert_file_fails(&file(content), line, column, rest);
}

fn arcs(list: &[(u32, u64)]) -> Vec<Arc> {
    list.iter().map(|&(place, weight)| Arc { place, weight }).collect()
}

const NODES: &str = r#"<place id="p"/><place id="q"/><transition id="t"/>"#;

#[test]
fn places_transitions_and_arcs() {
    let net = net(r#"<name><text>a net</text></name><page id="page">
        <place id="p1"><graphics><position x="1" y="2"/></graphics>
            <initialMarking><graphics/><text> 12
            </text></initialMarking><name><graphics/><text>one &lt;&#49;&gt;</text></name></place>
        <place id="p2"><name><text>p2</text></name></place>
        <transition id="t1"><name><text><![CDATA[<go>]]></text></name></transition>
        <arc id="a1" source="p1" target="t1"><inscription><text>18446744073709551615</text></inscription></arc>
        <arc id="a2" source="t1" target="p2"/>
        <arc id="a3" source="t1" target="p1"><inscription><text>3</text><graphics/></inscription></arc>
    </page>"#);
    assert_eq!((net.id.as_str(), net.places.len(), net.transitions.len()), ("n", 2, 1));
    assert_eq!(net.initial_marking(), [12, 0]);
    assert_eq!((net.places[0].id.as_str(), net.places[0].name.as_deref()), ("p1", Some("one <1>")));
    assert_eq!((net.places[1].id.as_str(), net.places[1].name.as_deref()), ("p2", None));
    let transition = &net.transitions[0];
    assert_eq!((transition.id.as_str(), transition.name.as_deref()), ("t1", Some("<go>")));
    assert_eq!(transition.inputs, arcs(&[(0, u64::MAX)]));
    assert_eq!(transition.outputs, arcs(&[(0, 3), (1, 1)]));
    assert_eq!(net.units, None);
}

#[test]
fn arcs_may_come_first_and_add_up() {
    let arc = r#"<arc source="q" target="t"/><arc source="t" target="p"/>"#;
    let weighted = r#"<arc source="q" target="t"><inscription><text>4</text></inscription></arc>"#;
    let net = net(&format!(r#"{arc}{weighted}<arc source="p" target="t"/>{NODES}"#));
    assert_eq!(net.transitions[0].inputs, arcs(&[(0, 1), (1, 5)]));
    assert_eq!(net.transitions[0].outputs, arcs(&[(0, 1)]));
}

#[test]
fn pages_and_references() {
    let net = net(r#"<page id="a"><page id="b"><page id="c">
            <referencePlace id="r2" ref="r1"><name><text>p again</text></name><graphics/></referencePlace>
            <arc source="r2" target="s"><name><text>an arc</text></name></arc>
            </page><referencePlace id="r1" ref="p"/><referenceTransition id="s" ref="t"/></page>
            <place id="p"><initialMarking><text>1</text></initialMarking></place></page>
        <page id="d"><transition id="t"/></page>"#);
    assert_eq!((net.places.len(), net.transitions.len()), (1, 1));
    assert_eq!(net.places[0].id, "p");
    assert_eq!(net.transitions[0].id, "t");
    assert_eq!(net.transitions[0].inputs, arcs(&[(0, 1)]));
}

#[test]
fn types_of_nets() {
    let with = |name: &str| file(NODES).replace("http://www.pnml.org/version-2009/grammar/ptnet", name);
    let types = [
        "http://www.pnml.org/version-2009/grammar/ptnet.pntd",
        "http://www.informatik.hu-berlin.de/top/pntd/ptNetb",
        "http://www.informatik.hu-berlin.de/top/pnml/ptNetb.pntd",
        "http://www.pnml.org/version-2009/grammar/pnmlcoremodel",
        "http://www.yasper.org/specs/epnml-1.1",
        "ptnet",
        "P/T net",
    ];
    for name in types {
        assert!(read(&with(name)).is_ok(), "{name}");
    }
    let coloured = ["symmetricnet", "highlevelnet", "pt-hlpng", "hlcoremodel", "inhibitorptnet", ""];
    for name in coloured.map(|name| format!("http://www.pnml.org/version-2009/grammar/{name}")) {
        let expected = "expected a place/transition net (http://www.pnml.org/version-2009/grammar/ptnet)";
        let rest = format!("{expected}, found `<net>` of the type `{name}`, which is not supported yet");
        assert_file_fails(&with(&name), 2, 7, &rest);
    }
}

#[test]
fn namespaces_comments_and_instructions_do_not_matter() {
    let text = "\u{feff}<?xml version='1.0'?><!DOCTYPE pnml SYSTEM \"pnml.dtd\"><!-- <net> --><p:pnml xmlns:p='x'>\
        <p:net p:id='no' id='n' type='ptnet'><?hint?><p:place id='p'><p:initialMarking><p:text>1<!-- 0 -->0</p:text>\
        </p:initialMarking></p:place></p:net></p:pnml><!-- end -->\n";
    let net = read(text).expect("a net");
    assert_eq!((net.id.as_str(), net.initial_marking()), ("n", vec![10]));
}

#[test]
fn compressed_files() {
    let text = file(NODES);
    let packed = gzip(text.as_bytes());
    assert_eq!(read_pnml(packed.as_slice(), &Limits::default()).expect("a net"), read(&text).expect("a net"));
    for length in 3..packed.len() {
        let error = read_pnml(&packed[..length], &Limits::default()).expect_err("cut");
        assert!(matches!(error, FormatError::Gzip { .. }), "cut at {length}: {error}");
    }
}

#[test]
fn positions_in_compressed_files_are_those_of_the_text() {
    let packed = gzip(file("<place/>").as_bytes());
    let message = read_pnml(packed.as_slice(), &Limits::default()).expect_err("a mistake").to_string();
    assert_eq!(message, "line 3, column 1: expected the attribute `id` of `<place>`, found none");
}

#[test]
fn numbers_that_are_not_numbers() {
    let range = "from 0 to 18446744073709551615";
    for text in ["", "-1", "+1", "1.5", "0x10", "1 2", "many", "18446744073709551616", "９"] {
        let place = format!("<place id='p'>\n<initialMarking> <text>{text}</text></initialMarking></place>");
        let rest = format!("expected a number of tokens {range}, found `{text}`");
        assert_fails(&place, 4, 24, &rest);
    }
    let place = "<place id='ä'><initialMarking><text>\n   x </text></initialMarking></place>";
    assert_fails(place, 4, 4, &format!("expected a number of tokens {range}, found `x`"));
    let long = "7".repeat(1000);
    let place = format!("<place id='ä'><initialMarking><text>{long}</text></initialMarking></place>");
    assert_fails(&place, 3, 37, &format!("expected a number of tokens {range}, found `{}...`", "7".repeat(60)));
}

#[test]
fn weights_start_at_one() {
    let arc = format!("{NODES}\n<arc source='p' target='t'><inscription><text>0</text></inscription></arc>");
    let rest = "expected the weight of an arc from 1 to 18446744073709551615, found `0`";
    assert_fails(&arc, 4, 47, rest);
    let half = "<arc source='p' target='t'><inscription><text>9223372036854775808</text></inscription></arc>";
    let rest = "expected arcs between the same nodes with weights that add up to less than 2^64, found more";
    assert_fails(&format!("{NODES}{half}\n {half}"), 4, 2, rest);
}

#[test]
fn labels_without_a_number() {
    let marking = "<place id='p'><initialMarking><graphics/></initialMarking></place>";
    assert_fails(marking, 3, 15, "expected a number of tokens in `<text>`, found no `<text>`");
    let value = "<place id='p'><initialMarking><value>1</value></initialMarking></place>";
    assert_fails(value, 3, 31, "expected `<text>`, found `<value>`, which is not supported yet");
    let twice = "<place id='p'><initialMarking><text>1</text><text>2</text></initialMarking></place>";
    assert_fails(twice, 3, 45, "expected `<text>` once, found it again");
    let label = "<initialMarking><text>1</text></initialMarking>";
    let twice = format!("<place id='p'>{label}{label}</place>");
    assert_fails(&twice, 3, 62, "expected `<initialMarking>` once, found it again");
    let bold = "<place id='p'><initialMarking><text><b>1</b></text></initialMarking></place>";
    assert_fails(bold, 3, 37, "expected text, found `<b>`");
}

#[test]
fn identifiers() {
    assert_fails("<place/>", 3, 1, "expected the attribute `id` of `<place>`, found none");
    assert_fails(" <transition/>", 3, 2, "expected the attribute `id` of `<transition>`, found none");
    let rest = "expected an identifier of its own, found `p`, which is the node at line 3, column 1 already";
    for again in ["<place id='p'/>", "<transition id='p'/>", "<referencePlace id='p' ref='q'/>"] {
        assert_fails(&format!("<place id='p'/>\n{again}"), 4, 1, rest);
    }
    assert_file_fails("<pnml><net id='n'/></pnml>", 1, 7, "expected the attribute `type` of `<net>`, found none");
    assert_file_fails("<pnml><net type='ptnet'/></pnml>", 1, 7, "expected the attribute `id` of `<net>`, found none");
}

#[test]
fn arcs_that_connect_nothing() {
    let fails = |ends: &str, rest: &str| assert_fails(&format!("{NODES}\n<arc {ends}/>"), 4, 1, rest);
    fails("source='p'", "expected the attribute `target` of `<arc>`, found none");
    fails("target='p'", "expected the attribute `source` of `<arc>`, found none");
    fails("source='x' target='t'", "expected a node as the source of the arc, found `x`");
    fails("source='t' target='x'", "expected a node as the target of the arc, found `x`");
    let rest = "expected an arc between a place and a transition, found one from a ";
    fails("source='p' target='q'", &format!("{rest}place (`p`) to another (`q`)"));
    fails("source='t' target='t'", &format!("{rest}transition (`t`) to another (`t`)"));
}

#[test]
fn references_that_lead_nowhere() {
    assert_fails("<referencePlace id='r'/>", 3, 1, "expected the attribute `ref` of `<referencePlace>`, found none");
    let chain = "<referencePlace id='r' ref='s'/>\n<referencePlace id='s' ref='x'/>";
    assert_fails(chain, 4, 1, "expected a reference to a node, found `x`, which is none");
    let circle = "<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/>";
    let rest = "expected a reference that leads to a node, found a circle of references";
    assert_fails(circle, 3, 33, rest);
    assert_fails("<referenceTransition id='r' ref='r'/>", 3, 1, rest);
    let mixed = "<transition id='t'/><referenceTransition id='s' ref='t'/>\n<referencePlace id='r' ref='s'/>";
    assert_fails(mixed, 4, 1, "expected a reference to a place, found one to a transition");
}

#[test]
fn arcs_that_are_not_plain() {
    let plain = ["<type value='normal'/>", "<type><text>normal</text></type>", "<arctype> normal </arctype>"];
    for inside in plain {
        net(&format!("{NODES}<arc source='p' target='t'>{inside}</arc>"));
    }
    net(&format!("{NODES}<arc source='p' target='t' type='normal'/>"));
    for kind in ["inhibitor", "reset", "test", "read"] {
        let rest = format!("expected a plain `<arc>`, found one of the type `{kind}`, which is not supported yet");
        let written = [
            format!("<type value='{kind}'/>"),
            format!("<type><text>{kind}</text></type>"),
            format!("<arctype><text>{kind}</text></arctype>"),
        ];
        for inside in written {
            assert_fails(&format!("{NODES}<arc source='p' target='t'>\n {inside}</arc>"), 4, 2, &rest);
        }
        assert_fails(&format!("<arc source='p' target='t' type='{kind}'/>"), 3, 1, &rest);
    }
    let element = "<arc source='p' target='t'><inhibitor/></arc>";
    assert_fails(element, 3, 28, "expected `<inscription>`, found `<inhibitor>`, which is not supported yet");
}

#[test]
fn what_coloured_nets_have() {
    let cases = [
        ("<declaration/>", "declaration", 1),
        ("<place id='p'><hlinitialMarking/></place>", "hlinitialMarking", 15),
        ("<place id='p'><type/></place>", "type", 15),
        ("<place id='p'><initialMarking><structure/></initialMarking></place>", "structure", 31),
        ("<transition id='t'><condition/></transition>", "condition", 20),
        ("<arc source='p' target='t'><hlinscription/></arc>", "hlinscription", 28),
    ];
    for (content, name, column) in cases {
        let found = format!("found `<{name}>` of a coloured net, which is not supported yet");
        assert_fails(content, 3, column, &format!("expected a place/transition net, {found}"));
    }
}

#[test]
fn what_may_change_the_meaning_is_refused() {
    let capacity = "<place id='p'><capacity><text>3</text></capacity></place>";
    let rest = "expected `<name>` or `<initialMarking>`, found `<capacity>`, which is not supported yet";
    assert_fails(capacity, 3, 15, rest);
    let priority = "<transition id='t'><priority/></transition>";
    assert_fails(priority, 3, 20, "expected `<name>`, found `<priority>`, which is not supported yet");
    let rest = "expected a page, place, transition, arc or reference, found `<x>`, which is not supported yet";
    assert_fails("<page id='a'>\n<x/></page>", 4, 1, rest);
    let attributes = [
        ("<place id='p' initialMarking='1'/>", "initialMarking", "place"),
        ("<place id='p' capacity='1'/>", "capacity", "place"),
        ("<arc source='p' target='t' weight='2'/>", "weight", "arc"),
        ("<arc source='p' target='t' inscription='2'/>", "inscription", "arc"),
    ];
    for (content, name, element) in attributes {
        let found = format!("found the attribute `{name}` of `<{element}>`, which is not supported yet");
        assert_fails(content, 3, 1, &format!("expected markings and weights as elements, {found}"));
    }
}

#[test]
fn one_net_in_a_file() {
    let rest = "expected one net in a file, found a second `<net>`, which is not supported yet";
    assert_file_fails("<pnml><net id='n' type='ptnet'/>\n<net id='m' type='ptnet'/></pnml>", 2, 1, rest);
    assert_file_fails("<pnml>\n</pnml>", 2, 1, "expected `<net>`, found the end of `<pnml>`");
    assert_file_fails("<pnml><x/></pnml>", 1, 7, "expected `<net>`, found `<x>`, which is not supported yet");
}

#[test]
fn what_is_not_xml() {
    assert_file_fails("", 1, 1, "expected `<pnml>`, found the end of the file");
    assert_file_fails(" \n ", 2, 2, "expected `<pnml>`, found the end of the file");
    assert_file_fails("place p\n", 1, 1, "expected `<pnml>`, found the text `place p`");
    assert_file_fails("<html/>", 1, 1, "expected `<pnml>`, found `<html>`");
    assert_file_fails(
        "<pnml><net id='n' type='ptnet'/></pnml>\nx",
        1,
        40,
        "expected the end of the file, found the text `x`",
    );
    assert_file_fails(
        "<pnml><net id='n' type='ptnet'/></pnml><a/>",
        1,
        40,
        "expected the end of the file, found `<a>`",
    );
    assert_fails("<page id='a'>\n<page></net>", 4, 7, "expected `</page>`, found `</net>`");
    assert_file_fails("</pnml>", 1, 1, "expected a start tag, found `</pnml>`");
    assert_fails("<place id='p'>12</place>", 3, 15, "expected an element, found the text `12`");
    assert_fails(
        "<!bogus>",
        3,
        1,
        "expected `<!--`, `<![CDATA[` or `<!DOCTYPE`, found something else that starts with `<!`",
    );
    let twice = read(&file("<place id='p' id='q'/>")).expect_err("a mistake").to_string();
    assert!(twice.starts_with("line 3, column 1: expected attributes like name=\"value\", found "), "{twice}");
    let bytes = b"<pnml>\n<net id='\xe4' type='ptnet'/></pnml>".as_slice();
    let message = read_pnml(bytes, &Limits::default()).expect_err("a mistake").to_string();
    assert_eq!(message, "line 2, column 1: expected text in UTF-8, found other bytes");
}

#[test]
fn references_to_characters() {
    let name = |text: &str| format!("<place id='p'><name><text>{text}</text></name></place>");
    assert_eq!(net(&name("&amp;&#x41;")).places[0].name.as_deref(), Some("&A"));
    let expected = "expected a character, or `lt`, `gt`, `amp`, `apos` or `quot`";
    assert_fails(&name("x &nbsp;"), 3, 29, &format!("{expected}, found `&nbsp;`"));
    assert_fails(&name("&#xd800;"), 3, 27, &format!("{expected}, found `&#xd800;`"));
    assert_fails(&name("&amp"), 3, 27, "expected `;` after `&` and a name, found none");
    let escape = "expected characters that XML allows, found the control character 0x1b";
    assert_fails(&name("x&#27;"), 3, 28, escape);
    assert_fails(&name("\u{1b}x"), 3, 27, escape);
    assert_fails("<place id='&#27;'/>", 3, 1, escape);
    assert_fails("<place id='\u{1b}'/>", 3, 1, escape);
}

#[test]
fn every_truncation_is_an_error() {
    let text = file(&format!(
        "<!-- c -->{NODES}<arc source='p' target='t'><name><text>&amp;<![CDATA[x]]></text></name></arc>"
    ));
    for length in 0..text.trim_end().len() {
        let message = read(&text[..length]).expect_err("cut").to_string();
        assert!(message.starts_with("line "), "cut at {length}: {message}");
        let reasons = ["end of the file", "found none", "something else that starts with `<!`"];
        assert!(reasons.iter().any(|reason| message.contains(reason)), "cut at {length}: {message}");
    }
    let rest = "expected the end tag of the element at line 2, column 1, found the end of the file";
    assert_file_fails("<pnml>\n<net id='n' type='ptnet'><place id='p'/>", 2, 41, rest);
    let rest = "expected a complete tag, comment or text, found the end of the file within it";
    assert_file_fails("<pnml>\n<net id='n' type='ptnet'><place id='", 2, 26, rest);
}

/// A net of places `a`, `b` and `c` with these units, the structure in line 4.
fn with_units(structure: &str) -> String {
    let places = "<place id='a'/><place id='b'/><place id='c'/><transition id='t'/><referencePlace id='r' ref='c'/>";
    format!(
        "<page id='x'>{places}<toolspecific tool='nupn' version='1.1'><size places='3' transitions='1' arcs='0'/>
{structure}</toolspecific></page>"
    )
}

#[test]
fn nested_units() {
    let structure = "<structure units='3' root='top' safe='true'>
        <unit id='left'><places>b
            a</places><subunits/></unit>
        <unit id='top'><places/><subunits>left right</subunits></unit>
        <unit id='right'><places> r </places></unit></structure>";
    let unit = |id: &str, places: &[u32], subunits: &[u32]| Unit {
        id: id.to_owned(),
        places: places.to_vec(),
        subunits: subunits.to_vec(),
    };
    let units = vec![unit("left", &[0, 1], &[]), unit("top", &[], &[0, 2]), unit("right", &[2], &[])];
    let expected = Units { units, root: 1, safe: true };
    assert_eq!(net(&with_units(structure)).units, Some(expected.clone()));
    let unsafe_net = net(&with_units(&structure.replace("true", "false")));
    assert_eq!(unsafe_net.units, Some(Units { safe: false, ..expected }));
    let silent = net(&with_units(&structure.replace("safe='true'", "")));
    assert_eq!(silent.units, unsafe_net.units);
}

#[test]
fn data_of_other_tools_is_skipped() {
    let data = "<toolspecific tool='other' version='9'><structure><capacity>&lt;</capacity></structure></toolspecific>";
    let place = format!("<place id='p'>{data}</place>");
    assert_eq!(net(&format!("{data}<page id='x'>{data}{place}</page>")).places.len(), 1);
}

#[test]
fn units_that_are_not_a_tree_of_all_places() {
    let all = "<places>a b c</places>";
    let fails = |head: &str, units: &str, line, rest: &str| {
        let column = 1;
        assert_fails(&with_units(&format!("<structure {head}>\n{units}</structure>")), line, column, rest);
    };
    let unit = |id: &str, inside: &str| format!("<unit id='{id}'>{inside}</unit>\n");
    let u = |inside: &str| unit("u", inside);
    fails("", &u(all), 4, "expected the attribute `root`, found none");
    fails("root='x'", &u(all), 4, "expected a unit, found `x`");
    fails("root='u' safe='maybe'", &u(all), 4, "expected `true` or `false` for `safe`, found `maybe`");
    let rest = "expected as many units as the attribute says, `1000000000`, found 1";
    fails("root='u' units='1000000000'", &u(all), 4, rest);
    fails("root='u'", &u("<places>a b</places>"), 4, "expected every place in a unit, found `c` in none");
    fails("root='u'", &u("<places>a b c x</places>"), 5, "expected a place, found `x`");
    fails("root='u'", &u("<places>a b c t</places>"), 5, "expected a place, found transition `t`");
    fails("root='u'", &u("<places>a b c r</places>"), 5, "expected a place in one unit only, found `r` again");
    fails("root='u'", &u(&format!("{all}<subunits>v</subunits>")), 5, "expected a unit, found `v`");
    fails(
        "root='u'",
        &u(&format!("{all}<subunits>u</subunits>")),
        5,
        "expected a unit in one unit only, found `u` again",
    );
    let twice = u(&format!("{all}<subunits>v v</subunits>")) + &unit("v", "");
    fails("root='u'", &twice, 5, "expected a unit in one unit only, found `v` again");
    let alone = u(all) + &unit("v", "");
    fails("root='u'", &alone, 6, "expected every unit within the root, found `v` outside");
    let circle = u(all) + &unit("v", "<subunits>w</subunits>") + &unit("w", "<subunits>v</subunits>");
    fails("root='u'", &circle, 6, "expected every unit within the root, found `v` outside");
    let same = u(all) + &u("");
    let rest = "expected an identifier of its own, found `u`, which is the unit at line 5, column 1 already";
    fails("root='u'", &same, 6, rest);
    fails("root='u'", "<unit/>", 5, "expected the attribute `id` of `<unit>`, found none");
    fails("root='u'", "<x/>", 5, "expected `<unit>`, found `<x>`, which is not supported yet");
}

#[test]
fn structures_that_are_not_there_once() {
    let tool =
        |version: &str, inside: &str| format!("<toolspecific tool='nupn' version='{version}'>{inside}</toolspecific>");
    assert_fails(&tool("1.1", ""), 3, 1, "expected a `<structure>` of nested units, found none");
    let rest = "expected version `1.0` or `1.1` of nested units, found version `2.0`, which is not supported yet";
    assert_fails(&tool("2.0", ""), 3, 1, rest);
    let structure = "<structure root='u'><unit id='u'/></structure>";
    let twice = format!("{}\n{}", tool("1.0", structure), tool("1.1", structure));
    assert_fails(&twice, 4, 41, "expected the units of the net once, found them again");
}
