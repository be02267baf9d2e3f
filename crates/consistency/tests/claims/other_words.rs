//! Claims of two authors, who rarely choose the same words.

use crate::compare_in;

#[test]
fn values_of_one_thing_in_other_words_are_compared() {
    for (a, b, is_conflict) in [
        (
            "The gateway listens on port 8080.",
            "The gateway listens on port 9090 by default.",
            true,
        ),
        (
            "The request timeout is 30 s (config.go).",
            "The request timeout is 60 s.",
            true,
        ),
        (
            "`BOOT_REGION_SIZE` reserves 32 KiB of flash for the bootloader.",
            "At the beginning of flash, BOOT_REGION_SIZE reserves 48 KiB.",
            true,
        ),
        (
            "Never log the body of an order.",
            "Always log the body of an order for auditing.",
            true,
        ),
        // One number of each is the same, but of something else.
        (
            "The pool keeps 4 connections for tenant 8.",
            "The pool keeps 16 connections for tenant 4.",
            false,
        ),
        (
            "The index times out after 13 items in region 0.",
            "The index times out after 273 items in region 13.",
            false,
        ),
        // What both say first is only where it is.
        (
            "In the payment relay service, FrameArena has 16 MiB of room.",
            "In the payment relay service, the Parquet writer targets row groups of 128 MiB.",
            false,
        ),
        // Another thing, another action, another case.
        (
            "The search service allows 100 requests.",
            "The upload service allows 20 requests.",
            false,
        ),
        (
            "Health checks run every 10 seconds.",
            "Health checks time out after 2 seconds.",
            false,
        ),
        (
            "Sessions last 30 minutes when idle.",
            "Sessions last 8 hours.",
            false,
        ),
        (
            "`train.py` begins with a rate of 3.",
            "Right at the first step, `train_lora.py` begins with a rate of 5.",
            false,
        ),
        (
            "Always log the body of an order.",
            "Never log the body of an order in production.",
            false,
        ),
        (
            "Requests time out after 30 seconds.",
            "Requests to /export time out after 10 minutes.",
            false,
        ),
        (
            "Node metrics are scraped every 60 seconds.",
            "Metrics are scraped every 15 seconds.",
            false,
        ),
        (
            "Never log request bodies.",
            "Request bodies are logged in staging.",
            false,
        ),
        (
            "Comments are not indexed.",
            "Comments on public issues are indexed.",
            false,
        ),
        // Numbers that are names.
        ("Bug #12 is fixed.", "Bug #13 is not fixed.", false),
        ("Bug #12 is open.", "Bug #13 is closed.", false),
    ] {
        assert_eq!(
            compare_in(a, "net", b, "net").is_some(),
            is_conflict,
            "{a} | {b}"
        );
    }
}
