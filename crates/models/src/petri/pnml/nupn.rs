//! Nested units (NUPN), which a net may carry for tools that know them.
//!
//! A `<structure>` has one `<unit>` for each unit, with the identifiers of its own `<places>` and of its `<subunits>`. A
//! reader returns it only if it is a tree that holds every place once, which is what engines rely on.

use super::draft::{Draft, Kind, Nodes};
use super::grammar::{attribute, is_ignored, unknown};
use super::ids::Ids;
use super::xml::{Xml, fault, quote};
use crate::error::{FormatError, Position, TextFault};
use crate::petri::{Unit, Units};

/// The units as the file has them.
pub(super) struct Structure {
    /// Where they are in the file.
    pub(super) position: Position,
    /// The units' identifiers with their indices and positions.
    ids: Ids<(u32, Position)>,
    units: Vec<DraftUnit>,
    /// The number of the root's identifier.
    root: u32,
    safe: bool,
}

/// A unit before its identifiers are resolved.
struct DraftUnit {
    position: Position,
    /// Numbers of the identifiers of places.
    places: Vec<u32>,
    /// Numbers of the identifiers of units.
    subunits: Vec<u32>,
}

/// Reads the content of `<toolspecific tool="nupn">`, which was opened last.
pub(super) fn read(xml: &mut Xml<'_>, draft: &mut Draft) -> Result<(), FormatError> {
    let version = attribute(xml, "version")?;
    if !matches!(version.as_str(), "1.0" | "1.1") {
        let (position, found) = (xml.position(), format!("version `{}`", quote(&version)));
        let expected = "version `1.0` or `1.1` of nested units".to_owned();
        return Err(FormatError::Unsupported(TextFault { position, expected, found }));
    }
    let start = xml.position();
    let mut found = false;
    while xml.child()? {
        match xml.name() {
            "structure" => {
                let structure = Structure::read(xml, draft)?;
                draft.set_structure(structure)?;
                found = true;
            }
            // Counts that the net itself tells better.
            "size" => xml.skip()?,
            name if is_ignored(name) => xml.skip()?,
            _ => return Err(unknown(xml, "`<size>` or `<structure>`")),
        }
    }
    if found { Ok(()) } else { Err(fault(start, "a `<structure>` of nested units", "none")) }
}

impl Structure {
    fn read(xml: &mut Xml<'_>, draft: &mut Draft) -> Result<Self, FormatError> {
        let position = xml.position();
        let (mut units, mut root, mut safe) = (None, None, false);
        for (name, value) in xml.attributes()? {
            match (name, value.as_ref()) {
                ("units", value) => units = Some(value.to_owned()),
                ("root", value) => root = Some(value.to_owned()),
                ("safe", "true") => safe = true,
                ("safe", "false") => safe = false,
                ("safe", other) => {
                    return Err(xml.fault("`true` or `false` for `safe`", format_args!("`{}`", quote(other))));
                }
                _ => {}
            }
        }
        let root = root.ok_or_else(|| xml.fault("the attribute `root`", "none"))?;
        let mut ids = Ids::new();
        let root = ids.number(&root);
        let mut structure = Self { position, ids, units: Vec::new(), root, safe };
        while xml.child()? {
            match xml.name() {
                "unit" => structure.read_unit(xml, draft)?,
                _ => return Err(unknown(xml, "`<unit>`")),
            }
        }
        match units {
            Some(claimed) if claimed.trim() != structure.units.len().to_string() => {
                let expected = format_args!("as many units as the attribute says, `{}`", quote(&claimed));
                Err(fault(position, expected, structure.units.len()))
            }
            _ => Ok(structure),
        }
    }

