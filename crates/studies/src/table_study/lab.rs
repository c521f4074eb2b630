//! One table of the study, measured at all loads, with all numbers of workers and all mixes.
//!
//! The table is filled once, from load to load; every run gives it back as it was.

use super::Study;
use super::crew::{Meeting, on_threads};
use super::keys;
use super::lab_table::LabTable;
use super::measured::Measured;
use super::probing::Probing;
use super::report::Setting;
use super::schedule::{Schedule, existing};
use super::subject::Subject;
use super::workload::{Maker, Seen};
use crate::StudyError;

/// Measure a table that probes by `P`.
pub(crate) fn measure<P: Probing>(study: &mut Study<'_>, subject: Subject) -> Result<(), StudyError> {
    let options = study.options;
    let table = LabTable::<P>::new(options.slots);
    let mut filled = 0;
    for &load in &options.loads {
        fill(&table, &mut filled, existing(options.slots, load));
        for (workers, mix) in study.combinations() {
            let setting = Setting { subject, mix, load, workers };
            let schedule = Schedule::new(options.slots, load, workers, mix, options.operations);
            let measured = run(&table, &schedule, setting)?;
            study.note(setting, measured);
        }
    }
    Ok(())
}

/// Add nodes until there are `wanted`.
fn fill<P: Probing>(table: &LabTable<P>, filled: &mut u64, wanted: u64) {
    let mut worker = table.worker(*filled, wanted - *filled);
    for key in *filled..wanted {
        worker.make(keys::node(key)).expect("there is room for the nodes asked for");
    }
    *filled = wanted;
}

/// What one worker brings home: what it saw in each round, its latencies, and the slots it occupied in the last round.
struct Returned {
    seen: Vec<Option<Seen>>,
    samples: Vec<u32>,
    occupied: Vec<u32>,
}

fn run<P: Probing>(table: &LabTable<P>, schedule: &Schedule, setting: Setting) -> Result<Measured, StudyError> {
    let meeting = Meeting::new(schedule.workers);
    let returned = on_threads(schedule.workers, |number| work(table, schedule, number, &meeting))?;
    let right = table.holds_exactly(schedule.keys_after(schedule.rounds - 1));
    returned.iter().for_each(|worker| table.undo(&worker.occupied));
    let mut measured = Measured::default();
    let mut by_worker: Vec<_> = Vec::new();
    for worker in returned {
        measured.add_samples(worker.samples);
        by_worker.push(worker.seen.into_iter());
    }
    for _ in 0..schedule.rounds {
        let seen: Option<Vec<Seen>> = by_worker.iter_mut().map(|seen| seen.next().flatten()).collect();
        measured.add_round(schedule, &seen.ok_or_else(|| setting.wrong("it has no room for a new node"))?);
    }
    if right { Ok(measured) } else { Err(setting.wrong("it does not hold each node once, and nothing else")) }
}

/// All rounds of one worker. It comes to all meetings, whatever happens.
fn work<P: Probing>(table: &LabTable<P>, schedule: &Schedule, number: usize, meeting: &Meeting) -> Returned {
    let mut returned = Returned { seen: Vec::new(), samples: Vec::new(), occupied: Vec::new() };
    let before = schedule.existing + number as u64 * schedule.inserts;
    for round in 0..schedule.rounds {
        table.undo(&returned.occupied);
        let mut worker = table.worker(before, schedule.inserts);
        meeting.wait();
        returned.seen.push(schedule.work(number, round).run(&mut worker, &mut returned.samples));
        meeting.wait();
        returned.occupied = worker.into_occupied();
    }
    returned
}
