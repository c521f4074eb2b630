//! How large a task is, by the levels that it has to go through.
//!
//! What a task takes is not known before it is done. But it goes down from the first level of its operands to the last one
//! of all, so one that begins near the end is small. That is asked of tasks that would go to another process only, and not
//! when they are spawned, so a few nodes may be looked at.
//!
//! ```text
//! and(f, g), f at level 3, g at level 7, and 10 levels in all      7 levels
//! union of two sets of vectors whose first 4 of 6 values are done  2 levels
//! images of a set under a tree of relations                        enough, however many are asked for
//! ```

use crate::env::Env;
use crate::exec::Operation;
use crate::task::Task;
use tremula_table::layout::TERMINAL_LEVEL;
use tremula_table::{Node, Ref};

/// What a task goes down in.
enum Subject {
    /// Something whose parts are large, whatever it is.
    Large,
    /// Functions, terminals among them, and a relation that begins at this level.
    Functions([Ref; 3], u32),
    /// A set of vectors, which all have the same length.
    Vectors(Ref),
}

/// Does a task go through at least so many levels, as far as one can tell?
pub fn is_at_least(task: Task, env: &Env, levels: u32, node: impl Fn(Ref) -> Node) -> bool {
    match subject(task, env) {
        Subject::Large => true,
        Subject::Functions(functions, own) => {
            let first = functions.into_iter().map(|f| node(f).level).fold(own, u32::min);
            env.end_of_levels.saturating_sub(first) >= levels
        }
        Subject::Vectors(set) => is_as_long(set, levels, node),
    }
}

/// Have vectors at least this length? Nodes of lists do not know their level, so it takes a walk, as short as possible.
fn is_as_long(mut set: Ref, length: u32, node: impl Fn(Ref) -> Node) -> bool {
    for _ in 0..length {
        if set.is_terminal() {
            return false;
        }
        set = node(set).down();
    }
    true
}

fn subject(task: Task, env: &Env) -> Subject {
    use Task::*;
    let [a, b, c] = task.code_and_operands().1.map(Ref::from_bits);
    let of = |functions: [Ref; 3]| Subject::Functions(functions, TERMINAL_LEVEL);
    let under = |level: Option<u32>| Subject::Functions([a, Ref::FALSE, Ref::FALSE], level.unwrap_or(TERMINAL_LEVEL));
    match task {
        NewImages(_) | NewImagesWithin(_) | NewLists(_) => Subject::Large,
        NewImage(operation) => {
            Subject::Functions([a, b, Ref::FALSE], operation.own_level(env).unwrap_or(TERMINAL_LEVEL))
        }
        Next(operation) => under(operation.own_level(env)),
        Previous(operation) => under(operation.own_level(env)),
        NextOfAll(operation) => under(operation.own_level(env)),
        Saturate(_) => under(Some(env.relations.bundle(b.bits()).level)),
        Exists(_) | Permute(_) => of([a, Ref::FALSE, Ref::FALSE]),
        And(_) | Xor(_) | AndExists(_) | AndExistsOf(..) | Compose(_) | Restrict(_) => of([a, b, Ref::FALSE]),
        Ite(_) | IteOf(..) => of([a, b, c]),
        ComposeOf(..) => of([a, c, Ref::FALSE]),
        Unite(_) | Intersect(_) | Subtract(_) | ListNext(_) | ListPrevious(_) | ListNextOfAll(_) | Project(_)
        | Select(_) | ListSaturate(_) | AddNext(_) => Subject::Vectors(a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Call;
    use crate::ops::and::and;
    use crate::ops::image::{image, image_of_all};
    use crate::ops::lists::union::unite;
    use crate::ops::new_image::new_image;
    use crate::ops::saturate::saturate;
    use crate::relation::Quad;
    use crate::{Budget, Manager};

    /// A manager of ten levels.
    fn manager() -> Manager {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        manager.var(9).unwrap();
        manager
    }

    /// The most levels that a task has.
    fn levels(manager: &Manager, task: Task) -> u32 {
        let core = manager.core.borrow();
        let has = |levels: &u32| is_at_least(task, &core.env, *levels, |f| core.table.node(f));
        (1..100).take_while(has).last().unwrap_or(0)
    }

    fn todo<O: Operation>(call: Call<O>) -> Task {
        match call {
            Call::Todo { operation, .. } => operation.task(),
            Call::Done(_) => panic!("there is something to do"),
        }
    }

    #[test]
    fn functions_go_from_their_first_level_to_the_last() {
        let manager = manager();
        let variables: Vec<_> = (0..10).map(|level| manager.var(level).unwrap()).collect();
        let [f, g, last] = [3, 7, 9].map(|level: usize| variables[level].target());
        assert_eq!(levels(&manager, todo(and(f, g))), 7);
        assert_eq!(levels(&manager, todo(and(g, f))), 7);
        assert_eq!(levels(&manager, todo(and(g, !last))), 3);
        assert_eq!(levels(&manager, Task::IteOf(g, g, f)), 7);
        assert_eq!(levels(&manager, Task::ComposeOf(g, 0, f)), 7);
        assert_eq!(levels(&manager, Task::AndExistsOf(g, Ref::TRUE, 0)), 3);
    }

    #[test]
    fn relations_count_where_they_begin_above_the_set() {
        let manager = manager();
        let [current, next, low] = [2, 3, 6].map(|level| manager.var(level).unwrap());
        let flip = manager.relation(&current.xor(&next).unwrap(), &[(2, 3)]).unwrap();
        let bundle = manager.bundle(std::slice::from_ref(&flip)).unwrap();
        for set in [&low, &current] {
            assert_eq!(levels(&manager, todo(image::<true>(set.target(), flip.number))), 8);
            assert_eq!(levels(&manager, todo(image::<false>(set.target(), flip.number))), 8);
            assert_eq!(levels(&manager, todo(image_of_all(set.target(), bundle.number))), 8);
            assert_eq!(levels(&manager, todo(saturate(set.target(), bundle.number))), 8);
        }
        let above = manager.var(1).unwrap();
        assert_eq!(levels(&manager, todo(image::<true>(above.target(), flip.number))), 9);
        // What is known counts as the set does; a relation that changes nothing has no level.
        assert_eq!(levels(&manager, todo(new_image(low.target(), above.target(), flip.number))), 9);
        assert_eq!(levels(&manager, todo(new_image(low.target(), current.target(), Quad::IDENTITY))), 8);
    }

    #[test]
    fn vectors_have_a_level_for_each_value() {
        let manager = manager();
        let [a, b] = [[1, 2, 3, 4], [1, 2, 3, 5]].map(|values| {
            let table = &mut manager.core.borrow_mut().table;
            values.iter().rev().fold(Ref::TRUE, |rest, &value| table.make_list(value, rest, Ref::FALSE).unwrap())
        });
        assert_eq!(levels(&manager, todo(unite(a, b))), 4);
        let below = |set: Ref| manager.core.borrow().table.node(set).down();
        assert_eq!(levels(&manager, todo(unite(below(a), below(b)))), 3);
    }
}
