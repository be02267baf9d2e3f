//! A minimal server as a baseline for `cargo xtask bench`: one JSON-RPC line in, one line out, with
//! nothing between the pipe and the library.
//!
//! `bare store FOLDER BYTES` stores each request in its own durable transaction and answers with
//! that many bytes. `bare search FOLDER RECORDS` indexes a file of records, one JSON object per
//! line, by the words of their `claim`, and answers each `topic` with the `limit` best. It is never
//! part of the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fs,
    io::{BufRead, Write},
    path::Path,
};

use rusqlite::Connection;
use serde_json::{Value, json};
use tantivy::{
    Index, ReloadPolicy, TantivyDocument,
    collector::TopDocs,
    query::QueryParser,
    schema::{STORED, Schema, TEXT, Value as _},
};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["store", folder, bytes] => store(Path::new(folder), bytes.parse().unwrap()),
        ["search", folder, records] => search(Path::new(folder), Path::new(records)),
        _ => panic!("bare store FOLDER BYTES, or bare search FOLDER RECORDS"),
    }
}

/// Answers every line until the pipe is closed.
fn serve(mut answer: impl FnMut(&str, &Value) -> String) {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let request: Value = serde_json::from_str(&line).unwrap();
        let reply = answer(&line, &request);
        output.write_all(reply.as_bytes()).unwrap();
        output.flush().unwrap();
    }
}

fn store(folder: &Path, bytes: usize) {
    let database = Connection::open(folder.join("bare.db")).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database.pragma_update(None, "synchronous", "full").unwrap();
    database
        .execute_batch("CREATE TABLE kept (id INTEGER PRIMARY KEY, line TEXT NOT NULL)")
        .unwrap();
    serve(|line, request| {
        let transaction = database.unchecked_transaction().unwrap();
        transaction
            .prepare_cached("INSERT INTO kept (line) VALUES (?1)")
            .unwrap()
            .execute([line])
            .unwrap();
        transaction.commit().unwrap();
        let id = &request["id"];
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"kept":""#);
        let filler = bytes.saturating_sub(head.len() + 4);
        format!("{head}{:x<filler$}\"}}}}\n", "")
    });
}

fn search(folder: &Path, records: &Path) {
    let mut schema = Schema::builder();
    let claim = schema.add_text_field("claim", TEXT);
    let record = schema.add_text_field("record", STORED);
    let index = Index::create_in_dir(folder, schema.build()).unwrap();
    let mut writer = index.writer_with_num_threads(1, 50_000_000).unwrap();
    for line in fs::read_to_string(records).unwrap().lines() {
        let read: Value = serde_json::from_str(line).unwrap();
        let mut document = TantivyDocument::default();
        document.add_text(claim, read["claim"].as_str().unwrap());
        document.add_text(record, line);
        writer.add_document(document).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
    let searcher = reader.try_into().unwrap().searcher();
    let parser = QueryParser::for_index(&index, vec![claim]);
    serve(|_, request| {
        let arguments = &request["params"]["arguments"];
        let limit = arguments["limit"].as_u64().unwrap() as usize;
        let words = parser
            .parse_query(arguments["topic"].as_str().unwrap())
            .unwrap();
        let best = TopDocs::with_limit(limit).order_by_score();
        let found: Vec<String> = searcher
            .search(&words, &best)
            .unwrap()
            .into_iter()
            .map(|(_, at)| {
                let document: TantivyDocument = searcher.doc(at).unwrap();
                let text = document.get_first(record).unwrap();
                text.as_str().unwrap().to_owned()
            })
            .collect();
        // Twice, as MCP requires: as text, and as the structured content.
        let structured = format!(
            r#"{{"verdict":"strong","relaxed":false,"engrams":[{}]}}"#,
            found.join(",")
        );
        let id = &request["id"];
        let text = json!(structured);
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured},"isError":false}}}}"#
        ) + "\n"
    });
}
