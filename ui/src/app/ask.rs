//! What the page asks of the repository in front.

use engram_model::{Code, Feed, FeedPage, Refusal, Reply, Request, StatusReply};

use super::{backend::strange, state::App};

impl App {
    /// Asks what changes nothing.
    pub(crate) async fn read(self, request: Request) -> Result<Reply, Refusal> {
        let backend = self.backend();
        self.for_front(backend.read(request)).await
    }

    /// Asks for a change. While another repository is on its way it would be made there.
    pub(crate) async fn change(self, request: Request) -> Result<Reply, Refusal> {
        if self.repositories.is_switching() {
            return Err(Refusal::new(
                Code::RepoUnavailable,
                "another repository is coming in front",
                "Nothing was changed; do it again once it is there.",
            ));
        }
        let backend = self.backend();
        self.for_front(backend.change(request)).await
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
        match self.read(Request::Status).await? {
            Reply::Status(status) => Ok(*status),
            _ => Err(strange(&"not a status")),
        }
    }

    pub(super) async fn read_feed(self, feed: Feed) -> Result<FeedPage, Refusal> {
        match self.read(Request::Feed(feed)).await? {
            Reply::Feed(page) => Ok(page),
            _ => Err(strange(&"not a page of the feed")),
        }
    }
}
