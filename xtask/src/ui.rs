//! Builds the window's front end: compiles to wasm with cargo, runs wasm-bindgen as a library, and
//! adds the other files.
//!
//! It is a separate workspace because its compiler may differ: the active toolchain if that has the
//! wasm target, otherwise Debian's `rustc-web`, which builds the standard library from source.

use std::{
    collections::BTreeMap,
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    remove_folder,
    shell::{cargo, command, output},
};

const WASM: &str = "wasm32-unknown-unknown";
/// Loads the module with the page. The page itself shows failures that occur before Rust runs.
const START: &str = include_str!("../../ui/start.js");

/// Builds `ui/dist`; instant if nothing changed.
pub fn build(root: &Path, release: bool) -> Result<()> {
    let ui = root.join("ui");
    let dist = ui.join("dist");
    let target = target_dir(&ui);
    let compiler = Compiler::find()?;
    let stamp_path = target.join(format!("dist-{:016x}.stamp", hash_of(&dist)));
    let inputs = (
        release,
        &compiler.version,
        START,
        hash_files(&ui, &["target", "dist"])?,
        hash_files(&root.join("crates/model"), &["tests"])?,
    );
    let inputs = hash_of(&inputs);
    let stamp =
        |dist: &Path| -> Result<String> { Ok(format!("{inputs:x} {:x}", hash_files(dist, &[])?)) };
    if dist.join("ui_bg.wasm").is_file()
        && fs::read_to_string(&stamp_path).ok() == Some(stamp(&dist)?)
    {
        println!("front end: up to date");
        return Ok(());
    }
    check_bindgen(&ui)?;
    println!("front end: building with {}", compiler.version);
    let wasm = compiler.build(&ui, &target, release)?;
    assemble(&ui, &dist, &target.join("bindgen"), &wasm)?;
    fs::write(&stamp_path, stamp(&dist)?)
        .with_context(|| format!("cannot write {}", stamp_path.display()))?;
    let size = fs::metadata(dist.join("ui_bg.wasm"))?.len();
    println!("front end: {} ({} KB of wasm)", dist.display(), size / 1024);
    Ok(())
}

/// Returns `$CARGO_TARGET_DIR/ui`, or `ui/target`: never shared with another compiler's files.
fn target_dir(ui: &Path) -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR").filter(|it| !it.is_empty()) {
        Some(target) => Path::new(&target).join("ui"),
        None => ui.join("target"),
    }
}

struct Compiler {
    version: String,
    /// The variables that differ from the active toolchain.
    variables: Vec<(&'static str, std::ffi::OsString)>,
    arguments: &'static [&'static str],
}

impl Compiler {
    fn find() -> Result<Self> {
        let active = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = output(command(&active).arg("--version"))?;
        let libraries =
            output(command(&active).args(["--print", "target-libdir", "--target", WASM]));
        if libraries.is_ok_and(|it| Path::new(&it).is_dir()) {
            return Ok(Self {
                version,
                variables: Vec::new(),
                arguments: &[],
            });
        }
        match Self::debian(Path::new(&active))? {
            Some(debian) => Ok(debian),
            None => bail!(
                "no compiler here builds for {WASM}; run `rustup target add {WASM}`, \
                 or on Debian `apt-get install rustc-web rust-web-src`, and run this again"
            ),
        }
    }

    /// Returns Debian's compiler for the web. Its standard library comes as source, its linker with
    /// either toolchain.
    fn debian(active: &Path) -> Result<Option<Self>> {
        let rustc = Path::new("/usr/bin/rustc");
        let Ok(sysroot) = output(command(rustc).args(["--print", "sysroot"])) else {
            return Ok(None);
        };
        if !Path::new(&sysroot)
            .join("lib/rustlib/src/rust/library/std")
            .is_dir()
        {
            return Ok(None);
        }
        let active_root = output(command(active).args(["--print", "sysroot"]))?;
        let host = output(command(active).args(["--print", "host-tuple"]))?;
        let tools = Path::new(&active_root)
            .join("lib/rustlib")
            .join(host)
            .join("bin");
        let linker = [tools.join("rust-lld"), PathBuf::from("/usr/bin/rust-lld")];
        let Some(linker) = linker.into_iter().find(|it| it.is_file()) else {
            bail!(
                "rust-lld is not in {}; run `rustup component add llvm-tools` or install Debian's lld",
                tools.display()
            );
        };
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(
            [tools.join("gcc-ld")]
                .into_iter()
                .chain(env::split_paths(&path)),
        )?;
        Ok(Some(Self {
            version: output(command(rustc).arg("--version"))?,
            variables: vec![
                ("RUSTC", rustc.into()),
                ("RUSTC_BOOTSTRAP", "1".into()),
                ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker.into()),
                ("PATH", path),
            ],
            arguments: &["-Z", "build-std=std,panic_abort"],
        }))
    }

    /// Runs cargo; returns the path of the built module.
    fn build(&self, ui: &Path, target: &Path, release: bool) -> Result<PathBuf> {
        let mut command = cargo();
        command
            .current_dir(ui)
            .args(["build", "--lib", "--target", WASM, "--target-dir"])
            .arg(target)
            .args(self.arguments)
            .args(if release {
                ["--release"].as_slice()
            } else {
                &["--features", "gallery"]
            })
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        let status = command.status().context("cannot run cargo")?;
        ensure!(
            status.success(),
            "the front end does not compile: see the messages above"
        );
        let profile = if release { "release" } else { "debug" };
        Ok(target.join(WASM).join(profile).join("engram_ui.wasm"))
    }
}

