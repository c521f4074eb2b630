//! Memory for work beside the tables: taken from their budget, at the cost of the operation cache if need be.

use tremula_table::{Lease, OverBudget, Solo};

/// Lease `bytes`. Results in the cache can be computed again, so they make room when nothing else is left.
pub fn take(table: &mut Solo, bytes: usize) -> Result<Lease, OverBudget> {
    let budget = table.budget().clone();
    budget.take(bytes).or_else(|_| {
        table.shrink_cache_for(bytes);
        budget.take(bytes)
    })
}
