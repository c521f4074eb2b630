//! Collectives between threads: each rank lays out what it gives, all wait, each takes what it needs, all wait again.

use super::ThreadFabric;
use super::segment::Part;
use crate::sync::AtomicU64;
use crate::{FabricError, Reduction};
use std::sync::{Arc, PoisonError};

/// What ranks must agree about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Call {
    name: &'static str,
    root: Option<usize>,
    reduction: Option<Reduction>,
    length: Option<usize>,
}

impl Call {
    pub(super) fn new(name: &'static str) -> Call {
        Call { name, root: None, reduction: None, length: None }
    }

    pub(super) fn root(self, root: usize) -> Call {
        Call { root: Some(root), ..self }
    }

    pub(super) fn reduction(self, reduction: Reduction) -> Call {
        Call { reduction: Some(reduction), ..self }
    }

    pub(super) fn length(self, length: usize) -> Call {
        Call { length: Some(length), ..self }
    }
}

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
        let call = offer.call.name;
        self.replace_offer(Some(Arc::new(offer)));
        self.world.wait(self.rank)?;
        // A rank that waits in a barrier instead has none.
        let offers: Result<Vec<Arc<Offer>>, FabricError> = (0..self.world.ranks())
            .map(|rank| self.offer_of(rank).ok_or(FabricError::Disagreement { call, rank }))
            .collect();
        // Afterwards ranks may lay out their next offers; the taken ones live as long as somebody holds them.
        self.world.wait(self.rank)?;
        self.replace_offer(None);
        let offers = offers?;
        self.agree(&offers)?;
        Ok(offers)
    }

    /// All ranks come to the same conclusion here, because all look at the same offers.
    fn agree(&self, offers: &[Arc<Offer>]) -> Result<(), FabricError> {
        let call = &offers[0].call;
        if let Some(rank) = offers.iter().position(|offer| offer.call != *call) {
            return Err(FabricError::Disagreement { call: call.name, rank });
        }
        call.root.map_or(Ok(()), |root| self.world.check_rank(root))
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
