//! The roles that have a template, and each role's limits on messages (docs/design.md#roles). Roles
//! are words compared without case; a word that is not listed has no template, and only the budgets
//! apply to it.

use engram_model::{ChildMessage, Kind};

use crate::prose::sentence_count;

/// The limits on a role's messages, and what the role reads first.
#[derive(Debug, PartialEq, Eq)]
pub struct RoleTemplate {
    /// The role, in lower case.
    pub role: &'static str,
    /// The most sentences of a summary.
    pub summary_sentences: usize,
    /// The kinds of claims whose evidence goes into its pack of pointers, the most useful first.
    pub reads: &'static [Kind],
}

/// The four roles, from the one with the widest view to the one that writes code.
const TEMPLATES: [RoleTemplate; 4] = [
    RoleTemplate {
        role: "architect",
        summary_sentences: 5,
        reads: &[Kind::Decision, Kind::Constraint, Kind::Policy, Kind::Risk],
    },
    RoleTemplate {
        role: "director",
        summary_sentences: 5,
        reads: &[Kind::Risk, Kind::Decision, Kind::Perf, Kind::Constraint],
    },
    RoleTemplate {
        role: "manager",
        summary_sentences: 5,
        reads: &[Kind::Todo, Kind::Risk, Kind::Diff, Kind::Test],
    },
    RoleTemplate {
        role: "programmer",
        summary_sentences: 5,
        reads: &[
            Kind::Diff,
            Kind::Test,
            Kind::Fact,
            Kind::Todo,
            Kind::Constraint,
        ],
    },
];

/// Returns the template of a role; `None` if it is not one of the four.
pub fn template(role: &str) -> Option<&'static RoleTemplate> {
    TEMPLATES.iter().find(|it| same_role(it.role, role))
}

/// Whether two words name the same role, ignoring case and surrounding spaces.
pub fn same_role(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Returns the number of sentences in the summary and the most that its role's template allows, if
/// there are too many.
pub(crate) fn too_many_sentences(message: &ChildMessage) -> Option<(usize, usize)> {
    let allowed = template(&message.role)?.summary_sentences;
    let sentences = sentence_count(&message.output.summary);
    (sentences > allowed).then_some((sentences, allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_roles_have_templates_whatever_their_case() {
        for role in ["Architect", "DIRECTOR", " manager ", "programmer"] {
            let found = template(role).map(|it| it.summary_sentences);
            assert_eq!(found, Some(5), "{role}");
        }
        for role in ["", "reviewer", "programmer-1", "architects"] {
            assert_eq!(template(role), None, "{role}");
        }
    }
}
