//! Prints the figures of a checkout as tables: `cargo run -p xtask --example shape [CHECKOUT
//! [FIGURE]]`. Given the beginning of a figure's name, it prints each place that the figure counts.
//!
//! **Never:** part of the product, nor a test: `xtask/tests/tidy/ceilings.rs` checks the figures.

#[path = "../tests/tidy/shape/mod.rs"]
mod shape;
#[allow(dead_code)]
#[path = "../tests/tidy/workspace.rs"]
mod workspace;

use std::{env, path::PathBuf};

use shape::{Shape, Size};

fn main() {
    let mut arguments = env::args().skip(1);
    let checkout = arguments
        .next()
        .map_or_else(|| workspace::root().to_owned(), PathBuf::from);
    let shape = shape::measure(&checkout);
    match arguments.next() {
        Some(name) => places(&shape, &name),
        None => tables(&shape),
    }
}

fn places(shape: &Shape, name: &str) {
    for figure in shape.figures.iter().filter(|it| it.name.starts_with(name)) {
        figure.places.iter().for_each(|it| println!("{it}"));
    }
}

fn tables(shape: &Shape) {
    println!("| figure | |\n|---|--:|");
    for figure in &shape.figures {
        println!("| {} | {} |", figure.name, figure.places.len());
    }
    println!("\n| crate | product | tests | test functions | assertions |\n|---|--:|--:|--:|--:|");
    for size in &shape.sizes {
        row(size);
    }
    row(&total(
        "the product",
        shape.sizes.iter().filter(|it| it.is_product),
    ));
    row(&total("everything", shape.sizes.iter()));
}

fn row(size: &Size) {
    println!(
        "| {} | {} | {} | {} | {} |",
        size.name, size.lines, size.test_lines, size.tests, size.assertions
    );
}

fn total<'a>(name: &str, sizes: impl Iterator<Item = &'a Size>) -> Size {
    let mut total = Size {
        name: name.to_owned(),
        ..Size::default()
    };
    for size in sizes {
        total.lines += size.lines;
        total.test_lines += size.test_lines;
        total.tests += size.tests;
        total.assertions += size.assertions;
    }
    total
}
