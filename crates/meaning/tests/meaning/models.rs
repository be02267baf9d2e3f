//! Tiny models in a real ONNX Runtime.

use std::{fs, path::Path};

use engram_meaning::{CrossEncoder, Embedder, ModelError, Task, fixture, load_runtime};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::runtime;

type Words<'a> = &'a [(&'a str, &'a [f32])];

fn model(task: Task, labels: &[&str], words: Words) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fixture::tiny_model(folder.path(), task, labels, words).unwrap();
    folder
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

const WORDS: Words = &[
    ("timeout", &[1.0, 0.1, 0.0]),
    ("deadline", &[0.9, 0.2, 0.0]),
    ("colour", &[0.0, 0.0, 1.0]),
    ("hole", &[f32::NAN, 0.0, 0.0]),
    ("up", &[1e20, 0.0, 0.0]),
];

#[test]
fn models_move_to_the_thread_that_runs_them() {
    fn moves<T: Send + 'static>() {}
    moves::<Embedder>();
    moves::<CrossEncoder>();
}

#[test]
fn a_library_is_loaded_once() {
    let path = runtime();
    load_runtime(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    fs::copy(&path, &copy).unwrap();
    let error = load_runtime(&copy).unwrap_err();
    assert!(matches!(error, ModelError::OtherRuntime(_)), "{error}");
    // A wrong library is still told from a second one.
    let error = load_runtime(Path::new("/nowhere")).unwrap_err();
    assert!(matches!(error, ModelError::NoRuntime(_)), "{error}");
}

#[test]
fn texts_of_like_meaning_are_near() {
    runtime();
    let folder = model(Task::Embedding, &[], WORDS);
    let mut model = Embedder::load(folder.path()).unwrap();
    assert_eq!(model.dimensions(), 3);
    let found = model
        .embed(&["Timeout!", "the deadline", "colour"])
        .unwrap();
    let [timeout, deadline, colour] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(cosine(timeout, deadline) > 0.95);
    assert!(cosine(timeout, colour) < 0.2);
    assert!(found.iter().all(|it| (cosine(it, it) - 1.0).abs() < 1e-5));
    assert!(model.embed(&[]).unwrap().is_empty());
}

#[test]
fn batches_change_nothing() {
    runtime();
    let folder = model(Task::Embedding, &[], WORDS);
    let mut model = Embedder::load(folder.path()).unwrap();
    let texts: Vec<String> = (0..100)
        .map(|it| format!("timeout {}", "colour ".repeat(it % 7)))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let alone = model.embed(&[text]).unwrap();
        assert!(cosine(&alone[0], vector) > 0.9999, "{text}");
    }
}

#[test]
fn any_text_is_read() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let words: Words = &[("a", &[1.0, 0.0, 0.0])];
    let embedder = model(Task::Embedding, &[], WORDS);
    let pairs = model(Task::Entailment, &labels, words);
    let mut embedder = Embedder::load(embedder.path()).unwrap();
    let mut pairs = CrossEncoder::load(pairs.path()).unwrap();
    let long = "timeout ".repeat(12_500);
    let wide = "\u{1f980}".repeat(25_000);
    for text in [
        "",
        " ",
        "\n",
        "\0",
        "🦀👩‍👩‍👧‍👦",
        "मौसम अच्छा है",
        "العربية",
        "日本語のテキスト",
        "e\u{301}\u{301}",
        "\u{202e}abc",
        "[CLS] [SEP] [PAD]",
        "\u{fffd}",
        &long,
        &wide,
    ] {
        let shown: String = text.chars().take(20).collect();
        let vectors = embedder.embed(&[text, "timeout"]).unwrap();
        assert!(
            (cosine(&vectors[0], &vectors[0]) - 1.0).abs() < 1e-3,
            "{shown}"
        );
        let scores = pairs
            .judge(&[(text, text), ("a", text), (text, "a")])
            .unwrap();
        for pair in scores {
            let sum = pair.contradiction + pair.entailment + pair.neutral;
            assert!((sum - 1.0).abs() < 1e-5, "{shown}: {pair:?}");
        }
    }
}

