//! What the page asks of the repository in front.

use engram_model::{Ask, Code, Feed, FeedPage, Refusal, Request, StatusReply, ask};

use super::{backend::strange, state::App};
use crate::words::say;

impl App {
    /// Asks; the answer is of the request's own type. While another repository is on its way a change
    /// would be made there.
    pub(crate) async fn ask<A: Ask>(self, ask: A) -> Result<A::Answer, Refusal> {
        let request: Request = ask.into();
        let changes = request.changes();
        if changes && self.repositories.is_switching() {
            return Err(Refusal::new(
                Code::RepoUnavailable,
                say::repositories::SWITCHING,
                say::repositories::SWITCHING_HINT,
            ));
        }
        if let Some(refusal) = self.refused_in_past().filter(|_| changes) {
            return Err(refusal);
        }
        let backend = self.backend();
        let reply = self.for_front(async move {
            if changes {
                backend.change(request).await
            } else {
                backend.read(request).await
            }
        });
        A::answer(reply.await?).ok_or_else(|| strange(&"another answer"))
    }

    /// An answer for the page as it is. One that comes after it began anew is nobody's: it never comes.
    pub(super) async fn for_front<T>(self, answer: impl Future<Output = T>) -> T {
        let turn = self.repositories.turn();
        let answer = answer.await;
        if self.repositories.turn() == turn {
            return answer;
        }
        drop(answer);
        std::future::pending().await
    }

    pub(super) async fn read_status(self) -> Result<StatusReply, Refusal> {
        self.ask(ask::Status).await.map(|it| *it)
    }

    pub(super) async fn read_feed(self, feed: Feed) -> Result<FeedPage, Refusal> {
        self.ask(ask::Feed(feed)).await
    }
}
