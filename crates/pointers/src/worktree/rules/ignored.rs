//! Finds which paths git ignores: gitignore(5).

use std::{collections::HashMap, path::PathBuf, rc::Rc};

use engram_model::Refusal;

use crate::Repo;

use super::{Pattern, Steps, elsewhere, folds, lines, of_tree, of_user};

/// The rules of one file, in order of precedence.
struct Rules(Vec<(Pattern, bool)>);

/// Answers for one working tree, and reads each of its rules files once.
pub(crate) struct Ignored {
    root: PathBuf,
    folds: bool,
    /// The rules of the repository, then those of the user.
    outer: Vec<Rules>,
    /// The rules by folder; the root's name is empty.
    folders: HashMap<String, Option<Rc<Rules>>>,
}

impl Ignored {
    pub(crate) fn new(repo: &Repo, root: PathBuf) -> Result<Self, Refusal> {
        let folds = folds(repo);
        let own = repo.common_dir().join("info/exclude");
        let users = of_user(repo, "core.excludesfile", "ignore");
        let mut outer = Vec::new();
        for file in [Some(own), users].into_iter().flatten() {
            outer.extend(elsewhere(&file)?.map(|it| Rules::read(&it, folds)));
        }
        Ok(Self {
            root,
            folds,
            outer,
            folders: HashMap::new(),
        })
    }

    /// Returns whether git ignores a path, or a folder around it.
    ///
    /// # Errors
    ///
    /// The rules are not in a regular file, or are too many.
    pub(crate) fn has(&mut self, path: &str, is_folder: bool) -> Result<bool, Refusal> {
        let steps = Steps::new();
        let ends = path.match_indices('/').map(|it| it.0);
        for end in ends {
            if self.says(&path[..end], true, &steps)? {
                return Ok(true);
            }
        }
        self.says(path, is_folder, &steps)
    }

    /// Does the same for a path whose folder is known not to be ignored.
    pub(crate) fn has_itself(&mut self, path: &str, is_folder: bool) -> Result<bool, Refusal> {
        self.says(path, is_folder, &Steps::new())
    }

    /// Applies the rules of the folders around a path, the nearest first, then the outer ones.
    fn says(&mut self, path: &str, is_folder: bool, steps: &Steps) -> Result<bool, Refusal> {
        let mut folder = path.rsplit_once('/').map_or("", |it| it.0);
        loop {
            if let Some(rules) = self.of(folder)? {
                let within = match folder {
                    "" => path,
                    folder => &path[folder.len() + 1..],
                };
                if let Some(said) = rules.say(within.as_bytes(), is_folder, steps)? {
                    return Ok(said);
                }
            }
            match folder.rsplit_once('/') {
                Some((around, _)) => folder = around,
                None if folder.is_empty() => break,
                None => folder = "",
            }
        }
        for rules in &self.outer {
            if let Some(said) = rules.say(path.as_bytes(), is_folder, steps)? {
                return Ok(said);
            }
        }
        Ok(false)
    }

    fn of(&mut self, folder: &str) -> Result<Option<Rc<Rules>>, Refusal> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let file = of_tree(&self.root.join(folder).join(".gitignore"))?;
        let rules = file.map(|it| Rc::new(Rules::read(&it, self.folds)));
        self.folders.insert(folder.to_owned(), rules.clone());
        Ok(rules)
    }
}

impl Rules {
    fn read(bytes: &[u8], folds: bool) -> Self {
        let rules = lines(bytes).map(trim_end).filter_map(|line| {
            let (line, ignores) = match line.strip_prefix(b"!") {
                Some(line) => (line, false),
                None => (line, true),
            };
            (!line.is_empty()).then(|| (Pattern::read(line, folds), ignores))
        });
        Self(rules.rev().collect())
    }

    fn say(&self, path: &[u8], is_folder: bool, steps: &Steps) -> Result<Option<bool>, Refusal> {
        for (pattern, ignores) in &self.0 {
            if pattern.fits(path, is_folder, steps)? {
                return Ok(Some(*ignores));
            }
        }
        Ok(None)
    }
}

/// Returns the line without trailing blanks, except an escaped one.
fn trim_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b' ' => at += 1,
            b'\\' if at + 1 < line.len() => {
                at += 2;
                end = at;
            }
            _ => {
                at += 1;
                end = at;
            }
        }
    }
    &line[..end]
}
