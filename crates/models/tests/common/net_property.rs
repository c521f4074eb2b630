//! What must hold for any bytes at all that are read as PNML; also the body of the fuzz target.

use tremula_models::{Arc, Limits, PetriNet, Units, read_pnml};

/// Small enough that no input takes long.
fn limits() -> Limits {
    Limits { max_bytes: 1 << 20, max_net_items: 1 << 14, ..Limits::default() }
}

/// Reads `data` as a net. If it is one, it must satisfy its invariants, and must come back when written plainly.
pub fn reading_a_net_is_safe(data: &[u8]) {
    let Ok(net) = read_pnml(data, &limits()) else { return };
    assert_eq!(net.check(), Ok(()));
    // Lists of units cannot name these places; the file did by references, which are gone.
    let cannot_be_listed = |id: &str| id.is_empty() || id.contains(|letter: char| letter.is_ascii_whitespace());
    if net.units.is_some() && net.places.iter().any(|place| cannot_be_listed(&place.id)) {
        return;
    }
    let again = read_pnml(plain_pnml(&net).as_bytes(), &Limits::default());
    let again = again.unwrap_or_else(|error| panic!("reading what was written: {error}"));
    assert_eq!(again, net);
}

/// A net as PNML, with nothing that is not needed.
fn plain_pnml(net: &PetriNet) -> String {
    let name = |name: &Option<String>| {
        let text = name.as_ref().map(|name| format!("<name><text>{}</text></name>", escape(name)));
        text.unwrap_or_default()
    };
    let mut text = format!("<pnml><net id='{}' type='ptnet'>", escape(&net.id));
    for place in &net.places {
        let marking = format!("<initialMarking><text>{}</text></initialMarking>", place.initial);
        text += &format!("<place id='{}'>{}{marking}</place>", escape(&place.id), name(&place.name));
    }
    for transition in &net.transitions {
        let id = escape(&transition.id);
        text += &format!("<transition id='{id}'>{}</transition>", name(&transition.name));
        let ends = |arc: &Arc| (escape(&net.places[arc.place as usize].id), arc.weight);
        for (place, weight) in transition.inputs.iter().map(ends) {
            let weight = format!("<inscription><text>{weight}</text></inscription>");
            text += &format!("<arc source='{place}' target='{id}'>{weight}</arc>");
        }
        for (place, weight) in transition.outputs.iter().map(ends) {
            let weight = format!("<inscription><text>{weight}</text></inscription>");
            text += &format!("<arc source='{id}' target='{place}'>{weight}</arc>");
        }
    }
    text + &net.units.as_ref().map(|units| plain_units(net, units)).unwrap_or_default() + "</net></pnml>"
}

fn plain_units(net: &PetriNet, units: &Units) -> String {
    let id = |unit: u32| escape(&units.units[unit as usize].id);
    let mut text = format!("<structure root='{}' safe='{}'>", id(units.root), units.safe);
    for unit in &units.units {
        let places: Vec<String> = unit.places.iter().map(|&place| escape(&net.places[place as usize].id)).collect();
        let subunits: Vec<String> = unit.subunits.iter().map(|&unit| id(unit)).collect();
        let lists = format!("<places>{}</places><subunits>{}</subunits>", places.join(" "), subunits.join(" "));
        text += &format!("<unit id='{}'>{lists}</unit>", escape(&unit.id));
    }
    format!("<toolspecific tool='nupn' version='1.1'>{text}</structure></toolspecific>")
}

/// All but letters and digits as numbers of characters, white space included.
fn escape(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => character.to_string(),
        other => format!("&#{};", u32::from(other)),
    });
    escaped.collect()
}
