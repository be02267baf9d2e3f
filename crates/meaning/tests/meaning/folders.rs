//! What is in a model's folder, and what may not be.

use std::{
    fs::{self, File},
    path::Path,
};

use engram_meaning::{ModelError, Task, fixture::tiny_model, inspect};
use tempfile::TempDir;

const WORDS: &[(&str, &[f32])] = &[("retry", &[1.0, 0.0]), ("deploy", &[0.0, 1.0])];

fn embedder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path(), Task::Embedding, &[], WORDS).unwrap();
    folder
}

#[test]
fn a_version_follows_the_bytes_and_a_name_the_folder() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    tiny_model(&at("first"), Task::Embedding, &[], WORDS).unwrap();
    tiny_model(&at("second"), Task::Embedding, &[], WORDS).unwrap();
    let first = inspect(&at("first"), Task::Embedding).unwrap();
    let second = inspect(&at("second"), Task::Embedding).unwrap();
    assert_eq!(
        (first.name.as_str(), second.name.as_str()),
        ("first", "second")
    );
    assert_eq!(first.version, second.version);
    assert_eq!(first.version.len(), 12);

    for file in [
        "config.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "model.onnx",
    ] {
        let path = at("second").join(file);
        let before = fs::read(&path).unwrap();
        fs::write(&path, [before.as_slice(), b" "].concat()).unwrap();
        let changed = inspect(&at("second"), Task::Embedding).unwrap();
        assert_ne!(changed.version, first.version, "{file}");
        fs::write(&path, before).unwrap();
    }
    assert_eq!(inspect(&at("second"), Task::Embedding).unwrap(), second);

    // A cache names its folders by digests.
    let cached = at("0123456789abcdef0123456789abcdef01234567");
    fs::rename(at("first"), &cached).unwrap();
    assert_eq!(inspect(&cached, Task::Embedding).unwrap().name, "tiny");
    let odd = at("a\u{1b}[2J\u{202e}b");
    fs::rename(cached, &odd).unwrap();
    assert_eq!(inspect(&odd, Task::Embedding).unwrap().name, "a[2Jb");
}

#[test]
fn weights_may_lie_one_folder_deeper() {
    let folder = embedder();
    let deeper = folder.path().join("onnx");
    fs::create_dir(&deeper).unwrap();
    fs::rename(folder.path().join("model.onnx"), deeper.join("model.onnx")).unwrap();
    assert!(inspect(folder.path(), Task::Embedding).is_ok());
}

#[test]
fn a_missing_file_is_named() {
    let absent = Path::new("/nowhere/at/all");
    let error = inspect(absent, Task::Embedding).unwrap_err();
    assert!(matches!(error, ModelError::NoFolder(_)), "{error}");
    let file = embedder();
    let error = inspect(&file.path().join("config.json"), Task::Embedding).unwrap_err();
    assert!(matches!(error, ModelError::NoFolder(_)), "{error}");
    for file in [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.onnx",
    ] {
        let folder = embedder();
        fs::remove_file(folder.path().join(file)).unwrap();
        match inspect(folder.path(), Task::Embedding).unwrap_err() {
            ModelError::Missing(missing) => assert_eq!(missing, file),
            other => panic!("{file}: {other}"),
        }
    }
}

#[test]
fn files_beyond_the_limits_are_refused() {
    for (file, size) in [
        ("config.json", (1 << 20) + 1),
        ("tokenizer_config.json", 1 << 30),
        ("tokenizer.json", (64 << 20) + 1),
        ("model.onnx", (4 << 30) + 1),
    ] {
        let folder = embedder();
        // No disk is used for what is never written.
        File::create(folder.path().join(file))
            .unwrap()
            .set_len(size)
            .unwrap();
        match inspect(folder.path(), Task::Embedding).unwrap_err() {
            ModelError::TooLarge { file: large, .. } => assert_eq!(large, file),
            other => panic!("{file}: {other}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_inside_the_folder_are_read() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    let elsewhere = embedder();
    for file in ["config.json", "tokenizer.json", "model.onnx"] {
        for odd in ["pipe", "folder", "link out", "device"] {
            let folder = embedder();
            let path = folder.path().join(file);
            fs::remove_file(&path).unwrap();
            match odd {
                "pipe" => mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap(),
                "folder" => fs::create_dir(&path).unwrap(),
                "device" => symlink("/dev/zero", &path).unwrap(),
                _ => symlink(elsewhere.path().join(file), &path).unwrap(),
            }
            match inspect(folder.path(), Task::Embedding).unwrap_err() {
                ModelError::NotRegular(named) => assert_eq!(named, file, "{odd}"),
                other => panic!("{file} {odd}: {other}"),
            }
        }
        // A link that stays inside is as good as the file.
        let folder = embedder();
        let path = folder.path().join(file);
        fs::rename(&path, folder.path().join("real")).unwrap();
        symlink("real", &path).unwrap();
        inspect(folder.path(), Task::Embedding).unwrap();
    }
    let folder = embedder();
    fs::remove_file(folder.path().join("model.onnx")).unwrap();
    symlink("nothing", folder.path().join("model.onnx")).unwrap();
    let error = inspect(folder.path(), Task::Embedding).unwrap_err();
    assert!(
        matches!(error, ModelError::Missing("model.onnx")),
        "{error}"
    );
}

#[test]
fn a_model_of_another_task_is_told_apart() {
    let labels = ["entailment", "neutral", "contradiction"];
    let words: &[(&str, &[f32])] = &[("not", &[0.0, 0.0, 3.0])];
    let tasks = [Task::Embedding, Task::Entailment];
    for made_for in tasks {
        let folder = tempfile::tempdir().unwrap();
        tiny_model(folder.path(), made_for, &labels, words).unwrap();
        for asked in tasks {
            let found = inspect(folder.path(), asked);
            if asked == made_for {
                found.unwrap();
            } else {
                let error = found.unwrap_err();
                assert!(matches!(error, ModelError::WrongTask { .. }), "{error}");
            }
        }
    }
}

#[test]
fn labels_decide_whether_pairs_can_be_compared() {
    for (labels, good) in [
        (&["CONTRADICTION", "ENTAILMENT", "NEUTRAL"][..], true),
        (&["entailment", "neutral", "contradiction"], true),
        (&["contradiction", "entailment"], true),
        (&["entailment", "not_entailment"], false),
        (&["LABEL_0", "LABEL_1", "LABEL_2"], false),
        (&["entailment", "neutral"], false),
        (&["contradiction", "neutral"], false),
        (&[], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let row = vec![0.0; labels.len()];
        tiny_model(folder.path(), Task::Entailment, labels, &[("a", &row)]).unwrap();
        let found = inspect(folder.path(), Task::Entailment);
        assert_eq!(found.is_ok(), good, "{labels:?}: {found:?}");
    }
}

#[test]
fn a_configuration_that_is_none_is_broken() {
    for text in ["", "{", "[]", "null", "\u{0}\u{1}"] {
        let folder = embedder();
        fs::write(folder.path().join("config.json"), text).unwrap();
        let error = inspect(folder.path(), Task::Embedding).unwrap_err();
        assert!(
            matches!(
                error,
                ModelError::Broken {
                    file: "config.json",
                    ..
                }
            ),
            "{text:?}: {error}"
        );
    }
}
