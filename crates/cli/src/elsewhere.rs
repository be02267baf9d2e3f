//! Reads what belongs to another repository of the home in that repository, and says so.

use std::path::PathBuf;

use engram_engine::{Engine, Options};
use engram_model::{Caller, Clues, Code, Pointer, Refusal, Reply, Request, ask};

use crate::out;

/// Where to look for what is not in this repository, and whether to say so.
pub(crate) struct Elsewhere {
    /// The home.
    pub(crate) home: PathBuf,
    /// Whether the output is for a program, which finds the project in the record.
    pub(crate) is_silent: bool,
}

impl Elsewhere {
    /// Answers a request. What the user reads by its id or its commit is read in its own
    /// repository, and that repository is named on standard error.
    pub(crate) fn answer(
        &self,
        engine: &Engine,
        caller: &Caller,
        request: Request,
    ) -> Result<Reply, Refusal> {
        let clues = clues_of(&request).filter(|_| *caller == Caller::User);
        let Some(clues) = clues else {
            return engine.handle(caller, request);
        };
        // A commit may be in several repositories, so this repository is tried first.
        if matches!(request, Request::Deref(_)) {
            let answered = engine.handle(caller, request.clone());
            return match answered {
                Err(refusal) if is_missing(&refusal) => {
                    let elsewhere = self.answer_there(engine, request, clues)?;
                    elsewhere.ok_or(refusal)
                }
                answered => answered,
            };
        }
        match self.answer_there(engine, request.clone(), clues)? {
            Some(reply) => Ok(reply),
            None => engine.handle(caller, request),
        }
    }

    /// Answers a request of the user in the repository that the clues lead to; `None` if they lead
    /// to this one, or to none.
    fn answer_there(
        &self,
        engine: &Engine,
        request: Request,
        clues: Clues,
    ) -> Result<Option<Reply>, Refusal> {
        let found = engine.ask(&Caller::User, ask::Locate(clues))?.found;
        let Some(found) = found.filter(|it| !it.is_here) else {
            return Ok(None);
        };
        let Some(path) = found.path else {
            return Ok(None);
        };
        if !self.is_silent {
            out::print_error_line(&out::one_line(format!(
                "This belongs to another repository: {} ({path}).",
                found.name
            )));
        }
        // What the home knows about a repository that is gone can still be read.
        if found.is_gone {
            return Ok(None);
        }
        let path = PathBuf::from(path);
        let there = Engine::open(Options {
            home: self.home.clone(),
            repo: Some(path.clone()),
            from: path,
        })?;
        let reply = there.handle(&Caller::User, request)?;
        there.leave_in_order()?;
        Ok(Some(reply))
    }
}

/// Returns the clues to the repository that a request reads from.
fn clues_of(request: &Request) -> Option<Clues> {
    match request {
        Request::Get(id) | Request::Log(id) => Some(by_id(id)),
        Request::Conflict(id) => Some(by_id(id)),
        Request::Deref(deref) => by_commit(&deref.pointer),
        _ => None,
    }
}

fn by_id(id: &impl ToString) -> Clues {
    Clues {
        id: Some(id.to_string()),
        ..Clues::default()
    }
}

/// The commit that a pointer names in full.
fn by_commit(pointer: &engram_model::PointerInput) -> Option<Clues> {
    let pointer = Pointer::try_from(pointer.clone()).ok()?;
    let commit = pointer.commits().first()?.to_string();
    let is_whole = commit.len() >= 40 && commit.chars().all(|it| it.is_ascii_hexdigit());
    is_whole.then(|| Clues {
        commit: Some(commit),
        ..Clues::default()
    })
}

fn is_missing(refusal: &Refusal) -> bool {
    matches!(
        refusal.code,
        Code::PointerNotFound | Code::PointerInvalid | Code::RepoUnavailable | Code::NotFound
    )
}
