//! Tables as text.

/// Columns are this far apart.
const GAP: &str = "  ";

/// A table: a heading and rows, as wide as its widest entries.
///
/// ```
/// use tremula_studies::TextTable;
/// let mut table = TextTable::new(["name", "count"], 1);
/// table.row(["one", "1"]);
/// table.row(["twenty", "20"]);
/// assert_eq!(table.to_string(), "name    count\none         1\ntwenty     20\n");
/// ```
pub struct TextTable {
    /// So many columns are flush left; those after them are numbers, flush right.
    left_columns: usize,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with this heading; its first `left_columns` columns are words, the others numbers.
    pub fn new<T: Into<String>>(heading: impl IntoIterator<Item = T>, left_columns: usize) -> TextTable {
        let mut table = TextTable { left_columns, rows: Vec::new() };
        table.row(heading);
        table
    }

    /// Add a row, with as many entries as the heading.
    pub fn row<T: Into<String>>(&mut self, entries: impl IntoIterator<Item = T>) {
        self.rows.push(entries.into_iter().map(Into::into).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        (0..self.rows[0].len()).map(width).collect()
    }
}

impl std::fmt::Display for TextTable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let entries = row.iter().zip(&widths).enumerate().map(|(column, (entry, &width))| {
                if column < self.left_columns { format!("{entry:<width$}") } else { format!("{entry:>width$}") }
            });
            writeln!(out, "{}", entries.collect::<Vec<_>>().join(GAP).trim_end())?;
        }
        Ok(())
    }
}