#[test]
fn a_vector_without_direction_is_an_error() {
    runtime();
    let folder = model(Task::Embedding, &[], WORDS);
    let mut embedder = Embedder::load(folder.path()).unwrap();
    for text in ["hole", "timeout hole", "up up"] {
        let error = embedder.embed(&["timeout", text]).unwrap_err();
        assert!(matches!(error, ModelError::Failed(_)), "{text}: {error}");
    }
    embedder.embed(&["timeout"]).unwrap();

    let words: Words = &[("timeout", &[0.0, 0.0])];
    let zero = model(Task::Embedding, &[], words);
    let all = fs::read(zero.path().join("model.onnx")).unwrap();
    let other = 0.01_f32.to_le_bytes();
    let zeroed: Vec<u8> = replace(&all, &other, &[0; 4]);
    fs::write(zero.path().join("model.onnx"), zeroed).unwrap();
    let error = Embedder::load(zero.path()).err().unwrap();
    assert!(matches!(error, ModelError::Failed(_)), "{error}");
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

#[test]
fn pairs_are_scored_by_the_labels_names() {
    runtime();
    for (labels, at) in [
        (["contradiction", "entailment", "neutral"], [0, 1, 2]),
        (["ENTAILMENT", "Neutral", "CONTRADICTION"], [2, 0, 1]),
        (["neutral", "Contradiction", "entailment"], [1, 2, 0]),
    ] {
        let row = |label: usize| {
            let mut row = [0.0; 3];
            row[at[label]] = 5.0;
            row
        };
        let (against, same, beside) = (row(0), row(1), row(2));
        let words: Words = &[("never", &against), ("also", &same), ("else", &beside)];
        let folder = model(Task::Entailment, &labels, words);
        let mut model = CrossEncoder::load(folder.path()).unwrap();
        let pairs = [("always", "never"), ("also", "x"), ("x", "else")];
        let scores = model.judge(&pairs).unwrap();
        assert!(scores[0].contradiction > 0.9, "{scores:?}");
        assert!(scores[1].entailment > 0.9, "{scores:?}");
        assert!(scores[2].neutral > 0.9, "{scores:?}");
        let many = vec![("always", "never"); 70];
        let many = model.judge(&many).unwrap();
        assert_eq!(many.len(), 70);
        assert!(
            many.iter()
                .all(|it| (it.contradiction - scores[0].contradiction).abs() < 1e-5)
        );
        assert!(model.judge(&[]).unwrap().is_empty());
    }
}

#[test]
fn scores_that_are_no_numbers_are_an_error() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let words: Words = &[
        ("hole", &[f32::NAN, 0.0, 0.0]),
        ("up", &[f32::INFINITY, 0.0, 0.0]),
    ];
    let folder = model(Task::Entailment, &labels, words);
    let mut pairs = CrossEncoder::load(folder.path()).unwrap();
    for text in ["hole", "up"] {
        let error = pairs.judge(&[("a", "b"), ("a", text)]).unwrap_err();
        assert!(matches!(error, ModelError::Failed(_)), "{error}");
    }
}

#[test]
fn broken_files_do_not_load() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let words: Words = &[("a", &[1.0, 0.0, 0.0])];
    for (file, broken) in [
        ("model.onnx", &b""[..]),
        ("model.onnx", b"not a model"),
        ("model.onnx", &[0xff; 1000]),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", b"\x00"),
        ("tokenizer_config.json", b"[1"),
    ] {
        for task in [Task::Embedding, Task::Entailment] {
            let folder = model(task, &labels, words);
            fs::write(folder.path().join(file), broken).unwrap();
            let error = load(task, folder.path()).unwrap_err();
            assert!(
                matches!(error, ModelError::Broken { .. }),
                "{file}: {error}"
            );
        }
    }
    let folder = model(Task::Embedding, &[], words);
    let path = folder.path().join("model.onnx");
    let whole = fs::read(&path).unwrap();
    for part in 0..whole.len() {
        fs::write(&path, &whole[..part]).unwrap();
        assert!(
            Embedder::load(folder.path()).is_err(),
            "{part} of {}",
            whole.len()
        );
    }
}

/// Writes other parts into the tokenizer of a model.
fn change_tokenizer(folder: &Path, part: &str, value: Value) {
    let path = folder.join("tokenizer.json");
    let mut all: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    all[part] = value;
    fs::write(&path, all.to_string()).unwrap();
}

