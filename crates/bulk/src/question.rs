//! Questions that are answered without asking.

use crate::graph::IDENTITY;
use crate::layout::{Element, Ref};

/// What is left of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Simplified {
    /// Its answer.
    Plain(Ref),
    /// Its elements, ascending and each once, all of which may add something.
    Open(Vec<Element>),
}

/// Make a question as simple as it can be seen to be. Who `visit`s sets wants to see their nodes, and takes none as
/// they are.
pub fn simplify(mut elements: Vec<Element>, minus: Ref, visit: bool) -> Simplified {
    elements.retain(|&element| adds_something(element, minus));
    elements.sort_unstable();
    elements.dedup();
    if elements.is_empty() || minus == Ref::TRUE {
        return Simplified::Plain(Ref::FALSE);
    }
    if minus == Ref::FALSE {
        if elements.contains(&Element::new(Ref::TRUE, IDENTITY)) {
            return Simplified::Plain(Ref::TRUE);
        }
        if let [only] = elements[..]
            && only.relation() == IDENTITY
            && !visit
        {
            return Simplified::Plain(only.set());
        }
    }
    Simplified::Open(elements)
}

/// Can the image of an element contain states that are wanted?
pub(crate) fn adds_something(element: Element, minus: Ref) -> bool {
    element.set() != Ref::FALSE && !(element.relation() == IDENTITY && element.set() == minus)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ref = Ref(7);

    #[test]
    fn plain_questions_are_answered() {
        let of =
            |sets: &[Ref], minus| simplify(sets.iter().map(|&set| Element::new(set, IDENTITY)).collect(), minus, false);
        assert_eq!(of(&[], Ref::FALSE), Simplified::Plain(Ref::FALSE));
        assert_eq!(of(&[A, Ref::FALSE, A], Ref::FALSE), Simplified::Plain(A));
        assert_eq!(of(&[A, Ref::TRUE], Ref::FALSE), Simplified::Plain(Ref::TRUE));
        assert_eq!(of(&[A, Ref::TRUE], Ref::TRUE), Simplified::Plain(Ref::FALSE));
        assert_eq!(of(&[A], A), Simplified::Plain(Ref::FALSE));
    }

    #[test]
    fn others_are_sorted() {
        let [a, b] = [Element::new(A, 3), Element::new(Ref(5), IDENTITY)];
        assert_eq!(simplify(vec![a, b, a], Ref::FALSE, false), Simplified::Open(vec![b, a]));
        let whole = Element::new(A, IDENTITY);
        assert_eq!(simplify(vec![whole], Ref::FALSE, true), Simplified::Open(vec![whole]));
    }
}
