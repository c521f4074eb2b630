//! Studies of the Tremula model checker: work stealing and the shared table, measured beside peers.
//!
//! A study takes options and returns a report, a plain value that displays as tables of text, serialises to JSON and
//! draws itself as SVG pictures. Nothing here prints or writes files. [`tasks_study`] compares our work stealing with
//! other libraries, which the feature `peers` brings in, and [`tasks_study::ranked`] studies that of several processes;
//! [`table_study`] measures find-or-put of the shared table beside other ways of probing and beside theory;
//! [`ranked_study`] does so for a table over ranks, and [`fabric_study`] for memory of other ranks, and [`gpu_study`] for an
//! accelerator; [`reach_study`] runs the program itself, with several ranks and workers; [`plot`] draws.
//!
//! Not yet: studies of memory, and of what a study measured before.
//!
//! ```
//! use tremula_studies::tasks_study::{TasksOptions, run};
//! let programs = vec!["queens".to_owned()];
//! let options = TasksOptions { quick: true, reps: 1, workers: vec![2], programs, ..TasksOptions::default() };
//! let report = run(&options, &mut |_| ())?;
//! assert_eq!(report.programs[0].answer, 724);
//! # Ok::<(), tremula_studies::StudyError>(())
//! ```

#![forbid(unsafe_code)]

mod agreement;
mod error;
pub mod fabric_study;
pub mod gpu_study;
mod numbers;
mod picture;
pub mod plot;
pub mod ranked_study;
pub mod reach_study;
mod spread;
mod stack;
pub mod table_study;
pub mod tasks_study;
mod text;
mod unique;

pub use error::StudyError;
pub use picture::Picture;
pub use spread::Spread;
pub use text::TextTable;
