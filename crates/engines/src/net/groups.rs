//! Places of which at most one holds a token, and that only one: together they are one variable.
//!
//! Two sources tell such places. A semiflow with weights of one and one token at the start says that exactly one of its
//! places has that token, for ever; and so at most one of any part of them. Units of a net that its file calls safe say
//! the same of their places, and are believed until the markings are known: [`NetSystem::keeps_beliefs`] tells whether that
//! was right.
//!
//! [`NetSystem::keeps_beliefs`]: super::NetSystem::keeps_beliefs

use tremula_models::PetriNet;
use tremula_orders::Semiflows;

/// Places that share at most one token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Their indices.
    pub places: Vec<u32>,
    /// Does one of them always have the token?
    pub always_one: bool,
    /// Is it only the file that says so?
    pub believed: bool,
}

/// Disjoint groups, each of at least two places, the largest first where there is a choice.
#[must_use]
pub fn groups(net: &PetriNet, semiflows: &Semiflows) -> Vec<Group> {
    let mut claims: Vec<Group> = semiflows.flows.iter().filter_map(|flow| one_token(net, &flow.weights)).collect();
    if let Some(units) = net.units.as_ref().filter(|units| units.safe) {
        let unit_safe = units.units.iter().filter(|unit| starts_safe(net, &unit.places));
        claims.extend(unit_safe.map(|unit| Group { places: unit.places.clone(), always_one: false, believed: true }));
    }
    // Where both sources tell the same, what is proven comes first.
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.places.len()));
    let mut taken = vec![false; net.places.len()];
    let mut groups = Vec::new();
    for Group { places, always_one, believed } in claims {
        let left: Vec<u32> = places.iter().copied().filter(|&place| !taken[place as usize]).collect();
        if left.len() >= 2 {
            left.iter().for_each(|&place| taken[place as usize] = true);
            let whole = left.len() == places.len();
            groups.push(Group { places: left, always_one: always_one && whole, believed });
        }
    }
    groups
}

/// The places of a semiflow that has one token.
fn one_token(net: &PetriNet, weights: &[(u32, u64)]) -> Option<Group> {
    let places: Vec<u32> = weights.iter().map(|&(place, _)| place).collect();
    let tokens = places.iter().try_fold(0_u64, |sum, &place| sum.checked_add(net.places[place as usize].initial));
    let plain = weights.iter().all(|&(_, weight)| weight == 1) && tokens == Some(1);
    plain.then_some(Group { places, always_one: true, believed: false })
}

fn starts_safe(net: &PetriNet, places: &[u32]) -> bool {
    places.iter().map(|&place| u128::from(net.places[place as usize].initial)).sum::<u128>() <= 1
}
