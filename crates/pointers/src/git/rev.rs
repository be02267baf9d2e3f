//! Reads revisions: the supported part of git's notation, and the commit that it names.
//!
//! A revision is a name, an id or the beginning of one; `~N`, `^N` or `^{commit}` may follow, and
//! `@{N}` or `@{upstream}` after a name. Notation that makes git search is refused, through a whole
//! history by an expression (`^{/WORDS}`) or through a log by words and dates (`@{-1}`,
//! `@{yesterday}`): in a stranger's history or log, the search might never end.

use engram_model::{Refusal, shorten};
use git2::{Commit, ErrorClass, ErrorCode, Object, ObjectType, Oid, Reference};

use crate::{Repo, refuse, worktree::disk};

use super::{ahead, libgit2, outside::is_outside};

/// The longest revision that the grammar of pointers allows.
const MAX_BYTES: usize = 200;
/// The most commits that a revision may step back.
const MAX_STEPS: usize = 100_000;
/// The most refs that may lead to one another, as in git.
const MAX_LINKS: usize = 5;
/// The places where git looks up a name.
const PLACES: [(&str, &str); 6] = [
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

/// One step back from an object.
enum RevStep {
    /// `~N`
    Back(usize),
    /// `^N`
    Parent(usize),
    /// `^{commit}`, `^{}`, `^0`
    Peel,
}

impl Repo {
    /// Returns the branch and the commit that are checked out. A detached head has no branch; an
    /// unborn one has no commit.
    pub fn head(&self) -> (Option<String>, Option<String>) {
        let Ok(head) = self.find_ref("HEAD") else {
            return (None, None);
        };
        let branch = head
            .symbolic_target_bytes()
            .map(|target| String::from_utf8_lossy(target).into_owned())
            .map(|target| match target.strip_prefix("refs/heads/") {
                Some(short) => short.to_owned(),
                None => target,
            });
        let commit = self
            .target(head)
            .and_then(|id| self.object(id))
            .and_then(|it| self.behind_tags(it));
        let commit = commit
            .ok()
            .filter(|it| it.kind() == Some(ObjectType::Commit));
        (branch, commit.map(|it| it.id().to_string()))
    }

    /// Returns the commit that a revision names.
    pub(crate) fn commit(&self, rev: &str) -> Result<Commit<'_>, Refusal> {
        let refused = |e: git2::Error| self.rev_refused(rev, &e);
        let (base, steps) = steps(rev)?;
        let mut object = self.base(rev, base).map_err(|it| match it {
            RevError::Refused(refusal) => refusal,
            RevError::Git(e) => refused(e),
        })?;
        for step in steps {
            let commit = self.peeled(rev, object)?;
            object = self.back(rev, commit, &step)?.into_object();
        }
        self.peeled(rev, object)
    }

    /// Returns the commit that the revision of a pointer names, but never one that this handle made
    /// in memory, since nobody could find it later.
    pub(crate) fn commit_on_disk(&self, rev: &str) -> Result<Commit<'_>, Refusal> {
        let commit = self.commit(rev)?;
        self.check_on_disk(rev, commit.id())?;
        Ok(commit)
    }

    pub(crate) fn check_on_disk(&self, rev: &str, id: Oid) -> Result<(), Refusal> {
        if self.made.borrow().contains(&id) {
            Err(self.rev_refused(rev, &not_found_error()))
        } else {
            Ok(())
        }
    }

    fn peeled<'r>(&'r self, rev: &str, object: Object<'r>) -> Result<Commit<'r>, Refusal> {
        let is_tag = object.kind() == Some(ObjectType::Tag);
        let object = self.behind_tags(object).map_err(|e| match e.class() {
            ErrorClass::Invalid => self.rev_refused(rev, &e),
            _ => refuse::broken(&format!("commit {}", refuse::quoted(rev)), &e),
        })?;
        object.into_commit().map_err(|object| {
            let kind = match (is_tag, object.kind()) {
                (true, _) => "tag of another object",
                (false, Some(kind)) => kind.str(),
                (false, None) => "object of another type",
            };
            refuse::invalid(
                format!("{} is not a commit but a {kind}", refuse::quoted(rev)),
                "Pin to HEAD, a branch, a tag or a commit id.",
            )
        })
    }

    fn back<'r>(
        &'r self,
        rev: &str,
        from: Commit<'r>,
        step: &RevStep,
    ) -> Result<Commit<'r>, Refusal> {
        let refused = |e: git2::Error| self.rev_refused(rev, &e);
        let parent = |of: &Commit<'_>, nth| {
            self.commit_of_id(of.parent_id(nth).map_err(|_| not_found_error())?)
        };
        match step {
            RevStep::Peel => Ok(from),
            RevStep::Parent(nth) => parent(&from, nth - 1).map_err(refused),
            RevStep::Back(count) => {
                let mut at = from;
                for step in 0..*count {
                    if step == MAX_STEPS {
                        return Err(too_far(rev));
                    }
                    self.stop().check()?;
                    at = parent(&at, 0).map_err(refused)?;
                }
                Ok(at)
            }
        }
    }

    /// Returns the object that the part before the steps names.
    fn base(&self, rev: &str, base: &str) -> Result<Object<'_>, RevError> {
        let (name, at) = match base.split_once("@{") {
            Some((name, at)) => (name, at.strip_suffix('}')),
            None => (base, Some("")),
        };
        let name = if name == "@" || name.is_empty() && base.len() > 1 {
            "HEAD"
        } else {
            name
        };
        match at {
            Some("") if !base.contains("@{") => self.find_named(name),
            Some("u" | "upstream") => Ok(self.object(self.upstream(name)?)?),
            Some(count)
                if count.len() < 9
                    && !count.is_empty()
                    && count.bytes().all(|it| it.is_ascii_digit()) =>
            {
                self.find_in_log(name, count.parse().unwrap_or(usize::MAX))
            }
            _ => Err(RevError::Refused(search_refusal(rev))),
        }
    }

    /// Looks up an object by an id, a ref, the beginning of an id, or the output of `git describe`.
    fn find_named(&self, name: &str) -> Result<Object<'_>, RevError> {
        if name.len() == 40
            && let Ok(id) = Oid::from_str(name)
        {
            return Ok(self.object(id)?);
        }
        if let Some(reference) = self.dwim(name)? {
            return Ok(self.object(self.target(reference)?)?);
        }
        let described = name.rsplit_once("-g").map(|it| it.1);
        for prefix in [Some(name), described].into_iter().flatten() {
            let is_one =
                (4..40).contains(&prefix.len()) && prefix.bytes().all(|it| it.is_ascii_hexdigit());
            if !is_one {
                continue;
            }
            match self
                .git
                .odb()?
                .exists_prefix(Oid::from_str(prefix)?, prefix.len())
            {
                Ok(id) => return Ok(self.object(id)?),
                Err(e) if e.code() == ErrorCode::NotFound => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(not_found_error().into())
    }

    /// Returns the ref that a person means by a name.
    fn dwim(&self, name: &str) -> Result<Option<Reference<'_>>, git2::Error> {
        for (before, after) in PLACES {
            match self.find_ref(&format!("{before}{name}{after}")) {
                Ok(found) => return Ok(Some(found)),
                Err(e) if matches!(e.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(None)
    }

    /// Returns one ref, which may lead to another.
    pub(crate) fn find_ref(&self, name: &str) -> Result<Reference<'_>, git2::Error> {
        let waits = |it: std::fs::Metadata| !it.is_file() && !it.is_dir();
        let mut places = self
            .folders()
            .filter_map(|it| it.join(name).metadata().ok());
        let is_special = match places.next() {
            Some(place) => waits(place) || places.any(waits),
            None => disk::is_special(&self.common_dir().join("packed-refs")),
        };
        let base = if name.starts_with("refs/") {
            "refs"
        } else {
            ""
        };
        let is_name = Reference::is_valid_name(name) && !ahead::OWN.contains(&name);
        if is_special || is_name && self.leaves(base, name) {
            let why = "a ref is not a regular file of this repository";
            return Err(git2::Error::new(
                ErrorCode::GenericError,
                ErrorClass::Os,
                why,
            ));
        }
        libgit2::table(|| self.git.find_reference(name))
    }

    /// Returns whether a link on the way to this path leads out of a git folder. Git makes no such
    /// link; if that folder itself is a link, the user was asked about it (`outside.rs`).
    fn leaves(&self, base: &str, path: &str) -> bool {
        self.folders()
            .any(|it| is_outside(&it.join(path), &it.join(base)))
    }

    /// Returns the id of the object that a ref leads to.
    fn target(&self, reference: Reference<'_>) -> Result<Oid, git2::Error> {
        let mut name = match (reference.target(), reference.symbolic_target_bytes()) {
            (Some(id), _) => return Ok(id),
            (None, to) => to.map(<[u8]>::to_vec),
        };
        for _ in 0..MAX_LINKS {
            let Some(to) = name.and_then(|it| String::from_utf8(it).ok()) else {
                break;
            };
            let next = self.find_ref(&to)?;
            if let Some(id) = next.target() {
                return Ok(id);
            }
            name = next.symbolic_target_bytes().map(<[u8]>::to_vec);
        }
        Err(not_found_error())
    }

    /// Returns the upstream of the branch that is checked out, or of another one.
    fn upstream(&self, name: &str) -> Result<Oid, git2::Error> {
        let reference = self.dwim(name)?.ok_or_else(not_found_error)?;
        let branch = match reference.symbolic_target_bytes() {
            Some(target) => String::from_utf8_lossy(target).into_owned(),
            None => String::from_utf8_lossy(reference.name_bytes()).into_owned(),
        };
        let followed = self.git.branch_upstream_name(&branch)?;
        let followed = self.find_ref(&String::from_utf8_lossy(&followed))?;
        self.target(followed)
    }

    /// Returns where a ref pointed `count` changes ago.
    fn find_in_log(&self, name: &str, count: usize) -> Result<Object<'_>, RevError> {
        let reference = self.dwim(name)?.ok_or_else(not_found_error)?;
        if count == 0 {
            return Ok(self.object(self.target(reference)?)?);
        }
        let full = String::from_utf8_lossy(reference.name_bytes()).into_owned();
        if self
            .folders()
            .any(|it| disk::is_special(&it.join("logs").join(&full)))
            || self.leaves("logs", &format!("logs/{full}"))
        {
            return Err(not_found_error().into());
        }
        let log = libgit2::table(|| self.git.reflog(&full))?;
        let entry = log.get(count).ok_or_else(not_found_error)?;
        Ok(self.object(entry.id_new())?)
    }

    pub(crate) fn rev_refused(&self, rev: &str, e: &git2::Error) -> Refusal {
        let name = refuse::quoted(rev);
        if !self.is_there() {
            return self.gone();
        }
        match e.code() {
            ErrorCode::Ambiguous => refuse::invalid(
                format!("{name} matches more than one object"),
                "Use more digits of the commit id.",
            ),
            ErrorCode::UnbornBranch => unborn_refusal(),
            ErrorCode::NotFound if rev.starts_with("HEAD") && self.head().1.is_none() => {
                match self.find_ref("HEAD").and_then(|it| self.target(it)) {
                    Ok(_) => refuse::broken("the commit at HEAD", e),
                    Err(_) => unborn_refusal(),
                }
            }
            ErrorCode::NotFound if self.names_a_ref(rev) => {
                refuse::broken(&format!("the commit at {name}"), e)
            }
            ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Peel => refuse::not_found(
                format!("there is no commit {name} in this repository"),
                self.rev_hint(),
            ),
            _ if matches!(
                e.class(),
                ErrorClass::Invalid | ErrorClass::Reference | ErrorClass::None
            ) =>
            {
                refuse::invalid(
                    format!("{name} is not a git revision: {}", refuse::git_message(e)),
                    "Pin to HEAD, a branch, a tag or a commit id.",
                )
            }
            _ => refuse::broken(&format!("revision {name}"), e),
        }
    }

    fn names_a_ref(&self, rev: &str) -> bool {
        let found = self.dwim(rev).ok().flatten();
        let target = found.and_then(|it| self.target(it).ok());
        target.is_some_and(|id| !self.has(id))
    }

    fn has(&self, id: Oid) -> bool {
        self.git.odb().is_ok_and(|odb| odb.exists(id))
    }

    fn rev_hint(&self) -> &'static str {
        if self.git.is_shallow() {
            "This clone is shallow and lacks older history: run git fetch --unshallow to get it."
        } else {
            "See git log for existing commits; run git fetch to get a commit from another clone."
        }
    }
}

