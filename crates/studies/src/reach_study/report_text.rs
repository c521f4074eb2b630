//! The report as tables of text.

use super::report::{KindReport, ModelReport, ReachReport, way_name};
use super::shape::Shape;
use crate::Spread;
use crate::numbers::{bytes, count, significant};
use crate::text::TextTable;
use crate::unique::unique;
use std::fmt;

const NOTHING: &str = "-";
const UNKNOWN: &str = "UNKNOWN";
/// Numbers of states with more digits are told by their magnitude.
const READABLE_DIGITS: usize = 15;
/// Longer reasons are cut, so that lines fit 100 columns.
const REASON: usize = 70;

impl fmt::Display for ReachReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(out)?;
        for model in &self.models {
            writeln!(out, "\n{}", title(model))?;
            write!(out, "{}", self.details(model))?;
            write_reasons(out, model)?;
        }
        let tables = [
            ("The first shape and the best; here speed-ups are quotients of the medians", self.first_and_best()),
            ("Several ranks: the first such shape and the best", self.several_ranks()),
            ("One process and several: the best shape with several ranks, and its speed-up", self.one_and_several()),
            ("All models: geometric mean of the speed-ups in each turn", self.means()),
        ];
        for (title, table) in tables {
            if let Some(table) = table {
                write!(out, "\n{title}\n{table}")?;
            }
        }
        Ok(())
    }
}

impl ReachReport {
    fn write_head(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReachReport { processors, reps, strategy, timeout_seconds, .. } = self;
        let memory = bytes(self.mem_bytes as f64);
        writeln!(
            out,
            "{processors} processors. {strategy} with {memory} for all ranks and {timeout_seconds} s a run."
        )?;
        writeln!(out, "Seconds are of exploring, medians of {reps} runs that took turns. Speed-ups are over")?;
        let base = self.base().map_or(NOTHING.to_owned(), |base| base.to_string());
        write!(out, "{base} (ranks x workers of each), medians of ratios in each turn")?;
        let gains = if self.variants.is_empty() { "." } else { "; gains are over the first variant." };
        writeln!(out, "{gains}")?;
        if !self.more.is_empty() {
            writeln!(out, "All runs: {}", self.more.join(" "))?;
        }
        for (name, arguments) in &self.variants {
            writeln!(out, "{name}: {}", if arguments.is_empty() { NOTHING.to_owned() } else { arguments.join(" ") })?;
        }
        Ok(())
    }

    /// All shapes of one model.
    fn details(&self, model: &ModelReport) -> TextTable {
        let has_variants = !self.variants.is_empty();
        let mut heading = vec!["shape", "runs", "seconds", "least", "most", "speed-up", "least", "most"];
        if has_variants {
            heading.extend(["gain", "least", "most"]);
        }
        let mut table = TextTable::new(heading, 1);
        for kind in &model.kinds {
            let mut row = vec![way_name((kind.shape, kind.variant.as_deref())), self.runs(kind)];
            row.extend(three(kind.seconds.as_ref(), significant, UNKNOWN));
            row.extend(three(kind.speed_up.as_ref(), hundredths, NOTHING));
            if has_variants {
                row.extend(three(kind.gain.as_ref(), hundredths, NOTHING));
            }
            table.row(row);
        }
        table
    }

    /// How many runs came to an end, and of how many if not all.
    fn runs(&self, kind: &KindReport) -> String {
        let complete = kind.seconds.as_ref().map_or(0, |seconds| seconds.all.len());
        if complete == self.reps { complete.to_string() } else { format!("{complete}/{}", self.reps) }
    }

    /// As figure 5.9 of the thesis.
    fn first_and_best(&self) -> Option<TextTable> {
        let base = self.base()?;
        (self.ways().len() > 1).then(|| {
            let mut table = TextTable::new(["model", "seconds", "shape", "seconds", "best", "speed-up"], 1);
            self.rows(&mut table, |model, variant| {
                let (first, best) = (model.find((base, variant)), ModelReport::best(model.of(variant)));
                vec![cell(first), base.to_string(), cell(best), shape_cell(best), quotient(first, best)]
            });
            table
        })
    }

    /// As figure 5.12 of the thesis.
    fn several_ranks(&self) -> Option<TextTable> {
        let shapes = self.shapes_where(Shape::has_several_ranks);
        let (&first, _) = shapes.split_first().filter(|(_, others)| !others.is_empty())?;
        let mut table = TextTable::new(["model", "seconds", "shape", "seconds", "best", "speed-up"], 1);
        self.rows(&mut table, |model, variant| {
            let (from, best) = (model.find((first, variant)), best_of_several(model, variant));
            vec![cell(from), first.to_string(), cell(best), shape_cell(best), quotient(from, best)]
        });
        Some(table)
    }

