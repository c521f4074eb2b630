//! `tremula order`: orders for the places of a net, and what is expected of them.

use crate::args::{Order, OrderArgs};
use crate::error::{Exit, Failure};
use crate::memory::Size;
use crate::numbers::{grouped, magnitude};
use crate::{incidence, matrix_svg, model, output};
use serde::Serialize;
use tremula_diagrams::Attention;
use tremula_models::PetriNet;
use tremula_orders::{Candidate, FlowLimits, OrderLimits, Recipe, Semiflows};

/// Digits that are shown; longer numbers are shown by their magnitude.
const MOST_DIGITS: usize = 9;

/// Compare orders, or look at one.
pub fn order(args: &OrderArgs) -> Result<Exit, Failure> {
    if let Some(path) = &args.svg {
        output::must_differ(path, &args.model)?;
        output::probe(path)?;
    }
    let net = model::read_net(&args.model, Size::default().to_bytes(), &Attention::default())?;
    let candidates = match args.order {
        Order::Auto => all(&net),
        Order::Chosen(recipe) => vec![one(&net, recipe)?],
    };
    let best = candidates.first().expect("there is always an order");
    if let Some(path) = &args.svg {
        let matrix = incidence::ordered(&net, &best.order);
        matrix_svg::write(path, &matrix, &args.model, &format!("order {}", best.recipe))?;
    }
    let text = match (args.json, args.places) {
        (true, _) => json(args, &net, &candidates),
        (false, true) => names(&net, best).into_iter().map(|name| output::printable(name) + "\n").collect(),
        (false, false) => table(args, &net, &candidates),
    };
    output::to_stdout(&text)?;
    Ok(Exit::Complete)
}

fn all(net: &PetriNet) -> Vec<Candidate> {
    let semiflows = Semiflows::of(net, &FlowLimits::default());
    tremula_orders::candidates(net, &semiflows, &OrderLimits::default())
}

fn one(net: &PetriNet, recipe: Recipe) -> Result<Candidate, Failure> {
    let semiflows = Semiflows::of(net, &FlowLimits::default());
    let order = tremula_orders::order(net, recipe, &semiflows, &OrderLimits::default());
    let order = order.ok_or_else(|| no_such_order(recipe))?;
    let score = tremula_orders::score(net, &order, &OrderLimits::default());
    Ok(Candidate { recipe, order, score })
}

/// What to say where a net has no such order.
pub fn no_such_order(recipe: Recipe) -> Failure {
    let problem = "it lacks what the order is made from, or is too large";
    Failure::Input(format!("there is no order `{recipe}` of this net: {problem}"))
}

/// The places of an order, as the file calls them.
fn names<'a>(net: &'a PetriNet, candidate: &Candidate) -> Vec<&'a str> {
    candidate.order.iter().map(|&place| net.places[place as usize].id.as_str()).collect()
}

fn table(args: &OrderArgs, net: &PetriNet, candidates: &[Candidate]) -> String {
    let several = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let size = format!("{}, {}", several(net.places.len(), "place"), several(net.transitions.len(), "transition"));
    let heading = format!("{:>2}  {:<38}{:>12}{:>12}{:>12}\n", "", "Order", "Rank", "Spans", "Height");
    let rows = candidates.iter().enumerate().map(|(at, Candidate { recipe, score, .. })| {
        let rank = score.rank.map_or("unknown".to_owned(), amount);
        let (number, name) = (at + 1, recipe.to_string());
        format!("{number:>2}  {name:<38}{rank:>12}{:>12}{:>12}\n", amount(score.spans), amount(score.height))
    });
    format!("Model   {}\nNet     {size}\n\n{heading}", args.model.display()) + &rows.collect::<String>()
}

fn amount(amount: u64) -> String {
    let digits = amount.to_string();
    if digits.len() <= MOST_DIGITS { grouped(&digits) } else { magnitude(&digits) }
}

/// The result for programs. The fields and their names are part of the command line contract.
#[derive(Serialize)]
struct Report<'a> {
    model: String,
    places: usize,
    transitions: usize,
    orders: Vec<Scored>,
    /// The places in the first of these orders, on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct Scored {
    name: String,
    /// None if it was too much work.
    rank: Option<u64>,
    spans: u64,
    height: u64,
}

fn json(args: &OrderArgs, net: &PetriNet, candidates: &[Candidate]) -> String {
    let scored = candidates.iter().map(|Candidate { recipe, score, .. }| Scored {
        name: recipe.to_string(),
        rank: score.rank,
        spans: score.spans,
        height: score.height,
    });
    let report = Report {
        model: args.model.to_string_lossy().into_owned(),
        places: net.places.len(),
        transitions: net.transitions.len(),
        orders: scored.collect(),
        order: args.places.then(|| candidates.first().map(|best| names(net, best)).unwrap_or_default()),
    };
    serde_json::to_string(&report).expect("plain data") + "\n"
}
