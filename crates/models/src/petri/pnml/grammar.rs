//! Which elements are where in a PNML file, and what they mean.

use super::draft::{Draft, Kind};
use super::nupn;
use super::xml::{Text, Xml, fault, quote};
use crate::error::{FormatError, Position, TextFault};
use crate::petri::PetriNet;

/// Types of nets that are place/transition nets: the last parts of their addresses, in small letters and without
/// `.pntd`. The first is the standard's, and some tools write `pnmlcoremodel` for the same nets.
const NET_TYPES: [&str; 4] = ["ptnet", "ptnetb", "pnmlcoremodel", "epnml-1.1"];

/// A type of place/transition nets that is no address, in small letters.
const NAMED_NET_TYPE: &str = "p/t net";

/// Elements that say nothing about the behaviour of a net, wherever they are.
const IGNORED: [&str; 6] = ["graphics", "toolspecific", "finalmarkings", "description", "documentation", "arcpath"];

/// Elements that only coloured nets have.
const COLOURED: [&str; 5] = ["declaration", "hlinitialMarking", "hlinscription", "condition", "structure"];

/// Attributes in which some tools keep what belongs into elements.
const TELLING_ATTRIBUTES: [&str; 5] = ["initialMarking", "marking", "capacity", "weight", "inscription"];

/// What a file is expected to have where it has something of a coloured net.
const PLAIN_NET: &str = "a place/transition net";

pub(super) struct Parser<'a> {
    xml: Xml<'a>,
    draft: Draft,
}

impl<'a> Parser<'a> {
    pub(super) fn new(xml: Xml<'a>, draft: Draft) -> Self {
        Self { xml, draft }
    }

    /// The only net of the file.
    pub(super) fn read(mut self) -> Result<PetriNet, FormatError> {
        self.xml.root("pnml")?;
        let mut id = None;
        while self.xml.child()? {
            match self.xml.name() {
                "net" if id.is_some() => {
                    return Err(unsupported(self.xml.position(), "one net in a file", "a second `<net>`".to_owned()));
                }
                "net" => id = Some(self.net()?),
                "name" => self.xml.skip()?,
                name if is_ignored(name) => self.xml.skip()?,
                _ => return Err(unknown(&self.xml, "`<net>`")),
            }
        }
        let id = id.ok_or_else(|| self.xml.fault("`<net>`", "the end of `<pnml>`"))?;
        self.xml.finish()?;
        self.draft.finish(id)
    }

    /// The net that was opened; returns its identifier.
    fn net(&mut self) -> Result<String, FormatError> {
        let net_type = attribute(&self.xml, "type")?;
        if !is_plain(&net_type) {
            let expected = "a place/transition net (http://www.pnml.org/version-2009/grammar/ptnet)";
            let found = format!("`<net>` of the type `{}`", quote(&net_type));
            return Err(unsupported(self.xml.position(), expected, found));
        }
        let id = attribute(&self.xml, "id")?;
        // Pages mean nothing but their content, so they need no recursion.
        let mut pages = 0_usize;
        loop {
            if self.xml.child()? {
                match self.xml.name() {
                    "page" => pages += 1,
                    _ => self.object()?,
                }
            } else if pages > 0 {
                pages -= 1;
            } else {
                return Ok(id);
            }
        }
    }

    /// The node, arc or label of a net or page that was opened.
    fn object(&mut self) -> Result<(), FormatError> {
        match self.xml.name() {
            "place" => self.place(),
            "transition" => self.transition(),
            "referencePlace" => self.reference(Kind::Place),
            "referenceTransition" => self.reference(Kind::Transition),
            "arc" => self.arc(),
            "toolspecific" => self.tool_specific(),
            "name" => self.xml.skip(),
            name if is_ignored(name) => self.xml.skip(),
            _ => Err(unknown(&self.xml, "a page, place, transition, arc or reference")),
        }
    }

    fn tool_specific(&mut self) -> Result<(), FormatError> {
        let is_nupn = self.xml.attributes()?.iter().any(|(name, value)| *name == "tool" && value == "nupn");
        if is_nupn { nupn::read(&mut self.xml, &mut self.draft) } else { self.xml.skip() }
    }

