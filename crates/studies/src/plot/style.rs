//! Colours and shapes.

use std::fmt::Write;

/// Series beyond these take the first colours again.
pub(super) const COLOURS: usize = LIGHT.len();

// Chosen to differ in brightness too, for readers who do not tell all hues apart.
const LIGHT: [&str; 6] = ["#1d4ed8", "#d97706", "#0d9488", "#be185d", "#6d28d9", "#64748b"];
const DARK: [&str; 6] = ["#7aa2ff", "#fbbf24", "#5eead4", "#f9a8d4", "#c4b5fd", "#94a3b8"];
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// Colours of everything that is no series.
struct Paper {
    back: &'static str,
    ink: &'static str,
    faint_ink: &'static str,
    grid: &'static str,
}

const LIGHT_PAPER: Paper = Paper { back: "#ffffff", ink: "#1e293b", faint_ink: "#526077", grid: "#e2e8f0" };
const DARK_PAPER: Paper = Paper { back: "#0f172a", ink: "#e2e8f0", faint_ink: "#a3b1c6", grid: "#293548" };

const SHAPES: &str = "text{font:12px ui-sans-serif,system-ui,'DejaVu Sans',sans-serif}
.title{font-size:17px;font-weight:700}.panel{font-size:13px;font-weight:600}.tick{font-size:11px}
.middle{text-anchor:middle}.end{text-anchor:end}path{fill:none}.line{stroke-width:2;stroke-linejoin:round}
.guide{stroke-width:1.3;stroke-dasharray:4 4}.whisker{stroke-width:1.2}
";

/// The style sheet: plain rules for light paper, and the same again for readers that prefer dark.
pub(super) fn sheet() -> String {
    let mut sheet = SHAPES.to_owned();
    for (at, dashes) in DASHES.iter().enumerate() {
        let _ = write!(sheet, ".d{at}{{stroke-dasharray:{dashes}}}");
    }
    let light = colours(&LIGHT_PAPER, &LIGHT);
    let dark = colours(&DARK_PAPER, &DARK);
    sheet + "\n" + &light + "\n@media(prefers-color-scheme:dark){" + &dark + "}"
}

fn colours(paper: &Paper, series: &[&str]) -> String {
    let Paper { back, ink, faint_ink, grid } = paper;
    let mut rules = format!(
        ".paper{{fill:{back}}}text{{fill:{ink}}}.note,.tick,.label{{fill:{faint_ink}}}.grid{{stroke:{grid}}}\
         .axis,.guide{{stroke:{faint_ink}}}.whisker{{stroke:{ink}}}"
    );
    for (at, colour) in series.iter().enumerate() {
        let _ = write!(rules, ".f{at}{{fill:{colour}}}.s{at}{{stroke:{colour}}}");
    }
    rules
}

/// Classes of a line of this series.
pub(super) fn line_class(series: usize) -> String {
    format!("line s{} d{}", series % COLOURS, series % DASHES.len())
}

/// The outline of this series' mark, around a point.
pub(super) fn mark(series: usize, x: f64, y: f64) -> String {
    match series % 4 {
        0 => format!("M{:.1} {y:.1}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", x - 3.5),
        1 => format!("M{:.1} {:.1}h6.4v6.4h-6.4z", x - 3.2, y - 3.2),
        2 => format!("M{x:.1} {:.1}l4.2 7.2h-8.4z", y - 4.4),
        _ => format!("M{x:.1} {:.1}l4.4 4.4l-4.4 4.4l-4.4 -4.4z", y - 4.4),
    }
}
