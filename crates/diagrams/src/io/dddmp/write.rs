//! Writing DDDMP.

use crate::Bdd;
use crate::io::Names;
use crate::io::error::FileError;
use crate::io::export::Export;
use crate::manager::{ImportEdge, Manager};
use std::collections::{BTreeSet, HashSet};
use std::io::Write;

impl Manager {
    /// Save functions as DDDMP text. Variable names are always written.
    ///
    /// Root names are written unless all are empty. (The parser in Python's `dd` refuses files with root names and names
    /// that are not plain identifiers; CUDD itself takes any names without blanks.)
    pub fn save_dddmp(&self, roots: &[(&str, &Bdd)], names: Names, mut out: impl Write) -> Result<(), FileError> {
        let functions: Vec<&Bdd> = roots.iter().map(|root| root.1).collect();
        let export = self.export(&functions)?;
        let support: BTreeSet<u32> = export.nodes.iter().map(|node| node.level).collect();
        let support: Vec<u32> = support.into_iter().collect();
        let names: Vec<String> = (0..support.last().map_or(0, |last| last + 1)).map(names).collect();
        check_names(names.iter().map(String::as_str))?;
        let polarity = Polarity::of(&export);
        write_variables(&export, &support, &names, &mut out)?;
        write_roots(roots, &export, &polarity, &mut out)?;
        write_nodes(&export, &support, &names, &polarity, &mut out)?;
        Ok(out.flush()?)
    }
}

/// Names become words of a line, so they must look like one, and differ.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), FileError> {
    let mut seen = HashSet::new();
    for name in names {
        let problem = if name.is_empty() {
            "it is empty"
        } else if name.starts_with('.') || name.starts_with('#') {
            "it looks like a header field or a comment"
        } else if name.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            "it contains blanks or control characters"
        } else if !seen.insert(name) {
            "it is not unique"
        } else {
            continue;
        };
        return Err(FileError::BadName { name: name.to_string(), problem });
    }
    Ok(())
}

/// Whether each of our nodes is the function of CUDD's node, by number.
///
/// CUDD's regular nodes are true where all variables are. So ours is the same exactly when it is true there, which its
/// high edges tell; otherwise CUDD's is the negation.
struct Polarity(Vec<bool>);

impl Polarity {
    fn of(export: &Export) -> Polarity {
        let mut same = Vec::with_capacity(export.nodes.len() + 1);
        same.push(false);
        for node in &export.nodes {
            same.push(same[node.high.node as usize] != node.high.complement);
        }
        Polarity(same)
    }

    /// Our edge as CUDD's signed number. The terminal is number one there.
    fn signed(&self, edge: ImportEdge) -> i64 {
        let number = i64::from(edge.node) + 1;
        if self.0[edge.node as usize] == edge.complement { -number } else { number }
    }
}

fn write_list<T: std::fmt::Display>(
    out: &mut impl Write,
    field: &str,
    items: impl IntoIterator<Item = T>,
) -> Result<(), FileError> {
    write!(out, "{field}")?;
    for item in items {
        write!(out, " {item}")?;
    }
    Ok(writeln!(out)?)
}

fn write_variables(export: &Export, support: &[u32], names: &[String], out: &mut impl Write) -> Result<(), FileError> {
    writeln!(out, ".ver DDDMP-2.0\n.mode A\n.varinfo 3\n.nnodes {}", export.nodes.len() + 1)?;
    writeln!(out, ".nvars {}\n.nsuppvars {}", names.len(), support.len())?;
    write_list(out, ".suppvarnames", support.iter().map(|&level| &names[level as usize]))?;
    write_list(out, ".orderedvarnames", names)?;
    write_list(out, ".ids", support)?;
    write_list(out, ".permids", support)
}

fn write_roots(
    roots: &[(&str, &Bdd)],
    export: &Export,
    polarity: &Polarity,
    out: &mut impl Write,
) -> Result<(), FileError> {
    writeln!(out, ".nroots {}", roots.len())?;
    if roots.iter().any(|root| !root.0.is_empty()) {
        check_names(roots.iter().map(|root| root.0))?;
        write_list(out, ".rootnames", roots.iter().map(|root| root.0))?;
    }
    write_list(out, ".rootids", export.roots.iter().map(|&edge| polarity.signed(edge)))
}

fn write_nodes(
    export: &Export,
    support: &[u32],
    names: &[String],
    polarity: &Polarity,
    out: &mut impl Write,
) -> Result<(), FileError> {
    writeln!(out, ".nodes\n1 T 1 0 0")?;
    for (at, node) in export.nodes.iter().enumerate() {
        let name = &names[node.level as usize];
        let index = support.binary_search(&node.level).expect("the support comes from the nodes");
        // Where CUDD's node is our node's negation, so are its children.
        let negate = !polarity.0[at + 1];
        let signed = |edge: ImportEdge| polarity.signed(ImportEdge { complement: edge.complement != negate, ..edge });
        writeln!(out, "{} {name} {index} {} {}", at + 2, signed(node.high), signed(node.low))?;
    }
    Ok(writeln!(out, ".end")?)
}
