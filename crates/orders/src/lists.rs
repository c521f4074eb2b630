//! Many short lists in one piece of memory.

/// Lists of numbers, numbered themselves from zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    /// Where each list starts in `items`, and where the last one ends.
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    pub(crate) fn new<I: IntoIterator<Item = u32>>(lists: impl IntoIterator<Item = I>) -> Lists {
        let mut all = Lists { starts: vec![0], items: Vec::new() };
        for list in lists {
            all.items.extend(list);
            all.starts.push(all.items.len());
        }
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The items of one list.
    pub(crate) fn of(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|list| self.of(list))
    }

    /// How many items all lists have together.
    pub(crate) fn total(&self) -> usize {
        self.items.len()
    }

    /// For each of the items `0..count`, the lists that it is in, ascending.
    pub(crate) fn inverted(&self, count: usize) -> Lists {
        let mut starts = vec![0; count + 1];
        for &item in &self.items {
            starts[item as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut free = starts.clone();
        let mut items = vec![0; self.items.len()];
        for (number, list) in self.iter().enumerate() {
            for &item in list {
                items[free[item as usize]] = number as u32;
                free[item as usize] += 1;
            }
        }
        Lists { starts, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverting_tells_which_lists_an_item_is_in() {
        let lists = Lists::new([vec![0, 2], vec![], vec![2, 1]]);
        let inverted = lists.inverted(4);
        let all: Vec<&[u32]> = inverted.iter().collect();
        assert_eq!(all, [&[0][..], &[2], &[0, 2], &[]]);
        assert_eq!((lists.len(), lists.total()), (3, 4));
    }
}