/// The reason why a revision has no object.
enum RevError {
    Git(git2::Error),
    Refused(Refusal),
}

impl From<git2::Error> for RevError {
    fn from(error: git2::Error) -> Self {
        Self::Git(error)
    }
}

fn not_found_error() -> git2::Error {
    git2::Error::new(
        ErrorCode::NotFound,
        ErrorClass::Reference,
        "it resolves to nothing",
    )
}

/// Splits a revision into its base and the steps back from it.
fn steps(rev: &str) -> Result<(&str, Vec<RevStep>), Refusal> {
    let invalid = || {
        refuse::invalid(
            format!("{} is not a git revision", refuse::quoted(rev)),
            "Pin to HEAD, a branch, a tag or a commit id.",
        )
    };
    if rev.len() > MAX_BYTES || rev.starts_with('-') || rev.contains([':', '\0']) {
        return Err(invalid());
    }
    let (base, mut rest) = rev.split_at(rev.find(['^', '~']).unwrap_or(rev.len()));
    if base.is_empty() {
        return Err(invalid());
    }
    let mut steps = Vec::new();
    while let Some(sign) = rest.chars().next() {
        rest = &rest[sign.len_utf8()..];
        if sign == '^' && rest.starts_with('{') {
            let (kind, after) = rest[1..].split_once('}').ok_or_else(invalid)?;
            match kind {
                "" | "commit" => steps.push(RevStep::Peel),
                "tree" | "blob" | "tag" | "object" => {
                    return Err(refuse::invalid(
                        format!("{} is not a commit but a {kind}", refuse::quoted(rev)),
                        "Pin to HEAD, a branch, a tag or a commit id.",
                    ));
                }
                _ => return Err(search_refusal(rev)),
            }
            rest = after;
            continue;
        }
        let (digits, after) = rest.split_at(
            rest.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len()),
        );
        rest = after;
        // A count too large to parse is too far anyway.
        let count = match digits {
            "" => 1,
            digits => digits.parse().unwrap_or(usize::MAX),
        };
        steps.push(match (sign, count) {
            ('~', count) => RevStep::Back(count),
            ('^', 0) => RevStep::Peel,
            ('^', nth) => RevStep::Parent(nth),
            _ => return Err(invalid()),
        });
    }
    Ok((base, steps))
}

fn search_refusal(rev: &str) -> Refusal {
    refuse::invalid(
        format!(
            "{} searches for a commit, by words, date or checkout history, instead of naming it",
            refuse::quoted(rev)
        ),
        format!(
            "Use the commit id; git rev-parse --verify {:?} prints it.",
            shorten(rev, 80)
        ),
    )
}

fn too_far(rev: &str) -> Refusal {
    refuse::invalid(
        format!(
            "{} goes more than {MAX_STEPS} commits back",
            refuse::quoted(rev)
        ),
        "Use the commit id; git rev-parse prints it.",
    )
}

fn unborn_refusal() -> Refusal {
    refuse::not_found(
        "this repository has no commits yet",
        "Commit something, or pin to @worktree.",
    )
}
