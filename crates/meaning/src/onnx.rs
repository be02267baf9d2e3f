//! Writes ONNX models: just enough of the format for a text encoder and the tests' tiny models.
//!
//! A model is a protocol buffer. Fields of one message may come in any order and in several parts,
//! which readers join; so each weight is written on its own, and only one is in memory at a time.

use std::io::{self, Write};

/// The versions of the format and of its operators that we write.
const FORMAT: u64 = 8;
const OPERATORS: u64 = 17;

/// Numbers of the format's element types.
const FLOAT: u64 = 1;
const INT64: u64 = 7;

/// A size of an input or output: fixed, or named if it varies.
#[derive(Clone, Copy)]
pub(crate) enum Size<'a> {
    Fixed(usize),
    Named(&'a str),
}

/// A setting of an operator.
pub(crate) enum Setting<'a> {
    Int(i64),
    Ints(&'a [i64]),
    Float(f32),
}

/// A model that is being written.
pub(crate) struct Model<W> {
    out: W,
    /// Names that are not used twice.
    count: usize,
}

impl<W: Write> Model<W> {
    pub(crate) fn begin(out: W) -> io::Result<Self> {
        let mut model = Self { out, count: 0 };
        let mut head = Vec::new();
        number(&mut head, 1, FORMAT);
        text(&mut head, 2, "engram");
        message(&mut head, 8, |set| number(set, 2, OPERATORS));
        message(&mut head, 7, |graph| text(graph, 2, "model"));
        model.out.write_all(&head)?;
        Ok(model)
    }

    /// Flushes the model. There is no end to write.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// An input of whole numbers, one for each token of each text.
    pub(crate) fn input(&mut self, name: &str) -> io::Result<()> {
        let sizes = [Size::Named("texts"), Size::Named("tokens")];
        self.value(11, name, INT64, &sizes)
    }

    /// An output of floating-point numbers.
    pub(crate) fn output(&mut self, name: &str, sizes: &[Size]) -> io::Result<()> {
        self.value(12, name, FLOAT, sizes)
    }

    fn value(&mut self, field: u64, name: &str, kind: u64, sizes: &[Size]) -> io::Result<()> {
        self.graph(field, |value| {
            text(value, 1, name);
            message(value, 2, |of| {
                message(of, 1, |tensor| {
                    number(tensor, 1, kind);
                    message(tensor, 2, |shape| {
                        for size in sizes {
                            message(shape, 1, |it| match size {
                                Size::Fixed(size) => number(it, 1, *size as u64),
                                Size::Named(name) => text(it, 2, name),
                            });
                        }
                    });
                });
            });
        })
    }

    /// A constant of floating-point numbers.
    pub(crate) fn floats(&mut self, name: &str, sizes: &[usize], values: &[f32]) -> io::Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.constant(name, FLOAT, sizes, &bytes)
    }

    /// A constant list of whole numbers.
    pub(crate) fn ints(&mut self, name: &str, values: &[i64]) -> io::Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.constant(name, INT64, &[values.len()], &bytes)
    }

    fn constant(&mut self, name: &str, kind: u64, sizes: &[usize], raw: &[u8]) -> io::Result<()> {
        self.graph(5, |tensor| {
            for size in sizes {
                number(tensor, 1, *size as u64);
            }
            number(tensor, 2, kind);
            text(tensor, 8, name);
            bytes(tensor, 9, raw);
        })
    }

    /// An operator with one output, whose name is returned.
    pub(crate) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        settings: &[(&str, Setting)],
    ) -> io::Result<String> {
        self.count += 1;
        let output = format!("{}{}", operator.to_lowercase(), self.count);
        self.node_to(&output, operator, inputs, settings)?;
        Ok(output)
    }

    /// An operator whose output has the given name.
    pub(crate) fn node_to(
        &mut self,
        output: &str,
        operator: &str,
        inputs: &[&str],
        settings: &[(&str, Setting)],
    ) -> io::Result<()> {
        self.graph(1, |node| {
            for input in inputs {
                text(node, 1, input);
            }
            text(node, 2, output);
            text(node, 4, operator);
            for (name, setting) in settings {
                message(node, 5, |attribute| {
                    text(attribute, 1, name);
                    match setting {
                        Setting::Float(value) => {
                            varint(attribute, 2 << 3 | 5);
                            attribute.extend_from_slice(&value.to_le_bytes());
                            number(attribute, 20, 1);
                        }
                        Setting::Int(value) => {
                            number(attribute, 3, value.cast_unsigned());
                            number(attribute, 20, 2);
                        }
                        Setting::Ints(values) => {
                            for value in *values {
                                number(attribute, 8, value.cast_unsigned());
                            }
                            number(attribute, 20, 7);
                        }
                    }
                });
            }
        })
    }

    /// One part of the model's graph.
    fn graph(&mut self, field: u64, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut part = Vec::new();
        fill(&mut part);
        // The part's own field within the graph's, without copying the part.
        let mut inner = Vec::new();
        begin(&mut inner, field, part.len());
        let mut outer = Vec::new();
        begin(&mut outer, 7, inner.len() + part.len());
        self.out.write_all(&outer)?;
        self.out.write_all(&inner)?;
        self.out.write_all(&part)
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

/// The beginning of a field of some bytes.
fn begin(out: &mut Vec<u8>, field: u64, length: usize) {
    varint(out, field << 3 | 2);
    varint(out, length as u64);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    begin(out, field, value.len());
    out.extend_from_slice(value);
}

fn text(out: &mut Vec<u8>, field: u64, value: &str) {
    bytes(out, field, value.as_bytes());
}

fn message(out: &mut Vec<u8>, field: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut inside = Vec::new();
    fill(&mut inside);
    bytes(out, field, &inside);
}
