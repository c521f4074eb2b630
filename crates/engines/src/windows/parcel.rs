//! Sets as words, to be sent to other ranks.
//!
//! The empty set is no words at all. Any other is the root, then two words for each node, children first: level and low child,
//! high child and its sign. Canonical diagrams have no sign on low edges.

use tremula_diagrams::{Bdd, Error, ImportEdge, ImportNode, Lease, Manager};

/// A set on its way, and the memory that it takes until it is sent, or built again.
#[derive(Default)]
pub(super) struct Parcel {
    pub(super) words: Vec<u64>,
    _lease: Option<Lease>,
}

impl Parcel {
    /// Room for so many words that are to come.
    pub(super) fn expected(manager: &Manager, length: usize) -> Result<Parcel, Error> {
        let lease = manager.lease(length * WORD)?;
        Ok(Parcel { words: Vec::with_capacity(length), _lease: Some(lease) })
    }

    /// Up to so many words from `start` on.
    pub(super) fn slice(&self, start: usize, most: usize) -> &[u64] {
        let rest = self.words.get(start..).unwrap_or_default();
        &rest[..rest.len().min(most)]
    }
}

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// List a set.
pub(super) fn pack(set: &Bdd) -> Result<Parcel, Error> {
    if set.is_false() {
        return Ok(Parcel::default());
    }
    let manager = set.manager();
    let export = manager.export(&[set]).or_else(|_| {
        // Tables that have grown over everything can give some back.
        manager.compact();
        manager.export(&[set])
    })?;
    let mut parcel = Parcel::expected(manager, 2 * export.nodes.len() + 1)?;
    parcel.words.push(from_edge(export.roots[0]));
    for node in &export.nodes {
        parcel.words.push(u64::from(node.level) << 32 | u64::from(node.low.node));
        parcel.words.push(from_edge(node.high));
    }
    Ok(parcel)
}

/// Build a set from its list.
pub(super) fn unpack(manager: &Manager, words: &[u64]) -> Result<Bdd, Error> {
    let Some((&root, nodes)) = words.split_first() else { return Ok(manager.constant(false)) };
    let (nodes, rest) = nodes.as_chunks::<2>();
    debug_assert!(rest.is_empty());
    let node = |&[first, high]: &[u64; 2]| ImportNode {
        level: (first >> 32) as u32,
        low: ImportEdge { node: first as u32, complement: false },
        high: to_edge(high),
    };
    Ok(manager.import(nodes.iter().map(node), &[to_edge(root)])?.remove(0))
}

fn from_edge(edge: ImportEdge) -> u64 {
    u64::from(edge.node) << 1 | u64::from(edge.complement)
}

fn to_edge(word: u64) -> ImportEdge {
    ImportEdge { node: (word >> 1) as u32, complement: word & 1 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_diagrams::Budget;

    #[test]
    fn what_is_packed_arrives() {
        let [here, there] = [(); 2].map(|()| Manager::new(&Budget::new(16 << 20)).unwrap());
        let build = |manager: &Manager| {
            let v: Vec<Bdd> = (0..6).map(|level| manager.var(level).unwrap()).collect();
            let odd = v.iter().skip(1).try_fold(v[0].clone(), |odd, next| odd.xor(next)).unwrap();
            let some = v[1].and(&v[4]).unwrap().or(&v[2]).unwrap();
            let constants = [false, true].map(|value| manager.constant(value));
            [constants.to_vec(), vec![odd.clone(), !&odd, some.clone(), !&some], v].concat()
        };
        for (sent, expected) in build(&here).iter().zip(build(&there)) {
            assert_eq!(unpack(&there, &pack(sent).unwrap().words).unwrap(), expected);
        }
    }

    #[test]
    fn slices_make_up_a_parcel() {
        let parcel = Parcel { words: (0..5).collect(), _lease: None };
        assert_eq!([0, 2, 4, 6].map(|start| parcel.slice(start, 2)), [&[0, 1][..], &[2, 3], &[4], &[]]);
    }

    #[test]
    fn nothing_weighs_nothing() {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        assert!(pack(&manager.constant(false)).unwrap().words.is_empty());
    }

    #[test]
    fn memory_is_given_back_when_a_parcel_is_gone() {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        let set = manager.cube(&(0..100).map(|level| (level, true)).collect::<Vec<_>>()).unwrap();
        let before = manager.budget().used();
        let parcel = pack(&set).unwrap();
        assert_eq!(manager.budget().used(), before + parcel.words.len() * WORD);
        drop(parcel);
        assert_eq!(manager.budget().used(), before);
    }
}
