//! Checks a trace against the gateway's limits, only by what was seen from outside, and counts its
//! figures.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{At, CallMade, File, RefusedMessage, SentMessage, TraceRecord, Turn, file_of};

const TURNS: usize = 1_000;
const CHILDREN: usize = 8;
/// The maximum number of tokens in a message.
const INLINE: u64 = 800;
/// The maximum number of repository spans, and of tokens read, in a turn without a grant.
const SPANS: u64 = 3;
const READ: u64 = 1_200;
/// The maximum number of pointers of a claim.
const POINTERS: usize = 2;
/// The maximum of what is sent relative to the files behind the pointers, in percent.
const SHARE: f64 = 5.0;

/// The figures of a trace.
#[derive(Debug, Default)]
pub(crate) struct TraceFigures {
    turns: usize,
    agents: usize,
    messages: usize,
    copies: usize,
    largest: u64,
    claims: usize,
    most_pointers: usize,
    /// Refused messages by fault.
    refused: BTreeMap<String, usize>,
    /// Refused messages with too many tokens.
    too_long: usize,
    resent: usize,
    /// The tokens of accepted messages, counted once per recipient.
    pub(crate) inline: u64,
    /// The tokens of the files behind their pointers, each counted once per recipient.
    pub(crate) full: u64,
    reads: usize,
    most_spans: u64,
    read_tokens: u64,
    granted: usize,
    granted_tokens: u64,
    denied: usize,
    asked: usize,
    grants: usize,
    grants_denied: usize,
}

impl TraceFigures {
    /// The share of those files that was sent, in percent.
    fn share(&self) -> f64 {
        100.0 * self.inline as f64 / self.full.max(1) as f64
    }

    /// Resent messages as a share of the accepted ones.
    pub(crate) fn resend_rate(&self) -> f64 {
        self.resent as f64 / self.messages.max(1) as f64
    }

    /// The rows of the table in the documents.
    #[rustfmt::skip]
    pub(crate) fn rows(&self) -> Vec<String> {
        let of_files = 100.0 * (self.read_tokens + self.granted_tokens) as f64 / self.full as f64;
        let rows = [
            ("turns; agents", format!("{}; {}", with_commas(self.turns as u64), self.agents), "1,000; 9, met"),
            ("messages accepted; with a copy for each recipient", format!("{}; {}", self.messages, self.copies), ""),
            ("tokens of the longest", self.largest.to_string(), "at most 800, met"),
            ("messages wrong on purpose, and refused; those over 800 tokens",
                format!("{}; {}", self.refused.values().sum::<usize>(), self.too_long), "all, met"),
            ("accepted at the next try, in answer to the refusal", self.resent.to_string(), "all, met"),
            ("claims in messages; most pointers in one claim",
                format!("{}; {}", self.claims, self.most_pointers), "at most 2, met"),
            ("tokens of the accepted messages, once for each recipient", with_commas(self.inline), ""),
            ("tokens of the files behind their pointers, each file once for each recipient", with_commas(self.full), ""),
            ("the first as a share of the second", format!("{:.1} %", self.share()), "at most 5 %, met"),
            ("reads that a turn's budget paid for; most spans of the repository in a turn",
                format!("{}; {}", with_commas(self.reads as u64), self.most_spans), "at most 3, met"),
            ("reads refused", self.denied.to_string(), ""),
            ("requests; grants; denials", format!("{}; {}; {}", self.asked, self.grants, self.grants_denied), ""),
            ("reads that a grant paid for", self.granted.to_string(), "each with a grant of its own, met"),
            ("tokens read within budgets; with grants; both, as a share of those files' tokens",
                format!("{}; {}; {of_files:.1} %", with_commas(self.read_tokens), with_commas(self.granted_tokens)), ""),
        ];
        rows.map(|(what, figure, bound)| format!("| {what} | {figure} | {bound} |")).into()
    }
}

