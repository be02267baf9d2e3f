//! Tiny models for tests: a folder with files as publishers lay them out, and weights that a test
//! chooses. Never part of a release.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    Task,
    onnx::{Model, Setting, Size},
};

const SPECIAL: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

/// The most tokens that a tiny model reads.
pub const TOKENS: usize = 64;

/// Writes a model into a folder. Each word has a row of numbers:
/// - for embeddings, its vector, of which a text has the mean;
/// - for entailment, its scores for each label, of which a pair has the sums.
///
/// All rows have one length; with labels, theirs. Words are in lower case, and `##` begins the rest
/// of one. Other words count little in an embedding, and nothing in a sum.
///
/// # Errors
/// What the system says if it cannot write the files.
pub fn tiny_model(
    folder: &Path,
    task: Task,
    labels: &[&str],
    words: &[(&str, &[f32])],
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let width = words.first().map_or(labels.len(), |(_, row)| row.len());
    let other: Vec<f32> = match task {
        Task::Embedding => vec![0.01; width],
        Task::Entailment => vec![0.0; width],
    };
    let rows: Vec<f32> = SPECIAL
        .iter()
        .flat_map(|_| other.iter())
        .chain(words.iter().flat_map(|(_, row)| row.iter()))
        .copied()
        .collect();
    let table = [SPECIAL.len() + words.len(), width];
    let names = SPECIAL.iter().chain(words.iter().map(|(word, _)| word));
    let vocabulary: Value = names
        .enumerate()
        .map(|(id, word)| ((*word).to_owned(), json!(id)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let write = |name: &str, value: Value| fs::write(folder.join(name), value.to_string());
    write("config.json", config(task, labels))?;
    write("tokenizer.json", tokenizer(&vocabulary))?;
    write(
        "tokenizer_config.json",
        json!({ "model_max_length": TOKENS, "pad_token": "[PAD]" }),
    )?;
    write(
        "special_tokens_map.json",
        json!({ "pad_token": "[PAD]", "unk_token": "[UNK]" }),
    )?;
    weights(File::create(folder.join("model.onnx"))?, task, table, &rows)
}

fn weights(out: File, task: Task, table: [usize; 2], rows: &[f32]) -> io::Result<()> {
    let width = Size::Fixed(table[1]);
    let (texts, tokens) = (Size::Named("texts"), Size::Named("tokens"));
    let mut model = Model::begin(out)?;
    model.input("input_ids")?;
    model.input("attention_mask")?;
    model.floats("rows", &table, rows)?;
    let each = ["rows", "input_ids"];
    match task {
        Task::Embedding => {
            model.node_to("last_hidden_state", "Gather", &each, &[])?;
            model.output("last_hidden_state", &[texts, tokens, width])?;
        }
        Task::Entailment => {
            model.input("token_type_ids")?;
            model.ints("by_token", &[1])?;
            model.ints("inner", &[2])?;
            let each = model.node("Gather", &each, &[])?;
            let mask = model.node("Unsqueeze", &["attention_mask", "inner"], &[])?;
            let mask = model.node("Cast", &[&mask], &[("to", Setting::Int(1))])?;
            let each = model.node("Mul", &[&each, &mask], &[])?;
            let sum = [("keepdims", Setting::Int(0))];
            model.node_to("logits", "ReduceSum", &[&each, "by_token"], &sum)?;
            model.output("logits", &[texts, width])?;
        }
    }
    model.end()
}

fn config(task: Task, labels: &[&str]) -> Value {
    let id2label: serde_json::Map<_, _> = labels
        .iter()
        .enumerate()
        .map(|(id, label)| (id.to_string(), json!(label)))
        .collect();
    json!({
        "_name_or_path": "tiny",
        "architectures": [match task {
            Task::Embedding => "BertModel",
            Task::Entailment => "BertForSequenceClassification",
        }],
        "id2label": id2label,
        "max_position_embeddings": TOKENS,
        "model_type": "bert",
        "pad_token_id": 0,
    })
}

fn tokenizer(vocabulary: &Value) -> Value {
    let special = |(id, word): (usize, &&str)| {
        json!({
            "id": id, "content": word, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true,
        })
    };
    json!({
        "version": "1.0",
        "added_tokens": SPECIAL.iter().enumerate().map(special).collect::<Vec<_>>(),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true,
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2] },
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    })
}
