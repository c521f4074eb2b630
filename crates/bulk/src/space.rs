//! Sets of states in a machine, as the strategies of `engines` want them.

use crate::diagram::Diagram;
use crate::graph::{Graph, IDENTITY, Together};
use crate::layout::{Element, Ref};
use crate::machine::{Costs, Figures, Grown, Machine, Part, Root, Trouble};
use crate::pace::{Pace, work};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use tremula_diagrams::{Attention, Bdd, Budget, Error, Lease, Manager};
use tremula_engines::Space;

/// Sets that are united by one sweep. Measured: docs/gpu.md.
const UNITED: usize = 4;

/// A handle on a set. It keeps its set from being collected; equality is that of sets.
#[derive(Clone, Debug)]
pub struct Set(Rc<Cell<Ref>>);

impl Set {
    fn get(&self) -> Ref {
        self.0.get()
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.get() == other.get()
    }
}

/// A system whose sets live in a machine.
///
/// A sweep that finds no room for nodes is followed by a collection, in which the table may grow, and tried again; if
/// the table has been collected and could not grow, the error is [`Error::TableFull`]. Images under all relations
/// together are then tried in more pieces; when there are no more, with half of the relations at a time, and from then on
/// at once.
pub struct Bulk<M> {
    machine: RefCell<M>,
    handles: RefCell<Vec<Weak<Cell<Ref>>>>,
    relations: Vec<Option<u32>>,
    all: Option<Together>,
    /// The same in parts, after no halving, one, two, until there is nothing to halve.
    layers: Vec<Vec<Together>>,
    /// In how many pieces a sweep takes all relations.
    pace: RefCell<Pace>,
    costs: Costs,
    /// How often images under all relations are halved before they are tried, for want of room.
    halvings: Cell<u32>,
    levels: u32,
    initial: Set,
    nothing: Set,
    attention: Attention,
}

impl<M: Machine> Bulk<M> {
    /// A space over `machine`, which was made for `graph`; `attention` can end operations.
    pub fn new(mut machine: M, graph: &Graph, attention: Attention) -> Bulk<M> {
        machine.heed(&attention);
        let costs = machine.costs();
        let relations = (0..graph.groups()).map(|number| graph.group(number)).collect();
        let new_set = |set| Set(Rc::new(Cell::new(set)));
        let (initial, nothing) = (new_set(machine.initial()), new_set(Ref::FALSE));
        let handles = RefCell::new(vec![Rc::downgrade(&initial.0)]);
        Bulk {
            machine: RefCell::new(machine),
            handles,
            relations,
            all: graph.all().cloned(),
            layers: graph.all().map_or(Vec::new(), layers),
            pace: RefCell::new(Pace::new(graph.all().map_or(0, Together::depth), costs.much)),
            costs,
            halvings: Cell::new(0),
            levels: graph.bits(),
            initial,
            nothing,
            attention,
        }
    }

    /// Halve the relations so often in the first round that uses all of them. The results are the same.
    pub fn start_with_halvings(&self, halvings: usize) {
        self.pace.borrow_mut().start_with(halvings);
    }

    /// What went on in the machine.
    pub fn figures(&self) -> Figures {
        self.machine.borrow().figures()
    }

    /// The set as an ordinary diagram over the current-state variables.
    pub fn bring_back(&self, set: &Set, manager: &Manager) -> Result<Bdd, Error> {
        let (states, _lease) = self.export(set, &manager.budget())?;
        states.import(manager)
    }

    /// The nodes of the set, in memory of this budget.
    pub fn export(&self, set: &Set, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
        self.machine.borrow_mut().export(set.get(), budget)
    }

    /// Have the machine do something, with collections as they are needed. Sets have new references after one.
    fn attempt<T>(&self, work: impl Fn(&mut M) -> Result<T, Trouble>) -> Result<T, Error> {
        let mut at_most = false;
        loop {
            if self.attention.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let outcome = work(&mut self.machine.borrow_mut());
            match outcome {
                Ok(result) => return Ok(result),
                Err(Trouble::Full(Part::Nodes)) if !at_most => at_most = !self.collect()?,
                Err(trouble) => return Err(trouble.into()),
            }
        }
    }

    /// Compute one union of images.
    fn compute(&self, root: impl Fn() -> Root) -> Result<Set, Error> {
        Ok(self.compute_all(|| vec![root()])?.swap_remove(0))
    }

    /// Compute several unions of images in one sweep.
    fn compute_all(&self, roots: impl Fn() -> Vec<Root>) -> Result<Vec<Set>, Error> {
        let results = self.attempt(|machine| machine.sweep(&roots()))?;
        Ok(results.into_iter().map(|set| self.open(set)).collect())
    }

    /// Compute one union of images without what is `known`, and together with it.
    fn grow(&self, elements: impl Fn() -> Vec<Element>, known: &Set) -> Result<(Set, Set), Error> {
        let root = || Root { elements: elements(), minus: known.get() };
        let Grown { new, all } = self.attempt(|machine| machine.grow(&root()))?;
        Ok((self.open(new), self.open(all)))
    }

    /// New images under all relations, and what is known then, in as many pieces as are least work.
    fn step_at_pace(&self, all: &Together, set: &Set, known: &Set) -> Result<(Set, Set), Error> {
        while self.halvings.get() == 0 {
            let before = self.figures();
            let pieces = all.pieces(self.pace.borrow().halvings());
            match self.step_in_pieces(&pieces, set, known) {
                Err(Error::TableFull) if self.pace.borrow_mut().refine() => {}
                Err(Error::TableFull) => self.halvings.set(1),
                outcome => {
                    let (mut pace, after) = (self.pace.borrow_mut(), self.figures());
                    if after.collections == before.collections {
                        pace.note(work(&self.costs, &before, &after, self.levels));
                    } else {
                        pace.disturb();
                    }
                    return outcome;
                }
            }
        }
        self.step_under(all, 0, set, known)
    }

