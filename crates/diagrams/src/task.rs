//! Operations as plain data, all in one type: what can be started, offered to other lanes and workers, and run by them.

use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::ops::and::And;
use crate::ops::compose::{Compose, compose};
use crate::ops::image::{Image, ImageOfAll, NewImages};
use crate::ops::ite::{Ite, ite};
use crate::ops::lists::add::AddNext;
use crate::ops::lists::image::{ListNext, ListNextOfAll, ListPrevious, NewLists};
use crate::ops::lists::intersect::Intersect;
use crate::ops::lists::minus::Subtract;
use crate::ops::lists::project::Project;
use crate::ops::lists::saturate::ListSaturate;
use crate::ops::lists::select::Select;
use crate::ops::lists::union::Unite;
use crate::ops::new_image::NewImage;
use crate::ops::permute::Permute;
use crate::ops::quantify::{AndExists, Exists, and_exists};
use crate::ops::restrict::Restrict;
use crate::ops::saturate::Saturate;
use crate::ops::xor::Xor;
use tremula_table::{Interrupt, Ref};
use tremula_tasks::{Plain, Word};

/// Any operation with its operands.
#[derive(Copy, Clone)]
pub enum Task {
    /// Sub-problems after their terminal tests.
    And(And),
    Xor(Xor),
    Ite(Ite),
    Exists(Exists),
    AndExists(AndExists),
    Next(Image<true>),
    Previous(Image<false>),
    NextOfAll(ImageOfAll),
    NewImages(NewImages<false>),
    NewImagesWithin(NewImages<true>),
    NewImage(NewImage),
    Permute(Permute),
    Compose(Compose),
    Restrict(Restrict),
    Saturate(Saturate),
    Unite(Unite),
    Intersect(Intersect),
    Subtract(Subtract),
    ListNext(ListNext),
    ListPrevious(ListPrevious),
    ListNextOfAll(ListNextOfAll),
    NewLists(NewLists),
    Project(Project),
    Select(Select),
    ListSaturate(ListSaturate),
    AddNext(AddNext),
    /// Operations before their terminal tests, which need to look at nodes.
    IteOf(Ref, Ref, Ref),
    AndExistsOf(Ref, Ref, u32),
    ComposeOf(Ref, u32, Ref),
}

impl Task {
    /// Is it about lists? Lanes do not pay for these: what is needed next is known too late.
    pub fn walks_lists(self) -> bool {
        use Task::*;
        matches!(
            self,
            Unite(_)
                | Intersect(_)
                | Subtract(_)
                | ListNext(_)
                | ListPrevious(_)
                | ListNextOfAll(_)
                | NewLists(_)
                | Project(_)
                | Select(_)
                | ListSaturate(_)
                | AddNext(_)
        )
    }

    /// Run to the end.
    pub fn run<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        match self {
            Task::And(operation) => solve(exec, env, operation),
            Task::Xor(operation) => solve(exec, env, operation),
            Task::Ite(operation) => solve(exec, env, operation),
            Task::Exists(operation) => solve(exec, env, operation),
            Task::AndExists(operation) => solve(exec, env, operation),
            Task::Next(operation) => solve(exec, env, operation),
            Task::Previous(operation) => solve(exec, env, operation),
            Task::NextOfAll(operation) => solve(exec, env, operation),
            Task::NewImages(operation) => solve(exec, env, operation),
            Task::NewImagesWithin(operation) => solve(exec, env, operation),
            Task::NewImage(operation) => solve(exec, env, operation),
            Task::Permute(operation) => solve(exec, env, operation),
            Task::Compose(operation) => solve(exec, env, operation),
            Task::Restrict(operation) => solve(exec, env, operation),
            Task::Saturate(operation) => solve(exec, env, operation),
            Task::Unite(operation) => solve(exec, env, operation),
            Task::Intersect(operation) => solve(exec, env, operation),
            Task::Subtract(operation) => solve(exec, env, operation),
            Task::ListNext(operation) => solve(exec, env, operation),
            Task::ListPrevious(operation) => solve(exec, env, operation),
            Task::ListNextOfAll(operation) => solve(exec, env, operation),
            Task::NewLists(operation) => solve(exec, env, operation),
            Task::Project(operation) => solve(exec, env, operation),
            Task::Select(operation) => solve(exec, env, operation),
            Task::ListSaturate(operation) => solve(exec, env, operation),
            Task::AddNext(operation) => solve(exec, env, operation),
            Task::IteOf(f, g, h) => ite(exec, env, f, g, h),
            Task::AndExistsOf(f, g, set) => and_exists(exec, env, f, g, set),
            Task::ComposeOf(f, level, g) => compose(exec, env, f, level, g),
        }
    }
}

fn solve<E: Exec, O: Operation>(exec: &mut E, env: &Env, operation: O) -> Outcome {
    exec.solve(env, Call::todo(operation, false))
}

