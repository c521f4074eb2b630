//! Operations as plain data, all in one type: what can be started, offered to other lanes and run by them.

use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::ops::and::And;
use crate::ops::compose::{Compose, compose};
use crate::ops::image::{Image, ImageOfAll, NewImages};
use crate::ops::ite::{Ite, ite};
use crate::ops::permute::Permute;
use crate::ops::quantify::{AndExists, Exists, and_exists};
use crate::ops::restrict::Restrict;
use crate::ops::saturate::Saturate;
use crate::ops::xor::Xor;
use tremula_table::Ref;

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
    NewImages(NewImages),
    Permute(Permute),
    Compose(Compose),
    Restrict(Restrict),
    Saturate(Saturate),
    /// Operations before their terminal tests, which need to look at nodes.
    IteOf(Ref, Ref, Ref),
    AndExistsOf(Ref, Ref, u32),
    ComposeOf(Ref, u32, Ref),
}

impl Task {
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
            Task::Permute(operation) => solve(exec, env, operation),
            Task::Compose(operation) => solve(exec, env, operation),
            Task::Restrict(operation) => solve(exec, env, operation),
            Task::Saturate(operation) => solve(exec, env, operation),
            Task::IteOf(f, g, h) => ite(exec, env, f, g, h),
            Task::AndExistsOf(f, g, set) => and_exists(exec, env, f, g, set),
            Task::ComposeOf(f, level, g) => compose(exec, env, f, level, g),
        }
    }
}

fn solve<E: Exec, O: Operation>(exec: &mut E, env: &Env, operation: O) -> Outcome {
    exec.solve(env, Call::todo(operation, false))
}
