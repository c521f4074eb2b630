//! Reading DDDMP.
//!
//! Accepted beyond what we write: any header fields (unknown ones are skipped), no names, node lines without names
//! (`.varinfo 4`), complements on any edge, a second terminal `0`, diagrams that are not reduced.

use crate::Bdd;
use crate::io::error::FileError;
use crate::manager::{ImportEdge, ImportNode, Manager};
use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::str::FromStr;
use tremula_table::layout::{MAX_LEVELS, TERMINAL_LEVEL};

/// Longest line that is read: enough for the names of as many variables as there can be.
const MAX_LINE_BYTES: u64 = 1 << 28;
/// Longest piece of the input that an error quotes.
const LONGEST_QUOTE: usize = 40;

/// What a DDDMP file held.
#[derive(Debug)]
pub struct DddmpContents {
    /// Functions, with names where the file had any.
    pub roots: Vec<(Option<String>, Bdd)>,
    /// Names of variables by level, as far as the file had any.
    pub variables: Vec<(u32, String)>,
}

impl Manager {
    /// Load DDDMP text with at most `node_limit` nodes. A variable comes to the level that the file's order gives it.
    pub fn load_dddmp(&self, input: impl BufRead, node_limit: usize) -> Result<DddmpContents, FileError> {
        let mut lines = Lines { input, number: 0, text: String::new() };
        let header = Header::read(&mut lines)?;
        let mut nodes = Nodes { levels: header.levels()?, seen: Vec::new(), list: Vec::new(), limit: node_limit };
        nodes.read(&mut lines, &header)?;
        let edges = nodes.roots(&header)?;
        let functions = self.import(nodes.list, &edges)?;
        let variables = header.variables();
        let mut names = header.root_names.into_iter();
        let roots = functions.into_iter().map(|function| (names.next(), function)).collect();
        Ok(DddmpContents { roots, variables })
    }
}

/// Lines of the input, counted.
struct Lines<R> {
    input: R,
    number: u64,
    text: String,
}

impl<R: BufRead> Lines<R> {
    /// Go to the next line that is neither blank nor a comment. At the end of the input, that is the error.
    fn advance(&mut self, expected: &'static str) -> Result<(), FileError> {
        loop {
            let mut bytes = Vec::new();
            let read = self.input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
            self.number += 1;
            if read == 0 {
                return Err(malformed(self.number, expected, "the end of the file"));
            }
            if read as u64 == MAX_LINE_BYTES {
                return Err(malformed(self.number, "a line of reasonable length", &String::from_utf8_lossy(&bytes)));
            }
            self.text = String::from_utf8_lossy(&bytes).trim().to_string();
            if !self.text.is_empty() && !self.text.starts_with('#') {
                return Ok(());
            }
        }
    }

    fn error(&self, expected: impl Into<Cow<'static, str>>) -> FileError {
        malformed(self.number, expected, &self.text)
    }
}

fn malformed(line: u64, expected: impl Into<Cow<'static, str>>, found: &str) -> FileError {
    FileError::Text { line, expected: expected.into(), found: found.chars().take(LONGEST_QUOTE).collect() }
}

/// A header field that is a list, and the line it was on (zero: nowhere).
#[derive(Default)]
struct List<T> {
    items: Vec<T>,
    line: u64,
}

#[derive(Default)]
struct Header {
    /// What node lines say about variables beside their position; 4 is nothing.
    variable_info: Option<u64>,
    nodes: Option<u64>,
    support_size: Option<u64>,
    support_names: List<String>,
    ordered_names: List<String>,
    ids: List<u32>,
    permuted_ids: List<u32>,
    root_count: Option<u64>,
    roots: List<i64>,
    root_names: Vec<String>,
}

impl Header {
    /// Read up to and including the line `.nodes`.
    fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Header, FileError> {
        lines.advance("`.ver DDDMP-2.0`")?;
        if !lines.text.strip_prefix(".ver").is_some_and(|rest| rest.trim_start().starts_with("DDDMP-")) {
            return Err(lines.error("`.ver DDDMP-2.0`"));
        }
        let mut header = Header::default();
        loop {
            lines.advance("a header field or `.nodes`")?;
            if lines.text == ".nodes" {
                header.check(lines)?;
                return Ok(header);
            }
            if !lines.text.starts_with('.') {
                return Err(lines.error("a header field or `.nodes`"));
            }
            header.field(lines)?;
        }
    }

