//! Arguments about evidence that changes with the code.

use clap::Subcommand;

#[derive(Subcommand, Debug)]
pub(crate) enum PointersVerb {
    /// Find where lines of one commit are in another, or on disk; store nothing
    #[command(after_help = "Example:
  echo '{\"id\":1,\"path\":\"src/main.rs\",\"start\":10,\"end\":20}' | engram pointers track --from HEAD~9 --to HEAD --spans -

Each line is answered with one object, in order:
  {\"id\",\"state\",\"path\",\"start\",\"end\",\"change\",\"confidence\"}
  state is unchanged, moved, renamed, edited or deleted; change is whitespace or text")]
    Track {
        /// The commit the lines are from, or @index (staged) or @worktree (on disk)
        #[arg(long, value_name = "REV")]
        from: String,
        /// Where to find them: any commit, older or newer, or @index or @worktree
        #[arg(long, value_name = "REV")]
        to: String,
        /// Lines {"id","path","start","end"}, counting from 1; - for standard input
        #[arg(long, value_name = "FILE")]
        spans: String,
    },
    /// Check whether the evidence of current claims has changed
    #[command(after_help = "Examples:
  engram pointers check                     against the files on disk
  engram pointers check --changed           before a commit: which claims does this change affect?
  engram pointers check --since origin/main --exit-code")]
    Check {
        /// Only evidence that differs from the last commit
        #[arg(long, conflicts_with = "since")]
        changed: bool,
        /// Only evidence that differs from this commit
        #[arg(long, value_name = "REV")]
        since: Option<String>,
        /// Exit with 1 if any claim's evidence was edited or is gone, or if there is nothing to
        /// check
        #[arg(long)]
        exit_code: bool,
    },
    /// Confirm a claim: point it at its evidence in the working tree, as a new version
    #[command(after_help = "Example:
  engram pointers repin 01JD8X2M5Q7R9T1V3W5Y7Z9A1B")]
    Repin {
        /// Its id
        id: String,
    },
}
