//! The second thread: keeps the time limit, reacts to signals, shows progress. It sleeps in between.
//!
//! The exploring threads look at their attention word every few thousand steps, so they usually stop within milliseconds.
//! Where they do not look, reading or counting, they are given some grace; then this thread prints what is known and ends
//! the program. So limits hold whatever the explorer is doing, and an interrupt is answered within a second. (Only a result
//! that is complete is written to the end, unless somebody insists.)

use crate::error::{Exit, end};
use crate::output::to_stderr;
use crate::progress::{Meter, StatusLine, full_status};
use crate::ranks;
use crate::report::Report;
use crate::run::{Known, Run, Stop};
use crate::signals::{self, Signal};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two looks at the explorer.
const REFRESH: Duration = Duration::from_millis(200);
/// Looks per `progress` event.
const LOOKS_PER_EVENT: u32 = 5;
/// How long the explorer may take to notice that time is over.
const GRACE: Duration = Duration::from_secs(5);
/// The same when somebody waits at the keyboard.
const SHORT_GRACE: Duration = Duration::from_millis(900);
/// How long to wait for fresh counters when somebody asks.
const ANSWER_WITHIN: Duration = Duration::from_millis(300);

/// Time between two looks whether a rank is lost indeed.
const RECONSIDER: Duration = Duration::from_millis(500);

/// What the watching thread is told.
pub enum Message {
    /// A signal came.
    Signal(Signal),
    /// The exploration is over.
    Done,
}

/// Tells what is known, given the reason for ending, and how to end.
type Tell = dyn Fn(&Run, String) -> Exit + Send;

/// What happens when the explorer does not react to a limit.
pub struct LastWords {
    /// How long to wait for it.
    pub grace: Duration,
    /// Tells what is known, given the reason; then the program ends like this.
    pub tell: Box<Tell>,
}

impl Default for LastWords {
    fn default() -> LastWords {
        LastWords { grace: GRACE, tell: Box::new(report) }
    }
}

/// Print the result as far as it is known.
fn report(run: &Run, reason: String) -> Exit {
    // Whether or not somebody reads it: there is nothing else to do.
    let _ = Report::unknown(run, reason).publish(run, None);
    Exit::Limit
}

/// How soon a rank knows that the process of another has died.
const DEATH_IS_SEEN: Duration = Duration::from_millis(400);

/// Does a launcher want this rank to end because another one is gone? Then there is no result, and the loss is told instead.
fn is_clean_up() -> bool {
    std::thread::sleep(DEATH_IS_SEEN);
    ranks::sees_death()
}

/// The watching thread, seen from the exploring one.
pub struct Watch {
    inbox: Sender<Message>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Start to watch.
    pub fn start(run: &Arc<Run>, quiet: bool) -> std::io::Result<Watch> {
        Watch::start_with(run, quiet, LastWords::default())
    }

    /// The same with another way to end.
    pub fn start_with(run: &Arc<Run>, quiet: bool, last_words: LastWords) -> std::io::Result<Watch> {
        let (inbox, messages) = channel();
        signals::forward(inbox.clone())?;
        let status = if quiet { None } else { StatusLine::on_terminal() };
        let watcher = Watcher {
            run: run.clone(),
            refresh: (status.is_some() || run.events.is_some()).then(|| Instant::now() + REFRESH),
            status,
            meter: Meter::default(),
            looks: 0,
            put_off: false,
            last_words,
        };
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(move || watcher.watch(&messages))?;
        Ok(Watch { inbox, thread })
    }

    /// Stop watching; afterwards the terminal is free.
    pub fn finish(self) {
        // It may have ended by itself; then it needs no message.
        let _ = self.inbox.send(Message::Done);
        let _ = self.thread.join();
    }
}

struct Watcher {
    run: Arc<Run>,
    status: Option<StatusLine>,
    /// When to look next; never, if nobody would see it.
    refresh: Option<Instant>,
    meter: Meter,
    looks: u32,
    /// Was there a request to terminate that may be a launcher's, because a rank is lost?
    put_off: bool,
    last_words: LastWords,
}