    fn place(&mut self) -> Result<(), FormatError> {
        let id = node_id(&self.xml)?;
        self.draft.add_place(&id, self.xml.position())?;
        let (mut name, mut initial) = (None, None);
        while self.xml.child()? {
            match self.xml.name() {
                "name" => once(&mut name, self.xml.position(), "`<name>`", self.name()?)?,
                "initialMarking" => {
                    let position = self.xml.position();
                    let tokens = self.number("a number of tokens", 0)?;
                    once(&mut initial, position, "`<initialMarking>`", tokens)?;
                }
                "type" => return Err(coloured(&self.xml)),
                name if is_ignored(name) => self.xml.skip()?,
                _ => return Err(unknown(&self.xml, "`<name>` or `<initialMarking>`")),
            }
        }
        if let Some(place) = self.draft.last_place() {
            place.name = name.flatten().filter(|name| *name != id);
            place.initial = initial.unwrap_or(0);
        }
        Ok(())
    }

    fn transition(&mut self) -> Result<(), FormatError> {
        let id = node_id(&self.xml)?;
        self.draft.add_transition(&id, self.xml.position())?;
        let mut name = None;
        while self.xml.child()? {
            match self.xml.name() {
                "name" => once(&mut name, self.xml.position(), "`<name>`", self.name()?)?,
                name if is_ignored(name) => self.xml.skip()?,
                _ => return Err(unknown(&self.xml, "`<name>`")),
            }
        }
        if let Some(transition) = self.draft.last_transition() {
            transition.name = name.flatten().filter(|name| *name != id);
        }
        Ok(())
    }

    fn reference(&mut self, kind: Kind) -> Result<(), FormatError> {
        let id = node_id(&self.xml)?;
        let target = attribute(&self.xml, "ref")?;
        self.draft.add_reference(&id, kind, &target, self.xml.position())?;
        while self.xml.child()? {
            match self.xml.name() {
                "name" => self.xml.skip()?,
                name if is_ignored(name) => self.xml.skip()?,
                _ => return Err(unknown(&self.xml, "`<name>`")),
            }
        }
        Ok(())
    }

    fn arc(&mut self) -> Result<(), FormatError> {
        let position = self.xml.position();
        let (source, target) = self.ends()?;
        let mut weight = None;
        while self.xml.child()? {
            match self.xml.name() {
                "inscription" => {
                    let position = self.xml.position();
                    let tokens = self.number("the weight of an arc", 1)?;
                    once(&mut weight, position, "`<inscription>`", tokens)?;
                }
                "type" | "arctype" => self.arc_type()?,
                "name" => self.xml.skip()?,
                name if is_ignored(name) => self.xml.skip()?,
                _ => return Err(unknown(&self.xml, "`<inscription>`")),
            }
        }
        self.draft.add_arc(source, target, weight.unwrap_or(1), position)
    }

    /// The numbers of the identifiers that the arc that was opened connects.
    fn ends(&mut self) -> Result<(u32, u32), FormatError> {
        let (mut source, mut target) = (None, None);
        for (name, value) in self.xml.attributes()? {
            match name {
                "source" => source = Some(self.draft.node(&value)),
                "target" => target = Some(self.draft.node(&value)),
                "type" => check_arc_type(self.xml.position(), &value)?,
                other => refuse_telling(&self.xml, other)?,
            }
        }
        let source = source.ok_or_else(|| missing(&self.xml, "source"))?;
        let target = target.ok_or_else(|| missing(&self.xml, "target"))?;
        Ok((source, target))
    }

    /// `<type value="..."/>`, or either name with the type as text in it.
    fn arc_type(&mut self) -> Result<(), FormatError> {
        let position = self.xml.position();
        for (name, value) in self.xml.attributes()? {
            if name == "value" {
                check_arc_type(position, &value)?;
            }
        }
        let text = self.xml.text_of_all()?;
        if text.value.is_empty() { Ok(()) } else { check_arc_type(position, &text.value) }
    }

