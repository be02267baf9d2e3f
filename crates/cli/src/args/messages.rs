//! Arguments about the brief and messages.

use clap::Subcommand;

#[derive(Subcommand, Debug)]
pub(crate) enum BriefVerb {
    /// Pin a claim by its id, or a line of text
    #[command(after_help = "Examples:
  engram brief pin 'Ship on Friday; no new dependencies.'
  engram brief pin 01J9Z3N8M6W0X4V5Y7K2QHPRTA
  engram brief pin 'Ask before you add a table.' --agent lead     for lead and the agents below it")]
    Pin {
        /// The id of an engram, or one line
        what: String,
    },
    /// Unpin a line
    Unpin {
        /// Its number in the brief, counted from 1
        #[arg(required_unless_present = "pin")]
        line: Option<usize>,
        /// Its id instead, as `engram brief --json` shows it; unlike the number, it never changes
        #[arg(long, value_name = "ID", conflicts_with = "line")]
        pin: Option<u64>,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum MessageVerb {
    /// Check one message against its contract and budget; store nothing
    #[command(after_help = "Examples:
  engram message validate report.json
  engram message validate - <<'END'
  ROLE: programmer
  TASK_STATUS: done
  ENGRAMS:
    - kind: fact
      claim: \"Retries use full jitter.\"
      confidence: 0.9
      ttl: \"P7D\"
      scope: \"project\"
      pointers:
        - { type: \"repo\", ref: \"repo:src/retry.rs#L12-L30@HEAD\" }
  OUTPUT:
    summary: \"The retry policy is clear.\"
  END")]
    Validate {
        /// A message as JSON or in the text form, or - for standard input
        file: String,
        /// Check it against this agent's budgets
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Send one message: a child's to its parent, or a parent's to its children
    #[command(after_help = "Examples:
  engram message send report.json --agent programmer-1     a child's, to its parent
  engram message send brief.txt --agent lead               to all children of the role that it names
  engram message send brief.txt --to programmer-1          from you, to one agent")]
    Send {
        /// A message as JSON or in the text form, or - for standard input
        file: String,
        /// Who sends it, by handle [default: you]
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// The child that gets it [default: all children with the role that the message names]
        #[arg(long, value_name = "AGENT")]
        to: Option<String>,
    },
}
