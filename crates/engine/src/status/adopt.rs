//! The user's decision about whose memory a repository uses.

use engram_model::{
    Adoption, Code, Operation, ProjectId, Refusal, StatusReply, operation::Admitted,
};

use crate::{
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
        project::{is_its_own, location_of, path_to_admit, read_id, replace_id},
    },
    decide, status,
};

/// Applies the user's decision about whose memory the repository uses.
pub(crate) fn adopt_project(cx: &Context<'_>, how: Adoption) -> Result<Box<StatusReply>, Refusal> {
    let repo = cx.require_repo()?;
    let admitted = || {
        Operation::Admitted(Admitted {
            place: path_to_admit(repo),
        })
    };
    let located = || Operation::Located(location_of(repo));
    let reads_outside = repo.reads_outside().is_some();
    let (project, operations) = match (how, read_id(repo)) {
        (Adoption::Shared, Some(id)) => (id, vec![admitted()]),
        (Adoption::Shared, None) => {
            return Err(Refusal::new(
                Code::NotFound,
                "this repository is not a copy of one that has a memory",
                "Store a claim, and it gets a memory of its own.",
            ));
        }
        (Adoption::Own, _) if !repo.is_named_back() => {
            return Err(Refusal::new(
                Code::ScopeDenied,
                format!(
                    "the git folder {} belongs to another repository",
                    repo.common_dir().display()
                ),
                "Correct this folder's .git, or use that repository's memory with `engram project share`.",
            ));
        }
        // The repository has its own memory; a new id would take away its content.
        (Adoption::Own, Some(id)) if is_its_own(cx.engine, repo, id)? => {
            if reads_outside {
                (id, vec![located(), admitted()])
            } else {
                return status::compose_status(cx).map(Box::new);
            }
        }
        (Adoption::Own, _) => {
            let id = ProjectId(cx.engine.world.new_id());
            replace_id(repo, id)?;
            let admitted = reads_outside.then(admitted);
            (id, [located()].into_iter().chain(admitted).collect())
        }
    };
    let active = ActiveProject::of(project);
    let by = author::author_of(cx, None)?;
    decide::plan_and_commit(cx, &active, |_, _| {
        let entries = operations
            .iter()
            .map(|operation| Planned::private(operation.clone(), &by));
        Ok(Plan::of(entries.collect(), ()))
    })?;
    status::compose_status(cx).map(Box::new)
}
