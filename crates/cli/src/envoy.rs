//! A device explores in a process of its own, the envoy, whose answer comes back through a pipe.
//!
//! A driver takes a quarter of a second to let a process go, whether its answer was needed or not, and may end the process
//! that it is in. Both are the envoy's matter: nobody waits for its end.
//!
//! The envoy gets the model on standard input, as a length and a `.bdd` file, and answers on standard output, in lines of JSON.
//! `null` means that it has found all states and wants memory to tell them; it is lent some then, by a number on standard input,
//! and perhaps more. A heading is followed by the nodes. It ends when its standard input does, however its sender ended.

use crate::args::EnvoyArgs;
use crate::error::{self, Exit, Failure, catch};
use crate::memory::Size;
use crate::presence::Presence;
use crate::rival::{Explored, LOOK, Lender, Loan, Task};
use crate::{gpu, model, signals};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use tremula_bulk::layout::{Node, Ref};
use tremula_bulk::{Bulk, Diagram, Graph, Machine, Part, Trouble, Twin};
use tremula_diagrams::{Attention, Budget, Lease};
use tremula_engines::{Reached, Strategy, explore};
use tremula_models::{BddSystem, Layout, read_bdd, write_bdd};

/// Bytes of a node in the pipe: level, low and high child.
const BYTES_IN_PIPE: usize = 3 * size_of::<u32>();
/// What is lent is for the states in two processes.
const SHARES: usize = 2;

/// What an envoy is told when it is sent.
#[derive(Copy, Clone)]
pub struct Envoy {
    /// Of the device.
    pub memory: Option<Size>,
    /// The twin explores instead of a device.
    pub is_twin: bool,
}

/// What comes before the nodes.
#[derive(Serialize, Deserialize)]
struct Heading {
    nodes: usize,
    root: u32,
    rounds: u64,
    levels: Option<u64>,
    strategy: String,
}

impl Envoy {
    /// Have it explore; nothing if it has no answer, or is not needed any more.
    pub fn explore(self, task: &Task<'_>) -> Option<(Explored, Lease)> {
        let mut child = self.command(task).ok()?.spawn().ok()?;
        let (to, from) = (child.stdin.take()?, child.stdout.take()?);
        let _leash = leash(child, task.attention.clone()).ok()?;
        let mut to = BufWriter::new(to);
        send_model(task.model, &mut to).ok()?;
        receive(BufReader::new(from), to, task.lend)
    }

    fn command(self, task: &Task<'_>) -> io::Result<Command> {
        let mut command = Command::new(this_program()?);
        command.args(["envoy", "--strategy", &task.strategy.to_string(), "--mem", &task.memory.to_string()]);
        match self.memory {
            Some(Size::Bytes(bytes)) => _ = command.args(["--gpu-mem", &bytes.to_string()]),
            Some(Size::Percent(percent)) => _ = command.args(["--gpu-mem", &format!("{percent}%")]),
            None => {}
        }
        if self.is_twin {
            command.arg("--twin");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Ok(command)
    }
}

/// The program that runs, also if its file is no longer there.
fn this_program() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Ok(running) } else { std::env::current_exe() }
}

/// End the process when attention is called, or when what is returned is dropped.
fn leash(mut child: Child, attention: Attention) -> io::Result<Sender<()>> {
    let (held, let_go) = channel();
    let hold = move || {
        while !attention.is_cancelled() && let_go.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {}
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    };
    thread::Builder::new().name("envoy".to_owned()).spawn(hold)?;
    Ok(held)
}

/// `tremula envoy`: explore what comes on standard input.
pub fn serve(args: &EnvoyArgs) -> Result<Exit, Failure> {
    let broken = |problem: io::Error| Failure::Internal(format!("the sender of this process: {problem}"));
    signals::ignore_questions().map_err(broken)?;
    let _presence = Presence::new();
    let answer = catch(|| if args.twin { by_twin(args) } else { by_device(args) });
    match answer {
        Ok(Some(explored)) => send(&explored, io::stdout().lock()).map(|()| Exit::Complete).map_err(broken),
        Ok(None) => Err(Failure::Limit("there is no answer".to_owned())),
        Err(panic) => Err(Failure::Internal(panic)),
    }
}

fn by_device(args: &EnvoyArgs) -> Option<Explored> {
    // The model comes while the driver starts.
    let (device, received) = thread::scope(|scope| {
        let received = scope.spawn(|| receive_model(args.mem));
        Some((gpu::find().ok()?, received.join().ok()??))
    })?;
    explore_for_sender(args, &received, |graph, initial| gpu::open(&device, args.gpu_mem, graph, initial))
}

