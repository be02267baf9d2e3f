//! Doctor: checks whether the home is sound and how far each follower has read, and says what to
//! do.

use crate::{Engine, context::Context, follow::describe_missing_watch, status};
use engram_model::{Noun, Refusal, StatusReply, format_count, thousands};
use engram_store::{Index, StoreError};
use serde::Serialize;

const ENTRIES: Noun = ("entry", "entries");
/// The most faults that are listed.
const FAULTS: usize = 20;

/// The result of one check.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// What was checked.
    pub what: String,
    /// Whether it is in order.
    pub ok: bool,
    /// The finding, and what to do if it is not in order.
    pub found: String,
}

/// The results of all checks.
#[derive(Debug, Clone, Serialize)]
pub struct Checkup {
    /// Whether everything is in order.
    pub ok: bool,
    /// In the order of the checks.
    pub findings: Vec<Diagnosis>,
}

/// What to do in addition to the checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Treatment {
    /// Rebuild the index from the journal.
    pub reindex: bool,
    /// Replay the journal and compare each table with the result.
    pub replay: bool,
    /// Rebuild the tables from the journal.
    pub rebuild: bool,
}

/// Runs all checks, and does what `treatment` asks for along the way.
pub(super) fn checkup(engine: &Engine, treatment: Treatment) -> Result<Checkup, Refusal> {
    let mut findings = vec![look_at_database(engine)?];
    findings.push(match treatment {
        Treatment { rebuild: true, .. } => rebuild_tables(engine)?,
        Treatment { replay: true, .. } => replay_journal(engine)?,
        _ => look_at_journal(engine)?,
    });
    findings.push(if treatment.reindex {
        reindex(engine)?
    } else {
        look_at_index(engine)?
    });
    findings.push(look_at_privacy(engine));
    findings.extend(look_at_watches(engine));
    findings.push(look_at_repository(engine));
    Ok(Checkup {
        ok: findings.iter().all(|it| it.ok),
        findings,
    })
}

fn look_at_database(engine: &Engine) -> Result<Diagnosis, Refusal> {
    let problems = engine.store.integrity()?;
    let writable = engine.store.is_writable();
    let found = match (problems.as_slice(), writable) {
        ([], true) => {
            let home = engine.store.home();
            let remark = crate::home::files::remark_on_place(home).map(|it| format!("; {it}"));
            format!("sound, at {}{}", home.display(), remark.unwrap_or_default())
        }
        ([], false) if engine.store.is_full() => format!(
            "sound, but the disk of {} is full: free some space",
            engine.store.home().display()
        ),
        ([], false) => format!(
            "sound, but {} is not writable: change its permissions or choose another home",
            engine.store.home().display()
        ),
        (problems, _) => format!(
            "{} is damaged: {}; back up the home first, then restore an earlier backup or, without one, run `{} --recover`",
            engine.store.database().display(),
            problems.join("; "),
            crate::home::files::doctor_command(engine.store.home())
        ),
    };
    Ok(Diagnosis {
        what: "database".to_owned(),
        ok: problems.is_empty() && writable,
        found,
    })
}

/// Whether an entry is missing or cannot be read.
fn look_at_journal(engine: &Engine) -> Result<Diagnosis, Refusal> {
    let (faults, head) = engine
        .store
        .read::<_, Refusal>(|tx| Ok((tx.journal_faults(FAULTS)?, tx.head()?)))?;
    Ok(journal_diagnosis(engine, faults, || {
        format!("{}, none missing", format_count(head, ENTRIES))
    }))
}

/// Compares the tables with what a replay of the journal produces.
fn replay_journal(engine: &Engine) -> Result<Diagnosis, Refusal> {
    let replayed = engine.store.replay()?;
    // If a newer Engram recorded entries that this build cannot replay, the tables may rightly
    // differ.
    if replayed.faults.is_empty() && !replayed.differences.is_empty() && replayed.passed_over == 0 {
        return Ok(Diagnosis {
            what: "journal".to_owned(),
            ok: false,
            found: format!(
                "{}: the tables do not match the journal ({}); `{} --rebuild` rebuilds them",
                engine.store.database().display(),
                replayed.differences.join("; "),
                crate::home::files::doctor_command(engine.store.home())
            ),
        });
    }
    Ok(journal_diagnosis(engine, replayed.faults, || {
        let applied = format_count(replayed.applied, ENTRIES);
        match (replayed.passed_over, replayed.differences.is_empty()) {
            (0, _) => format!("{applied} replayed, the tables match"),
            (newer, true) => {
                format!("{applied} replayed, the tables match; skipped {newer} from a newer Engram")
            }
            (newer, false) => format!(
                "{applied} replayed; skipped {newer} from a newer Engram, so only that version can compare all tables"
            ),
        }
    }))
}

