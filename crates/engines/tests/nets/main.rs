//! Petri nets: the same four values in every order, by every strategy, under forced collections and in little memory;
//! checked against known answers and against a search that fires every transition in every marking.

mod contests;
mod limits;
mod support;
mod traces;
mod values;