    /// As figure 5.13 of the thesis: one process with the fewest workers and with the most.
    fn one_and_several(&self) -> Option<TextTable> {
        let alone = self.shapes_where(|shape| !shape.has_several_ranks());
        let fewest = alone.iter().copied().min_by_key(|shape| shape.workers)?;
        let most = alone.iter().copied().max_by_key(|shape| shape.workers)?;
        let beside = unique([fewest, most].into_iter());
        if self.shapes_where(Shape::has_several_ranks).is_empty() {
            return None;
        }
        let over = beside.iter().map(|shape| format!("over {shape}"));
        let words = ["seconds", "ranks"].map(str::to_owned);
        let heading = std::iter::once("model".to_owned()).chain(beside.iter().map(Shape::to_string));
        let mut table = TextTable::new(heading.chain(words).chain(over), 1);
        self.rows(&mut table, |model, variant| {
            let alone: Vec<_> = beside.iter().map(|&shape| model.find((shape, variant))).collect();
            let best = best_of_several(model, variant);
            let times = alone.iter().map(|&one| cell(one)).chain([cell(best), shape_cell(best)]);
            times.chain(alone.iter().map(|&one| quotient(one, best))).collect()
        });
        Some(table)
    }

    /// Over all models that have a speed-up.
    fn means(&self) -> Option<TextTable> {
        let has_variants = !self.variants.is_empty();
        let heading = ["shape", "models", "speed-up", "least", "most"];
        let mut table = TextTable::new(heading.into_iter().chain(has_variants.then_some("gain")), 1);
        for way in self.ways() {
            let medians = |of: fn(&KindReport) -> Option<&Spread>| -> Vec<f64> {
                let kinds = self.models.iter().filter_map(|model| model.find(way));
                kinds.filter_map(of).map(|spread| spread.median).collect()
            };
            let speed_ups = medians(|kind| kind.speed_up.as_ref());
            let mut row = vec![way_name(way), speed_ups.len().to_string()];
            row.extend(three(Spread::of(speed_ups.clone()).as_ref(), hundredths, NOTHING));
            row[2] = mean(&speed_ups);
            if has_variants {
                row.push(mean(&medians(|kind| kind.gain.as_ref())));
            }
            table.row(row);
        }
        (self.models.len() > 1).then_some(table)
    }

    /// A row for each model, in each variant.
    fn rows(&self, table: &mut TextTable, cells: impl Fn(&ModelReport, Option<&str>) -> Vec<String>) {
        for model in &self.models {
            for variant in self.variant_names() {
                let name = variant.map_or(model.name.clone(), |variant| format!("{} {variant}", model.name));
                table.row(std::iter::once(name).chain(cells(model, variant)));
            }
        }
    }

    fn shapes_where(&self, is_meant: impl Fn(Shape) -> bool) -> Vec<Shape> {
        let shapes = self.ways().into_iter().map(|(shape, _)| shape);
        unique(shapes.filter(|&shape| is_meant(shape)))
    }
}

fn best_of_several<'r>(model: &'r ModelReport, variant: Option<&'r str>) -> Option<&'r KindReport> {
    ModelReport::best(model.of(variant).filter(|kind| kind.shape.has_several_ranks()))
}

/// What the model is.
fn title(model: &ModelReport) -> String {
    let states = match &model.states {
        None => return format!("{}: {UNKNOWN}", model.name),
        Some(digits) if digits.len() > READABLE_DIGITS => {
            format!("about {}.{}e{}", &digits[..1], &digits[1..3], digits.len() - 1)
        }
        Some(digits) => digits.parse().map_or(digits.clone(), count),
    };
    let nodes = model.nodes.map_or(String::new(), |nodes| format!(", {} nodes", count(nodes)));
    let levels = model.levels.map_or(String::new(), |levels| format!(", {} levels", count(levels)));
    format!("{}: {states} states{nodes}{levels}", model.name)
}

/// Why runs gave up, each reason once for each shape.
fn write_reasons(out: &mut fmt::Formatter<'_>, model: &ModelReport) -> fmt::Result {
    for kind in &model.kinds {
        for reason in unique(kind.unknown.iter()) {
            let way = way_name((kind.shape, kind.variant.as_deref()));
            writeln!(out, "{way} {UNKNOWN}: {}", reason.chars().take(REASON).collect::<String>())?;
        }
    }
    Ok(())
}

/// Median and extremes.
fn three(spread: Option<&Spread>, write: fn(f64) -> String, otherwise: &str) -> [String; 3] {
    match spread {
        Some(spread) => [spread.median, spread.least, spread.greatest].map(write),
        None => [otherwise, NOTHING, NOTHING].map(str::to_owned),
    }
}

fn hundredths(number: f64) -> String {
    format!("{number:.2}")
}

/// Median seconds.
fn cell(kind: Option<&KindReport>) -> String {
    kind.and_then(KindReport::median).map_or(UNKNOWN.to_owned(), significant)
}

fn shape_cell(kind: Option<&KindReport>) -> String {
    kind.map_or(NOTHING.to_owned(), |kind| kind.shape.to_string())
}

/// How many times as long the first one takes.
fn quotient(one: Option<&KindReport>, other: Option<&KindReport>) -> String {
    let medians = one.and_then(KindReport::median).zip(other.and_then(KindReport::median));
    medians.map_or(NOTHING.to_owned(), |(one, other)| hundredths(one / other))
}

/// The geometric mean.
fn mean(numbers: &[f64]) -> String {
    let logarithms: f64 = numbers.iter().map(|number| number.ln()).sum();
    if numbers.is_empty() { NOTHING.to_owned() } else { hundredths((logarithms / numbers.len() as f64).exp()) }
}
