//! Measures what screening and parsing claims cost, and which lines the screen refuses in code that
//! was not written to test it.
//!
//! `cargo run --release -p engram-consistency --example cost` prints times and memory;
//! `... --example cost -- FOLDER...` counts and prints the refused lines of the sources in these
//! folders. Never part of the product.
#![allow(clippy::unwrap_used)]

use std::{fs, hint::black_box, path::Path, time::Instant};

use engram_consistency::{
    claim::Claim,
    find_secrets, screen, screen_bytes,
    tier::{self, Said},
};
use engram_model::FactType;

fn main() {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    if folders.is_empty() {
        return times();
    }
    let (mut all, mut refused) = (0, 0);
    for folder in &folders {
        lines(Path::new(folder), &mut all, &mut refused);
    }
    println!("{refused} of {all} lines are refused");
}

fn times() {
    let prose = "The ledger keeps each booking as two rows of one table, and a nightly run \
        closes what is older than ninety days. It walks by account, writes one sum, and \
        removes nothing: a row that is closed stays where it was, since an audit reads them \
        in order. What fails is tried anew on the following night and told on call. ";
    let quiet: String = prose.chars().cycle().take(500).collect();
    let named = format!(
        "{} The session token is checked in src/auth.rs.",
        &quiet[..450]
    );
    let leak = format!(
        "{} It logs in by password=\"Tr0ub4dor&{}x\".",
        &quiet[..450],
        3
    );
    println!("at rest: {} KB", resident());
    time("no characters, the very first", 1, || screen("").is_some());
    time("500 characters, first", 1, || screen(&quiet).is_some());
    time("500 characters", 10_000, || screen(&quiet).is_some());
    time("500 characters that name a token, first", 1, || {
        screen(&named).is_some()
    });
    time("500 characters that name a token", 10_000, || {
        screen(&named).is_some()
    });
    time("500 characters with a password, first", 1, || {
        screen(&leak).is_some()
    });
    time("500 characters with a password", 10_000, || {
        screen(&leak).is_some()
    });
    claims();
    let code: String = {
        let mut text = String::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        read(&root, &mut text);
        text.chars().cycle().take(16 << 20).collect()
    };
    let wide: Vec<u8> = code[..8 << 20].bytes().flat_map(|b| [b, 0]).collect();
    let binary: Vec<u8> = (0u32..4 << 20)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    time("16 MB of sources", 1, || {
        screen_bytes(code.as_bytes()).is_some()
    });
    time("16 MB of sources, all that is found", 1, || {
        find_secrets(code.as_bytes()).is_empty()
    });
    time("16 MB of UTF-16", 1, || screen_bytes(&wide).is_some());
    time("16 MB of random bytes", 1, || {
        screen_bytes(&binary).is_some()
    });
    for unit in [
        "password=",
        "key: ",
        "eyJ",
        "://a:",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "curl -H ",
        "token is ",
        "a.b.c.d@",
        "key key=key \"",
        "datadog twitter discord = ",
        "secret_key_token_",
        "curl -u a:b ",
        "[masked: x] ",
        "host=a user=b ",
        "cloudinary key ",
        "mongodb://a:b@c/",
        "dp.pt.",
        "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "password=Tr0ub4dor3 ",
    ] {
        let text = unit.repeat((16 << 20) / unit.len());
        time(&format!("16 MB of {unit:?}"), 1, || {
            find_secrets(text.as_bytes()).is_empty()
        });
    }
}

/// Measures the rules: each claim is parsed once, and compared with each claim that shares a key.
fn claims() {
    let first = "The auth service rate-limits to 1000 requests per second per IP, set by AUTH_RATE_LIMIT in .env.";
    let second = "Clients of the auth service are limited to 2000 requests a second per IP.";
    time("a claim read", 10_000, || {
        Claim::read(first).statements.is_empty()
    });
    let (a, b) = (Claim::read(first), Claim::read(second));
    let said = |claim| Said {
        claim,
        topic: "auth",
        fact_type: FactType::Observation,
        confidence: 0.9,
        valid_from: jiff::Timestamp::UNIX_EPOCH,
        valid_until: None,
    };
    time("its keys", 10_000, || {
        tier::claim_keys(&a, "auth").asked.is_empty()
    });
    time("two claims compared", 10_000, || {
        tier::compare(&said(&a), &said(&b)).is_some()
    });
}

fn time(what: &str, times: u32, ask: impl Fn() -> bool) {
    let begun = Instant::now();
    for _ in 0..times {
        black_box(ask());
    }
    let each = begun.elapsed() / times;
    println!("{what}: {each:?}; {} KB are held", resident());
}

/// The memory that this process holds, if the system reports it.
fn resident() -> String {
    let status = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let private = status.lines().find(|it| it.starts_with("Pss_Anon:"));
    private
        .unwrap_or("unknown")
        .replace("Pss_Anon:", "")
        .replace("kB", "")
        .trim()
        .to_owned()
}

fn sources(path: &Path) -> Vec<std::path::PathBuf> {
    let hidden = |it: &Path| {
        it.file_name()
            .is_some_and(|it| it.to_string_lossy().starts_with('.'))
    };
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    let mut inside: Vec<_> = inside
        .map(|it| it.path())
        .filter(|it| !hidden(it))
        .collect();
    inside.sort();
    inside
}

fn is_source(path: &Path) -> bool {
    let kind = path.extension().unwrap_or_default().to_string_lossy();
    [
        "rs", "md", "toml", "lock", "css", "js", "html", "sql", "json", "c", "h", "py", "txt",
    ]
    .contains(&&*kind)
}

fn read(path: &Path, text: &mut String) {
    for path in sources(path) {
        if path.is_dir() {
            read(&path, text);
        } else if is_source(&path) {
            text.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

fn lines(path: &Path, all: &mut usize, refused: &mut usize) {
    for path in sources(path) {
        if path.is_dir() {
            lines(&path, all, refused);
        } else if is_source(&path) {
            for (at, line) in fs::read_to_string(&path)
                .unwrap_or_default()
                .lines()
                .enumerate()
            {
                *all += 1;
                if let Some(secret) = screen(line) {
                    *refused += 1;
                    let shown: String = line.chars().take(160).collect();
                    println!("{}:{}: {}: {shown}", path.display(), at + 1, secret.rule);
                }
            }
        }
    }
}