/// Checks that the library that writes the JavaScript has the version that the module was compiled
/// with.
fn check_bindgen(ui: &Path) -> Result<()> {
    let lock = fs::read_to_string(ui.join("Cargo.lock")).context("ui/Cargo.lock is missing")?;
    let locked = lock
        .split("[[package]]")
        .find(|it| it.contains("name = \"wasm-bindgen\"\n"))
        .and_then(|it| it.split("version = \"").nth(1)?.split('"').next());
    let ours = wasm_bindgen_shared_version();
    ensure!(
        locked == Some(ours.as_str()),
        "ui/Cargo.lock has wasm-bindgen {} and xtask was built with {ours}: \
         set wasm-bindgen-cli-support in the root Cargo.toml to the version of the lock",
        locked.unwrap_or("nowhere"),
    );
    Ok(())
}

fn wasm_bindgen_shared_version() -> String {
    // The library does not report its version; the workspace pins it exactly.
    let manifest = include_str!("../../Cargo.toml");
    let pin = manifest.split("wasm-bindgen-cli-support = \"=").nth(1);
    pin.and_then(|it| it.split('"').next())
        .unwrap_or("an unpinned version")
        .to_owned()
}

/// Writes what the page loads. It leaves an unchanged file alone, so that nothing embeds it again.
fn assemble(ui: &Path, dist: &Path, scratch: &Path, wasm: &Path) -> Result<()> {
    remove_folder(scratch)?;
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .out_name("ui")
        .generate(scratch)?;
    let mut files = BTreeMap::new();
    let script = fs::read_to_string(scratch.join("ui.js"))?;
    files.insert(
        PathBuf::from("ui.js"),
        format!("{script}\n{START}").into_bytes(),
    );
    files.insert("ui_bg.wasm".into(), fs::read(scratch.join("ui_bg.wasm"))?);
    files.insert("index.html".into(), fs::read(ui.join("index.html"))?);
    files.insert("style.css".into(), join_styles(&ui.join("style"))?);
    for font in sorted_entries(&ui.join("fonts"))? {
        if let Some(name) = font.file_name() {
            files.insert(Path::new("fonts").join(name), fs::read(&font)?);
        }
    }
    for (name, content) in &files {
        write_if_changed(&dist.join(name), content)?;
    }
    for old in files_below(dist, &[])? {
        if !old
            .strip_prefix(dist)
            .is_ok_and(|it| files.contains_key(it))
        {
            fs::remove_file(old)?;
        }
    }
    Ok(())
}

/// Joins the parts of the style sheet in the order of their names.
fn join_styles(folder: &Path) -> Result<Vec<u8>> {
    let mut sheet = Vec::new();
    for part in sorted_entries(folder)? {
        sheet.extend(fs::read(part)?);
        sheet.push(b'\n');
    }
    Ok(sheet)
}

fn write_if_changed(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|it| it == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = list.map(|it| Ok(it?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Returns every file below a folder, except in the folders of `without`.
fn files_below(folder: &Path, without: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for path in sorted_entries(folder)? {
        if !path.is_dir() {
            files.push(path);
        } else if !without.iter().any(|it| path.ends_with(it)) {
            files.extend(files_below(&path, &[])?);
        }
    }
    Ok(files)
}

fn hash_files(folder: &Path, without: &[&str]) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for path in files_below(folder, without)? {
        path.strip_prefix(folder)?.hash(&mut hasher);
        fs::read(&path)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
