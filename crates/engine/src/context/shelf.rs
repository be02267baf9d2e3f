//! The shelf: evidence that is not in git.

use crate::context::{names, visibility::Visibility};
use engram_model::{Engram, OWN_EVENT, ProjectId, Recorded, Refusal};
use engram_pointers::Shelf;
use engram_store::{Attribution, Reader, Store};
use jiff::civil::Date;

/// Evidence that is not in git, for the pointers of one project.
pub(crate) struct HomeShelf<'a> {
    pub(crate) store: &'a Store,
    pub(crate) project: Option<ProjectId>,
    /// What the reader may see; `None` if the reader is unknown.
    pub(crate) visibility: Option<Visibility>,
    pub(crate) urls: bool,
}

impl HomeShelf<'_> {
    /// Whether the reader may see the claim that this event repeats.
    fn may_see_said(&self, tx: &Reader<'_>, event: u64) -> Result<bool, Refusal> {
        match &self.visibility {
            Some(Visibility::All) => Ok(true),
            Some(visibility) => {
                let said = claim_of_event(tx, event)?;
                Ok(said.is_some_and(|it| visibility.may_see(&it)))
            }
            None => Ok(false),
        }
    }
}

/// The claim that an event of making a claim repeats: the next entry of the journal. Without one,
/// only the user may see the event.
pub(crate) fn claim_of_event(tx: &Reader<'_>, event: u64) -> Result<Option<Engram>, Refusal> {
    Ok(tx.engram_at(event + 1)?)
}

impl Shelf for HomeShelf<'_> {
    fn blob(&self, path: &str, digest_hex: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(project) = self.project else {
            return Ok(None);
        };
        self.store
            .read(|tx| Ok(tx.snapshots().bytes(project, digest_hex, path)?))
    }

    fn event(
        &self,
        kind: &str,
        slug: &str,
        date: Date,
    ) -> Result<Option<(String, Recorded)>, Refusal> {
        let Some(project) = self.project else {
            return Ok(None);
        };
        self.store.read(|tx: &Reader<'_>| {
            // The event of making a claim repeats the claim, so only readers of the claim may see
            // it.
            for seq in tx
                .events()
                .at_address(project, kind, slug, date)?
                .into_iter()
                .rev()
            {
                if kind != OWN_EVENT || self.may_see_said(tx, seq)? {
                    let told = |(text, attribution): (String, Attribution)| {
                        let (by, at) = (names::author_of_entry(&attribution), attribution.at);
                        (text, Recorded { by, at })
                    };
                    return Ok(tx.events().text_at(seq)?.map(told));
                }
            }
            Ok(None)
        })
    }

    fn urls_allowed(&self) -> bool {
        self.urls
    }

    fn base(&self, path: &str, digest_hex: &str) -> Option<String> {
        let project = self.project?;
        self.store
            .read::<_, Refusal>(|tx| Ok(tx.snapshots().base(project, digest_hex, path)?))
            .ok()
            .flatten()
    }
}
