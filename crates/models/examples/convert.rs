//! Converts a model to the other layout: `convert IN (legacy|sylvan) OUT`.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use tremula_models::{Layout, Limits, read_file, write_bdd};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, layout, output] = arguments.as_slice() else {
        return Err("usage: convert IN (legacy|sylvan) OUT".into());
    };
    let layout = match layout.as_str() {
        "legacy" => Layout::Legacy,
        "sylvan" => Layout::Sylvan,
        other => return Err(format!("{other} is not a layout").into()),
    };
    let system = read_file(Path::new(input), &Limits::default())?;
    write_bdd(&system, layout, File::create(output)?)?;
    Ok(())
}
