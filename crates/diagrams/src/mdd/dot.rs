//! Sets for Graphviz: each level is a rank with its variable's name beside it, each node a row of values, each with an
//! edge to what follows it.

use super::core::Core;
use super::handle::Mdd;
use super::levels::Levels;
use crate::io::{FileError, Names, quoted};
use std::io::Write;
use tremula_table::Forest;

impl Mdd {
    /// Write the set as a Graphviz graph.
    ///
    /// ```
    /// use tremula_diagrams::mdd::MddManager;
    /// use tremula_diagrams::{Attention, Budget, io};
    /// let manager = MddManager::new(2, &Budget::new(1 << 24), Default::default(), Attention::default())?;
    /// let set = manager.vector(&[1, 2])?.union(&manager.vector(&[3, 2])?)?;
    /// let mut dot = Vec::new();
    /// set.write_dot(&io::numbered, &mut dot)?;
    /// assert!(String::from_utf8(dot)?.contains("<b0> 1 | <b1> 3"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_dot(&self, names: Names, mut out: impl Write) -> Result<(), FileError> {
        let root = self.node();
        writeln!(out, "digraph mdd {{")?;
        writeln!(out, "  node [shape=record, fontname=\"sans-serif\", fontsize=11, height=0.3, width=0.3];")?;
        writeln!(out, "  edge [arrowsize=0.7];")?;
        if root != Forest::EMPTY {
            writeln!(out, "  end [shape=point];")?;
        }
        if root > Forest::TERMINAL {
            write_levels(&self.manager().core(), root, names, &mut out)?;
        }
        writeln!(out, "}}")?;
        Ok(out.flush()?)
    }
}

fn write_levels(core: &Core, root: u32, names: Names, out: &mut impl Write) -> Result<(), FileError> {
    let levels = Levels::new(core, root)?;
    for level in 0..levels.level_count() {
        writeln!(out, "  l{level} [shape=plaintext, fontcolor=gray40, label={}];", quoted(&names(level as u32)))?;
        // An invisible edge keeps ranks in the order of levels.
        let below = if level + 1 < levels.level_count() { format!("l{}", level + 1) } else { "end".to_owned() };
        writeln!(out, "  l{level} -> {below} [style=invis];")?;
        write!(out, "  {{ rank=same; l{level};")?;
        for number in levels.numbers_at(level) {
            write!(out, " n{number};")?;
        }
        writeln!(out, " }}")?;
        for number in levels.numbers_at(level) {
            write_node(&levels, number, out)?;
        }
    }
    Ok(())
}

/// A node and the edges from its values.
fn write_node(levels: &Levels, number: usize, out: &mut impl Write) -> Result<(), FileError> {
    let cells: Vec<String> =
        levels.branches(number).enumerate().map(|(at, branch)| format!("<b{at}> {}", branch.value)).collect();
    writeln!(out, "  n{number} [label=\"{}\"];", cells.join(" | "))?;
    for (at, branch) in levels.branches(number).enumerate() {
        match branch.child {
            Forest::TERMINAL => writeln!(out, "  n{number}:b{at} -> end;")?,
            child => writeln!(out, "  n{number}:b{at} -> n{};", levels.number(child))?,
        }
    }
    Ok(())
}
