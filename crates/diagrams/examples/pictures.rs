//! Draws a few functions: `cargo run --example pictures -- <folder>` writes an SVG and a DOT file of each.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use tremula_diagrams::{Bdd, Budget, Manager, io};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder to write to")?;
    let folder = Path::new(&folder);
    let manager = Manager::new(&Budget::new(64 << 20))?;
    let named = |level: u32| format!("{}{}", ["a", "b"][level as usize % 2], level / 2);
    let sum = adder(&manager, 4)?;
    let bits: Vec<(String, &Bdd)> = sum.iter().enumerate().map(|(at, bit)| (format!("s{at}"), bit)).collect();
    let bits: Vec<(&str, &Bdd)> = bits.iter().map(|(name, bit)| (name.as_str(), *bit)).collect();
    draw(&manager, folder, "adder", &bits, &named)?;
    draw(&manager, folder, "queens", &[("four queens", &queens(&manager, 4)?)], &|level| {
        format!("row{}col{}", level / 4, level % 4)
    })?;
    let crossed = crossed(&manager, 6)?;
    draw(&manager, folder, "crossed", &[("f", &crossed)], &io::numbered)?;
    draw(&manager, folder, "constant", &[("yes", &manager.constant(true))], &io::numbered)
}

fn draw(
    manager: &Manager,
    folder: &Path,
    name: &str,
    roots: &[(&str, &Bdd)],
    names: io::Names,
) -> Result<(), Box<dyn Error>> {
    let create = |extension: &str| File::create(folder.join(name).with_extension(extension)).map(BufWriter::new);
    manager.write_dot(roots, names, create("dot")?)?;
    Ok(manager.write_svg(roots, names, io::PICTURE_LIMIT, create("svg")?)?)
}

/// The sum bits and the carry of two numbers whose bits alternate, least significant last.
fn adder(manager: &Manager, width: u32) -> Result<Vec<Bdd>, Box<dyn Error>> {
    let mut carry = manager.constant(false);
    let mut sum = Vec::new();
    for bit in (0..width).rev() {
        let (a, b) = (manager.var(2 * bit)?, manager.var(2 * bit + 1)?);
        let either = a.xor(&b)?;
        sum.insert(0, either.xor(&carry)?);
        carry = a.and(&b)?.or(&either.and(&carry)?)?;
    }
    sum.insert(0, carry);
    Ok(sum)
}

/// Ways to place `size` queens on a board so that none attacks another.
fn queens(manager: &Manager, size: u32) -> Result<Bdd, Box<dyn Error>> {
    let at = |row: u32, column: u32| manager.var(row * size + column);
    let mut all = manager.constant(true);
    for row in 0..size {
        let mut some = manager.constant(false);
        for column in 0..size {
            let here = at(row, column)?;
            some = some.or(&here)?;
            for other in 0..size * size {
                let (r, c) = (other / size, other % size);
                let attacked = r == row || c == column || r.abs_diff(row) == c.abs_diff(column);
                if attacked && (r, c) != (row, column) {
                    all = all.minus(&here.and(&at(r, c)?)?)?;
                }
            }
        }
        all = all.and(&some)?;
    }
    Ok(all)
}

/// Pairs of variables that the order keeps far apart: exponential on purpose.
fn crossed(manager: &Manager, pairs: u32) -> Result<Bdd, Box<dyn Error>> {
    let mut any = manager.constant(false);
    for pair in 0..pairs {
        any = any.or(&manager.var(pair)?.and(&manager.var(pairs + pair)?)?)?;
    }
    Ok(any)
}
