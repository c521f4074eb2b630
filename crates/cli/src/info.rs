//! `tremula info`: what is in a model file that holds diagrams.

use crate::args::InfoArgs;
use crate::error::{Exit, Failure};
use crate::matrix::{self, Matrix};
use crate::memory::Size;
use crate::numbers::{grouped, magnitude};
use crate::{incidence, matrix_svg, model, net_info, output};
use tremula_diagrams::{Attention, Budget, Manager};
use tremula_engines::SymbolicSystem;
use tremula_models::{BddSystem, Layout, LddSystem, TransitionSystem};

/// What to say about models whose file puts reading and writing together.
pub const NO_DIFFERENCE: &str = "the file does not tell reading from writing";

/// Describe a model.
pub fn info(args: &InfoArgs) -> Result<Exit, Failure> {
    let memory = Size::default().to_bytes();
    let (text, matrix) = match model::read_any(&args.model, memory, &Attention::default())? {
        TransitionSystem::Bdd(model) => {
            let matrix = Matrix::new(&model);
            (describe(&model, &matrix) + &sets(&model, memory)?, matrix)
        }
        TransitionSystem::Ldd(model) => (describe_lists(&model), lists_matrix(&model)),
        TransitionSystem::Net(net) => (net_info::describe(&net), incidence::given(&net)),
    };
    let mut text = line("Model", &args.model.display().to_string()) + &text;
    if args.matrix {
        text.push('\n');
        text += &matrix.text(matrix::output_width());
    }
    if let Some(path) = &args.svg {
        matrix_svg::write(path, &matrix, &args.model, "")?;
    }
    output::to_stdout(&text)?;
    Ok(Exit::Complete)
}

/// A label and a value.
pub fn line(label: &str, value: &str) -> String {
    format!("{label:<12}{value}\n")
}

fn describe_lists(model: &LddSystem) -> String {
    [
        line("Layout", "list decision diagrams"),
        line("Integers", &grouped(&model.integers.to_string())),
        line("Groups", &grouped(&model.groups.len().to_string())),
        line("Nodes", &grouped(&model.nodes.len().to_string())),
    ]
    .concat()
}

fn lists_matrix(model: &LddSystem) -> Matrix {
    let rows = model.groups.iter().map(|group| (group.reads.clone(), group.writes.clone())).collect();
    Matrix { terms: &matrix::GROUPS, columns: model.integers as usize, rows, tells_reads_from_writes: true }
}

fn describe(model: &BddSystem, matrix: &Matrix) -> String {
    let widths = model.variables.iter().map(|variable| variable.bits);
    let (least, most) = (widths.clone().min().unwrap_or(0), widths.max().unwrap_or(0));
    let each = if least == most { format!("{most} bits each") } else { format!("{least} to {most} bits each") };
    let reads: usize = model.groups.iter().map(|group| group.reads.len()).sum();
    let writes: usize = model.groups.iter().map(|group| group.writes.len()).sum();
    let per_group = |total: usize| total as f64 / model.groups.len().max(1) as f64;
    let groups = model.groups.len();
    let touch = match matrix.tells_reads_from_writes {
        true => format!(
            "{groups}, reading {:.1} and writing {:.1} integers on average",
            per_group(reads),
            per_group(writes)
        ),
        false => format!("{groups}, touching {:.1} integers on average", per_group(reads)),
    };
    [
        line("Format", &format!("bdd, {} layout", model.layout)),
        line("State", &format!("{} integers, {each}, {} bits together", model.variables.len(), model.state_bits())),
        line("Actions", &format!("{} bits, {} labels", model.action_bits, model.action_labels.len())),
        line("Groups", &touch),
        if matrix.tells_reads_from_writes { String::new() } else { line("", &format!("({NO_DIFFERENCE})")) },
        line("Nodes", &format!("{} in all diagrams together", grouped(&model.nodes.len().to_string()))),
    ]
    .concat()
}

/// The initial states and, if the file has them, the reachable ones.
fn sets(model: &BddSystem, memory: usize) -> Result<String, Failure> {
    let manager = Manager::new(&Budget::new(memory)).map_err(|error| Failure::Limit(error.to_string()))?;
    let system = SymbolicSystem::build(&manager, model)?;
    let count = |set: &tremula_diagrams::Bdd| -> Result<String, Failure> {
        let digits = set.count(&system.state_levels)?.to_string();
        Ok(match digits.len() {
            _ if digits == "1" => "1 state".to_owned(),
            ..=40 => format!("{} states", grouped(&digits)),
            _ => format!("about {} states", magnitude(&digits)),
        })
    };
    let initial = line("Initial", &count(&system.initial)?);
    let reachable = match system.stored_reachable(model)? {
        Some(set) => format!("{}, says the file", count(&set)?),
        None => "not in the file".to_owned(),
    };
    Ok(initial + &line("Reachable", &reachable))
}

impl Matrix {
    /// Which integers each group of a model reads and writes.
    fn new(model: &BddSystem) -> Matrix {
        let rows = model.groups.iter().map(|group| (group.reads.clone(), group.writes.clone())).collect();
        let tells_reads_from_writes = model.layout != Layout::Legacy;
        Matrix { terms: &matrix::GROUPS, columns: model.variables.len(), rows, tells_reads_from_writes }
    }
}
