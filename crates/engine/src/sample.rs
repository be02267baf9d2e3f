//! A sample to look around in: claims that the repository's own history proves, and that are taken
//! out of use again with one request.

use engram_model::{Code, Draft, Kind, PointerInput, Refusal, SAMPLE, SampleReply, Scope};

use crate::{context::Context, put::Occasion};

/// How many changes and files the sample has.
const CHANGES: usize = 5;
const FILES: usize = 3;
/// Lines of a file that are shown.
const LINES: u64 = 24;
/// Most claims that are looked through for those of a sample.
const MOST: usize = 10_000;

impl Context<'_> {
    /// Stores the sample; existing claims are not stored twice.
    pub(crate) fn store_sample(&self) -> Result<SampleReply, Refusal> {
        let repo = self.repository()?;
        let mut drafts = Vec::new();
        for it in repo.largest_files(FILES)?.into_iter().rev() {
            let shown = it.lines.clamp(1, LINES);
            drafts.push(draft(
                Kind::Fact,
                "files",
                format!(
                    "{} is one of the longest source files here: {} lines.",
                    it.path, it.lines
                ),
                format!("repo:{}#L1-L{shown}@HEAD", it.path),
            ));
        }
        for it in repo.newest_changes(CHANGES)?.into_iter().rev() {
            let files = match it.files {
                1 => format!("only {}", it.path),
                many => format!("{many} files"),
            };
            drafts.push(draft(
                Kind::Diff,
                "history",
                format!(
                    "“{}” changed {files}: {} added, {} removed.",
                    it.summary,
                    lines(it.added),
                    lines(it.removed)
                ),
                format!("diff:{}..{}#{}", it.parent, it.commit, it.path),
            ));
        }
        let mut ids = Vec::new();
        let mut refused = None;
        for draft in drafts {
            // Skips a path that no pointer can express, or a summary that looks like a secret.
            match self.put_claim(draft, None, Occasion::Said) {
                Ok(stored) => ids.push(stored.id),
                Err(refusal) => refused = Some(refusal),
            }
        }
        match (ids.is_empty(), refused) {
            (true, Some(refusal)) => Err(refusal),
            (true, None) => Err(Refusal::new(
                Code::PointerNotFound,
                "this repository has no commit to sample",
                "Commit something, then try again.",
            )),
            (false, _) => Ok(SampleReply { ids }),
        }
    }

    /// Forgets every claim of the sample that still holds.
    pub(crate) fn forget_sample(&self) -> Result<SampleReply, Refusal> {
        let (project, now) = (self.project()?, self.engine.world.now());
        let store = &self.engine.store;
        let mut sample =
            store.read::<_, Refusal>(|it| Ok(it.newest_holding(project, now, None, MOST)?))?;
        sample.retain(|it| it.tags.iter().any(|tag| tag == SAMPLE));
        for it in &sample {
            self.close_window(it)?;
        }
        Ok(SampleReply {
            ids: sample.iter().map(|it| it.id).collect(),
        })
    }
}

fn draft(kind: Kind, topic: &str, claim: String, pointer: String) -> Draft {
    Draft {
        claim,
        pointers: vec![PointerInput::Text(pointer)],
        kind: Some(kind),
        // Of the user's own run: no agent is told of what was made to look at.
        scope: Some(Scope::Run),
        confidence: Some(1.0),
        topic: Some(format!("{SAMPLE}/{topic}")),
        tags: vec![SAMPLE.to_owned()],
        agent: Some(SAMPLE.to_owned()),
        ..Draft::default()
    }
}

fn lines(number: usize) -> String {
    match number {
        1 => "1 line".to_owned(),
        many => format!("{many} lines"),
    }
}