fn by_twin(args: &EnvoyArgs) -> Option<Explored> {
    let open = |graph: &Graph, initial: &Diagram| Twin::new(graph.clone(), initial, args.mem).ok();
    explore_for_sender(args, &receive_model(args.mem)?, open)
}

/// Explore what has come, with the machine that `open` makes, and in memory that the sender lends.
fn explore_for_sender<M: Machine>(
    args: &EnvoyArgs,
    Received { model, graph, loans }: &Received,
    open: impl FnOnce(&Graph, &Diagram) -> Option<M>,
) -> Option<Explored> {
    let machine = open(graph, &Diagram::of_initial_states(model))?;
    let strategy = gpu::strategy_for_devices(args.strategy);
    explore_on(machine, graph, strategy, Attention::default(), || ask_for_loan(loans))
}

/// Explore with a machine; the states come back into as much memory as is lent, as often as it is too little.
fn explore_on<M: Machine>(
    machine: M,
    graph: &Graph,
    strategy: Strategy,
    attention: Attention,
    mut next_loan: impl FnMut() -> Option<usize>,
) -> Option<Explored> {
    let space = Bulk::new(machine, graph, attention);
    let Reached { states: found, rounds, levels, strategy } = explore(&space, strategy, &mut ()).ok()?;
    loop {
        match space.export(&found, &Budget::new(next_loan()?)) {
            Ok((states, _)) => return Some(Explored { states, rounds, levels, strategy }),
            Err(Trouble::Full(Part::Host)) => {}
            Err(_) => return None,
        }
    }
}

/// The same without a process, by the twin.
#[cfg(test)]
pub fn explore_here(task: &Task<'_>) -> Option<(Explored, Lease)> {
    let graph = Graph::compile(task.model).ok()?;
    let twin = Twin::new(graph.clone(), &Diagram::of_initial_states(task.model), 64 << 20).ok()?;
    let (mut loans, mut lease) = ([Loan::Half, Loan::All].into_iter(), None);
    let explored = explore_on(twin, &graph, task.strategy, task.attention.clone(), || {
        lease = None;
        lease = loans.find_map(task.lend);
        lease.as_ref().map(Lease::bytes)
    })?;
    Some((explored, lease?))
}

fn send_model(model: &BddSystem, to: &mut impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    write_bdd(model, Layout::Sylvan, &mut bytes).map_err(io::Error::other)?;
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// What comes on standard input.
struct Received {
    model: BddSystem,
    graph: Graph,
    /// Numbers of bytes.
    loans: Receiver<u64>,
}

/// Read the model, and whatever is lent from then on. This process ends with the sender.
fn receive_model(memory: usize) -> Option<Received> {
    let mut from = io::stdin();
    let Ok(length) = read_number(&mut from) else { error::end(Exit::Limit.code()) };
    let mut bytes = Vec::new();
    from.by_ref().take(length).read_to_end(&mut bytes).ok()?;
    let (lend, loans) = channel();
    let watch = move || {
        while read_number(&mut from).is_ok_and(|loan| lend.send(loan).is_ok()) {}
        error::end(Exit::Limit.code());
    };
    thread::Builder::new().name("sender".to_owned()).spawn(watch).ok()?;
    let model = read_bdd(&bytes[..], &model::limits(memory)).ok()?;
    drop(bytes);
    let graph = Graph::compile(&model).ok()?;
    Some(Received { model, graph, loans })
}

fn read_number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; size_of::<u64>()];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Ask the sender for memory, and wait for it.
fn ask_for_loan(loans: &Receiver<u64>) -> Option<usize> {
    let mut to = io::stdout();
    to.write_all(b"null\n").and_then(|()| to.flush()).ok()?;
    usize::try_from(loans.recv().ok()?).ok()
}

fn send(explored: &Explored, to: impl Write) -> io::Result<()> {
    let Explored { states: Diagram { nodes, root }, rounds, levels, strategy } = explored;
    let heading =
        Heading { nodes: nodes.len(), root: root.0, rounds: *rounds, levels: *levels, strategy: strategy.to_string() };
    let mut to = BufWriter::new(to);
    serde_json::to_writer(&mut to, &heading)?;
    to.write_all(b"\n")?;
    for node in nodes {
        for word in [node.level(), node.low().0, node.high().0] {
            to.write_all(&word.to_le_bytes())?;
        }
    }
    to.flush()
}

