//! Converts a BERT encoder from the form in which weights are published (safetensors) to the form
//! that ONNX Runtime reads.

use std::io::{self, Write};

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use thiserror::Error;

use crate::onnx::{Model, Setting, Size};

/// Why weights cannot be converted.
#[derive(Debug, Error)]
pub(crate) enum ConvertError {
    #[error("the weights do not fit the configuration: {0}")]
    Weights(String),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes the model that `config` (a `config.json`) describes and `weights` (a
/// `model.safetensors`) contains. Inputs: `input_ids`, `attention_mask`, `token_type_ids`; output:
/// `last_hidden_state`, a vector for each token.
pub(crate) fn convert(config: &[u8], weights: &[u8], out: impl Write) -> Result<(), ConvertError> {
    let weights =
        SafeTensors::deserialize(weights).map_err(|it| ConvertError::Weights(it.to_string()))?;
    let shape = Shape::of(config)?;
    let mut encoder = Encoder {
        model: Model::begin(out)?,
        weights,
        shape,
    };
    for name in ["input_ids", "attention_mask", "token_type_ids"] {
        encoder.model.input(name)?;
    }
    encoder.constants()?;
    let mut hidden = encoder.embeddings()?;
    let mask = encoder.mask()?;
    for layer in 0..encoder.shape.layers {
        hidden = encoder.layer(layer, &hidden, &mask)?;
    }
    let Encoder {
        mut model, shape, ..
    } = encoder;
    model.node_to("last_hidden_state", "Identity", &[&hidden], &[])?;
    let sizes = [
        Size::Named("texts"),
        Size::Named("tokens"),
        Size::Fixed(shape.width),
    ];
    model.output("last_hidden_state", &sizes)?;
    Ok(model.end()?)
}

struct Shape {
    layers: usize,
    width: usize,
    heads: usize,
    epsilon: f32,
}

impl Shape {
    fn of(config: &[u8]) -> Result<Self, ConvertError> {
        let wrong = |why: &str| ConvertError::Weights(why.to_owned());
        let config: Value = serde_json::from_slice(config).map_err(|it| wrong(&it.to_string()))?;
        let size = |key: &str| {
            let size = config.get(key).and_then(Value::as_u64);
            size.and_then(|it| usize::try_from(it).ok())
                .filter(|it| (1..=1 << 16).contains(it))
                .ok_or_else(|| wrong(&format!("config.json has no {key}")))
        };
        for (key, known) in [
            ("model_type", "bert"),
            ("hidden_act", "gelu"),
            ("position_embedding_type", "absolute"),
        ] {
            let given = config.get(key).and_then(Value::as_str);
            if given.is_some_and(|it| it != known) {
                return Err(wrong(&format!("only {known} is known as {key}")));
            }
        }
        let epsilon = config.get("layer_norm_eps").and_then(Value::as_f64);
        let shape = Self {
            layers: size("num_hidden_layers")?,
            width: size("hidden_size")?,
            heads: size("num_attention_heads")?,
            epsilon: epsilon.unwrap_or(1e-12) as f32,
        };
        if shape.width.is_multiple_of(shape.heads) {
            Ok(shape)
        } else {
            Err(wrong("hidden_size is not a multiple of the heads"))
        }
    }
}

struct Encoder<'a, W> {
    model: Model<W>,
    weights: SafeTensors<'a>,
    shape: Shape,
}

impl<W: Write> Encoder<'_, W> {
    /// The numbers that all layers use.
    fn constants(&mut self) -> io::Result<()> {
        let Shape { width, heads, .. } = self.shape;
        let head = width / heads;
        let model = &mut self.model;
        model.floats("one", &[], &[1.0])?;
        model.floats("half", &[], &[0.5])?;
        model.floats("root_of_two", &[], &[2.0_f32.sqrt()])?;
        model.floats("scale", &[], &[1.0 / (head as f32).sqrt()])?;
        // Far below any score, so that a masked token has no share.
        model.floats("far_below", &[], &[-1e9])?;
        model.ints("zero", &[0])?;
        model.ints("axis_of_tokens", &[1])?;
        model.ints("inner_axes", &[1, 2])?;
        model.ints("by_head", &[0, 0, heads as i64, head as i64])?;
        model.ints("joined", &[0, 0, width as i64])
    }

    /// The sum of what is known of each token: its word, its place, its text.
    fn embeddings(&mut self) -> Result<String, ConvertError> {
        let words = self.weight("embeddings.word_embeddings.weight")?;
        let places = self.weight("embeddings.position_embeddings.weight")?;
        let texts = self.weight("embeddings.token_type_embeddings.weight")?;
        let model = &mut self.model;
        let word = model.node("Gather", &[&words, "input_ids"], &[])?;
        let text = model.node("Gather", &[&texts, "token_type_ids"], &[])?;
        let sizes = model.node("Shape", &["input_ids"], &[])?;
        let tokens = model.node("Gather", &[&sizes, "axis_of_tokens"], &[])?;
        let place = model.node("Slice", &[&places, "zero", &tokens, "zero"], &[])?;
        let sum = model.node("Add", &[&word, &text], &[])?;
        let sum = model.node("Add", &[&sum, &place], &[])?;
        self.norm("embeddings.LayerNorm", &sum)
    }

