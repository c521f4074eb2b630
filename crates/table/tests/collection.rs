//! Collections, growth, compaction and the full table, on diagrams that a test can follow by hand.

use tremula_table::{Attention, Budget, Interrupt, Options, Ref, Sizing, Solo};

fn table(bytes: usize) -> Solo {
    Solo::new(&Budget::new(bytes), Options::default(), Attention::default()).unwrap()
}

/// The conjunction of the variables `from..to`, some negated as the bits of `pattern` say.
fn cube(table: &mut Solo, from: u32, to: u32, pattern: u64) -> Result<Ref, Interrupt> {
    (from..to).rev().try_fold(Ref::TRUE, |rest, level| {
        if pattern >> (level % 64) & 1 == 0 {
            table.make(level, Ref::FALSE, rest)
        } else {
            table.make(level, rest, Ref::FALSE)
        }
    })
}

fn accepts(table: &Solo, mut f: Ref, to: u32, pattern: u64) -> bool {
    while !f.is_terminal() {
        let node = table.node(f);
        assert!(node.level < to);
        let value = pattern >> (node.level % 64) & 1 == 0;
        f = if value { node.high } else { node.low }.under(f);
    }
    f == Ref::TRUE
}

#[test]
fn garbage_is_reused_and_handles_survive() {
    let mut table = table(1 << 20);
    let patterns: Vec<u64> = (0..50).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let slots: Vec<u32> = patterns
        .iter()
        .map(|&p| {
            let f = cube(&mut table, 0, 64, p).unwrap();
            table.handles_mut().open(f)
        })
        .collect();
    for garbage in 0..5000u64 {
        cube(&mut table, 0, 64, garbage.wrapping_mul(0xD6E8_FEB8_6659_FD93)).unwrap();
    }
    assert!(table.counters().collections > 3, "{:?}", table.counters());
    table.check().unwrap();
    for (&slot, &p) in slots.iter().zip(&patterns) {
        let f = table.handles().get(slot);
        assert!(accepts(&table, f, 64, p));
        assert_eq!(cube(&mut table, 0, 64, p).unwrap(), f, "found again, not made again");
    }
}

#[test]
fn a_full_table_is_an_error_and_loses_nothing() {
    let mut table = table(300_000);
    let mut slots = Vec::new();
    let full = loop {
        let pattern = (slots.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        match cube(&mut table, 0, 64, pattern) {
            Ok(f) => slots.push((table.handles_mut().open(f), pattern)),
            Err(e) => break e,
        }
    };
    assert_eq!(full, Interrupt::TableFull);
    table.check().unwrap();
    for &(slot, pattern) in &slots {
        assert!(accepts(&table, table.handles().get(slot), 64, pattern));
    }
    for (slot, _) in slots.drain(..) {
        table.handles_mut().close(slot);
    }
    assert_eq!(table.collect(), 0);
    assert!(cube(&mut table, 0, 64, 1).is_ok(), "room again after the handles are gone");
}

#[test]
fn compaction_moves_nodes_and_gives_memory_back() {
    let budget = Budget::new(100 << 20);
    let mut table = Solo::new(&budget, Options::default(), Attention::default()).unwrap();
    let mut kept = Vec::new();
    for i in 0..20_000u64 {
        let pattern = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let f = cube(&mut table, 0, 64, pattern).unwrap();
        if i % 1000 == 999 {
            kept.push((table.handles_mut().open(f), pattern));
        }
    }
    let before = budget.used();
    table.compact();
    table.check().unwrap();
    assert!(budget.used() < before / 4, "{} of {before}", budget.used());
    for &(slot, pattern) in &kept {
        assert!(accepts(&table, table.handles().get(slot), 64, pattern));
    }
    for i in 0..20_000u64 {
        cube(&mut table, 0, 64, i).unwrap();
    }
    table.check().unwrap();
}

#[test]
fn the_shadow_stack_protects() {
    let options = Options { stress: Some(10), ..Options::default() };
    let mut table = Solo::new(&Budget::new(1 << 20), options, Attention::default()).unwrap();
    // `make` protects its own arguments, so a cube can be built under stress.
    let f = cube(&mut table, 0, 40, 0).unwrap();
    table.keep(f);
    for i in 1..100 {
        cube(&mut table, 0, 40, i).unwrap();
    }
    assert!(accepts(&table, f, 40, 0));
    assert_eq!(cube(&mut table, 0, 40, 0).unwrap(), f);
    table.release(1);
    assert_eq!(table.depth(), 0);
}

#[test]
fn cancellation_stops_at_the_next_new_node() {
    let attention = Attention::default();
    let mut table = Solo::new(&Budget::new(1 << 20), Options::default(), attention.clone()).unwrap();
    attention.request_report();
    cube(&mut table, 0, 10, 0).unwrap();
    assert_eq!(attention.last_report().number, 1);
    attention.cancel();
    assert_eq!(cube(&mut table, 0, 10, 1), Err(Interrupt::Cancelled));
    attention.reset();
    assert!(cube(&mut table, 0, 10, 1).is_ok());
}

#[test]
fn two_tables_share_one_budget() {
    let budget = Budget::new(4 << 20);
    let options = Options { sizing: Sizing { initial_nodes: 1 << 14, ..Sizing::default() }, ..Options::default() };
    let mut first = Solo::new(&budget, options, Attention::default()).unwrap();
    let mut second = Solo::new(&budget, options, Attention::default()).unwrap();
    for i in 0..3000u64 {
        let pattern = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        cube(&mut first, 0, 64, pattern).unwrap();
        cube(&mut second, 0, 64, pattern).unwrap();
        assert!(budget.used() <= budget.limit());
    }
    drop(first);
    let used = budget.used();
    drop(second);
    assert!(used > 0 && budget.used() == 0);
}

#[test]
fn list_nodes_are_never_binary_ones() {
    let mut table = table(1 << 20);
    let x = table.make(3, Ref::FALSE, Ref::TRUE).unwrap();
    let three = table.make_list(3, Ref::TRUE, Ref::FALSE).unwrap();
    assert_ne!(x, three);
    assert_eq!(table.make_list(3, Ref::TRUE, Ref::FALSE).unwrap(), three);
    let both = table.make_list(u32::MAX - 7, three, Ref::FALSE).unwrap();
    let one_to_three = table.make_list(1, three, both).unwrap();
    table.handles_mut().open(one_to_three);
    table.compact();
    table.check().unwrap();
    let x = table.make(3, Ref::FALSE, Ref::TRUE).unwrap();
    let wrong = table.make_list(9, x, Ref::FALSE).unwrap();
    table.handles_mut().open(wrong);
    assert!(table.check().is_err());
}
