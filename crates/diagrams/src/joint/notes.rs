//! Copies of relations for other processes, on the ground.
//!
//! The leader writes between operations; who follows reads during one. Whatever starts a worker publishes what was written
//! before, so all words are Relaxed.

use crate::env::Env;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use tremula_fabric::Ground;

/// Number of what is written, and its length in bytes, before it.
const HEADER: usize = 2;

/// What the leader writes.
pub struct Notes(Ground);

impl Notes {
    pub fn new(ground: Ground) -> Notes {
        Notes(ground)
    }

    /// Write everything anew; false if there is no room for it.
    pub fn write(&self, env: &Env) -> bool {
        let Ok(mut bytes) = postcard::to_allocvec(env) else { return false };
        let words = self.0.words();
        if bytes.len().div_ceil(8) + HEADER > words.len() {
            return false;
        }
        let length = bytes.len();
        bytes.resize(length.next_multiple_of(8), 0);
        let content = bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        words[HEADER..].iter().zip(content).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        words[1].store(length as u64, Ordering::Relaxed);
        words[0].fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// What the workers of a process have read.
pub struct Copy {
    ground: Ground,
    read: Mutex<(u64, Arc<Env>)>,
}

impl Copy {
    pub fn new(ground: Ground) -> Copy {
        Copy { ground, read: Mutex::default() }
    }

    /// What the leader has written last. In an operation.
    pub fn current(&self) -> Arc<Env> {
        let words = self.ground.words();
        let number = words[0].load(Ordering::Relaxed);
        // What is in it changes at once, or not at all.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != number {
            let length = words[1].load(Ordering::Relaxed) as usize;
            let content = words[HEADER..][..length.div_ceil(8)].iter();
            let bytes: Vec<u8> = content.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
            let env = postcard::from_bytes(&bytes[..length]).expect("the leader has written it");
            *read = (number, Arc::new(env));
        }
        Arc::clone(&read.1)
    }
}
