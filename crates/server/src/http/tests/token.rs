//! The secret and its file.

use super::*;

#[tokio::test]
async fn a_kept_token_outlives_a_restart_and_only_the_owners_file_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(engine(folder.path()));
    let file = folder.path().join("token");
    let start = || {
        let options = HttpOptions {
            token_file: Some(file.clone()),
            ..HttpOptions::default()
        };
        listen_http(Arc::clone(&engine), options)
    };
    let token = |url: &str| url.split_once("#token=").unwrap().1.to_owned();
    let first = token(&start().await.unwrap().url);
    assert_eq!(first.len(), 64);
    assert_eq!(token(&start().await.unwrap().url), first);
    for bad in ["", "short", &"x".repeat(64), &"a".repeat(65)] {
        std::fs::write(&file, bad).unwrap();
        assert!(start().await.is_err(), "{bad:?}");
    }
    std::fs::write(&file, &first).unwrap();
    assert!(start().await.is_ok());
}

/// Anything else in the place of the token file is reported as not ours, and neither read nor
/// waited for.
#[cfg(unix)]
#[tokio::test]
async fn only_a_small_regular_file_of_the_owner_alone_keeps_a_token() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(engine(folder.path()));
    let at = |name: &str| folder.path().join(name);
    let token = "a".repeat(64);
    for (name, mode) in [("good", 0o600), ("group", 0o640), ("open", 0o604)] {
        std::fs::write(at(name), &token).unwrap();
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink(at("good"), at("link")).unwrap();
    symlink(at("nothing"), at("dangling")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(at("pipe"))
        .status();
    assert!(pipe.unwrap().success());
    let large = std::fs::File::create(at("large")).unwrap();
    large.set_len(1 << 40).unwrap();
    large
        .set_permissions(std::fs::Permissions::from_mode(0o600))
        .unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    for (name, why) in [
        ("good", ""),
        ("group", "other users can read it"),
        ("open", "other users can read it"),
        ("link", "not a file"),
        ("dangling", "not a file"),
        ("pipe", "not a file"),
        ("folder", "not a file"),
        ("/dev/zero", "not a file"),
        ("large", "not contain an Engram token"),
    ] {
        let options = HttpOptions {
            token_file: Some(at(name)),
            ..HttpOptions::default()
        };
        match listen_http(Arc::clone(&engine), options).await {
            Ok(server) => assert!(why.is_empty() && server.url.ends_with(&token), "{name}"),
            Err(refusal) => {
                assert!(
                    !why.is_empty() && refusal.message.contains(why),
                    "{refusal}"
                );
                assert!(refusal.hint.contains("mode 600"), "{refusal:?}");
            }
        }
    }
    let made = HttpOptions {
        token_file: Some(at("made")),
        ..HttpOptions::default()
    };
    listen_http(engine, made).await.unwrap();
    let mode = std::fs::metadata(at("made")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