/// The answer, if it comes whole and there is memory to lend for it.
fn receive(mut from: impl BufRead, mut to: impl Write, lend: Lender<'_>) -> Option<(Explored, Lease)> {
    let (mut loans, mut lease) = ([Loan::Half, Loan::All].into_iter(), None);
    let heading = loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        if let Some(heading) = serde_json::from_str::<Option<Heading>>(&line).ok()? {
            break heading;
        }
        // What was lent before was too little, and is part of what there is to lend.
        drop(lease.take());
        let loan = loans.find_map(lend)?;
        to.write_all(&((loan.bytes() / SHARES) as u64).to_le_bytes()).and_then(|()| to.flush()).ok()?;
        lease = Some(loan);
    };
    let (count, mut lease) = (heading.nodes, lease?);
    let bytes = count.checked_mul(Diagram::BYTES_PER_NODE).filter(|&bytes| bytes <= lease.bytes() / SHARES)?;
    let nodes = receive_nodes(&mut from, count)?;
    lease.resize(bytes).ok()?;
    let Heading { root, rounds, levels, strategy, .. } = heading;
    let states = Diagram { nodes, root: Ref(root) };
    Some((Explored { states, rounds, levels, strategy: strategy.parse().ok()? }, lease))
}

fn receive_nodes(from: &mut impl BufRead, count: usize) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    nodes.try_reserve_exact(count).ok()?;
    let mut bytes = [0; BYTES_IN_PIPE];
    for _ in 0..count {
        from.read_exact(&mut bytes).ok()?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        nodes.push(Node::new(word(0), Ref(word(4)), Ref(word(8))));
    }
    Some(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_engines::Order;
    use tremula_models::{Limits, read_file};

    const PAR: Strategy = Strategy { order: Order::Par, frontier: true };

    fn explored(loan: usize) -> Option<Explored> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = read_file(path.as_ref(), &Limits::default()).unwrap();
        let graph = Graph::compile(&model).unwrap();
        let twin = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), 16 << 20).unwrap();
        let mut loans = [1, loan].into_iter();
        explore_on(twin, &graph, PAR, Attention::default(), || loans.next())
    }

    #[test]
    fn states_come_back_where_enough_is_lent() {
        assert!(explored(2).is_none());
        assert!(explored(16 << 20).is_some_and(|explored| !explored.states.nodes.is_empty()));
    }

    #[test]
    fn answers_arrive_whole_or_not_at_all() {
        let budget = Budget::new(16 << 20);
        let sent = explored(16 << 20).expect("a small model");
        let mut pipe = b"null\n".to_vec();
        send(&sent, &mut pipe).unwrap();
        let lend = |loan| budget.take(if loan == Loan::Half { 8 << 20 } else { 16 << 20 }).ok();
        let mut told = Vec::new();
        let (arrived, lease) = receive(&pipe[..], &mut told, &lend).expect("it is whole");
        assert_eq!((&arrived.states, arrived.strategy), (&sent.states, PAR));
        assert_eq!((arrived.rounds, arrived.levels), (sent.rounds, sent.levels));
        assert_eq!((told, lease.bytes()), ((4_u64 << 20).to_le_bytes().to_vec(), budget.used()));
        drop(lease);
        for length in [0, 3, 5, 9, pipe.len() / 2, pipe.len() - 1] {
            assert!(receive(&pipe[..length], io::sink(), &lend).is_none(), "{length}");
        }
        assert!(receive(&pipe[..], io::sink(), &|_| None).is_none());
        assert!(receive(&pipe[..], io::sink(), &|_| budget.take(1).ok()).is_none());
        assert!(receive(&b"{}\n"[..], io::sink(), &lend).is_none());
        // Who wants more gets it once.
        let (greedy, mut told) = ([b"null\n", &pipe[..]].concat(), Vec::new());
        assert!(receive(&greedy[..], &mut told, &lend).is_some());
        assert_eq!(told, [4_u64 << 20, 8 << 20].map(u64::to_le_bytes).concat());
        assert!(receive(&b"null\nnull\nnull\n"[..], io::sink(), &lend).is_none());
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn models_travel() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/bakery.1.bdd");
        let model = read_file(path.as_ref(), &Limits::default()).unwrap().without_reachable();
        let mut pipe = Vec::new();
        send_model(&model, &mut pipe).unwrap();
        let mut file = &pipe[..];
        assert_eq!(read_number(&mut file).unwrap(), file.len() as u64);
        let arrived = read_bdd(file, &Limits::default()).unwrap();
        assert_eq!(Diagram::of_initial_states(&arrived), Diagram::of_initial_states(&model));
    }
}
