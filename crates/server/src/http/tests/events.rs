//! The journal as a stream of events.

use engram_model::Entry;
use tokio::io::AsyncBufReadExt;

use super::*;

#[tokio::test]
async fn entries_arrive_as_they_are_written_and_after_a_place() {
    let served = Served::new().await;
    served.post("/api/change", note("One.")).await;
    let mut live = served
        .connect(
            "GET /api/subscribe?after=0&token=TOKEN HTTP/1.1\r\nhost: HOST",
            b"",
        )
        .await;
    let (first, _) = event(&mut live).await;
    served.post("/api/change", note("Two.")).await;
    let (second, entries) = event(&mut live).await;
    assert!(second > first);
    assert_eq!(entries.len(), 1);
    drop(live);

    let head =
        format!("GET /api/subscribe?token=TOKEN HTTP/1.1\r\nhost: HOST\r\nlast-event-id: {first}");
    let mut again = served.connect(&head, b"").await;
    let (seq, resumed) = event(&mut again).await;
    assert_eq!((seq, resumed), (second, entries));
}

/// Reads the next event: its id, which is the position of its last entry, and its entries.
pub(super) async fn event(stream: &mut BufReader<TcpStream>) -> (u64, Vec<Entry>) {
    let (mut id, mut line) = (None, String::new());
    loop {
        line.clear();
        assert_ne!(
            stream.read_line(&mut line).await.unwrap(),
            0,
            "the stream ended"
        );
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.trim().parse().ok();
        }
        if let Some(text) = line.strip_prefix("data: ") {
            let entries: Vec<Entry> = serde_json::from_str(text).unwrap();
            assert_eq!(id, entries.last().map(|it| it.seq));
            return (id.unwrap(), entries);
        }
    }
}
