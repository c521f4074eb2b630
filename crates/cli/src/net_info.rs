//! `tremula info` for Petri nets.

use crate::info::line;
use crate::numbers::grouped;
use crate::output;
use tremula_models::{Arc, PetriNet};
use tremula_orders::{FlowLimits, Semiflows, place_bounds};

/// Columns of the longest value, beside a label, on a narrow terminal.
const WIDTH: usize = 66;

/// What a net is made of, and what follows from that without exploring it.
pub fn describe(net: &PetriNet) -> String {
    let semiflows = Semiflows::of(net, &FlowLimits::default());
    [
        line("Format", "pnml, a place/transition net"),
        line("Name", &short(&net.id)),
        line("Places", &number(net.places.len())),
        line("Transitions", &number(net.transitions.len())),
        line("Arcs", &arcs(net)),
        line("Initial", &initial(net)),
        line("Units", &units(net)),
        line("Semiflows", &found(&semiflows)),
        line("Bounds", &bounds(&place_bounds(net, &semiflows))),
    ]
    .concat()
}

fn number(number: impl ToString) -> String {
    grouped(&number.to_string())
}

/// A number of things.
fn of(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", number(count)) }
}

/// A name that fits into a line.
fn short(name: &str) -> String {
    let name = output::printable(name);
    if name.chars().count() <= WIDTH {
        return name;
    }
    name.chars().take(WIDTH - 3).collect::<String>() + "..."
}

fn arcs(net: &PetriNet) -> String {
    let arcs = || net.transitions.iter().flat_map(|transition| transition.inputs.iter().chain(&transition.outputs));
    match arcs().map(|arc: &Arc| arc.weight).max() {
        None => "none".to_owned(),
        Some(1) => format!("{}, each of weight 1", number(arcs().count())),
        Some(most) => format!("{}, of weights up to {}", number(arcs().count()), number(most)),
    }
}

fn initial(net: &PetriNet) -> String {
    let tokens: u128 = net.places.iter().map(|place| u128::from(place.initial)).sum();
    let marked = net.places.iter().filter(|place| place.initial > 0).count();
    match tokens {
        0 => "no tokens".to_owned(),
        1 => "1 token".to_owned(),
        _ => format!("{} tokens in {}", number(tokens), of(marked, "place", "places")),
    }
}

fn units(net: &PetriNet) -> String {
    match &net.units {
        None => "none".to_owned(),
        Some(units) => {
            let claim = if units.safe { "safe, says the file" } else { "not said to be safe" };
            format!("{} (NUPN), {claim}", number(units.units.len()))
        }
    }
}

fn found(semiflows: &Semiflows) -> String {
    let count = semiflows.flows.len();
    match (count, semiflows.complete) {
        (0, true) => "none".to_owned(),
        (_, true) => format!("{}, all minimal ones of places", number(count)),
        (_, false) => format!("{} found; there are more, or smaller ones", number(count)),
    }
}

/// What semiflows tell about the tokens in places.
fn bounds(bounds: &[Option<u64>]) -> String {
    let known = || bounds.iter().flatten();
    let (Some(least), Some(most)) = (known().min(), known().max()) else {
        return "unknown for all places".to_owned();
    };
    let range = if least == most {
        format!(" by {}", number(most))
    } else {
        format!(", by {} to {}", number(least), number(most))
    };
    match bounds.len() - known().count() {
        0 => format!("all places bounded{range}"),
        open => format!("{} bounded{range}, {} unknown", of(known().count(), "place", "places"), number(open)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_summed_up() {
        assert_eq!(bounds(&[Some(1), Some(1)]), "all places bounded by 1");
        assert_eq!(bounds(&[Some(1), Some(5000)]), "all places bounded, by 1 to 5,000");
        assert_eq!(bounds(&[Some(2), None, None]), "1 place bounded by 2, 2 unknown");
        assert_eq!(bounds(&[None]), "unknown for all places");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(short("net"), "net");
        assert_eq!(short(&"n".repeat(100)).chars().count(), WIDTH);
    }

    #[test]
    fn an_empty_net_is_described() {
        let text = describe(&PetriNet::default());
        for words in ["Places      0\n", "Arcs        none\n", "Initial     no tokens\n", "Units       none\n"] {
            assert!(text.contains(words), "{words:?} in\n{text}");
        }
    }
}
