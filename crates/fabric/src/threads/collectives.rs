//! Collectives between threads: each rank lays out what it gives, all wait, each takes what it needs, all wait again.

use super::ThreadFabric;
use super::segment::Part;
use crate::call::{Call, agree};
use crate::sync::AtomicU64;
use crate::{FabricError, Reduction};
use std::sync::{Arc, PoisonError};

/// What a rank gives.
#[derive(Debug)]
pub(super) struct Offer {
    call: Call,
    /// One message for all ranks, or one for each.
    pub(super) messages: Vec<Vec<u64>>,
    part: Option<Part>,
}

impl Offer {
    /// The message for all ranks.
    pub(super) fn words(&self) -> &[u64] {
        &self.messages[0]
    }
}

impl ThreadFabric {
    /// Give `messages` to all; what all gave, by rank, once they agree on `call`.
    pub(super) fn exchange(&self, call: Call, messages: Vec<Vec<u64>>) -> Result<Vec<Arc<Offer>>, FabricError> {
        self.exchange_offers(Offer { call, messages, part: None })
    }

    /// Allocate this rank's part of a segment; the parts of all, by rank.
    pub(super) fn allocate_parts(&self, call: Call, words: usize) -> Result<Arc<[Part]>, FabricError> {
        let offers = self.exchange_offers(Offer { call, messages: Vec::new(), part: zeroed(words) })?;
        let part =
            |(rank, offer): (usize, &Arc<Offer>)| offer.part.clone().ok_or(FabricError::NoMemory { rank, words });
        offers.iter().enumerate().map(part).collect()
    }

    fn exchange_offers(&self, offer: Offer) -> Result<Vec<Arc<Offer>>, FabricError> {
        self.replace_offer(Some(Arc::new(offer)));
        self.world.wait(self.rank)?;
        let offers: Vec<Arc<Offer>> =
            (0..self.world.ranks()).map(|rank| self.offer_of(rank).expect("laid out before the meeting")).collect();
        // Afterwards ranks may lay out their next offers; the taken ones live as long as somebody holds them.
        self.world.wait(self.rank)?;
        self.replace_offer(None);
        agree(offers.iter().map(|offer| &offer.call))?;
        Ok(offers)
    }

    // Nothing panics under these locks, so a poisoned one guards a sound offer.

    fn replace_offer(&self, offer: Option<Arc<Offer>>) {
        *self.world.offers[self.rank].lock().unwrap_or_else(PoisonError::into_inner) = offer;
    }

    fn offer_of(&self, rank: usize) -> Option<Arc<Offer>> {
        self.world.offers[rank].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reduce what the `offers` hold, index by index.
pub(super) fn combine(reduction: Reduction, offers: &[Arc<Offer>], into: &mut [u64]) {
    into.fill(reduction.identity());
    for offer in offers {
        for (result, &word) in into.iter_mut().zip(offer.words()) {
            *result = reduction.apply(*result, word);
        }
    }
}

/// Words of zero, written by the calling thread; nothing if there is not enough memory.
fn zeroed(words: usize) -> Option<Part> {
    let mut part = Vec::new();
    part.try_reserve_exact(words).ok()?;
    part.resize_with(words, || AtomicU64::new(0));
    Some(Arc::new(part))
}
