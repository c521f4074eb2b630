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
        let mut lists = Lists {
            nodes,
            names,
            meanings,
            unit_taken: vec![false; self.units.len()],
            place_taken: vec![false; places],
        };
        // Taken from the start, as nothing may be around it.
        let root = lists.take_unit(self.root, self.position)?;
        let mut units = Vec::with_capacity(self.units.len());
        for DraftUnit { position, places, subunits } in &self.units {
            let mut places: Vec<u32> =
                places.iter().map(|&number| lists.take_place(number, *position)).collect::<Result<_, _>>()?;
            places.sort_unstable();
            let subunits =
                subunits.iter().map(|&number| lists.take_unit(number, *position)).collect::<Result<_, _>>()?;
            units.push(Unit { id: String::new(), places, subunits });
        }
        if let Some(place) = lists.place_taken.iter().position(|taken| !taken) {
            let found = format_args!("{} in none", nodes.quote_place(place as u32));
            return Err(fault(self.position, "every place in a unit", found));
        }
        for (id, meaning) in lists.names.into_iter().zip(lists.meanings) {
            // All identifiers were listed, so each has a meaning.
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

/// What identifiers in lists stand for. Each place and each unit may be listed once.
struct Lists<'a> {
    nodes: &'a Nodes,
    /// The identifiers of units by their numbers.
    names: Vec<String>,
    /// Indices and positions of the units by the numbers of their identifiers.
    meanings: Vec<Option<(u32, Position)>>,
    unit_taken: Vec<bool>,
    place_taken: Vec<bool>,
}

impl Lists<'_> {
    /// The index of a place that the unit at `position` lists.
    fn take_place(&mut self, number: u32, position: Position) -> Result<u32, FormatError> {
        let place = match self.nodes.find(number) {
            Some((Kind::Place, place)) => place,
            Some((Kind::Transition, _)) => {
                return Err(fault(position, "a place", format_args!("transition {}", self.nodes.quote(number))));
            }
            None => return Err(fault(position, "a place", self.nodes.quote(number))),
        };
        if std::mem::replace(&mut self.place_taken[place as usize], true) {
            return Err(fault(
                position,
                "a place in one unit only",
                format_args!("{} again", self.nodes.quote(number)),
            ));
        }
        Ok(place)
    }

    /// The index of a unit that the unit or structure at `position` lists.
    fn take_unit(&mut self, number: u32, position: Position) -> Result<u32, FormatError> {
        let id = &self.names[number as usize];
        let Some((unit, _)) = self.meanings[number as usize] else {
            return Err(fault(position, "a unit", format_args!("`{}`", quote(id))));
        };
        if std::mem::replace(&mut self.unit_taken[unit as usize], true) {
            return Err(fault(position, "a unit in one unit only", format_args!("`{}` again", quote(id))));
        }
        Ok(unit)
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
