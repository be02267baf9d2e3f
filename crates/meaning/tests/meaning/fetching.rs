//! What is fetched from a server on this machine, and what is left when that fails.

use std::{
    fs,
    io::Write,
    net::TcpStream,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use engram_kit::server::{Server, respond};
use engram_meaning::{
    Embedder, FetchError, Packed, Source, SourceFile, Task, fetch_from, fixture::tiny_model,
};
use flate2::{Compression, write::DeflateEncoder};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::runtime;

/// A zip archive of files, some packed and some as they are.
fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (at, (name, bytes)) in files.iter().enumerate() {
        let mut packed = bytes.clone();
        let mut method = 0_u16;
        if at % 2 == 0 {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).unwrap();
            packed = encoder.finish().unwrap();
            method = 8;
        }
        // Version, flags, method, time, date, checksum (which nobody reads), sizes, lengths.
        let mut fields = Vec::new();
        fields.extend([20, 0, 0, 0]);
        fields.extend(method.to_le_bytes());
        fields.extend([0; 8]);
        fields.extend((packed.len() as u32).to_le_bytes());
        fields.extend((bytes.len() as u32).to_le_bytes());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0; 2]);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&fields);
        list.extend([0; 10]);
        list.extend((out.len() as u32).to_le_bytes());
        list.extend(name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(fields);
        out.extend(name.as_bytes());
        out.extend(packed);
    }
    let count = (files.len() as u16).to_le_bytes();
    let (size, at) = (list.len() as u32, out.len() as u32);
    out.extend(list);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count);
    out.extend(count);
    out.extend(size.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0; 2]);
    out
}

/// A source of one archive. It lives as long as the test's process.
fn source(task: Option<Task>, archive: &[u8], packed: Vec<Packed>) -> Source {
    let size = archive.len() as u64;
    let file = SourceFile {
        path: "packages/aa/bb/x.whl",
        sha256: hex::encode(Sha256::digest(archive)).leak(),
        size,
        packed: packed.leak(),
    };
    Source {
        name: "thing",
        task,
        size,
        licence: "MIT",
        files: vec![file].leak(),
        platform: None,
    }
}

fn library() -> (Vec<u8>, Source) {
    let files = [
        ("a/library", b"library ".repeat(100_000)),
        ("a/other", b"other".to_vec()),
        ("a/LICENSE", b"licence".to_vec()),
        ("a/notes", b"as they are".to_vec()),
    ];
    let archive = archive(&files);
    let packed = vec![
        Packed {
            from: "a/library",
            to: "library.so",
        },
        Packed {
            from: "a/LICENSE",
            to: "LICENSE",
        },
        Packed {
            from: "a/notes",
            to: "deep/er/notes",
        },
    ];
    let source = source(None, &archive, packed);
    (archive, source)
}

