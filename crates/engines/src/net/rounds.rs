//! Round by round: images of what the last round found, until nothing is new.

use super::system::NetSystem;
use tremula_diagrams::Error;
use tremula_diagrams::mdd::Mdd;

/// An exploration by rounds that can be interrupted between any two images.
pub struct Rounds {
    /// Does an image count at once for the images after it?
    chaining: bool,
    /// All markings found up to the last round.
    known: Mdd,
    /// Those found in the last round.
    last: Mdd,
    /// Those found in this round.
    new: Mdd,
    /// Events that this round has taken images under.
    events_done: usize,
}

impl Rounds {
    /// Begin at the initial marking.
    pub fn new(system: &NetSystem, chaining: bool) -> Rounds {
        let (known, last, new) = (system.initial.clone(), system.initial.clone(), system.manager.empty());
        Rounds { chaining, known, last, new, events_done: 0 }
    }

    /// Go on to the end. After an error this may be called again.
    pub fn run(&mut self, system: &NetSystem) -> Result<Mdd, Error> {
        while !self.last.is_empty() {
            while let Some(&event) = system.events.get(self.events_done) {
                let image = self.source()?.fire(event)?.minus(&self.known)?;
                self.new = self.new.union(&image)?;
                self.events_done += 1;
            }
            self.known = self.known.union(&self.new)?;
            self.last = std::mem::replace(&mut self.new, system.manager.empty());
            self.events_done = 0;
        }
        Ok(self.known.clone())
    }

    /// What the next image is taken of.
    fn source(&self) -> Result<Mdd, Error> {
        if self.chaining { self.last.union(&self.new) } else { Ok(self.last.clone()) }
    }

    /// What is found so far.
    pub fn so_far(&self) -> Mdd {
        self.known.clone()
    }
}
