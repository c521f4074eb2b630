//! All ways to place queens on a board so that none attacks another: a node per placed queen, row by row.

use super::tree::Tree;
use tremula_tasks::Plain;

/// As many queens as the board has rows.
pub(crate) struct Queens {
    /// A bit for each column.
    all_columns: u32,
}

/// What the queens of the rows so far attack in the next row, a bit per column.
#[derive(Copy, Clone, Default)]
pub(crate) struct Attacked {
    columns: u32,
    /// By diagonals that move to higher columns from row to row.
    rising: u32,
    falling: u32,
}

impl Queens {
    /// A board with so many rows and columns.
    pub(crate) fn new(rows: u32) -> Queens {
        Queens { all_columns: (1 << rows) - 1 }
    }
}

impl Tree for Queens {
    type Node = Attacked;

    fn root(&self) -> Attacked {
        Attacked::default()
    }

    #[inline]
    fn weight(&self, attacked: Attacked) -> u64 {
        u64::from(attacked.columns == self.all_columns)
    }

    #[inline]
    fn children(&self, attacked: Attacked) -> impl Iterator<Item = Attacked> + Send {
        let mut free = self.all_columns & !(attacked.columns | attacked.rising | attacked.falling);
        std::iter::from_fn(move || {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            (queen != 0).then_some(Attacked {
                columns: attacked.columns | queen,
                rising: (attacked.rising | queen) << 1,
                falling: (attacked.falling | queen) >> 1,
            })
        })
    }
}

impl Plain for Attacked {
    type Words = [u64; 3];

    #[inline]
    fn to_words(self) -> [u64; 3] {
        [self.columns.into(), self.rising.into(), self.falling.into()]
    }

    #[inline]
    fn from_words([columns, rising, falling]: [u64; 3]) -> Attacked {
        Attacked { columns: columns as u32, rising: rising as u32, falling: falling as u32 }
    }
}
