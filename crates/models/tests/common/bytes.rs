//! Tiny files, made by hand: the same system in both layouts.
//!
//! Two bits x and y (variables 0 to 3) and one action bit a (variable 1000000). Both bits start
//! at 0; the only group flips x, with a = 1. So y stays 0 in the reachable states.

/// The complement mark.
pub const NOT: u64 = 1 << 63;
/// The true terminal.
pub const TRUE: u64 = NOT;
/// The false terminal.
pub const FALSE: u64 = 0;
/// The action variable.
pub const ACTION: u64 = 1_000_000;

/// A file being made.
#[derive(Clone, Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn i32(mut self, values: &[i32]) -> Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    pub fn u64(mut self, values: &[u64]) -> Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    /// The number of nodes, and the nodes: variable, low, high.
    pub fn nodes(mut self, nodes: &[(u64, u64, u64)]) -> Self {
        self = self.u64(&[nodes.len() as u64]);
        nodes.iter().fold(self, |file, &(variable, low, high)| file.u64(&[high, variable << 40 | low]))
    }

    /// The number of nodes of lists, and the nodes: value, down, right, copy.
    pub fn lists(mut self, nodes: &[(u32, u64, u64, bool)]) -> Self {
        self = self.u64(&[nodes.len() as u64]);
        for &(value, down, right, copy) in nodes {
            self.0.extend(&(right << 1).to_le_bytes()[..6]);
            self.0.extend(value.to_le_bytes());
            self.0.extend(&(down << 1 | u64::from(copy)).to_le_bytes()[..6]);
        }
        self
    }

    /// This file with the four bytes at `offset` replaced.
    pub fn with_i32(&self, offset: usize, value: i32) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    /// This file with the eight bytes at `offset` replaced.
    pub fn with_u64(&self, offset: usize, value: u64) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    }
}

/// The system in the legacy layout. Offsets: integers 0, bits 4, action bits 8; initial set:
/// nodes 12 and 20 to 67, root 68, integers 76, cube 84; groups 92; relation: nodes 96 and 104 to
/// 199, root 200, cube 208; flag 216; reachable set: nodes 220, root 228, integers 236, cube 244.
pub fn legacy() -> Bytes {
    Bytes::default()
        .i32(&[2, 1, 1])
        .nodes(&[(2, FALSE, TRUE), (0, 1, TRUE), (0, FALSE, 1)]) // y, x ∨ y, x ∧ y
        .u64(&[NOT | 2, 2, 3])
        .i32(&[1])
        .nodes(&[
            (ACTION, FALSE, TRUE), // 4: a
            (1, FALSE, 4),         // 5: x' ∧ a
            (1, 4, FALSE),         // 6: ¬x' ∧ a
            (0, 5, 6),             // 7: the relation
            (1, FALSE, TRUE),      // 8: x'
            (0, FALSE, 8),         // 9: x ∧ x'
        ])
        .u64(&[7, 9])
        .i32(&[1])
        .nodes(&[])
        .u64(&[NOT | 1, 2, 3])
}

/// The system in the Sylvan layout. Offsets: integers 0, bits 4 and 8, action bits 12; initial
/// set: integers 16, nodes 20 and 28 to 59, roots 60, root 64; groups 72; projection: lengths 76
/// and 80, lists 84 and 88; relation: nodes 92 and 100 to 163, roots 164, root 168; flag 176;
/// reachable set: integers 180, nodes 184 and 192 to 207, roots 208, root 212; labels 220, length
/// 224, text 228 and 229.
pub fn sylvan() -> Bytes {
    let mut file = Bytes::default()
        .i32(&[2, 1, 1, 1])
        .i32(&[-1])
        .nodes(&[(2, FALSE, TRUE), (0, 1, TRUE)])
        .i32(&[1])
        .u64(&[NOT | 2])
        .i32(&[1])
        .i32(&[1, 1, 0, 0])
        .nodes(&[(ACTION, FALSE, TRUE), (1, FALSE, 1), (1, 1, FALSE), (0, 2, 3)])
        .i32(&[1])
        .u64(&[4])
        .i32(&[1])
        .i32(&[-1])
        .nodes(&[(2, FALSE, TRUE)])
        .i32(&[1])
        .u64(&[NOT | 1])
        .i32(&[1, 2]);
    file.0.extend(b"go");
    file
}

/// A system in the Sylvan layout whose integers differ in width: x has one bit (variables 0 and
/// 1), y two (2 to 5). Initially x = 1 and y = 2; the only group reads x and writes y: from x = 1
/// it sets x' = 1 and y' = 3.
pub fn uneven() -> Bytes {
    Bytes::default()
        .i32(&[2, 1, 2, 0])
        .i32(&[-1])
        .nodes(&[(4, FALSE, TRUE), (2, FALSE, NOT | 1), (0, FALSE, 2)])
        .i32(&[1])
        .u64(&[3])
        .i32(&[1])
        .i32(&[1, 1, 0, 1])
        .nodes(&[(5, FALSE, TRUE), (3, FALSE, 1), (1, FALSE, 2), (0, FALSE, 3)])
        .i32(&[1])
        .u64(&[4])
        .i32(&[0, 0])
}

/// A system of lists: integers x and y, initially 0 and 7. Group 0 reads and writes x (0 becomes 1, 1 keeps its value);
/// group 1 reads x and writes y (where x is 1, y becomes 8 or stays). Offsets: integers 0; initial set: integers 4, nodes 8
/// and 16 to 47, root 48; groups 56; projections 60 and 76; relation 0: nodes 92 and 100 to 179, root 180; relation 1:
/// nodes 188 and 196 to 243, root 244; flag 252; labels 256.
pub fn lists() -> Bytes {
    let mut file = Bytes::default()
        .i32(&[2, -1])
        .lists(&[(7, 1, 0, false), (0, 2, 0, false)])
        .u64(&[3])
        .i32(&[2])
        .i32(&[1, 1, 0, 0])
        .i32(&[1, 1, 0, 1])
        .lists(&[
            (0, 1, 0, false), // 4: the action
            (1, 4, 0, false), // 5: becomes 1
            (0, 4, 0, true),  // 6: stays
            (1, 6, 0, false), // 7: from 1
            (0, 5, 7, false), // 8: from 0
        ])
        .u64(&[8])
        .lists(&[
            (8, 4, 0, false), // 9: becomes 8
            (0, 4, 9, true),  // 10: stays, or 9
            (1, 10, 0, false),
        ])
        .u64(&[11])
        .i32(&[0, 1, 2]);
    file.0.extend(b"go");
    file
}

/// The tiny files under the names that they have among the fuzzer's seeds.
pub fn seeds() -> [(&'static str, Vec<u8>); 4] {
    let files = [("legacy.bdd", legacy()), ("sylvan.bdd", sylvan()), ("uneven.bdd", uneven()), ("lists.ldd", lists())];
    files.map(|(name, file)| (name, file.0))
}
