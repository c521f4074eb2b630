//! `tremula convert`: the same model in another layout.

use crate::args::{ConvertArgs, LayoutName};
use crate::error::{Exit, Failure};
use crate::memory::Size;
use crate::{model, output};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use tremula_diagrams::Attention;
use tremula_models::{BddSystem, Layout, WriteError, write_bdd};

/// Read a model and write it again.
pub fn convert(args: &ConvertArgs) -> Result<Exit, Failure> {
    let mut model = model::read(&args.model, Size::default().to_bytes(), &Attention::default())?;
    if !args.keep_reachable {
        model = model.without_reachable();
    }
    let layout = match args.layout {
        LayoutName::Sylvan => Layout::Sylvan,
        LayoutName::Legacy => Layout::Legacy,
    };
    let compressed = args.out.extension().is_some_and(|ending| ending == "gz");
    output::write_file(&args.out, |out| {
        if !compressed {
            return write(&model, layout, &args.out, out);
        }
        let mut encoder = GzEncoder::new(out, Compression::default());
        write(&model, layout, &args.out, &mut encoder)?;
        encoder.finish().map(drop).map_err(|error| Failure::file(&args.out, &error))
    })?;
    Ok(Exit::Complete)
}

fn write(model: &BddSystem, layout: Layout, path: &Path, out: impl Write) -> Result<(), Failure> {
    write_bdd(model, layout, out).map_err(|error| match error {
        WriteError::Io(error) => Failure::file(path, &error),
        error => Failure::Input(format!("{}: {error}", path.display())),
    })
}
