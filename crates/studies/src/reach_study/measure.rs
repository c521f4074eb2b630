//! Runs of one model, which take turns.

use super::answer::{Answer, Found, NoAnswer};
use super::launch;
use super::options::{Kind, ReachOptions};
use super::report::{KindReport, ModelReport};
use crate::numbers::significant;
use crate::{Spread, StudyError};
use std::path::Path;
use std::time::Instant;

/// The program tells microseconds, so no run takes less.
const LEAST_SECONDS: f64 = 1e-6;

/// Explore one model in all ways, and again.
pub(super) fn study(
    options: &ReachOptions,
    (name, path): (&str, &Path),
    progress: &mut dyn FnMut(&str),
) -> Result<ModelReport, StudyError> {
    let mut model = Measured::new(options, name);
    for _ in 0..options.reps {
        for at in 0..model.runs.len() {
            let answer = once(options, &model.runs[at].kind, &model.title(at), path)?;
            progress(&format!("{}: {}", model.title(at), told(&answer.0)));
            model.note(at, answer)?;
        }
    }
    model.check_bounds()?;
    Ok(model.summary())
}

/// Explore once; the answer, and the seconds until it was there, with everything that comes before and after exploring.
fn once(options: &ReachOptions, kind: &Kind, run: &str, path: &Path) -> Result<(Answer, f64), StudyError> {
    let command = launch::command(options, kind, path);
    let program = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let ended = launch::run(command, options.timeout_seconds, &options.running)
        .map_err(|error| StudyError::CannotStart { program, problem: error.to_string() })?;
    let seconds = began.elapsed().as_secs_f64();
    let failed = |problem: String| StudyError::NoAnswer { run: run.to_owned(), problem };
    let ended = ended.ok_or_else(|| failed("it does not end, though its time is over".to_owned()))?;
    let answer = ended.answer().map_err(|problem| match problem {
        NoAnswer::Refused(problem) => StudyError::Refused { run: run.to_owned(), problem },
        NoAnswer::Failed(problem) => failed(problem),
    })?;
    Ok((answer, seconds))
}

fn told(answer: &Answer) -> String {
    match answer {
        Answer::Complete(found) => format!("{} s", significant(found.seconds)),
        Answer::Unknown { reason, .. } => format!("UNKNOWN: {reason}"),
    }
}

/// What is known of a model so far.
struct Measured {
    name: String,
    found: Option<Found>,
    runs: Vec<Runs>,
}

/// Runs of one kind.
struct Runs {
    kind: Kind,
    /// Seconds of exploring by round; none for a run that gave up.
    seconds: Vec<Option<f64>>,
    /// Seconds of those that did not, from start to end.
    whole_seconds: Vec<f64>,
    /// Why others gave up.
    unknown: Vec<String>,
    /// The most states that one of them had found.
    at_least: Option<String>,
}

impl Measured {
    fn new(options: &ReachOptions, name: &str) -> Measured {
        let runs =
            |kind| Runs { kind, seconds: Vec::new(), whole_seconds: Vec::new(), unknown: Vec::new(), at_least: None };
        Measured { name: name.to_owned(), found: None, runs: options.kinds().into_iter().map(runs).collect() }
    }

    fn title(&self, at: usize) -> String {
        let kind = &self.runs[at].kind;
        let variant = kind.variant.as_ref().map_or(String::new(), |variant| format!(" {}", variant.name));
        format!("{}, {}{variant}", self.name, kind.shape)
    }

    /// Keep what a run said, if it agrees with the others.
    fn note(&mut self, at: usize, (answer, whole_seconds): (Answer, f64)) -> Result<(), StudyError> {
        let title = self.title(at);
        let runs = &mut self.runs[at];
        match answer {
            Answer::Complete(found) => {
                runs.seconds.push(Some(found.seconds.max(LEAST_SECONDS)));
                runs.whole_seconds.push(whole_seconds);
                let first = self.found.get_or_insert_with(|| found.clone());
                agree(title, &found.states, &first.states, found.states == first.states)
            }
            Answer::Unknown { reason, at_least } => {
                runs.seconds.push(None);
                runs.unknown.push(reason);
                let known = runs.at_least.take();
                let larger = |one: &String, other: &String| magnitude(one).cmp(&magnitude(other));
                runs.at_least = known.into_iter().chain(at_least).max_by(larger);
                Ok(())
            }
        }
    }

    /// Runs that gave up have not found more states than there are.
    fn check_bounds(&self) -> Result<(), StudyError> {
        let Some(found) = &self.found else { return Ok(()) };
        for (at, runs) in self.runs.iter().enumerate() {
            if let Some(digits) = &runs.at_least {
                agree(self.title(at), digits, &found.states, magnitude(digits) <= magnitude(&found.states))?;
            }
        }
        Ok(())
    }

    fn summary(self) -> ModelReport {
        let kinds = self.runs.iter().map(|runs| self.kind_summary(runs)).collect();
        let Measured { name, found, .. } = self;
        let (nodes, levels) = found.as_ref().map_or((None, None), |found| (found.nodes, found.levels));
        ModelReport { name, states: found.map(|found| found.states), nodes, levels, kinds }
    }

