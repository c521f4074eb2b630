//! What a run of the program says.

use serde::Deserialize;

/// The exit code of bad usage and bad input.
const INPUT: i32 = 2;
/// The exit code of a run that gave up at a limit.
const LIMIT: i32 = 3;
/// The exit code of launchers that do not like their arguments. The program has it for what runs here do not ask.
const LAUNCHER: i32 = 1;
/// What the program puts before its messages.
const SIGNATURE: &str = "tremula: ";

/// A program that has ended.
pub(super) struct Ended {
    /// Its exit code; none if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// What a run says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// All states are known.
    Complete(Found),
    /// The run gave up; it had found at least so many states.
    Unknown { reason: String, at_least: Option<String> },
}

/// All states, and what it took to find them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// In digits.
    pub(super) states: String,
    pub(super) nodes: Option<u64>,
    pub(super) levels: Option<u64>,
    /// Seconds of exploring.
    pub(super) seconds: f64,
}

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum NoAnswer {
    /// The program does not accept its arguments or the model.
    Refused(String),
    /// The program is wrong, or was ended by somebody.
    Failed(String),
}

/// The parts of the program's JSON that matter here.
#[derive(Deserialize)]
struct Spoken {
    verdict: String,
    reason: Option<String>,
    states: Option<String>,
    nodes: Option<u64>,
    levels: Option<u64>,
    seconds: Seconds,
}

#[derive(Deserialize)]
struct Seconds {
    reach: f64,
}

impl Ended {
    /// What it says.
    pub(super) fn answer(&self) -> Result<Answer, NoAnswer> {
        match (serde_json::from_str::<Spoken>(&self.stdout), self.code) {
            (Ok(spoken), Some(0 | LIMIT)) => spoken.answer().map_err(NoAnswer::Failed),
            (_, Some(INPUT)) => Err(NoAnswer::Refused(self.complaint())),
            (Err(_), Some(LAUNCHER)) => Err(NoAnswer::Refused(self.first_words())),
            (_, Some(LIMIT)) => Ok(Answer::Unknown { reason: self.complaint(), at_least: None }),
            (_, Some(code)) => Err(NoAnswer::Failed(format!("exit code {code}: {}", self.complaint()))),
            (_, None) => Err(NoAnswer::Failed(format!("ended by a signal: {}", self.complaint()))),
        }
    }

    /// What a launcher says first, which may be framed by lines.
    fn first_words(&self) -> String {
        let mut lines = self.stderr.lines().map(str::trim).filter(|line| line.contains(char::is_alphabetic));
        lines.next().map_or("exit code 1, and not a word".to_owned(), str::to_owned)
    }

    /// What it complains about: launchers talk too, before and after.
    fn complaint(&self) -> String {
        let lines = || self.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
        let own = lines().find_map(|line| line.strip_prefix(SIGNATURE));
        // Of bad usage, the first line says what is bad.
        let usage = || lines().find_map(|line| line.strip_prefix("error: "));
        own.or_else(usage).or_else(|| lines().next_back()).unwrap_or("it says nothing").to_owned()
    }
}

impl Spoken {
    fn answer(self) -> Result<Answer, String> {
        match (self.verdict.as_str(), self.states) {
            ("complete", Some(states)) => {
                let Spoken { nodes, levels, seconds: Seconds { reach: seconds }, .. } = self;
                Ok(Answer::Complete(Found { states, nodes, levels, seconds }))
            }
            ("unknown", at_least) => {
                Ok(Answer::Unknown { reason: self.reason.unwrap_or("no reason is given".to_owned()), at_least })
            }
            (verdict, _) => Err(format!("the verdict {verdict:?} without a number of states")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: Option<i32>, stdout: &str, stderr: &str) -> Ended {
        Ended { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    fn spoken(verdict: &str, reason: &str, states: &str) -> String {
        format!(
            r#"{{"model":"m","states":{states},"nodes":66,"levels":10,"seconds":{{"load":1,"reach":0.5}},"verdict":"{verdict}","reason":{reason}}}"#
        )
    }

    #[test]
    fn answers_are_understood() {
        let answer = ended(Some(0), &spoken("complete", "null", "\"80\""), "").answer();
        let found = Found { states: "80".to_owned(), nodes: Some(66), levels: Some(10), seconds: 0.5 };
        assert_eq!(answer, Ok(Answer::Complete(found)));
        let answer = ended(Some(3), &spoken("unknown", "\"time\"", "\"7\""), "").answer();
        assert_eq!(answer, Ok(Answer::Unknown { reason: "time".to_owned(), at_least: Some("7".to_owned()) }));
        let answer = ended(Some(3), "", "tremula: no threads\n").answer();
        assert_eq!(answer, Ok(Answer::Unknown { reason: "no threads".to_owned(), at_least: None }));
    }

    #[test]
    fn those_who_give_none_are_told_apart() {
        let refused = |text: &str| Err(NoAnswer::Refused(text.to_owned()));
        let failed = |text: &str| Err(NoAnswer::Failed(text.to_owned()));
        let launcher = "a launcher talks\ntremula: m: not a model\nit talks again\n";
        assert_eq!(ended(Some(2), "", launcher).answer(), refused("m: not a model"));
        let usage = "error: unexpected argument\n\nFor more information, try '--help'.\n";
        assert_eq!(ended(Some(2), "", usage).answer(), refused("unexpected argument"));
        let framed = "----\nmpirun: Error: unknown option\nType 'mpirun --help' for usage.\n----\n";
        assert_eq!(ended(Some(1), "", framed).answer(), refused("mpirun: Error: unknown option"));
        // A launcher that was interrupted, behind a result.
        let interrupted = ended(Some(1), &spoken("unknown", "\"interrupted\"", "\"7\""), framed).answer();
        assert!(matches!(interrupted, Err(NoAnswer::Failed(_))), "{interrupted:?}");
        assert_eq!(ended(Some(70), "", "").answer(), failed("exit code 70: it says nothing"));
        assert_eq!(ended(None, "", "Killed\n").answer(), failed("ended by a signal: Killed"));
        assert_eq!(ended(Some(0), "{}", "").answer(), failed("exit code 0: it says nothing"));
        assert!(ended(Some(0), &spoken("complete", "null", "null"), "").answer().is_err());
    }
}
