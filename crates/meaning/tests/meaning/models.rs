//! Tiny models in a real ONNX Runtime.

use std::{fs, path::Path};

use engram_meaning::{CrossEncoder, ModelError, fixture, load_runtime};
use tempfile::TempDir;

use super::runtime;

type Words<'a> = &'a [(&'a str, &'a [f32])];

fn model(labels: &[&str], words: Words) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fixture::tiny_model(folder.path(), labels, words).unwrap();
    folder
}

#[test]
fn models_move_to_the_thread_that_runs_them() {
    fn moves<T: Send + 'static>() {}
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
fn any_text_is_read() {
    runtime();
    let labels = ["contradiction", "entailment", "neutral"];
    let words: Words = &[("a", &[1.0, 0.0, 0.0])];
    let pairs = model(&labels, words);
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
        let folder = model(&labels, words);
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
    let folder = model(&labels, words);
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
        let folder = model(&labels, words);
        fs::write(folder.path().join(file), broken).unwrap();
        let error = CrossEncoder::load(folder.path()).err().unwrap();
        assert!(
            matches!(error, ModelError::Broken { .. }),
            "{file}: {error}"
        );
    }
    let folder = model(&labels, words);
    let path = folder.path().join("model.onnx");
    let whole = fs::read(&path).unwrap();
    for part in 0..whole.len() {
        fs::write(&path, &whole[..part]).unwrap();
        assert!(
            CrossEncoder::load(folder.path()).is_err(),
            "{part} of {}",
            whole.len()
        );
    }
}

#[test]
fn weights_with_more_labels_than_are_named_do_not_load() {
    runtime();
    let words: Words = &[("a", &[1.0, 0.0, 0.0])];
    let folder = model(&["contradiction", "entailment"], words);
    let error = CrossEncoder::load(folder.path()).err().unwrap();
    assert!(matches!(error, ModelError::WrongTask(_)), "{error}");
}