/// Rebuilds the tables, and restarts the followers.
fn rebuild_tables(engine: &Engine) -> Result<Diagnosis, Refusal> {
    let rebuilt = engine.store.rebuild(engine.world.now());
    let rebuilt = rebuilt.map_err(|it| engine.name_home(it.into()))?;
    engine.ring();
    Ok(journal_diagnosis(engine, rebuilt.faults, || {
        format!(
            "rebuilt the tables from {}",
            format_count(rebuilt.applied, ENTRIES)
        )
    }))
}

fn journal_diagnosis(
    engine: &Engine,
    faults: Vec<String>,
    sound: impl FnOnce() -> String,
) -> Diagnosis {
    Diagnosis {
        what: "journal".to_owned(),
        ok: faults.is_empty(),
        found: if faults.is_empty() {
            sound()
        } else {
            format!(
                "{}: {}; everything else is still readable: copy the home, then restore a backup if you have one",
                engine.store.database().display(),
                faults.join("; ")
            )
        },
    }
}

fn look_at_index(engine: &Engine) -> Result<Diagnosis, Refusal> {
    let head = engine.store.read::<_, Refusal>(|tx| Ok(tx.head()?))?;
    let looked = engine
        .index()
        .map(|index| Ok((index.damaged_files()?, index.cursor()?)));
    let damage = match looked {
        Some(Ok((damaged, cursor))) if damaged.is_empty() => {
            return Ok(Diagnosis {
                what: "index".to_owned(),
                ok: true,
                found: match head.saturating_sub(cursor) {
                    0 => format!("sound, covers all of {}", format_count(head, ENTRIES)),
                    _ => format!(
                        "sound, covers {} of {}; queries read the rest from the journal",
                        thousands(cursor),
                        format_count(head, ENTRIES)
                    ),
                },
            });
        }
        Some(Ok((damaged, _))) => format!("{} was damaged", damaged[0].display()),
        Some(Err::<_, StoreError>(error)) => error.to_string(),
        None => "could not be opened".to_owned(),
    };
    if !engine.store.is_writable() {
        return Ok(Diagnosis {
            what: "index".to_owned(),
            ok: false,
            found: format!("{damage}; it will be rebuilt once the home is writable"),
        });
    }
    let built = reindex(engine)?;
    Ok(Diagnosis {
        found: format!("{damage}; {}", built.found),
        ..built
    })
}

fn reindex(engine: &Engine) -> Result<Diagnosis, Refusal> {
    Index::delete(engine.store.home())?;
    *engine.caches.index.lock() = None;
    let head = engine.store.read::<_, Refusal>(|tx| Ok(tx.head()?))?;
    let built = engine.update_index_to(head);
    Ok(Diagnosis {
        what: "index".to_owned(),
        ok: built.is_ok(),
        found: match built {
            Ok(()) => format!("rebuilt from {}", format_count(head, ENTRIES)),
            Err(why) => format!("could not be rebuilt, so queries run without it: {why}"),
        },
    })
}

/// Checks whether other users of this machine can read the home. Opening it has already removed the
/// rights that could be removed.
fn look_at_privacy(engine: &Engine) -> Diagnosis {
    let home = engine.store.home();
    let open = crate::home::files::open_to_others(home);
    let names: Vec<_> = open.iter().map(|it| it.display().to_string()).collect();
    Diagnosis {
        what: "privacy".to_owned(),
        ok: open.is_empty(),
        found: if open.is_empty() {
            "only you can open this home".to_owned()
        } else {
            format!(
                "other users can read {} in {}, which cannot be made private (another user owns it, or its file system has no permissions): move the home to a folder you own",
                names.join(", "),
                home.display()
            )
        },
    }
}

/// Checks whether a process can watch for changes by others; `None` if the home cannot be written.
fn look_at_watches(engine: &Engine) -> Option<Diagnosis> {
    let bell = engine.bell.read();
    let refused = bell.as_ref()?.try_watch().err();
    Some(Diagnosis {
        what: "watches".to_owned(),
        ok: refused.is_none(),
        found: refused.map_or_else(
            || "each process is notified when another one writes".to_owned(),
            |why| describe_missing_watch(&why.to_string()),
        ),
    })
}

fn look_at_repository(engine: &Engine) -> Diagnosis {
    let context = Context::for_engine(engine);
    // The status reports known data for a missing repository; here a missing one is a fault.
    let looked = context
        .repo()
        .and_then(|_| status::compose_status(&context));
    let (ok, found) = match looked {
        Ok(status) => (true, describe_project(&status)),
        Err(error) => (false, format!("{}: {}", error.message, error.hint)),
    };
    Diagnosis {
        what: "repository".to_owned(),
        ok,
        found,
    }
}

fn describe_project(status: &StatusReply) -> String {
    match &status.project {
        Some(project) => format!(
            "{} on {}, {}",
            project.name,
            project.branch.as_deref().unwrap_or("no branch"),
            format_count(status.engrams, ("engram", "engrams"))
        ),
        None => "none here; claims are stored in the home, outside any repository".to_owned(),
    }
}
