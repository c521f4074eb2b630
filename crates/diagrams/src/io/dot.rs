//! Diagrams for Graphviz.
//!
//! Each level is a rank with its variable's name beside it. Low edges are dashed; complemented edges are dotted and
//! end in a hollow dot; the one terminal is the constant false.

use super::Names;
use super::error::FileError;
use super::export::Export;
use crate::Bdd;
use crate::manager::{ImportEdge, Manager};
use std::collections::BTreeMap;
use std::io::Write;

impl Manager {
    /// Write named functions as one Graphviz graph.
    ///
    /// ```
    /// use tremula_diagrams::{Budget, Manager, io};
    /// let manager = Manager::new(&Budget::new(16 << 20))?;
    /// let (x, y) = (manager.var(0)?, manager.var(1)?);
    /// let mut dot = Vec::new();
    /// manager.write_dot(&[("either", &x.or(&y)?), ("both", &x.and(&y)?)], &io::numbered, &mut dot)?;
    /// assert!(String::from_utf8(dot)?.starts_with("digraph"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_dot(&self, roots: &[(&str, &Bdd)], names: Names, mut out: impl Write) -> Result<(), FileError> {
        let functions: Vec<&Bdd> = roots.iter().map(|root| root.1).collect();
        let export = self.export(&functions)?;
        writeln!(out, "digraph bdd {{")?;
        writeln!(out, "  node [shape=circle, fontname=\"sans-serif\", fontsize=11, margin=0.03];")?;
        writeln!(out, "  edge [arrowsize=0.7];")?;
        write_ranks(&export, names, &mut out)?;
        writeln!(out, "  n0 [shape=square, label=\"0\", margin=0.06];")?;
        for (at, ((name, _), &edge)) in roots.iter().zip(&export.roots).enumerate() {
            writeln!(out, "  r{at} [shape=plaintext, label={}];", quoted(name))?;
            write_edge(&mut out, &format!("r{at}"), edge, "solid")?;
        }
        for (at, node) in export.nodes.iter().enumerate() {
            let source = format!("n{}", at + 1);
            write_edge(&mut out, &source, node.low, "dashed")?;
            write_edge(&mut out, &source, node.high, "solid")?;
        }
        writeln!(out, "}}")?;
        Ok(out.flush()?)
    }
}

fn write_ranks(export: &Export, names: Names, out: &mut impl Write) -> Result<(), FileError> {
    let mut ranks: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, node) in export.nodes.iter().enumerate() {
        ranks.entry(node.level).or_default().push(at + 1);
    }
    for (level, nodes) in &ranks {
        let name = quoted(&names(*level));
        writeln!(out, "  l{level} [shape=plaintext, fontcolor=gray40, label={name}];")?;
        write!(out, "  {{ rank=same; l{level};")?;
        for node in nodes {
            write!(out, " n{node} [label={name}];")?;
        }
        writeln!(out, " }}")?;
    }
    let chain: Vec<String> = ranks.keys().map(|level| format!("l{level}")).chain(["n0".into()]).collect();
    if chain.len() > 1 {
        // Invisible edges keep ranks in the order of levels.
        writeln!(out, "  {} [style=invis];", chain.join(" -> "))?;
    }
    Ok(())
}

fn write_edge(out: &mut impl Write, source: &str, edge: ImportEdge, plain: &str) -> Result<(), FileError> {
    let (style, head) = if edge.complement { ("dotted", "odot") } else { (plain, "normal") };
    writeln!(out, "  {source} -> n{} [style={style}, arrowhead={head}];", edge.node)?;
    Ok(())
}

/// A DOT string. Backslashes would start escapes, so they are doubled too.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