    fn field<R: BufRead>(&mut self, lines: &Lines<R>) -> Result<(), FileError> {
        let mut words = lines.text.split_whitespace();
        let field = words.next().unwrap_or_default();
        let rest = words.clone().map(str::to_string);
        match field {
            ".mode" if words.next() != Some("A") => return Err(lines.error("`.mode A`, the text form")),
            ".add" => return Err(lines.error("a binary decision diagram")),
            ".varinfo" => self.variable_info = Some(number(lines)?),
            ".nnodes" => self.nodes = Some(number(lines)?),
            ".nsuppvars" => self.support_size = Some(number(lines)?),
            ".nroots" => self.root_count = Some(number(lines)?),
            ".suppvarnames" => self.support_names = List { items: rest.collect(), line: lines.number },
            ".orderedvarnames" => self.ordered_names = List { items: rest.collect(), line: lines.number },
            ".ids" => self.ids = numbers(lines, "variable numbers")?,
            ".permids" => self.permuted_ids = numbers(lines, "levels")?,
            ".rootids" => self.roots = numbers(lines, "node numbers of roots")?,
            ".rootnames" => self.root_names = rest.collect(),
            _ => {}
        }
        Ok(())
    }

    /// Do the lists have the announced lengths?
    fn check<R: BufRead>(&self, lines: &Lines<R>) -> Result<(), FileError> {
        let support = self.support_size.unwrap_or(self.variable_ids().items.len() as u64);
        let differs = |length: usize, line: u64| line > 0 && length as u64 != support;
        let (ids, permuted, names) = (&self.ids, &self.permuted_ids, &self.support_names);
        if differs(ids.items.len(), ids.line) || differs(permuted.items.len(), permuted.line) {
            return Err(lines.error(format!("`.ids` and `.permids` of {support} support variables before")));
        }
        if !names.items.is_empty() && differs(names.items.len(), names.line) {
            return Err(lines.error(format!("`.suppvarnames` of {support} support variables before")));
        }
        if self.roots.line == 0 || self.root_count.is_some_and(|count| count != self.roots.items.len() as u64) {
            return Err(lines.error("`.rootids` with as many roots as `.nroots` says, before"));
        }
        Ok(())
    }

    /// The list that says which level each support variable is on: without an order, variables are in order.
    fn variable_ids(&self) -> &List<u32> {
        if self.permuted_ids.line > 0 { &self.permuted_ids } else { &self.ids }
    }

    /// Levels of the support variables.
    fn levels(&self) -> Result<Vec<u32>, FileError> {
        let list = self.variable_ids();
        match list.items.iter().find(|&&level| level >= MAX_LEVELS) {
            Some(level) => Err(malformed(list.line, format!("levels below {MAX_LEVELS}"), &level.to_string())),
            None => Ok(list.items.clone()),
        }
    }

    fn variables(&self) -> Vec<(u32, String)> {
        let named = |(level, name): (u32, &String)| (level, name.clone());
        if self.ordered_names.line > 0 {
            return (0..).zip(&self.ordered_names.items).map(named).collect();
        }
        self.variable_ids().items.iter().copied().zip(&self.support_names.items).map(named).collect()
    }
}

fn number<R>(lines: &Lines<R>) -> Result<u64, FileError> {
    let value = lines.text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    value.ok_or_else(|| malformed(lines.number, "a number", &lines.text))
}

fn numbers<T: FromStr, R>(lines: &Lines<R>, expected: &'static str) -> Result<List<T>, FileError> {
    let items = lines.text.split_whitespace().skip(1).map(|word| word.parse().map_err(|_| word));
    let items = items.collect::<Result<_, _>>().map_err(|word| malformed(lines.number, expected, word))?;
    Ok(List { items, line: lines.number })
}

/// The nodes of a file.
struct Nodes {
    /// Levels of the support variables.
    levels: Vec<u32>,
    /// For each line: how the import list refers to its node, and its level.
    seen: Vec<(ImportEdge, u32)>,
    /// The import list.
    list: Vec<ImportNode>,
    limit: usize,
}

