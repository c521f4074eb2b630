//! Whether a transition system satisfies its invariants.

use crate::error::SystemError;
use crate::support::{Support, check_support};
use crate::system::{
    BddSystem, Edge, FIRST_ACTION_VARIABLE, Group, MAX_ACTION_BITS, MAX_NODE_ID, MAX_STATE_BITS, MAX_VARIABLE_BITS,
};

impl BddSystem {
    /// Checks S1 to S7.
    ///
    /// # Errors
    ///
    /// Says which invariant is violated first, and where.
    pub fn check(&self) -> Result<(), SystemError> {
        self.check_widths()?;
        self.check_nodes()?;
        let mut support = Support::new();
        let sets = [("initial set", Some(self.initial)), ("reachable set", self.reachable)];
        for (what, root) in sets.into_iter().filter_map(|(what, root)| Some((what, root?))) {
            self.check_root(what, root)?;
            check_support(&mut support, &self.nodes, root, |variable| {
                variable < FIRST_ACTION_VARIABLE && variable.is_multiple_of(2)
            })
            .map_err(|variable| SystemError::ForeignVariable { what: what.into(), variable })?;
        }
        let mut integer_of_bit = Vec::new();
        for (integer, variable) in (0..).zip(&self.variables) {
            integer_of_bit.extend((0..variable.bits).map(|_| integer));
        }
        for (index, group) in self.groups.iter().enumerate() {
            self.check_group(index, group, &integer_of_bit, &mut support)?;
        }
        Ok(())
    }

    /// S1.
    fn check_widths(&self) -> Result<(), SystemError> {
        let widths = || self.variables.iter().map(|variable| variable.bits);
        let each = widths().all(|bits| (1..=MAX_VARIABLE_BITS).contains(&bits));
        let total = widths().map(u64::from).sum::<u64>();
        let fits = (1..=u64::from(MAX_STATE_BITS)).contains(&total);
        if each && fits && self.action_bits <= MAX_ACTION_BITS { Ok(()) } else { Err(SystemError::Widths) }
    }

    /// S2 to S4.
    fn check_nodes(&self) -> Result<(), SystemError> {
        let state_variables = 2 * self.state_bits();
        let actions = FIRST_ACTION_VARIABLE..FIRST_ACTION_VARIABLE + self.action_bits;
        if self.nodes.len() > MAX_NODE_ID as usize {
            return Err(SystemError::TooManyNodes);
        }
        for (id, node) in (1..).zip(&self.nodes) {
            let known = node.variable < state_variables || actions.contains(&node.variable);
            let ordered = [node.low, node.high]
                .into_iter()
                .all(|child| child.id() < id && self.node(child).is_none_or(|below| below.variable > node.variable));
            let reduced = !node.low.is_complement() && node.low != node.high;
            if !(known && ordered && reduced) {
                return Err(SystemError::Node { id });
            }
        }
        Ok(())
    }

    /// S5.
    fn check_root(&self, what: &str, root: Edge) -> Result<(), SystemError> {
        if root.id() as usize <= self.nodes.len() {
            Ok(())
        } else {
            Err(SystemError::MissingNode { what: what.into(), id: root.id() })
        }
    }

    /// S5 to S7 for one group.
    fn check_group(
        &self,
        index: usize,
        group: &Group,
        integer_of_bit: &[u32],
        support: &mut Support,
    ) -> Result<(), SystemError> {
        let integers = self.variables.len();
        for list in [&group.reads, &group.writes] {
            let ascending = list.is_sorted_by(|a, b| a < b);
            if !ascending || list.last().is_some_and(|&last| last as usize >= integers) {
                return Err(SystemError::Projection { group: index });
            }
        }
        let what = format!("relation of group {index}");
        self.check_root(&what, group.relation)?;
        let touched = group.touched();
        check_support(support, &self.nodes, group.relation, |variable| {
            variable >= FIRST_ACTION_VARIABLE || touched.binary_search(&integer_of_bit[variable as usize / 2]).is_ok()
        })
        .map_err(|variable| SystemError::ForeignVariable { what, variable })
    }
}
