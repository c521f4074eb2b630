//! One byte budget shared by everything that allocates.
//!
//! Managers, memo tables and readers hold clones of one [`Budget`] and take [`Lease`]s from it; a lease gives its bytes
//! back when it is dropped. Several managers can share a budget: what one returns another may take.
//!
//! ```
//! use tremula_table::Budget;
//! let budget = Budget::new(1000);
//! let lease = budget.take(600).unwrap();
//! assert!(budget.take(600).is_err());
//! drop(lease);
//! assert!(budget.take(600).is_ok());
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
struct Shared {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
}

/// A limit on bytes; clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

/// The budget has fewer bytes left than were asked for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the memory budget of {limit} bytes is exhausted")]
pub struct OverBudget {
    /// The whole budget in bytes.
    pub limit: usize,
}

impl Budget {
    /// A budget of `bytes`.
    pub fn new(bytes: usize) -> Budget {
        Budget(Arc::new(Shared { limit: bytes, used: AtomicUsize::new(0), peak: AtomicUsize::new(0) }))
    }

    /// The whole budget in bytes.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    // The counters below are independent numbers that publish no other memory, so Relaxed suffices throughout.

    /// Bytes on lease now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were ever on lease.
    pub fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Bytes that can still be leased.
    pub fn available(&self) -> usize {
        self.limit().saturating_sub(self.used())
    }

    /// Lease `bytes`.
    pub fn take(&self, bytes: usize) -> Result<Lease, OverBudget> {
        let mut lease = Lease { budget: self.clone(), bytes: 0 };
        lease.resize(bytes)?;
        Ok(lease)
    }

    fn add(&self, bytes: usize) -> Result<(), OverBudget> {
        let limit = self.limit();
        let within = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= limit);
        match self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within) {
            Ok(before) => {
                self.0.peak.fetch_max(before + bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(_) => Err(OverBudget { limit }),
        }
    }
}

/// Bytes taken from a [`Budget`], given back on drop.
#[derive(Debug)]
pub struct Lease {
    budget: Budget,
    bytes: usize,
}

impl Lease {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Change the size; on error nothing changes.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OverBudget> {
        if bytes > self.bytes {
            self.budget.add(bytes - self.bytes)?;
        } else {
            self.budget.0.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_add_up_and_come_back() {
        let budget = Budget::new(100);
        let mut a = budget.take(40).unwrap();
        let b = budget.clone().take(60).unwrap();
        assert_eq!(budget.available(), 0);
        assert!(a.resize(41).is_err());
        assert_eq!(a.bytes(), 40);
        drop(b);
        a.resize(100).unwrap();
        drop(a);
        assert_eq!((budget.used(), budget.peak()), (0, 100));
    }

    #[test]
    fn overflow_is_refused() {
        let budget = Budget::new(usize::MAX);
        let _a = budget.take(10).unwrap();
        assert!(budget.take(usize::MAX).is_err());
    }
}