impl Nodes {
    /// Read up to and including the line `.end`.
    fn read<R: BufRead>(&mut self, lines: &mut Lines<R>, header: &Header) -> Result<(), FileError> {
        if let Some(nodes) = header.nodes.filter(|&nodes| nodes.saturating_sub(1) > self.limit as u64) {
            return Err(self.too_many(nodes - 1));
        }
        loop {
            lines.advance("a node or `.end`")?;
            if lines.text == ".end" {
                break;
            }
            self.node(lines, header)?;
        }
        match header.nodes {
            Some(nodes) if nodes != self.seen.len() as u64 => {
                Err(lines.error(format!("{nodes} nodes, as `.nnodes` says, not {}", self.seen.len())))
            }
            _ => Ok(()),
        }
    }

    fn too_many(&self, nodes: u64) -> FileError {
        FileError::TooManyNodes { nodes, limit: self.limit as u64 }
    }

    fn node<R: BufRead>(&mut self, lines: &Lines<R>, header: &Header) -> Result<(), FileError> {
        let form = || lines.error("a node: number, information unless `.varinfo 4`, variable, then-node, else-node");
        let words: Vec<&str> = lines.text.split_whitespace().collect();
        let (id, variable, high, low) = match (header.variable_info, &words[..]) {
            (None | Some(4), &[id, variable, high, low]) => (id, variable, high, low),
            (None | Some(0..4), &[id, _, variable, high, low]) => (id, variable, high, low),
            _ => return Err(form()),
        };
        let signed = |word: &str| word.parse::<i64>().map_err(|_| form());
        let (id, high, low) = (signed(id)?, signed(high)?, signed(low)?);
        if id != self.seen.len() as i64 + 1 {
            return Err(lines.error(format!("node number {}", self.seen.len() + 1)));
        }
        if high == 0 && low == 0 {
            return self.terminal(lines, variable);
        }
        let (high, low) = (self.child(lines, high)?, self.child(lines, low)?);
        let level = variable.parse().ok().and_then(|at: usize| self.levels.get(at).copied());
        let level = level.ok_or_else(|| lines.error("the position of a variable among `.ids`"))?;
        if level >= low.1.min(high.1) {
            return Err(lines.error("a variable before those of the children in the order"));
        }
        if self.list.len() >= self.limit {
            return Err(self.too_many(self.list.len() as u64 + 1));
        }
        self.list.push(ImportNode { level, low: low.0, high: high.0 });
        self.seen.push((ImportEdge { node: self.list.len() as u32, complement: false }, level));
        Ok(())
    }

    fn terminal<R: BufRead>(&mut self, lines: &Lines<R>, value: &str) -> Result<(), FileError> {
        let complement = match value {
            "1" => true,
            "0" => false,
            _ => return Err(lines.error("the terminal 1 or 0")),
        };
        if self.seen.len() > self.limit.saturating_add(1) {
            return Err(self.too_many(self.seen.len() as u64));
        }
        self.seen.push((ImportEdge { node: 0, complement }, TERMINAL_LEVEL));
        Ok(())
    }

    fn child<R: BufRead>(&self, lines: &Lines<R>, id: i64) -> Result<(ImportEdge, u32), FileError> {
        self.find(id).ok_or_else(|| lines.error("children that come before, none of them 0"))
    }

    /// The node with a signed number, and its level.
    fn find(&self, id: i64) -> Option<(ImportEdge, u32)> {
        let at = usize::try_from(id.unsigned_abs()).ok()?.checked_sub(1)?;
        let &(edge, level) = self.seen.get(at)?;
        Some((ImportEdge { complement: edge.complement != (id < 0), ..edge }, level))
    }

    fn roots(&self, header: &Header) -> Result<Vec<ImportEdge>, FileError> {
        let list = &header.roots;
        let missing = |id: &i64| malformed(list.line, "roots among the nodes", &id.to_string());
        list.items.iter().map(|id| self.find(*id).map(|found| found.0).ok_or_else(|| missing(id))).collect()
    }
}
