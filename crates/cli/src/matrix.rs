//! What parts of a model do to its variables, as a matrix: groups or transitions are rows, integers or places columns.

use std::io::IsTerminal;

/// Widest block of columns when the output is not a terminal.
const UNLIMITED: usize = usize::MAX;
/// Rows printed on a terminal, at most, in all blocks together.
const MOST_ROWS: usize = 1000;

/// What rows and columns are, and what the one does to the other.
#[derive(PartialEq, Eq, Debug)]
pub struct Terms {
    /// Rows.
    pub rows: &'static str,
    /// Columns.
    pub columns: &'static str,
    /// What is done by reading, in a legend; its first letter marks it in text.
    pub read: &'static str,
    /// The same for writing.
    pub write: &'static str,
}

/// Models that are diagrams.
pub const GROUPS: Terms = Terms { rows: "groups", columns: "integers", read: "read", write: "written" };
/// Petri nets.
pub const TRANSITIONS: Terms = Terms { rows: "transitions", columns: "places", read: "takes", write: "gives" };

/// Which integers each group reads and writes, or which places each transition takes from and gives to.
pub struct Matrix {
    /// What is what.
    pub terms: &'static Terms,
    /// Integers of the state.
    pub columns: usize,
    /// What each group reads and writes, ascending.
    pub rows: Vec<(Vec<u32>, Vec<u32>)>,
    /// Does the file tell reading from writing? If not, both are the same.
    pub tells_reads_from_writes: bool,
}

/// What a group does to an integer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it.
    Both,
}

impl Matrix {
    /// What a group does, integer by integer, ascending; integers it leaves alone are not mentioned.
    pub fn accesses(&self, group: usize) -> impl Iterator<Item = (u32, Access)> + '_ {
        let (reads, writes) = &self.rows[group];
        let mut all: Vec<u32> = reads.iter().chain(writes).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|integer| {
            let access = match (reads.binary_search(&integer).is_ok(), writes.binary_search(&integer).is_ok()) {
                (true, true) => Access::Both,
                (true, false) => Access::Read,
                _ => Access::Write,
            };
            (integer, access)
        })
    }

    /// The matrix as text, in blocks of columns that fit into `width`.
    pub fn text(&self, width: usize) -> String {
        let label = self.rows.len().saturating_sub(1).to_string().len().max(5) + 1;
        let per_block = (width.saturating_sub(label) / 10 * 10).clamp(10, self.columns.max(10));
        let blocks = self.columns.div_ceil(per_block).max(1);
        let most = if width == UNLIMITED { usize::MAX } else { (MOST_ROWS / blocks).max(10) };
        let shown = self.rows.len().min(most);
        let mut text = self.legend();
        for block in 0..blocks {
            let columns = block * per_block..((block + 1) * per_block).min(self.columns);
            text.push('\n');
            text += &ruler(label, &columns);
            for group in 0..shown {
                text += &format!("{group:>width$} ", width = label - 1);
                text += &self.row(group, &columns);
                text.push('\n');
            }
        }
        if shown < self.rows.len() {
            let rest = self.rows.len() - shown;
            text += &format!("... and {rest} more {}: redirect the output to see all, or use --svg\n", self.terms.rows);
        }
        text
    }

    fn legend(&self) -> String {
        let Terms { rows, columns, read, write } = self.terms;
        let (r, w) = (mark(read), mark(write));
        let mut text = format!("Rows are {rows}, columns {columns}: {r} {read}, {w} {write}, + both, - neither");
        if !self.tells_reads_from_writes {
            text += &format!("\n({})", crate::info::NO_DIFFERENCE);
        }
        text + "\n"
    }

    fn row(&self, group: usize, columns: &std::ops::Range<usize>) -> String {
        let mut cells = vec!['-'; columns.len()];
        for (integer, access) in self.accesses(group).filter(|(integer, _)| columns.contains(&(*integer as usize))) {
            cells[integer as usize - columns.start] = match access {
                Access::Read => mark(self.terms.read),
                Access::Write => mark(self.terms.write),
                Access::Both => '+',
            };
        }
        cells.into_iter().collect()
    }
}

/// The letter that stands for what is done.
fn mark(done: &str) -> char {
    done.chars().next().unwrap_or('?')
}

/// The numbers of every tenth column, above their places.
fn ruler(label: usize, columns: &std::ops::Range<usize>) -> String {
    let mut text = " ".repeat(label);
    for column in columns.clone().step_by(10) {
        text += &format!("{column:<10}");
    }
    text.trim_end().to_owned() + "\n"
}

/// Columns of standard output: those of the terminal, or as many as it takes.
pub fn output_width() -> usize {
    if !std::io::stdout().is_terminal() {
        return UNLIMITED;
    }
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| usize::from(size.ws_col).max(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Matrix {
        let rows = vec![(vec![0, 2], vec![2]), (vec![], vec![11]), (vec![], vec![])];
        Matrix { terms: &GROUPS, columns: 12, rows, tells_reads_from_writes: true }
    }

    #[test]
    fn cells_tell_reading_from_writing() {
        let text = matrix().text(UNLIMITED);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows, ["      0         10", "    0 r-+---------", "    1 -----------w", "    2 ------------"]);
    }

    #[test]
    fn wide_matrices_come_in_blocks() {
        let text = matrix().text(20);
        assert!(text.lines().skip(1).all(|line| line.len() <= 20), "{text}");
        assert!(text.contains("\n      10\n    0 --\n    1 -w\n"), "{text}");
    }

    #[test]
    fn long_matrices_are_cut_on_a_terminal() {
        let rows = vec![(vec![0], vec![0]); 5000];
        let text = Matrix { terms: &GROUPS, columns: 3, rows, tells_reads_from_writes: false }.text(80);
        assert!(text.contains("... and 4000 more groups"));
        assert!(text.contains(crate::info::NO_DIFFERENCE));
    }
}
