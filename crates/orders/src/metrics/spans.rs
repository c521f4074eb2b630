//! Spans: how many levels lie between the first and the last place of a transition.

use crate::incidence::{Incidence, levels};

/// The top level of a transition and the number of levels that it spans.
struct Span {
    top: u32,
    levels: u32,
}

fn spans(net: &Incidence, order: &[u32]) -> Vec<Span> {
    let level = levels(order);
    let span = |event: &[u32]| {
        let (first, last) = event.iter().fold((u32::MAX, 0), |(first, last), &place| {
            (first.min(level[place as usize]), last.max(level[place as usize]))
        });
        Span { top: first, levels: last - first + 1 }
    };
    net.touched.iter().map(span).collect()
}

/// The levels that transitions span, all together.
#[must_use]
pub fn event_spans(net: &Incidence, order: &[u32]) -> u64 {
    spans(net, order).iter().map(|span| u64::from(span.levels)).sum()
}

/// NES: the mean part of all levels that a transition spans.
#[must_use]
pub fn normalised_event_span(net: &Incidence, order: &[u32]) -> f64 {
    event_spans(net, order) as f64 / normal(net)
}

/// WES: as NES, but a span counts up to twice if its top is near the root, and next to nothing near the leaves.
#[must_use]
pub fn weighted_event_span(net: &Incidence, order: &[u32]) -> f64 {
    let places = net.places() as f64;
    let weigh = |span: &Span| f64::from(span.levels) * 2.0 * (places - f64::from(span.top)) / places;
    spans(net, order).iter().map(weigh).sum::<f64>() / normal(net)
}

/// What sums of spans are divided by: all levels for all transitions.
fn normal(net: &Incidence) -> f64 {
    (net.places() * net.touched.len()).max(1) as f64
}

/// The distances of places from the centres of their transitions, all together: what FORCE makes small.
#[must_use]
pub fn point_transition_spans(net: &Incidence, order: &[u32]) -> f64 {
    let level = levels(order);
    let spread = |event: &[u32]| {
        let levels = || event.iter().map(|&place| f64::from(level[place as usize]));
        let centre = levels().sum::<f64>() / event.len() as f64;
        levels().map(|level| (level - centre).abs()).sum::<f64>()
    };
    net.touched.iter().map(spread).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{chain, net};

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_chain_by_hand() {
        let net = Incidence::new(&chain(4));
        assert_eq!(event_spans(&net, &[0, 1, 2, 3]), 6);
        // Levels of the places: 0, 3, 1, 2, so spans of 4, 3 and 2 levels.
        assert_eq!(event_spans(&net, &[0, 2, 3, 1]), 9);
        assert!(near(normalised_event_span(&net, &[0, 2, 3, 1]), 9.0 / 12.0));
        // Their tops are the levels 0, 1 and 1.
        let weighted = (4.0 * 2.0 + 3.0 * 1.5 + 2.0 * 1.5) / 12.0;
        assert!(near(weighted_event_span(&net, &[0, 2, 3, 1]), weighted));
        assert!(near(point_transition_spans(&net, &[0, 2, 3, 1]), 3.0 + 2.0 + 1.0));
    }

    #[test]
    fn points_are_measured_from_the_centre() {
        let net = Incidence::new(&net(&[0; 4], vec![[vec![(0, 1), (1, 1)], vec![(3, 1)]]]));
        // Levels 0, 1 and 3 around 4/3.
        assert!(near(point_transition_spans(&net, &[0, 1, 2, 3]), 4.0 / 3.0 + 1.0 / 3.0 + 5.0 / 3.0));
    }

    #[test]
    fn nothing_spans_nothing() {
        let net = Incidence::new(&net(&[1], vec![]));
        assert_eq!(event_spans(&net, &[0]), 0);
        assert!(near(normalised_event_span(&net, &[0]), 0.0));
        assert!(near(weighted_event_span(&net, &[0]), 0.0));
    }
}