fn serve(
    body: Vec<u8>,
    answer: impl Fn(&[u8], &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> Server {
    Server::start(move |_, stream| answer(&body, stream))
}

fn get(base: &str, source: &Source, into: &Path) -> Result<PathBuf, FetchError> {
    fetch_from(base, source, into, &mut |_, _| ControlFlow::Continue(()))
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_library_is_unpacked_beside_its_licence() {
    let (archive, source) = library();
    let server = serve(archive, |body, stream| respond(stream, "200 OK", "", body));
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("new/folder");
    let mut last = (0, 0);
    let library = fetch_from(&server.url, &source, &into, &mut |done, total| {
        assert!(done > last.0);
        last = (done, total);
        ControlFlow::Continue(())
    });
    let library = library.unwrap();
    assert_eq!(last, (source.size, source.size));
    assert_eq!(library, into.join("thing/library.so"));
    assert_eq!(fs::read(library).unwrap(), b"library ".repeat(100_000));
    assert_eq!(fs::read(into.join("thing/LICENSE")).unwrap(), b"licence");
    assert_eq!(
        fs::read(into.join("thing/deep/er/notes")).unwrap(),
        b"as they are"
    );
    assert_eq!(fs::read_dir(&into).unwrap().count(), 1);
    let request = server.requests.recv().unwrap();
    assert!(
        request.starts_with("GET /packages/aa/bb/x.whl HTTP/1.1\r\n"),
        "{request}"
    );

    let error = get(&server.url, &source, &into).unwrap_err();
    assert!(matches!(error, FetchError::Exists(_)), "{error}");
    assert!(server.requests.try_recv().is_err());
}

#[test]
fn what_differs_leaves_nothing() {
    type Answer = fn(&[u8], &mut TcpStream) -> std::io::Result<()>;
    type Check = fn(&FetchError) -> bool;
    let cases: [(&str, Answer, Check); 8] = [
        (
            "another byte",
            |body, stream| {
                let mut body = body.to_vec();
                body[50] ^= 1;
                respond(stream, "200 OK", "", &body)
            },
            |it| matches!(it, FetchError::Different("digest")),
        ),
        (
            "a byte less",
            |body, stream| respond(stream, "200 OK", "", &body[1..]),
            |it| matches!(it, FetchError::Different("size")),
        ),
        (
            "a byte more",
            |body, stream| respond(stream, "200 OK", "", &[body, b"x"].concat()),
            |it| matches!(it, FetchError::Different("size")),
        ),
        (
            "no end",
            |_, stream| {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
                while stream.write_all(&[0; 4096]).is_ok() {}
                Ok(())
            },
            |it| matches!(it, FetchError::Different("size")),
        ),
        (
            "cut off",
            |body, stream| {
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                )?;
                stream.write_all(&body[..100])
            },
            |it| {
                matches!(
                    it,
                    FetchError::Unreachable(_) | FetchError::Different("size")
                )
            },
        ),
        (
            "gone",
            |_, stream| respond(stream, "404 Not Found", "", b""),
            |it| matches!(it, FetchError::Status(404)),
        ),
        (
            "no answer",
            |_, _| Ok(()),
            |it| matches!(it, FetchError::Unreachable(_)),
        ),
        (
            "sent in circles",
            |_, stream| respond(stream, "302 Found", "Location: /again\r\n", b""),
            |it| matches!(it, FetchError::Unreachable(_)),
        ),
    ];
    for (case, answer, check) in cases {
        let (archive, source) = library();
        let server = serve(archive, answer);
        let home = tempfile::tempdir().unwrap();
        let error = get(&server.url, &source, home.path()).unwrap_err();
        assert!(check(&error), "{case}: {error:?}");
        assert!(is_empty(home.path()), "{case}");
    }
}

#[test]
fn a_fetch_can_be_stopped() {
    let (archive, source) = library();
    let server = serve(archive, |body, stream| respond(stream, "200 OK", "", body));
    let home = tempfile::tempdir().unwrap();
    let stopped = fetch_from(&server.url, &source, home.path(), &mut |_, _| {
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(FetchError::Stopped)));
    assert!(is_empty(home.path()));
}

#[test]
fn only_safe_hosts_are_asked() {
    let (_, source) = library();
    let home = tempfile::tempdir().unwrap();
    for base in [
        "http://example.com",
        "ftp://localhost.example.com",
        "",
        "file:///etc",
        "::",
    ] {
        let error = get(base, &source, home.path()).unwrap_err();
        assert!(matches!(error, FetchError::Address(_)), "{base}: {error}");
    }
    assert!(is_empty(home.path()));
}

#[test]
fn an_archive_without_the_file_leaves_nothing() {
    for bytes in [
        archive(&[("b", vec![1])]),
        b"no archive at all".to_vec(),
        Vec::new(),
    ] {
        let packed = vec![Packed { from: "a", to: "a" }];
        let source = source(None, &bytes, packed);
        let server = serve(bytes, |body, stream| respond(stream, "200 OK", "", body));
        let home = tempfile::tempdir().unwrap();
        let error = get(&server.url, &source, home.path()).unwrap_err();
        assert!(matches!(error, FetchError::Unusable(_)), "{error}");
        assert!(is_empty(home.path()));
    }
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

/// A source with the weights, and the rest of a tiny model.
fn encoder(weights: Vec<u8>, change: impl FnOnce(&mut Value)) -> (Vec<u8>, Source) {
    let folder = tempfile::tempdir().unwrap();
    let words: &[(&str, &[f32])] = &[("retry", &[0.0; 8]), ("deploy", &[0.0; 8])];
    tiny_model(folder.path(), Task::Embedding, &[], words).unwrap();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let mut config: Value = serde_json::from_slice(&read("config.json")).unwrap();
    config["num_hidden_layers"] = json!(2);
    config["num_attention_heads"] = json!(2);
    config["hidden_act"] = json!("gelu");
    config["layer_norm_eps"] = json!(1e-12);
    change(&mut config);
    let archive = archive(&[
        ("m/config.json", config.to_string().into_bytes()),
        ("m/tokenizer.json", read("tokenizer.json")),
        ("m/tokenizer_config.json", read("tokenizer_config.json")),
        ("m/model.safetensors", weights),
    ]);
    let packed = vec![
        Packed {
            from: "m/config.json",
            to: "config.json",
        },
        Packed {
            from: "m/tokenizer.json",
            to: "tokenizer.json",
        },
        Packed {
            from: "m/tokenizer_config.json",
            to: "tokenizer_config.json",
        },
        Packed {
            from: "m/model.safetensors",
            to: "model.safetensors",
        },
    ];
    let source = source(Some(Task::Embedding), &archive, packed);
    (archive, source)
}

/// The expected vectors were computed apart, in double precision, by the formulas of the paper.
#[test]
fn converted_weights_give_the_publishers_vectors() {
    runtime();
    let (archive, source) = encoder(weights(), |_| {});
    let server = serve(archive, |body, stream| respond(stream, "200 OK", "", body));
    let home = tempfile::tempdir().unwrap();
    let folder = get(&server.url, &source, home.path()).unwrap();
    assert!(!folder.join("model.safetensors").exists());
    let mut model = Embedder::load(&folder).unwrap();
    let found = model.embed(&["retry deploy", "retry"]).unwrap();
    for (found, expected) in found.iter().zip(EXPECTED) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
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
fn weights_that_do_not_fit_leave_nothing() {
    type Change = fn(&mut Value);
    let changes: [(Vec<u8>, Change); 6] = [
        (b"no weights".to_vec(), |_| {}),
        (weights(), |it| it["num_hidden_layers"] = json!(3)),
        (weights(), |it| it["num_attention_heads"] = json!(3)),
        (weights(), |it| it["hidden_act"] = json!("relu")),
        (weights(), |it| it["model_type"] = json!("t5")),
        (weights(), |it| it["hidden_size"] = json!(null)),
    ];
    for (weights, change) in changes {
        let (archive, source) = encoder(weights, change);
        let server = serve(archive, |body, stream| respond(stream, "200 OK", "", body));
        let home = tempfile::tempdir().unwrap();
        let error = get(&server.url, &source, home.path()).unwrap_err();
        assert!(matches!(error, FetchError::Unusable(_)), "{error:?}");
        assert!(is_empty(home.path()));
    }
}
