//! Files of states: written by `reach --save-states`, used by `count`, `contains` and `pick`.
//!
//! Such a file is a diagram in Tremula's compact format with one root, `states`, and the widths of the state's integers
//! as metadata. Bit `k` of a state, counted through the integers in order, most significant bit first, is the variable
//! at level `2k`, as in the models.

use crate::args::{ContainsArgs, CountArgs, PickArgs};
use crate::error::{Exit, Failure};
use crate::memory::Size;
use crate::output;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tremula_diagrams::io::FileError;
use tremula_diagrams::{Bdd, Budget, Error, Manager, UBig};
use tremula_models::{BddSystem, MAX_STATE_BITS, MAX_VARIABLE_BITS};

/// Name of the only root.
const ROOT: &str = "states";
/// Key of the widths, which are separated by commas.
const WIDTHS: &str = "widths";
/// Bytes that loading takes per node, at most: in the table and beside it.
const BYTES_PER_NODE: usize = 64;
/// States are printed in chunks of about this many bytes.
const CHUNK: usize = 1 << 16;

/// Save a set of states over integers of these widths.
pub fn save(path: &Path, states: &Bdd, widths: &[u32]) -> Result<(), Failure> {
    let manager = states.manager();
    // What is not needed any more makes room for the list of nodes to write.
    manager.compact();
    let widths = widths.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    output::write_file(path, |out| {
        manager.save_compact(&[(ROOT, states)], &[(WIDTHS, &widths)], out).map_err(|error| explain(path, error))
    })
}

/// Print the number of states.
pub fn count(args: &CountArgs) -> Result<Exit, Failure> {
    let file = StateFile::load(&args.file)?;
    let count = count_states(&file.states, &file.levels())?;
    output::to_stdout(&format!("{count}\n"))?;
    Ok(Exit::Complete)
}

/// Print for each state whether it is in the set.
pub fn contains(args: &ContainsArgs) -> Result<Exit, Failure> {
    let file = StateFile::load(&args.file)?;
    let states = args.states.iter().map(|text| file.parse(text)).collect::<Result<Vec<_>, _>>()?;
    let answers: Vec<bool> = states.iter().map(|state| file.contains(state)).collect();
    let line = |(text, &yes): (&String, &bool)| format!("{text} {}\n", if yes { "yes" } else { "no" });
    output::to_stdout(&args.states.iter().zip(&answers).map(line).collect::<String>())?;
    Ok(if answers.iter().all(|&yes| yes) { Exit::Complete } else { Exit::Violated })
}

/// Print some states.
pub fn pick(args: &PickArgs) -> Result<Exit, Failure> {
    let file = StateFile::load(&args.file)?;
    let mut text = String::new();
    let wanted = usize::try_from(args.n).unwrap_or(usize::MAX);
    for bits in file.states.assignments(&file.levels())?.take(wanted) {
        text += &file.format(&bits);
        text.push('\n');
        if text.len() >= CHUNK {
            if !output::to_stdout(&text)? {
                return Ok(Exit::Complete);
            }
            text.clear();
        }
    }
    output::to_stdout(&text)?;
    Ok(Exit::Complete)
}

/// The number of states, making room for counting where there is none.
pub fn count_states(states: &Bdd, levels: &[u32]) -> Result<UBig, Error> {
    match states.count(levels) {
        Err(Error::TableFull) => {
            states.manager().compact();
            states.count(levels)
        }
        result => result,
    }
}

/// A set of states and the widths of their integers.
struct StateFile {
    states: Bdd,
    widths: Vec<u32>,
}

impl StateFile {
    fn load(path: &Path) -> Result<StateFile, Failure> {
        let bad = |problem: &str| Failure::Input(format!("{}: {problem}", path.display()));
        let file = File::open(path).map_err(|error| Failure::file(path, &error))?;
        let budget = Budget::new(Size::default().to_bytes());
        let manager = Manager::new(&budget).map_err(|error| Failure::Limit(error.to_string()))?;
        let contents = manager
            .load_compact(BufReader::new(file), budget.limit() / BYTES_PER_NODE)
            .map_err(|error| explain(path, error))?;
        let states = contents.root(ROOT).ok_or_else(|| bad("holds diagrams, but no set of states"))?;
        let widths = contents.value(WIDTHS).and_then(parse_widths);
        let widths = widths.ok_or_else(|| bad("holds a set of states, but not the widths of their integers"))?;
        let file = StateFile { states: states.clone(), widths };
        let levels = file.levels();
        if states.support()?.iter().any(|level| levels.binary_search(level).is_err()) {
            return Err(bad("the set of states depends on variables that the states do not have"));
        }
        Ok(file)
    }

    fn bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    fn levels(&self) -> Vec<u32> {
        (0..self.bits()).map(BddSystem::current_variable).collect()
    }

    /// The integers of a state.
    fn parse(&self, text: &str) -> Result<Vec<u64>, Failure> {
        let bad = |problem: String| Failure::Input(format!("{text:?} is not a state: {problem}"));
        let number = |item: &str| item.trim().parse().map_err(|_| bad(format!("expected a number, found {item:?}")));
        let state = text.split(',').map(number).collect::<Result<Vec<u64>, _>>()?;
        if state.len() == self.widths.len() {
            return Ok(state);
        }
        Err(bad(format!("expected {} integers separated by commas, found {}", self.widths.len(), state.len())))
    }

    fn contains(&self, state: &[u64]) -> bool {
        let fits = |(&value, &width): (&u64, &u32)| width == u64::BITS || value >> width == 0;
        if !state.iter().zip(&self.widths).all(fits) {
            return false;
        }
        let bits = |(&value, &width): (&u64, &u32)| (0..width).rev().map(move |bit| value >> bit & 1 == 1);
        let bits: Vec<bool> = state.iter().zip(&self.widths).flat_map(bits).collect();
        self.states.eval(|level| bits[level as usize / 2])
    }

    /// A state as text, from its bits.
    fn format(&self, bits: &[bool]) -> String {
        let mut rest = bits;
        let integer = |&width: &u32| {
            let (bits, after) = rest.split_at(width as usize);
            rest = after;
            bits.iter().fold(0_u64, |value, &bit| value << 1 | u64::from(bit)).to_string()
        };
        self.widths.iter().map(integer).collect::<Vec<_>>().join(",")
    }
}

fn parse_widths(text: &str) -> Option<Vec<u32>> {
    let width = |item: &str| item.parse().ok().filter(|bits| (1..=MAX_VARIABLE_BITS).contains(bits));
    let widths = text.split(',').map(width).collect::<Option<Vec<u32>>>()?;
    let bits: u64 = widths.iter().map(|&bits| u64::from(bits)).sum();
    (bits <= u64::from(MAX_STATE_BITS)).then_some(widths)
}

fn explain(path: &Path, error: FileError) -> Failure {
    match error {
        FileError::Io(error) => Failure::file(path, &error),
        FileError::Diagram(error) => match Failure::from(error) {
            Failure::Limit(reason) => Failure::Limit(format!("{}: {reason}", path.display())),
            other => other,
        },
        FileError::TooManyNodes { .. } => Failure::Limit(format!("{}: {error}", path.display())),
        _ => Failure::Input(format!("{}: not a file of states: {error}", path.display())),
    }
}
