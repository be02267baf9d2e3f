//! Arguments about conflicts and verdicts.

use clap::{Args, Subcommand};
use engram_model::{Listed, Severity};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConflictsArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<ConflictsVerb>,
    #[command(flatten)]
    pub(crate) list: ConflictListArgs,
    /// Exit with 1 while a severe conflict is open and not allowed; --severity sets how severe
    #[arg(long, conflicts_with_all = ["topic", "status", "after", "limit"])]
    pub(crate) gate: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConflictListArgs {
    /// Only this topic and those below it
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// open, resolved, dismissed, closed, all (of these) or possible (pairs that may conflict) [default: open]
    #[arg(long)]
    pub(crate) status: Option<Listed>,
    /// high, medium or low: this or worse [default: all; high with --gate]
    #[arg(long)]
    pub(crate) severity: Option<Severity>,
    /// Continue after `next` of the previous page
    #[arg(long)]
    pub(crate) after: Option<String>,
    /// Page size, up to 200 [default: 50]
    #[arg(long)]
    pub(crate) limit: Option<u32>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ConflictsVerb {
    /// List conflicts by topic, worst first
    List(ConflictListArgs),
    /// Print one conflict
    Show {
        /// Its id
        id: String,
    },
    /// Ask the language model how the two claims relate: it is sent these, and decides nothing
    Explain {
        /// Its id
        id: String,
    },
    /// Let an open conflict pass the gate, or undo that
    Allow {
        /// Its id
        id: String,
        /// The reason, for the record
        #[arg(long, required_unless_present = "undo")]
        why: Option<String>,
        /// Make it block the gate again
        #[arg(long)]
        undo: bool,
    },
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("verdict").required(true).args(["winner", "merge", "dismiss", "undo", "contradicts", "compatible"]))]
pub(crate) struct ResolveArgs {
    /// The conflict's id
    pub(crate) id: String,
    /// An engram of the side that holds, or `newer`, or `surer` (the more confident side; also
    /// `higher_confidence`)
    #[arg(long, value_name = "ENGRAM")]
    pub(crate) winner: Option<String>,
    /// One claim that replaces both
    #[arg(long, value_name = "TEXT")]
    pub(crate) merge: Option<String>,
    /// Not a conflict: both claims stay, and Engram won't ask about this pair again
    #[arg(long)]
    pub(crate) dismiss: bool,
    /// Undo the verdict: the claims that it ended hold again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Of a possible conflict: the claims contradict each other
    #[arg(long)]
    pub(crate) contradicts: bool,
    /// Of a possible conflict: both claims can hold
    #[arg(long)]
    pub(crate) compatible: bool,
    /// The reason, for the record
    #[arg(long)]
    pub(crate) why: Option<String>,
}