    /// New images under some relations, and what is known then. The images under several are sets of their own first,
    /// which are united a few at a time.
    fn step_in_pieces(&self, pieces: &[u32], set: &Set, known: &Set) -> Result<(Set, Set), Error> {
        if let [only] = *pieces {
            return self.grow(|| vec![image(set, only)], known);
        }
        let of_piece = |&piece: &u32| Root { elements: vec![image(set, piece)], minus: known.get() };
        let mut images = self.compute_all(|| pieces.iter().map(of_piece).collect())?;
        while images.len() > UNITED {
            let union = |sets: &[Set]| Root { elements: as_they_are(sets), minus: Ref::FALSE };
            images = self.compute_all(|| images.chunks(UNITED).map(union).collect())?;
        }
        self.grow(|| as_they_are(&images), known)
    }

    /// New images under several relations, and what is known then; `depth` halvings led to these relations.
    fn step_under(&self, together: &Together, depth: u32, set: &Set, known: &Set) -> Result<(Set, Set), Error> {
        let Some(halves) = &together.halves else { return self.grow(|| vec![image(set, together.relation)], known) };
        if depth >= self.halvings.get() {
            match self.grow(|| vec![image(set, together.relation)], known) {
                Err(Error::TableFull) => self.halvings.set(depth + 1),
                outcome => return outcome,
            }
        }
        let (up, known) = self.step_under(&halves[0], depth + 1, set, known)?;
        let (down, known) = self.step_under(&halves[1], depth + 1, set, &known)?;
        Ok((self.union(&up, &down)?, known))
    }

    /// Collect; has the table grown?
    fn collect(&self) -> Result<bool, Error> {
        let live: Vec<Rc<Cell<Ref>>> = self.handles.borrow().iter().filter_map(Weak::upgrade).collect();
        let machine = &mut *self.machine.borrow_mut();
        let before = machine.figures().capacity;
        let sets: Vec<Ref> = live.iter().map(|set| set.get()).collect();
        let renamed = machine.collect(&sets).map_err(Error::from)?;
        live.iter().zip(renamed).for_each(|(set, name)| set.set(name));
        *self.handles.borrow_mut() = live.iter().map(Rc::downgrade).collect();
        Ok(machine.figures().capacity > before)
    }

    fn open(&self, set: Ref) -> Set {
        let handle = Rc::new(Cell::new(set));
        self.handles.borrow_mut().push(Rc::downgrade(&handle));
        Set(handle)
    }
}

/// Relations in parts, until there is nothing to halve.
fn layers(all: &Together) -> Vec<Vec<Together>> {
    let mut layers = vec![all.parts(0)];
    loop {
        let finer = all.parts(layers.len());
        if finer.len() == layers[layers.len() - 1].len() {
            return layers;
        }
        layers.push(finer);
    }
}

/// Sets under the relation that changes nothing.
fn as_they_are(sets: &[Set]) -> Vec<Element> {
    sets.iter().map(|set| image(set, IDENTITY)).collect()
}

fn image(set: &Set, relation: u32) -> Element {
    Element::new(set.get(), relation)
}

impl<M: Machine> Space for Bulk<M> {
    type Set = Set;

    fn initial(&self) -> Set {
        self.initial.clone()
    }
    fn nothing(&self) -> Set {
        self.nothing.clone()
    }
    fn relations(&self) -> usize {
        self.relations.len()
    }
    fn next(&self, set: &Set, relation: usize) -> Result<Set, Error> {
        let Some(relation) = self.relations[relation] else { return Ok(self.nothing()) };
        self.compute(|| Root { elements: vec![image(set, relation)], minus: Ref::FALSE })
    }
    fn next_of_all(&self, set: &Set) -> Result<Set, Error> {
        self.new_images(set, &self.nothing)
    }
    fn new_images(&self, set: &Set, known: &Set) -> Result<Set, Error> {
        Ok(self.step(set, known)?.0)
    }
    fn step(&self, set: &Set, known: &Set) -> Result<(Set, Set), Error> {
        let Some(all) = &self.all else { return Ok((self.nothing(), known.clone())) };
        self.step_at_pace(all, set, known)
    }
    fn layers(&self) -> Vec<usize> {
        self.layers.iter().map(Vec::len).collect()
    }
    fn step_in(&self, layer: usize, part: usize, set: &Set, known: &Set) -> Result<(Set, Set), Error> {
        self.step_under(&self.layers[layer][part], 0, set, known)
    }
    fn fire(&self, known: &Set, relation: usize) -> Result<Set, Error> {
        let Some(relation) = self.relations[relation] else { return Ok(known.clone()) };
        Ok(self.grow(|| vec![image(known, relation)], known)?.1)
    }
    fn union(&self, a: &Set, b: &Set) -> Result<Set, Error> {
        self.compute(|| Root { elements: vec![image(a, IDENTITY), image(b, IDENTITY)], minus: Ref::FALSE })
    }
    fn minus(&self, a: &Set, b: &Set) -> Result<Set, Error> {
        self.compute(|| Root { elements: vec![image(a, IDENTITY)], minus: b.get() })
    }
}
