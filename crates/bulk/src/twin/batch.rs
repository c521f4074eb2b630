//! Questions in batches, one for each owner: what ranks would send each other.
//!
//! Whoever asks puts his question into the batch of the owner that decides about it. Owners answer whole batches, each by itself
//! and in any order; answers come back in the order in which was asked.

use crate::layout::in_range;

/// Questions by owner.
pub struct Batches<Q> {
    by_owner: Vec<Vec<Q>>,
    /// Whose batch each question is in, in the order in which was asked.
    asked: Vec<usize>,
}

impl<Q> Batches<Q> {
    /// Empty ones, for so many owners.
    pub fn new(owners: usize) -> Batches<Q> {
        Batches { by_owner: (0..owners).map(|_| Vec::new()).collect(), asked: Vec::new() }
    }

    /// Ask whoever the hash names.
    pub fn ask(&mut self, hash: u64, question: Q) {
        let owner = in_range(hash, self.by_owner.len());
        self.by_owner[owner].push(question);
        self.asked.push(owner);
    }

    /// Have every owner answer its batch, a question each; all answers, in the order in which was asked.
    pub fn answer<A, E>(self, mut answer: impl FnMut(usize, Vec<Q>) -> Result<Vec<A>, E>) -> Result<Vec<A>, E> {
        let batches = self.by_owner.into_iter().enumerate();
        let answered = batches.map(|(owner, batch)| answer(owner, batch)).collect::<Result<Vec<_>, E>>()?;
        let mut answers: Vec<_> = answered.into_iter().map(Vec::into_iter).collect();
        Ok(self.asked.iter().map(|&owner| answers[owner].next().expect("an answer to each question")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_questions() {
        for owners in 1..5 {
            let mut batches = Batches::new(owners);
            let hash = |question: u64| question.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (0..100).for_each(|question| batches.ask(hash(question), question));
            let mut shares = vec![0; owners];
            let answers = batches.answer(|owner, batch| {
                shares[owner] = batch.len();
                Ok::<_, ()>(batch.into_iter().map(|question| question + 1000).collect())
            });
            assert_eq!(answers.unwrap(), (1000..1100).collect::<Vec<u64>>());
            assert!(shares.iter().all(|&share| share > 0) && shares.iter().sum::<usize>() == 100, "{shares:?}");
        }
    }

    #[test]
    fn an_owner_without_room_is_an_error() {
        let mut batches = Batches::new(2);
        batches.ask(0, ());
        assert_eq!(batches.answer(|owner, batch| if owner == 0 { Err("full") } else { Ok(batch) }), Err("full"));
    }
}