    /// The text of the label that was opened, if it has any.
    fn name(&mut self) -> Result<Option<String>, FormatError> {
        let mut name = None;
        while self.xml.child()? {
            match self.xml.name() {
                "text" => once(&mut name, self.xml.position(), "`<text>`", self.xml.text()?.value)?,
                _ => self.xml.skip()?,
            }
        }
        Ok(name.filter(|name| !name.is_empty()))
    }

    /// The number in the label that was opened.
    fn number(&mut self, what: &str, least: u64) -> Result<u64, FormatError> {
        let position = self.xml.position();
        let mut number = None;
        while self.xml.child()? {
            match self.xml.name() {
                "text" => {
                    let position = self.xml.position();
                    let text = self.xml.text()?;
                    once(&mut number, position, "`<text>`", parse(&text, what, least)?)?;
                }
                name if is_ignored(name) => self.xml.skip()?,
                _ => return Err(unknown(&self.xml, "`<text>`")),
            }
        }
        number.ok_or_else(|| fault(position, format_args!("{what} in `<text>`"), "no `<text>`"))
    }
}

fn parse(text: &Text, what: &str, least: u64) -> Result<u64, FormatError> {
    let digits = text.value.as_str();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(number) if is_number && number >= least => Ok(number),
        _ => {
            let expected = format_args!("{what} from {least} to {}", u64::MAX);
            Err(fault(text.position, expected, format_args!("`{}`", quote(digits))))
        }
    }
}

/// Puts `value` into a slot that must be empty.
fn once<T>(slot: &mut Option<T>, position: Position, what: &str, value: T) -> Result<(), FormatError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(fault(position, format_args!("{what} once"), "it again")),
    }
}

/// An attribute that the element that was opened must have.
pub(super) fn attribute(xml: &Xml<'_>, wanted: &str) -> Result<String, FormatError> {
    let attributes = xml.attributes()?;
    let value = attributes.into_iter().find_map(|(name, value)| (name == wanted).then(|| value.into_owned()));
    value.ok_or_else(|| missing(xml, wanted))
}

fn missing(xml: &Xml<'_>, attribute: &str) -> FormatError {
    xml.fault(format_args!("the attribute `{attribute}` of `<{}>`", xml.name()), "none")
}

/// The identifier of the node that was opened.
fn node_id(xml: &Xml<'_>) -> Result<String, FormatError> {
    for (name, _) in xml.attributes()? {
        refuse_telling(xml, name)?;
    }
    attribute(xml, "id")
}

fn refuse_telling(xml: &Xml<'_>, attribute: &str) -> Result<(), FormatError> {
    if TELLING_ATTRIBUTES.contains(&attribute) {
        let found = format!("the attribute `{attribute}` of `<{}>`", xml.name());
        return Err(unsupported(xml.position(), "markings and weights as elements", found));
    }
    Ok(())
}

fn is_plain(net_type: &str) -> bool {
    let small = net_type.trim().to_lowercase();
    let last = small.rsplit('/').next().unwrap_or(&small);
    small == NAMED_NET_TYPE || NET_TYPES.contains(&last.strip_suffix(".pntd").unwrap_or(last))
}

/// Inhibitor, reset and test arcs, and all others that are not plain.
fn check_arc_type(position: Position, arc_type: &str) -> Result<(), FormatError> {
    if arc_type.trim().eq_ignore_ascii_case("normal") {
        return Ok(());
    }
    Err(unsupported(position, "a plain `<arc>`", format!("one of the type `{}`", quote(arc_type))))
}

/// Whether an element can be passed over.
pub(super) fn is_ignored(name: &str) -> bool {
    IGNORED.contains(&name)
}

/// The element that was opened is not one that can be where it is.
pub(super) fn unknown(xml: &Xml<'_>, expected: &str) -> FormatError {
    if COLOURED.contains(&xml.name()) {
        return coloured(xml);
    }
    unsupported(xml.position(), expected, format!("`<{}>`", quote(xml.name())))
}

fn coloured(xml: &Xml<'_>) -> FormatError {
    unsupported(xml.position(), PLAIN_NET, format!("`<{}>` of a coloured net", xml.name()))
}

fn unsupported(position: Position, expected: &str, found: String) -> FormatError {
    FormatError::Unsupported(TextFault { position, expected: expected.to_owned(), found })
}