impl Task {
    /// A number for the kind of operation, and its operands as plain words.
    pub fn code_and_operands(self) -> (u64, [u32; 3]) {
        match self {
            Task::And(operation) => (0, operation.words()),
            Task::Xor(operation) => (1, operation.words()),
            Task::Ite(operation) => (2, operation.words()),
            Task::Exists(operation) => (3, operation.words()),
            Task::AndExists(operation) => (4, operation.words()),
            Task::Next(operation) => (5, operation.words()),
            Task::Previous(operation) => (6, operation.words()),
            Task::NextOfAll(operation) => (7, operation.words()),
            Task::NewImages(operation) => (8, operation.words()),
            Task::Permute(operation) => (9, operation.words()),
            Task::Compose(operation) => (10, operation.words()),
            Task::Restrict(operation) => (11, operation.words()),
            Task::Saturate(operation) => (12, operation.words()),
            Task::IteOf(f, g, h) => (13, [f.bits(), g.bits(), h.bits()]),
            Task::AndExistsOf(f, g, set) => (14, [f.bits(), g.bits(), set]),
            Task::ComposeOf(f, level, g) => (15, [f.bits(), level, g.bits()]),
            Task::Unite(operation) => (16, operation.words()),
            Task::Intersect(operation) => (17, operation.words()),
            Task::Subtract(operation) => (18, operation.words()),
            Task::ListNext(operation) => (19, operation.words()),
            Task::ListPrevious(operation) => (20, operation.words()),
            Task::ListNextOfAll(operation) => (21, operation.words()),
            Task::NewLists(operation) => (22, operation.words()),
            Task::Project(operation) => (23, operation.words()),
            Task::Select(operation) => (24, operation.words()),
            Task::ListSaturate(operation) => (25, operation.words()),
            Task::AddNext(operation) => (26, operation.words()),
            Task::NewImage(operation) => (27, operation.words()),
            Task::NewImagesWithin(operation) => (28, operation.words()),
        }
    }
}

impl Plain for Task {
    type Words = [u64; 2];

    fn to_words(self) -> [u64; 2] {
        let (code, [a, b, c]) = self.code_and_operands();
        [code << 32 | u64::from(a), u64::from(b) << 32 | u64::from(c)]
    }

    fn from_words([first, second]: [u64; 2]) -> Task {
        let words @ [a, b, c] = [first as u32, (second >> 32) as u32, second as u32];
        match first >> 32 {
            0 => Task::And(And::from_words(words)),
            1 => Task::Xor(Xor::from_words(words)),
            2 => Task::Ite(Ite::from_words(words)),
            3 => Task::Exists(Exists::from_words(words)),
            4 => Task::AndExists(AndExists::from_words(words)),
            5 => Task::Next(Image::from_words(words)),
            6 => Task::Previous(Image::from_words(words)),
            7 => Task::NextOfAll(ImageOfAll::from_words(words)),
            8 => Task::NewImages(NewImages::from_words(words)),
            9 => Task::Permute(Permute::from_words(words)),
            10 => Task::Compose(Compose::from_words(words)),
            11 => Task::Restrict(Restrict::from_words(words)),
            12 => Task::Saturate(Saturate::from_words(words)),
            13 => Task::IteOf(Ref::from_bits(a), Ref::from_bits(b), Ref::from_bits(c)),
            14 => Task::AndExistsOf(Ref::from_bits(a), Ref::from_bits(b), c),
            15 => Task::ComposeOf(Ref::from_bits(a), b, Ref::from_bits(c)),
            16 => Task::Unite(Unite::from_words(words)),
            17 => Task::Intersect(Intersect::from_words(words)),
            18 => Task::Subtract(Subtract::from_words(words)),
            19 => Task::ListNext(ListNext::from_words(words)),
            20 => Task::ListPrevious(ListPrevious::from_words(words)),
            21 => Task::ListNextOfAll(ListNextOfAll::from_words(words)),
            22 => Task::NewLists(NewLists::from_words(words)),
            23 => Task::Project(Project::from_words(words)),
            24 => Task::Select(Select::from_words(words)),
            25 => Task::ListSaturate(ListSaturate::from_words(words)),
            26 => Task::AddNext(AddNext::from_words(words)),
            27 => Task::NewImage(NewImage::from_words(words)),
            28 => Task::NewImagesWithin(NewImages::from_words(words)),
            code => unreachable!("no task has the code {code}"),
        }
    }
}

/// The outcome of a task, in one word for its way to another worker.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Answer(pub Outcome);

const TABLE_FULL: u64 = 1 << 32;
const CANCELLED: u64 = 2 << 32;
const OUT_OF_FUEL: u64 = 3 << 32;

impl Word for Answer {
    fn to_word(self) -> u64 {
        match self.0 {
            Ok(f) => u64::from(f.bits()),
            Err(Interrupt::TableFull) => TABLE_FULL,
            Err(Interrupt::Cancelled) => CANCELLED,
            Err(Interrupt::OutOfFuel) => OUT_OF_FUEL,
        }
    }

    fn from_word(word: u64) -> Answer {
        Answer(match word {
            TABLE_FULL => Err(Interrupt::TableFull),
            CANCELLED => Err(Interrupt::Cancelled),
            OUT_OF_FUEL => Err(Interrupt::OutOfFuel),
            bits => Ok(Ref::from_bits(bits as u32)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_round_trip_as_words() {
        for code in 0..=26 {
            let words = [code << 32 | 0x1234_5678, 0x9ABC_DEF0 << 32 | 0x0FED_CBA9];
            let again = Task::from_words(words).to_words();
            // Operations on two operands leave the third word out.
            assert_eq!((again[0], again[1] >> 32), (words[0], words[1] >> 32), "code {code}");
            assert_eq!(Task::from_words(again).to_words(), again);
        }
    }

    #[test]
    fn answers_round_trip_as_words() {
        let errors = [Interrupt::TableFull, Interrupt::Cancelled, Interrupt::OutOfFuel].map(Err);
        for outcome in errors.into_iter().chain([Ok(Ref::TRUE), Ok(Ref::from_bits(u32::MAX))]) {
            assert_eq!(Answer::from_word(Answer(outcome).to_word()), Answer(outcome));
        }
    }
}
