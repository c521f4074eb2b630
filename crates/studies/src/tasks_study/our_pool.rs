//! Our pool with either kind of deques, as one type.

use std::io;
use tremula_tasks::{Panicked, Pool, PoolOptions, Private, Split, Statistics, Work};

/// A pool of `tremula-tasks`.
pub(crate) enum OurPool {
    Private(Pool<Private>),
    Split(Pool<Split>),
}

impl OurPool {
    pub(crate) fn with_private_deques(options: PoolOptions) -> io::Result<OurPool> {
        Pool::new(options).map(OurPool::Private)
    }

    pub(crate) fn with_split_deques(options: PoolOptions) -> io::Result<OurPool> {
        Pool::new(options).map(OurPool::Split)
    }

    pub(crate) fn run<W: Work>(&mut self, work: &W, root: W::Task) -> Result<W::Answer, Panicked> {
        match self {
            OurPool::Private(pool) => pool.run(work, root),
            OurPool::Split(pool) => pool.run(work, root),
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        match self {
            OurPool::Private(pool) => pool.statistics(),
            OurPool::Split(pool) => pool.statistics(),
        }
    }
}
