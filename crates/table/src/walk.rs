//! Walking through nodes: what is on a stack is visited a little after it was fetched, so that several misses overlap.

use crate::sync::unless_modelled;
use std::ops::ControlFlow;

/// Far enough ahead for a node to arrive, near enough for it to stay.
const AHEAD: usize = unless_modelled(8, 1);

/// Visit the positions on the stack, and those that visits push there, until there are none or a visit ends it; what is
/// left then is on the stack again.
#[inline]
pub fn walk(stack: &mut Vec<u32>, fetch: impl Fn(u32), mut visit: impl FnMut(u32, &mut Vec<u32>) -> ControlFlow<()>) {
    let (mut window, mut first, mut length) = ([0; AHEAD], 0, 0);
    loop {
        while length < AHEAD
            && let Some(position) = stack.pop()
        {
            fetch(position);
            window[(first + length) % AHEAD] = position;
            length += 1;
        }
        if length == 0 {
            return;
        }
        let position = window[first];
        (first, length) = ((first + 1) % AHEAD, length - 1);
        if visit(position, stack).is_break() {
            stack.extend((first..first + length).map(|at| window[at % AHEAD]));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers below 1000 are a tree.
    fn push_children(at: u32, stack: &mut Vec<u32>) {
        stack.extend([2 * at + 1, 2 * at + 2].into_iter().filter(|&child| child < 1000));
    }

    #[test]
    fn everything_is_visited_once_in_two_parts() {
        for limit in [1, 2, 500, 999, 1000] {
            let (mut stack, mut seen) = (vec![0], Vec::new());
            walk(
                &mut stack,
                |_| (),
                |at, stack| {
                    seen.push(at);
                    push_children(at, stack);
                    if seen.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                },
            );
            assert_eq!(seen.len(), limit);
            walk(
                &mut stack,
                |_| (),
                |at, stack| {
                    seen.push(at);
                    push_children(at, stack);
                    ControlFlow::Continue(())
                },
            );
            seen.sort_unstable();
            assert_eq!(seen, (0..1000).collect::<Vec<_>>());
        }
    }
}
