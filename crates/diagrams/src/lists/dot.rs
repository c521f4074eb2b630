//! Sets of vectors for Graphviz: a row of boxes for each list, an edge down from each value.

use super::ldd::Ldd;
use crate::io::FileError;
use rustc_hash::FxHashSet;
use std::io::Write;
use tremula_table::Ref;

impl Ldd {
    /// Write the set as a Graphviz graph.
    ///
    /// ```
    /// use tremula_diagrams::{Budget, Manager};
    /// let manager = Manager::new(&Budget::new(16 << 20))?;
    /// let set = manager.vector(&[1, 2])?.union(&manager.vector(&[3, 2])?)?;
    /// let mut dot = Vec::new();
    /// set.write_dot(&mut dot)?;
    /// assert!(String::from_utf8(dot)?.contains("rank=same"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_dot(&self, mut out: impl Write) -> Result<(), FileError> {
        writeln!(out, "digraph ldd {{")?;
        writeln!(out, "  node [shape=box, fontname=\"sans-serif\", fontsize=11, height=0.3, width=0.3];")?;
        writeln!(out, "  edge [arrowsize=0.7];")?;
        for head in self.heads() {
            self.write_list(head, &mut out)?;
        }
        writeln!(out, "  end [shape=point];")?;
        writeln!(out, "}}")?;
        out.flush().map_err(FileError::from)
    }

    /// The first node of each list that something refers to, from the root.
    fn heads(&self) -> Vec<Ref> {
        let core = self.manager().core.borrow();
        let mut seen: FxHashSet<Ref> = FxHashSet::default();
        let (mut heads, mut next) = (vec![self.target()], 0);
        heads.retain(|head| !head.is_terminal());
        while let Some(&head) = heads.get(next) {
            next += 1;
            let mut list = head;
            while list != Ref::FALSE {
                let node = core.table.node(list);
                if !node.down().is_terminal() && seen.insert(node.down()) {
                    heads.push(node.down());
                }
                list = node.right();
            }
        }
        heads
    }

    /// One list, its nodes named after where it begins: the end of one list may be that of another.
    fn write_list(&self, head: Ref, out: &mut impl Write) -> Result<(), FileError> {
        let core = self.manager().core.borrow();
        let name = |head: Ref, at: usize| format!("n{}_{at}", head.index());
        let (mut list, mut at) = (head, 0);
        let mut rank = String::new();
        while list != Ref::FALSE {
            let node = core.table.node(list);
            writeln!(out, "  {} [label=\"{}\"];", name(head, at), node.value())?;
            match node.down() {
                Ref::TRUE => writeln!(out, "  {} -> end;", name(head, at))?,
                down => writeln!(out, "  {} -> {};", name(head, at), name(down, 0))?,
            }
            if at > 0 {
                writeln!(out, "  {} -> {} [style=dashed];", name(head, at - 1), name(head, at))?;
            }
            rank.push_str(&format!(" {};", name(head, at)));
            (list, at) = (node.right(), at + 1);
        }
        writeln!(out, "  {{ rank=same;{rank} }}")?;
        Ok(())
    }
}
