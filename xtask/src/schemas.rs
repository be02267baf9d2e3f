//! Generates `schemas/` from the types of `engram-model`. The files are committed and checked for
//! differences.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// Writes every schema; with `check`, fails and lists the files that differ from their types.
pub fn write_or_check(root: &Path, check: bool) -> Result<()> {
    let folder = root.join("schemas");
    let mut wanted = BTreeSet::new();
    let mut drift = Vec::new();
    for (name, schema) in engram_model::schemas() {
        let path = folder.join(name);
        let text = format!("{}\n", serde_json::to_string_pretty(&schema)?);
        if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            drift.push(name.to_owned());
            if !check {
                write(&path, &text)?;
            }
        }
        wanted.insert(path);
    }
    for path in files(&folder)?.difference(&wanted) {
        drift.push(format!(
            "{} (no type)",
            path.strip_prefix(&folder)?.display()
        ));
        if !check {
            fs::remove_file(path)?;
        }
    }
    match (check, drift.as_slice()) {
        (_, []) => println!("{} schemas are as their types say", wanted.len()),
        (false, changed) => println!("written: {}", changed.join(", ")),
        (true, changed) => bail!(
            "{} no longer what the types say; run `cargo xtask schemas` and commit the change",
            changed.join(", ")
        ),
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns every JSON file below `folder`.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(found);
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.append(&mut files(&path)?);
        } else if path.extension().is_some_and(|it| it == "json") {
            found.insert(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_found_and_mended() {
        let root = tempfile::tempdir().unwrap();
        assert!(
            write_or_check(root.path(), true).is_err(),
            "nothing is written yet"
        );
        write_or_check(root.path(), false).unwrap();
        write_or_check(root.path(), true).unwrap();

        let stray = root.path().join("schemas/old/stray.json");
        write(&stray, "{}\n").unwrap();
        let error = write_or_check(root.path(), true).unwrap_err().to_string();
        assert!(
            error.contains("stray.json") && error.contains("cargo xtask schemas"),
            "{error}"
        );
        write_or_check(root.path(), false).unwrap();
        assert!(!stray.exists());
    }
}