/// The library that reads the tokenizer panics on these.
#[test]
fn a_tokenizer_that_makes_its_library_panic_does_not_load() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let words: Words = &[("a", &[1.0, 0.0, 0.0])];
    let missing = json!([{ "SpecialToken": { "id": "[NO]", "type_id": 0 } }]);
    for (part, value) in [
        (
            "normalizer",
            json!({ "type": "Precompiled", "precompiled_charsmap": "AAAA" }),
        ),
        (
            "model",
            json!({ "type": "BPE", "vocab": { "a": 0, "b": 1 }, "merges": [["a", "b"]] }),
        ),
        (
            "post_processor",
            json!({
                "type": "TemplateProcessing", "single": missing, "pair": missing,
                "special_tokens": {},
            }),
        ),
    ] {
        for task in [Task::Embedding, Task::Entailment] {
            let folder = model(task, &labels, words);
            change_tokenizer(folder.path(), part, value.clone());
            let error = load(task, folder.path()).unwrap_err();
            assert!(error.to_string().contains("tokenizer"), "{part}: {error}");
        }
    }
}

/// The limit of a regular expression is reached only by some texts.
#[test]
fn a_text_that_makes_the_tokenizer_panic_is_an_error_and_the_next_is_read() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let split = json!({
        "type": "Split", "pattern": { "Regex": "(a+)+$" }, "behavior": "Isolated", "invert": false,
    });
    let text = format!("{}!", "a".repeat(60));
    let folder = model(Task::Embedding, &[], WORDS);
    change_tokenizer(folder.path(), "pre_tokenizer", split.clone());
    let mut embedder = Embedder::load(folder.path()).unwrap();
    let error = embedder.embed(&[&text]).unwrap_err();
    assert!(matches!(error, ModelError::Failed(_)), "{error}");
    // A panic may quote the text.
    assert!(!error.to_string().contains("aaa"), "{error}");
    embedder.embed(&["timeout"]).unwrap();

    let folder = model(Task::Entailment, &labels, &[("a", &[1.0, 0.0, 0.0])]);
    change_tokenizer(folder.path(), "pre_tokenizer", split);
    let mut pairs = CrossEncoder::load(folder.path()).unwrap();
    let error = pairs.judge(&[("a", &text)]).unwrap_err();
    assert!(matches!(error, ModelError::Failed(_)), "{error}");
    pairs.judge(&[("a", "b")]).unwrap();
}

fn load(task: Task, folder: &Path) -> Result<(), ModelError> {
    match task {
        Task::Embedding => Embedder::load(folder).map(drop),
        Task::Entailment => CrossEncoder::load(folder).map(drop),
    }
}

#[test]
fn weights_of_another_task_do_not_load() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let words: Words = &[("a", &[1.0, 0.0, 0.0])];
    let weights = |task| {
        let folder = model(task, &labels, words);
        fs::read(folder.path().join("model.onnx")).unwrap()
    };
    let folder = model(Task::Entailment, &labels, words);
    fs::write(folder.path().join("model.onnx"), weights(Task::Embedding)).unwrap();
    let error = load(Task::Entailment, folder.path()).unwrap_err();
    assert!(matches!(error, ModelError::WrongTask { .. }), "{error}");
    // Two labels, of three that the weights have.
    let folder = model(Task::Entailment, &["contradiction", "entailment"], words);
    let error = load(Task::Entailment, folder.path()).unwrap_err();
    assert!(matches!(error, ModelError::WrongTask { .. }), "{error}");
}

#[test]
fn pooling_is_the_publishers() {
    runtime();
    let pooled = |pooling: Option<&str>| {
        let folder = model(Task::Embedding, &[], WORDS);
        if let Some(pooling) = pooling {
            fs::create_dir(folder.path().join("1_Pooling")).unwrap();
            fs::write(folder.path().join("1_Pooling/config.json"), pooling).unwrap();
        }
        Embedder::load(folder.path()).map(|mut it| it.embed(&["colour"]).unwrap().remove(0))
    };
    let mean = pooled(None).unwrap();
    assert_eq!(
        pooled(Some(r#"{"pooling_mode_mean_tokens":true}"#)).unwrap(),
        mean
    );
    // The first token is the same for all texts.
    let first = pooled(Some(r#"{"pooling_mode_cls_token":true}"#)).unwrap();
    assert!((first[0] - first[2]).abs() < 1e-6 && (mean[0] - mean[2]).abs() > 0.5);
    let error = pooled(Some(r#"{"pooling_mode_max_tokens":true}"#)).unwrap_err();
    assert!(matches!(error, ModelError::WrongTask { .. }), "{error}");
    let error = pooled(Some("no")).unwrap_err();
    assert!(matches!(error, ModelError::Broken { .. }), "{error}");
}