    /// What is added to the scores of each token: nothing, or very little if it is padding.
    fn mask(&mut self) -> io::Result<String> {
        let model = &mut self.model;
        let mask = model.node("Unsqueeze", &["attention_mask", "inner_axes"], &[])?;
        let mask = model.node("Cast", &[&mask], &[("to", Setting::Int(1))])?;
        let padding = model.node("Sub", &["one", &mask], &[])?;
        model.node("Mul", &[&padding, "far_below"], &[])
    }

    fn layer(&mut self, layer: usize, hidden: &str, mask: &str) -> Result<String, ConvertError> {
        let part = |name: &str| format!("encoder.layer.{layer}.{name}");
        let heads = [0, 2, 1, 3];
        let query = self.heads(&part("attention.self.query"), hidden, &heads)?;
        let key = self.heads(&part("attention.self.key"), hidden, &[0, 2, 3, 1])?;
        let value = self.heads(&part("attention.self.value"), hidden, &heads)?;
        let model = &mut self.model;
        let scores = model.node("MatMul", &[&query, &key], &[])?;
        let scores = model.node("Mul", &[&scores, "scale"], &[])?;
        let scores = model.node("Add", &[&scores, mask], &[])?;
        let shares = model.node("Softmax", &[&scores], &[("axis", Setting::Int(-1))])?;
        let context = model.node("MatMul", &[&shares, &value], &[])?;
        let order = [("perm", Setting::Ints(&heads))];
        let context = model.node("Transpose", &[&context], &order)?;
        let context = model.node("Reshape", &[&context, "joined"], &[])?;
        let attended = self.linear(&part("attention.output.dense"), &context)?;
        let sum = self.model.node("Add", &[&attended, hidden], &[])?;
        let attended = self.norm(&part("attention.output.LayerNorm"), &sum)?;
        let inner = self.linear(&part("intermediate.dense"), &attended)?;
        let inner = self.gelu(&inner)?;
        let outer = self.linear(&part("output.dense"), &inner)?;
        let sum = self.model.node("Add", &[&outer, &attended], &[])?;
        self.norm(&part("output.LayerNorm"), &sum)
    }

    /// A linear layer whose result is split into heads, its axes in the given order.
    fn heads(&mut self, name: &str, input: &str, order: &[i64]) -> Result<String, ConvertError> {
        let flat = self.linear(name, input)?;
        let split = self.model.node("Reshape", &[&flat, "by_head"], &[])?;
        let order = [("perm", Setting::Ints(order))];
        Ok(self.model.node("Transpose", &[&split], &order)?)
    }

    fn linear(&mut self, name: &str, input: &str) -> Result<String, ConvertError> {
        let matrix = self.transposed(&format!("{name}.weight"))?;
        let bias = self.weight(&format!("{name}.bias"))?;
        let product = self.model.node("MatMul", &[input, &matrix], &[])?;
        Ok(self.model.node("Add", &[&product, &bias], &[])?)
    }

    fn norm(&mut self, name: &str, input: &str) -> Result<String, ConvertError> {
        let scale = self.weight(&format!("{name}.weight"))?;
        let bias = self.weight(&format!("{name}.bias"))?;
        let settings = [
            ("axis", Setting::Int(-1)),
            ("epsilon", Setting::Float(self.shape.epsilon)),
        ];
        let inputs = [input, scale.as_str(), bias.as_str()];
        Ok(self.model.node("LayerNormalization", &inputs, &settings)?)
    }

    /// x/2 (1 + erf(x/√2)), in the order that ONNX Runtime recognises and runs as one step.
    fn gelu(&mut self, input: &str) -> io::Result<String> {
        let model = &mut self.model;
        let part = model.node("Div", &[input, "root_of_two"], &[])?;
        let part = model.node("Erf", &[&part], &[])?;
        let part = model.node("Add", &[&part, "one"], &[])?;
        let part = model.node("Mul", &[input, &part], &[])?;
        model.node("Mul", &[&part, "half"], &[])
    }

    /// Writes a weight as it is; returns its name.
    fn weight(&mut self, name: &str) -> Result<String, ConvertError> {
        let (sizes, values) = self.read(name)?;
        self.model.floats(name, &sizes, &values)?;
        Ok(name.to_owned())
    }

    /// Writes a matrix with its axes swapped: published matrices map inputs by rows.
    fn transposed(&mut self, name: &str) -> Result<String, ConvertError> {
        let (sizes, values) = self.read(name)?;
        let [rows, columns] = sizes[..] else {
            return Err(ConvertError::Weights(format!("{name} is not a matrix")));
        };
        let swapped: Vec<f32> = (0..columns)
            .flat_map(|column| values.iter().skip(column).step_by(columns))
            .copied()
            .collect();
        self.model.floats(name, &[columns, rows], &swapped)?;
        Ok(name.to_owned())
    }

    fn read(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), ConvertError> {
        let found = self
            .weights
            .tensor(name)
            .or_else(|_| self.weights.tensor(&format!("bert.{name}")))
            .map_err(|_| ConvertError::Weights(format!("{name} is missing")))?;
        if found.dtype() != Dtype::F32 {
            let why = format!("{name} is not of 32-bit floating-point numbers");
            return Err(ConvertError::Weights(why));
        }
        let (values, _) = found.data().as_chunks();
        let values = values.iter().map(|it| f32::from_le_bytes(*it)).collect();
        Ok((found.shape().to_vec(), values))
    }
}