/// Returns a number with commas between the thousands.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the figures of a trace, or every limit that it exceeds.
pub(crate) fn check(record: &TraceRecord) -> Result<TraceFigures, Vec<String>> {
    let mut check = TraceCheck {
        files: record.files.iter().map(|it| (it.file, it)).collect(),
        ..TraceCheck::default()
    };
    check.check_family(record);
    for turn in &record.turns {
        check.check_turn(turn);
    }
    check.check_totals();
    if check.wrong.is_empty() {
        Ok(check.figures)
    } else {
        Err(check.wrong)
    }
}

#[derive(Default)]
struct TraceCheck<'a> {
    figures: TraceFigures,
    files: BTreeMap<usize, &'a File>,
    wrong: Vec<String>,
    /// The refused message that each agent has yet to resend.
    open: BTreeMap<String, usize>,
    /// Unspent grants, by agent and pointer.
    grants: BTreeMap<(String, At), usize>,
    /// The limits that parents narrowed, by agent.
    narrowed: BTreeMap<String, BTreeMap<String, u64>>,
    /// The files that each recipient was pointed to.
    told: BTreeSet<(String, usize)>,
}

impl TraceCheck<'_> {
    fn note_fault(&mut self, turn: usize, why: impl Into<String>) {
        self.wrong.push(format!("turn {turn}: {}", why.into()));
    }

    fn check_family(&mut self, record: &TraceRecord) {
        let agents = &record.run.agents;
        let roots: Vec<&String> = agents
            .iter()
            .filter(|it| it.parent.is_none())
            .map(|it| &it.agent)
            .collect();
        let is_family = matches!(roots.as_slice(), [root]
            if agents.iter().filter(|it| it.parent.as_ref() == Some(*root)).count() == CHILDREN);
        if !is_family {
            self.note_fault(0, format!("there are not a parent and {CHILDREN} children"));
        }
        self.figures.agents = agents.len();
    }

    fn check_turn(&mut self, turn: &Turn) {
        self.figures.turns += 1;
        if turn.turn != self.figures.turns {
            self.note_fault(turn.turn, "does not follow the one before");
        }
        let (mut spans, mut tokens) = (0, 0);
        for did in &turn.calls {
            match did {
                CallMade::Read(at, read) => {
                    spans += u64::from(self.is_span(turn.turn, at));
                    tokens += read;
                    self.figures.reads += 1;
                    self.figures.read_tokens += read;
                }
                CallMade::Granted(at, read) => {
                    self.spend_grant(turn, at);
                    self.figures.granted += 1;
                    self.figures.granted_tokens += read;
                }
                CallMade::Denied(..) => self.figures.denied += 1,
                CallMade::Commit(pointers) => self.check_claim(turn.turn, pointers),
                CallMade::Ask(_) => self.figures.asked += 1,
                CallMade::Grant(grant) => {
                    self.figures.grants += 1;
                    let key = (grant.to.clone(), grant.at.clone());
                    *self.grants.entry(key).or_default() += 1;
                }
                CallMade::Deny(..) => self.figures.grants_denied += 1,
                CallMade::Sent(sent) => self.check_sent(turn, sent),
                CallMade::Refused(refused) => self.check_refused(turn, refused),
                CallMade::Query(_) | CallMade::Brief(_) => {}
            }
        }
        let limit = |name: &str, most: u64| {
            let narrowed = self.narrowed.get(&turn.agent).and_then(|it| it.get(name));
            narrowed.copied().unwrap_or(most).min(most)
        };
        let (most_spans, most_tokens) = (limit("max_repo_spans", SPANS), limit("max_tokens", READ));
        if spans > most_spans {
            self.note_fault(turn.turn, format!("{spans} spans without a grant"));
        }
        if tokens > most_tokens {
            self.note_fault(turn.turn, format!("{tokens} tokens read without a grant"));
        }
        self.figures.most_spans = self.figures.most_spans.max(spans);
    }

    /// Whether a pointer counts as a repository span; sections of documents belong to another
    /// class.
    fn is_span(&mut self, turn: usize, at: &At) -> bool {
        let file = self.files.get(&file_of(at));
        let is_span = file.map(|it| !it.path.ends_with(".md"));
        if is_span.is_none() {
            self.note_fault(turn, format!("{at} is in a file that is not listed"));
        }
        is_span.unwrap_or(true)
    }

    fn spend_grant(&mut self, turn: &Turn, at: &At) {
        let key = (turn.agent.clone(), at.clone());
        match self.grants.get_mut(&key).filter(|it| **it > 0) {
            Some(open) => *open -= 1,
            None => self.note_fault(
                turn.turn,
                format!("{at} was read by a grant that nobody gave"),
            ),
        }
    }

    fn check_claim(&mut self, turn: usize, pointers: &[At]) {
        if pointers.is_empty() || pointers.len() > POINTERS {
            self.note_fault(turn, format!("a claim has {} pointers", pointers.len()));
        }
        self.figures.most_pointers = self.figures.most_pointers.max(pointers.len());
    }

    fn check_sent(&mut self, turn: &Turn, sent: &SentMessage) {
        if let Some(wrong) = &sent.wrong {
            self.note_fault(turn.turn, format!("a message was accepted with {wrong}"));
        }
        if sent.tokens > INLINE {
            self.note_fault(
                turn.turn,
                format!("a message of {} tokens was accepted", sent.tokens),
            );
        }
        let open = self.open.remove(&turn.agent);
        if sent.resend_of != open {
            let why = format!("answers refusal {:?}, not {open:?}", sent.resend_of);
            self.note_fault(turn.turn, why);
        }
        sent.claims
            .iter()
            .for_each(|it| self.check_claim(turn.turn, it));
        for to in &sent.to {
            let files = sent.claims.iter().flatten().chain(&sent.pack);
            let files = files.map(|at| (to.clone(), file_of(at)));
            self.told.extend(files);
            let narrowed = self.narrowed.entry(to.clone()).or_default();
            narrowed.extend(sent.budgets.clone());
        }
        let figures = &mut self.figures;
        figures.messages += 1;
        figures.copies += sent.to.len();
        figures.claims += sent.claims.len();
        figures.largest = figures.largest.max(sent.tokens);
        figures.resent += usize::from(sent.resend_of.is_some());
        figures.inline += sent.tokens * sent.to.len() as u64;
    }

    fn check_refused(&mut self, turn: &Turn, refused: &RefusedMessage) {
        if self
            .open
            .insert(turn.agent.clone(), refused.refusal)
            .is_some()
        {
            self.note_fault(turn.turn, "a message was refused twice");
        }
        self.figures.too_long += usize::from(refused.tokens.is_some_and(|it| it > INLINE));
        *self
            .figures
            .refused
            .entry(refused.wrong.clone())
            .or_default() += 1;
    }

    #[rustfmt::skip]
    fn check_totals(&mut self) {
        let told = self.told.iter().map(|it| self.files.get(&it.1));
        let unknown = told.clone().any(|it| it.is_none());
        self.figures.full = told.flatten().map(|it| it.tokens).sum();
        let TraceFigures { turns, too_long, denied, granted, most_spans, .. } = self.figures;
        let (kinds, share) = (self.figures.refused.len(), self.figures.share());
        // A trace without any attempt at a fault proves nothing.
        let wrong = [
            (turns != TURNS, format!("there are {turns} turns, not {TURNS}")),
            (!self.open.is_empty(), "a refused message was not sent again".into()),
            (unknown, "a message points into a file that is not listed".into()),
            (share > SHARE, format!("{share:.2} % were sent of the files behind the pointers")),
            (too_long == 0, "no message was too long".into()),
            (kinds < 10, "few things were wrong with messages".into()),
            (denied == 0, "no read was denied".into()),
            (granted == 0, "no grant was spent".into()),
            (most_spans < SPANS, "no turn used its spans up".into()),
        ];
        let wrong = wrong.into_iter().filter(|it| it.0);
        self.wrong.extend(wrong.map(|it| it.1));
    }
}
