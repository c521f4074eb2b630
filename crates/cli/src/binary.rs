//! `tremula reach` for Petri nets and lists with binary diagrams: `--engine bdd` and `--engine gpu`.

use crate::args::{Engine, ReachArgs};
use crate::net;
use crate::reach::Trouble;
use crate::run::{Run, Setting};
use tremula_diagrams::{Bdd, Error};
use tremula_engines::Strategy;
use tremula_engines::net::{Brim, Lineup, NetInBits, NotInBits, Room, in_bits};
use tremula_models::{BddSystem, LddSystem, PetriNet};

/// Bytes for each node while a model is brought into bits: the node, its place in the table that finds equal ones, and what
/// is remembered meanwhile.
pub const BYTES_PER_NODE: usize = 100;

/// Does the user want binary diagrams, whatever the model?
pub fn is_wanted(args: &ReachArgs) -> bool {
    matches!(args.engine, Engine::Bdd | Engine::Gpu)
}

/// A net that is explored in bits, in the order that looks best or that the user wants.
pub struct Net<'a> {
    net: &'a PetriNet,
    lineup: Lineup,
    room: Room,
}

impl Net<'_> {
    /// Before its first exploration.
    pub fn new<'a>(args: &ReachArgs, run: &Run, net: &'a PetriNet) -> Result<Net<'a>, Trouble> {
        net::refuse_what_no_engine_can(args)?;
        if args.deadlock {
            return Err(Trouble::input("--deadlock wants --engine mdd"));
        }
        if args.strategy == Strategy::EXPLICIT {
            return Err(Trouble::input("--strategy explicit wants --engine mdd"));
        }
        let mut lineup = net::line_up(args, run, net)?;
        lineup.contestants.truncate(1);
        run.known().setting = Setting { format: "pnml", engine: "bdd", order: lineup.contestants[0].name.clone() };
        Ok(Net { net, lineup, room: Room::default() })
    }

    /// As a system, with the places whose bounds are assumed in it.
    pub fn in_bits(&self, run: &Run) -> Result<NetInBits, Trouble> {
        let order = &self.lineup.contestants[0].order;
        in_bits(self.net, &self.lineup, order, &self.room, most_nodes(run))
            .map_err(|problem: NotInBits| Trouble::Unknown(problem.to_string()))
    }

    /// Are these its markings? If not, places that were full have more room from now on.
    pub fn has_room_for(&mut self, states: &Bdd, brims: &[Brim]) -> Result<bool, Error> {
        let mut is_enough = true;
        for brim in brims {
            if brim.is_reached(states)? {
                self.room.widen(brim);
                is_enough = false;
            }
        }
        Ok(is_enough)
    }
}

/// Lists in bits.
pub fn of_lists(args: &ReachArgs, run: &Run, model: &LddSystem) -> Result<BddSystem, Trouble> {
    if args.check_stored {
        return Err(Trouble::input("the states of .ldd models cannot be compared yet"));
    }
    run.known().setting = Setting { format: "ldd", engine: "bdd", order: "given".to_owned() };
    model.in_bits(most_nodes(run)).map_err(|problem| Trouble::Unknown(problem.to_string()))
}

/// Nodes for which there is memory, with what it takes to build them.
fn most_nodes(run: &Run) -> usize {
    run.budget.limit() / BYTES_PER_NODE
}