    fn kind_summary(&self, runs: &Runs) -> KindReport {
        let first = &self.runs[0].kind;
        let base = self.runs.iter().find(|other| other.kind.shape == first.shape && other.variant() == runs.variant());
        let plain = self.runs.iter().find(|other| other.kind.shape == runs.kind.shape);
        let is_varied = runs.kind.variant.is_some();
        KindReport {
            shape: runs.kind.shape,
            variant: runs.variant().map(str::to_owned),
            seconds: Spread::of(runs.seconds.iter().copied().flatten().collect()),
            whole_seconds: Spread::of(runs.whole_seconds.clone()),
            speed_up: base.and_then(|base| ratios(base, runs)),
            gain: plain.filter(|_| is_varied).and_then(|plain| ratios(plain, runs)),
            unknown: runs.unknown.clone(),
        }
    }
}

impl Runs {
    fn variant(&self) -> Option<&str> {
        self.kind.variant.as_ref().map(|variant| variant.name.as_str())
    }
}

/// How many times as long the base took, round by round.
fn ratios(base: &Runs, runs: &Runs) -> Option<Spread> {
    let rounds = base.seconds.iter().zip(&runs.seconds);
    Spread::of(rounds.filter_map(|(base, seconds)| Some((*base)? / (*seconds)?)).collect())
}

fn agree(run: String, answer: &str, expected: &str, they_do: bool) -> Result<(), StudyError> {
    let (answer, expected) = (answer.to_owned(), expected.to_owned());
    if they_do { Ok(()) } else { Err(StudyError::Disagreement { run, answer, expected }) }
}

/// Digits of a whole number, so that they compare as the number does.
fn magnitude(digits: &str) -> (usize, &str) {
    (digits.len(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(texts: &[&str]) -> Measured {
        let variants = texts.iter().map(|text| text.parse().unwrap()).collect();
        Measured::new(&ReachOptions { variants, ..ReachOptions::default() }, "m")
    }

    fn complete(states: &str, seconds: f64) -> (Answer, f64) {
        (Answer::Complete(Found { states: states.to_owned(), nodes: Some(66), levels: None, seconds }), 9.0)
    }

    fn unknown(at_least: &str) -> (Answer, f64) {
        (Answer::Unknown { reason: "time".to_owned(), at_least: Some(at_least.to_owned()) }, 9.0)
    }

    #[test]
    fn ratios_are_of_rounds() {
        let mut model = measured(&[]);
        let rounds = [(4.0, 2.0), (6.0, 6.0), (9.0, 3.0)];
        for (base, other) in rounds {
            model.note(0, complete("80", base)).unwrap();
            model.note(1, complete("80", other)).unwrap();
        }
        model.note(0, unknown("79")).unwrap();
        model.note(1, complete("80", 1.0)).unwrap();
        model.check_bounds().unwrap();
        let report = model.summary();
        assert_eq!((report.states.as_deref(), report.nodes), (Some("80"), Some(66)));
        let [one, two] = &report.kinds[..] else { panic!("{report:?}") };
        assert_eq!(one.speed_up.as_ref().unwrap().all, [1.0; 3]);
        assert_eq!((one.seconds.as_ref().unwrap().median, one.unknown.len()), (6.0, 1));
        assert_eq!(two.speed_up.as_ref().unwrap().all, [2.0, 1.0, 3.0]);
        assert_eq!((two.seconds.as_ref().unwrap().all.len(), &two.gain), (4, &None));
    }

    #[test]
    fn variants_have_a_base_of_their_own() {
        let mut model = measured(&["off=", "on=--stats"]);
        for (at, seconds) in [8.0, 4.0, 4.0, 1.0].into_iter().enumerate() {
            model.note(at, complete("80", seconds)).unwrap();
        }
        let kinds = model.summary().kinds;
        let medians = |spread: fn(&KindReport) -> &Option<Spread>| -> Vec<f64> {
            kinds.iter().map(|kind| spread(kind).as_ref().unwrap().median).collect()
        };
        assert_eq!(medians(|kind| &kind.speed_up), [1.0, 1.0, 2.0, 4.0]);
        assert_eq!(medians(|kind| &kind.gain), [1.0, 2.0, 1.0, 4.0]);
    }

    #[test]
    fn those_who_differ_are_named() {
        let mut model = measured(&[]);
        model.note(0, complete("80", 1.0)).unwrap();
        let error = model.note(1, complete("81", 1.0)).unwrap_err();
        assert_eq!(error.to_string(), "m, 1x2: the answer is 81 states, but there are 80");
        let mut model = measured(&[]);
        model.note(0, unknown("9")).unwrap();
        model.note(0, unknown("100")).unwrap();
        model.check_bounds().unwrap();
        model.note(1, complete("80", 1.0)).unwrap();
        assert!(matches!(model.check_bounds(), Err(StudyError::Disagreement { answer, .. }) if answer == "100"));
    }

    #[test]
    fn a_model_without_answer_has_no_figures() {
        let mut model = measured(&[]);
        model.note(0, unknown("9")).unwrap();
        let report = model.summary();
        assert_eq!((&report.states, &report.kinds[0].seconds, &report.kinds[0].speed_up), (&None, &None, &None));
    }
}