impl Watcher {
    fn watch(mut self, messages: &Receiver<Message>) {
        loop {
            match self.wait(messages) {
                Ok(Message::Signal(signal)) => self.signal(signal),
                Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.reconsider();
            self.keep_limits();
            if self.refresh.is_some_and(|due| Instant::now() >= due) {
                self.refresh = Some(Instant::now() + REFRESH);
                self.look();
            }
        }
        self.clear();
    }

    /// Sleep until a message comes or something is due.
    fn wait(&self, messages: &Receiver<Message>) -> Result<Message, RecvTimeoutError> {
        let known = self.run.known().clone();
        let limit = if known.stop.is_some() { self.cut_off(&known) } else { self.run.deadline() };
        let limit = limit.filter(|_| !self.run.is_claimed());
        let again = self.put_off.then(|| Instant::now() + RECONSIDER);
        match limit.into_iter().chain(self.refresh).chain(again).min() {
            Some(due) => messages.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn signal(&mut self, signal: Signal) {
        match signal {
            Signal::Status => self.answer(),
            Signal::Interrupt | Signal::Terminate if self.run.known().stop.is_some() => {
                self.clear();
                end(signal.exit_code());
            }
            Signal::Terminate if self.run.ranks > 1 && is_clean_up() => self.put_off = true,
            Signal::Interrupt | Signal::Terminate => self.interrupt(),
        }
    }

    fn interrupt(&mut self) {
        self.run.stop(Stop::Interrupted);
        if self.status.is_some() {
            self.clear();
            to_stderr("Stopping (Ctrl-C again ends at once)\n");
        }
    }

    /// No rank was lost after all: the request to terminate is somebody's wish.
    fn reconsider(&mut self) {
        if self.put_off && !ranks::sees_death() {
            self.put_off = false;
            self.interrupt();
        }
    }

    fn keep_limits(&mut self) {
        if self.run.is_claimed() || !self.run.is_stopped() {
            return;
        }
        let overdue = self.cut_off(&self.run.known()).is_some_and(|due| Instant::now() >= due);
        if overdue && self.run.claim() {
            self.clear();
            let doing = self.run.known().phase.doing();
            let reason = format!("{}, cut off while {doing}", self.run.stop_reason());
            let code = (self.last_words.tell)(&self.run, reason).code();
            // Others may be in the middle of anything; they would take this rank for lost.
            ranks::farewell();
            end(code);
        }
    }

    fn look(&mut self) {
        let counters = self.run.attention.last_report().counters;
        self.run.attention.request_report();
        let measures = self.meter.measure(&self.run, &counters);
        if let Some(status) = &mut self.status {
            status.show(&self.run, &measures);
        }
        self.looks += 1;
        if let (Some(events), true) = (&self.run.events, self.looks.is_multiple_of(LOOKS_PER_EVENT)) {
            events.progress(&self.run, &measures);
        }
    }

    /// Tell where the exploration is, as up to date as a short wait allows.
    fn answer(&mut self) {
        let attention = &self.run.attention;
        let (asked, before) = (Instant::now(), attention.last_report().number);
        attention.request_report();
        while attention.last_report().number == before && asked.elapsed() < ANSWER_WITHIN {
            std::thread::sleep(Duration::from_millis(10));
        }
        let counters = attention.last_report().counters;
        let measures = self.meter.measure(&self.run, &counters);
        self.clear();
        to_stderr(&full_status(&self.run, &measures, &counters));
    }

    fn clear(&mut self) {
        if let Some(status) = &mut self.status {
            status.clear();
        }
    }

    /// When the explorer will be cut off, if it is to stop.
    fn cut_off(&self, known: &Known) -> Option<Instant> {
        let (stop, since) = known.stop?;
        let grace = self.last_words.grace;
        Some(since + if stop == Stop::Interrupted { grace.min(SHORT_GRACE) } else { grace })
    }
}
