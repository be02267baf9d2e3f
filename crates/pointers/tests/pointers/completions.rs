//! What a person is offered while they type a pointer.

use engram_pointers::completions;

use crate::fixture::Fixture;

const RUST: &str = "mod tests {\n    #[test]\n    fn a_lock_is_held() {}\n    fn helps() {}\n    #[test]\n    fn a_lock_is_let_go() {}\n}\n";
const SCRIPT: &str = "describe('retries', () => {\n  it('backs off twice', () => {});\n});\n";

#[test]
fn files_and_the_names_of_tests_are_completed() {
    let fixture = Fixture::with(&[
        ("src/lock.rs", RUST.as_bytes()),
        ("src/unlock.rs", b"fn main() {}\n"),
        ("src/deep/blocks/mod.rs", b"\n"),
        ("web/retry.test.ts", SCRIPT.as_bytes()),
        ("odd #1.md", b"# One\n"),
    ]);
    let repo = fixture.repo();
    for (typed, want) in [
        (
            "lock",
            &[
                "repo:src/lock.rs@HEAD",
                "repo:src/unlock.rs@HEAD",
                "repo:src/deep/blocks/mod.rs@HEAD",
            ][..],
        ),
        ("repo:src/UN", &["repo:src/unlock.rs@HEAD"]),
        ("artifact:odd", &["artifact:odd %231.md@HEAD"]),
        (
            "test:lock.rs",
            &["test:src/lock.rs::", "test:src/unlock.rs::"],
        ),
        (
            "test:src/lock.rs::lock_is_h",
            &["test:src/lock.rs::a_lock_is_held@HEAD"],
        ),
        (
            "test:web/retry.test.ts::back",
            &["test:web/retry.test.ts::backs off twice@HEAD"],
        ),
        ("test:src/lock.rs::nothing", &[]),
        ("nothing", &[]),
        ("repo:src/lock.rs#L1", &[]),
        ("repo:src/lock.rs@HE", &[]),
        ("", &[]),
        ("repo:", &[]),
    ] {
        assert_eq!(completions(&repo, typed).unwrap(), want, "{typed}");
    }
    // Each name that is offered resolves.
    for offered in completions(&repo, "test:src/lock.rs::").unwrap() {
        assert!(fixture.resolve(&offered).is_ok(), "{offered}");
    }
    assert!(completions(&repo, "test:src/gone.rs::a").is_err());
}
