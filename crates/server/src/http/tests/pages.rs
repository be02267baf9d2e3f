//! The files of the window.

use super::*;

#[tokio::test]
async fn the_page_is_served_and_nothing_beside_it() {
    let served = Served::new().await;
    for (path, status, kind) in [
        ("/", 200, "text/html"),
        ("/index.html", 200, "text/html"),
        ("/ui.wasm", 200, "application/wasm"),
        ("/secret", 404, ""),
        ("/../secret", 404, ""),
        ("/%2e%2e/secret", 404, ""),
        ("//etc/passwd", 404, ""),
        ("/./../secret", 404, ""),
    ] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: HOST");
        let (got, head, body) = served.ask(&head, b"").await;
        assert_eq!(got, status, "{path}: {body}");
        assert!(head.contains(kind), "{path}: {head}");
        assert!(!body.contains("not yours"), "{path}");
    }
}

/// A folder of pages, with files beside and inside it that are not pages.
#[cfg(unix)]
#[tokio::test]
async fn only_regular_files_inside_of_the_folder_are_served() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, text) in [
        ("outside/secret", "not yours"),
        ("ui/fonts/a.woff2", "a font"),
        ("ui/index.html", PAGE),
    ] {
        engram_kit::write(&at(name), text);
    }
    symlink(at("outside/secret"), at("ui/link")).unwrap();
    symlink("../outside", at("ui/folder")).unwrap();
    symlink("index.html", at("ui/inside.html")).unwrap();
    symlink("/dev/zero", at("ui/zero")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(at("ui/pipe"))
        .status();
    assert!(pipe.unwrap().success());
    let pages = Pages::Folder(at("ui"));
    // The folder itself may be a link, since the user named it.
    symlink(at("ui"), at("ui-by-link")).unwrap();
    let by_link = Pages::Folder(at("ui-by-link"));
    for pages in [pages, by_link] {
        let engine = engine(folder.path());
        let served = Served::over(engine, pages, Bounds::default(), ()).await;
        for (path, status) in [
            ("/", 200),
            ("/fonts/a.woff2", 200),
            ("/fonts", 404),
            ("/fonts/", 404),
            ("/fonts//a.woff2", 200),
            ("/link", 404),
            ("/folder/secret", 404),
            ("/inside.html", 404),
            ("/zero", 404),
            ("/pipe", 404),
            ("/../outside/secret", 404),
            ("/fonts/../../outside/secret", 404),
            ("/%2e%2e%2foutside%2fsecret", 404),
            ("/..%5coutside%5csecret", 404),
            ("/..\\outside\\secret", 404),
            ("/index.html%00", 404),
            ("/index.html\0", 400),
            ("/CON", 404),
        ] {
            let head = format!("GET {path} HTTP/1.1\r\nhost: HOST");
            let (got, _, body) = served.ask(&head, b"").await;
            assert_eq!(got, status, "{path}: {body}");
            assert!(!body.contains("not yours"), "{path}");
        }
        let absolute = format!(
            "GET /{} HTTP/1.1\r\nhost: HOST",
            at("outside/secret").display()
        );
        assert_eq!(served.ask(&absolute, b"").await.0, 404);
    }
}

/// A sparse file, far larger than memory.
#[tokio::test]
async fn a_file_of_gigabytes_is_read_as_it_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let large = std::fs::File::create(folder.path().join("large.wasm")).unwrap();
    large.set_len(1 << 40).unwrap();
    let pages = Pages::Folder(folder.path().to_owned());
    let engine = engine(folder.path());
    let served = Served::over(engine, pages, Bounds::default(), folder).await;
    let head = "GET /large.wasm HTTP/1.1\r\nhost: HOST";
    let mut stream = served.connect(head, b"").await;
    let mut some = vec![0; 4 * 1024 * 1024];
    stream.read_exact(&mut some).await.unwrap();
    let some = String::from_utf8_lossy(&some);
    assert!(some.contains(&format!("content-length: {}", 1_u64 << 40)));
    drop(stream);
    served.until_open(0).await;
}