    fn read_unit(&mut self, xml: &mut Xml<'_>, draft: &mut Draft) -> Result<(), FormatError> {
        let position = xml.position();
        draft.count_item(position)?;
        let id = attribute(xml, "id")?;
        self.ids.define(&id, (self.units.len() as u32, position)).map_err(|(_, earlier)| {
            let found = format_args!("`{}`, which is the unit at {earlier} already", quote(&id));
            fault(position, "an identifier of its own", found)
        })?;
        let mut unit = DraftUnit { position, places: Vec::new(), subunits: Vec::new() };
        while xml.child()? {
            let is_places = match xml.name() {
                "places" => true,
                "subunits" => false,
                _ => return Err(unknown(xml, "`<places>` or `<subunits>`")),
            };
            let text = xml.text()?;
            for id in text.value.split_ascii_whitespace() {
                draft.count_item(text.position)?;
                if is_places {
                    unit.places.push(draft.node(id));
                } else {
                    unit.subunits.push(self.ids.number(id));
                }
            }
        }
        self.units.push(unit);
        Ok(())
    }

    /// The units of a net with so many places.
    pub(super) fn finish(self, nodes: &Nodes, places: usize) -> Result<Units, FormatError> {
        let (names, meanings) = self.ids.into_parts();
        let find = |number: u32, position| {
            let unknown = || fault(position, "a unit", format_args!("`{}`", quote(&names[number as usize])));
            meanings[number as usize].map(|(index, _)| index).ok_or_else(unknown)
        };
        let root = find(self.root, self.position)?;
        let mut unit_taken = vec![false; self.units.len()];
        let mut place_taken = vec![false; places];
        // Nothing may be around the root.
        unit_taken[root as usize] = true;
        let mut units = Vec::with_capacity(self.units.len());
        for draft in &self.units {
            let again = |what, id: String| fault(draft.position, format_args!("a {what} in one unit only"), id);
            let mut unit = Unit { id: String::new(), places: Vec::new(), subunits: Vec::new() };
            for &number in &draft.places {
                let place = find_place(nodes, number, draft.position)?;
                if std::mem::replace(&mut place_taken[place as usize], true) {
                    return Err(again("place", format!("{} again", nodes.quote(number))));
                }
                unit.places.push(place);
            }
            for &number in &draft.subunits {
                let subunit = find(number, draft.position)?;
                if std::mem::replace(&mut unit_taken[subunit as usize], true) {
                    return Err(again("unit", format!("`{}` again", quote(&names[number as usize]))));
                }
                unit.subunits.push(subunit);
            }
            unit.places.sort_unstable();
            units.push(unit);
        }
        if let Some(place) = place_taken.iter().position(|taken| !taken) {
            let found = format_args!("{} in none", nodes.quote_place(place as u32));
            return Err(fault(self.position, "every place in a unit", found));
        }
        for (id, meaning) in names.into_iter().zip(meanings) {
            // All identifiers were found above, so each has a meaning.
            if let Some((index, _)) = meaning {
                units[index as usize].id = id;
            }
        }
        let units = Units { units, root, safe: self.safe };
        match first_outside(&units) {
            None => Ok(units),
            Some(index) => {
                let found = format_args!("`{}` outside", quote(&units.units[index].id));
                Err(fault(self.units[index].position, "every unit within the root", found))
            }
        }
    }
}

fn find_place(nodes: &Nodes, number: u32, position: Position) -> Result<u32, FormatError> {
    match nodes.find(number) {
        Some((Kind::Place, index)) => Ok(index),
        Some((Kind::Transition, _)) => {
            Err(fault(position, "a place", format_args!("transition {}", nodes.quote(number))))
        }
        None => Err(fault(position, "a place", nodes.quote(number))),
    }
}

/// The first unit that the root does not lead to. No unit may be in two others.
fn first_outside(units: &Units) -> Option<usize> {
    let mut within = vec![false; units.units.len()];
    let mut waiting = vec![units.root];
    while let Some(unit) = waiting.pop() {
        within[unit as usize] = true;
        waiting.extend(&units.units[unit as usize].subunits);
    }
    within.iter().position(|within| !within)
}
