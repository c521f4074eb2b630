//! A device explores in a process of its own, the envoy, whose answer comes back through a pipe.
//!
//! A driver takes a quarter of a second to let a process go, whether its answer was needed or not, and may end the process
//! that it is in. Both are the envoy's matter: nobody waits for its end.
//!
//! The envoy gets the model on standard input, as a length and a `.bdd` file, and answers on standard output with a line of
//! JSON and the nodes of the states. It ends when its standard input does, however its sender ended.

use crate::args::EnvoyArgs;
use crate::error::{self, Exit, Failure, catch};
use crate::memory::Size;
use crate::presence::Presence;
use crate::rival::{Explored, LOOK, Room, Task};
use crate::{gpu, model, signals};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use tremula_bulk::layout::{Node, Ref};
use tremula_bulk::{Bulk, Diagram, Graph, Machine, Twin};
use tremula_diagrams::{Attention, Budget};
use tremula_engines::{Reached, Strategy, explore};
use tremula_models::{BddSystem, Layout, read_bdd, write_bdd};

/// Bytes of a node in the pipe: level, low and high child.
const BYTES_IN_PIPE: usize = 3 * size_of::<u32>();
/// Bytes for each node that has come: two processes have it.
const BYTES_PER_NODE: usize = Diagram::BYTES_PER_NODE + size_of::<Node>();

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
    pub fn explore(self, task: &Task<'_>) -> Option<Explored> {
        let mut child = self.command(task).ok()?.spawn().ok()?;
        let (to, from) = (child.stdin.take()?, child.stdout.take()?);
        let _leash = leash(child, task.attention.clone()).ok()?;
        let mut to = BufWriter::new(to);
        send_model(task.model, &mut to).ok()?;
        // It would end if its standard input did, so that has to stay until the answer is here.
        receive(BufReader::new(from), task.room)
    }

    fn command(self, task: &Task<'_>) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
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
    let budget = Budget::new(args.mem);
    let answer = catch(|| {
        if args.twin {
            let (model, graph) = receive_model(args.mem)?;
            let machine = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), args.mem).ok()?;
            return explore_on(machine, &graph, args.strategy, Attention::default(), &budget);
        }
        // The model comes while the driver starts.
        let (device, model) = thread::scope(|scope| {
            let model = scope.spawn(|| receive_model(args.mem));
            (gpu::find().ok(), model.join().ok().flatten())
        });
        let (device, (model, graph)) = (device?, model?);
        let machine = gpu::open(&device, args.gpu_mem, &graph, &Diagram::of_initial_states(&model))?;
        explore_on(machine, &graph, args.strategy, Attention::default(), &budget)
    });
    match answer {
        Ok(Some(explored)) => send(&explored, io::stdout().lock()).map(|()| Exit::Complete).map_err(broken),
        Ok(None) => Ok(Exit::Limit),
        Err(panic) => Err(Failure::Internal(panic)),
    }
}

/// Explore with a machine.
pub fn explore_on<M: Machine>(
    machine: M,
    graph: &Graph,
    strategy: Strategy,
    attention: Attention,
    budget: &Budget,
) -> Option<Explored> {
    let space = Bulk::new(machine, graph, attention);
    let Reached { states, rounds, levels, strategy } = explore(&space, strategy, &mut ()).ok()?;
    let (states, lease) = space.export(&states, budget).ok()?;
    Some(Explored { states, lease, rounds, levels, strategy })
}

fn send_model(model: &BddSystem, to: &mut impl Write) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let internal = |problem: String| Failure::Internal(problem);
    write_bdd(model, Layout::Sylvan, &mut bytes).map_err(|error| internal(error.to_string()))?;
    let mut write = || -> io::Result<()> {
        to.write_all(&(bytes.len() as u64).to_le_bytes())?;
        to.write_all(&bytes)?;
        to.flush()
    };
    write().map_err(|error| internal(error.to_string()))
}

/// Read the model, and watch from then on whether the sender is there.
fn receive_model(memory: usize) -> Option<(BddSystem, Graph)> {
    let mut from = io::stdin();
    let mut length = [0; size_of::<u64>()];
    from.read_exact(&mut length).ok()?;
    let mut bytes = Vec::new();
    from.by_ref().take(u64::from_le_bytes(length)).read_to_end(&mut bytes).ok()?;
    let watch = move || {
        let _ = io::copy(&mut from, &mut io::sink());
        error::end(Exit::Limit.code());
    };
    thread::Builder::new().name("sender".to_owned()).spawn(watch).ok()?;
    let model = read_bdd(&bytes[..], &model::limits(memory)).ok()?;
    let graph = Graph::compile(&model).ok()?;
    Some((model, graph))
}

fn send(explored: &Explored, to: impl Write) -> io::Result<()> {
    let Explored { states: Diagram { nodes, root }, rounds, levels, strategy, .. } = explored;
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

/// The answer, if it comes whole and there is room for it.
fn receive(mut from: impl BufRead, room: Room<'_>) -> Option<Explored> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let Heading { nodes: count, root, rounds, levels, strategy } = serde_json::from_str(&line).ok()?;
    let strategy = strategy.parse().ok()?;
    let lease = room(count.checked_mul(BYTES_PER_NODE)?)?;
    let mut nodes = Vec::new();
    nodes.try_reserve_exact(count).ok()?;
    let mut bytes = [0; BYTES_IN_PIPE];
    for _ in 0..count {
        from.read_exact(&mut bytes).ok()?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        nodes.push(Node::new(word(0), Ref(word(4)), Ref(word(8))));
    }
    Some(Explored { states: Diagram { nodes, root: Ref(root) }, lease, rounds, levels, strategy })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_engines::Order;
    use tremula_models::{Limits, read_file};

    const PAR: Strategy = Strategy { order: Order::Par, frontier: true };

    fn explored(budget: &Budget) -> Explored {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = read_file(path.as_ref(), &Limits::default()).unwrap();
        let graph = Graph::compile(&model).unwrap();
        let twin = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), 16 << 20).unwrap();
        explore_on(twin, &graph, PAR, Attention::default(), budget).expect("a small model")
    }

    #[test]
    fn answers_arrive_whole_or_not_at_all() {
        let budget = Budget::new(16 << 20);
        let sent = explored(&budget);
        let mut pipe = Vec::new();
        send(&sent, &mut pipe).unwrap();
        let room = |bytes| budget.take(bytes).ok();
        let arrived = receive(&pipe[..], &room).expect("it is whole");
        assert_eq!((&arrived.states, arrived.strategy), (&sent.states, PAR));
        assert_eq!((arrived.rounds, arrived.levels), (sent.rounds, sent.levels));
        assert_eq!(arrived.lease.bytes(), sent.states.nodes.len() * BYTES_PER_NODE);
        for length in [0, 5, pipe.len() / 2, pipe.len() - 1] {
            assert!(receive(&pipe[..length], &room).is_none(), "{length}");
        }
        assert!(receive(&pipe[..], &|_| None).is_none());
        assert!(receive(&b"{}\n"[..], &room).is_none());
    }

    #[test]
    fn models_travel() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/bakery.1.bdd");
        let model = read_file(path.as_ref(), &Limits::default()).unwrap().without_reachable();
        let mut pipe = Vec::new();
        send_model(&model, &mut pipe).unwrap();
        let (length, file) = pipe.split_at(size_of::<u64>());
        assert_eq!(length, (file.len() as u64).to_le_bytes());
        let arrived = read_bdd(file, &Limits::default()).unwrap();
        assert_eq!(Diagram::of_initial_states(&arrived), Diagram::of_initial_states(&model));
    }
}
