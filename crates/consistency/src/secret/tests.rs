//! Secrets are composed here, so that no scanner takes this file for a leak.

use proptest::prelude::*;

use super::{screen, screen_bytes};

/// Returns random-looking letters and digits, the same on each call.
fn noise(length: usize, alphabet: &str) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            letters[(state % letters.len() as u64) as usize]
        })
        .collect()
}

const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

fn mixed(length: usize) -> String {
    noise(length, MIXED)
}

/// Each secret, with the rule that must find it.
fn secrets() -> Vec<(&'static str, String)> {
    let jwt = ["ey", "J"].concat();
    vec![
        (
            "an AWS access key",
            ["AK", "IA", &noise(16, UPPER)].concat(),
        ),
        (
            "an AWS access key",
            ["AS", "IA", &noise(16, UPPER)].concat(),
        ),
        ("a GitHub token", ["gh", "p_", &mixed(36)].concat()),
        ("a GitHub app token", ["gh", "s_", &mixed(36)].concat()),
        (
            "a GitHub token",
            ["github", "_pat_", &mixed(22), "_", &mixed(59)].concat(),
        ),
        ("a GitLab token", ["gl", "pat-", &mixed(20)].concat()),
        (
            "a Slack legacy bot token",
            ["xo", "xb-123456789012-", &mixed(24)].concat(),
        ),
        (
            "a Slack webhook",
            [
                "https://hooks.sla",
                "ck.com/services/T0A1B2C3D/B0A1B2C3D/",
                &mixed(24),
            ]
            .concat(),
        ),
        (
            "a Stripe access token",
            ["sk_", "live_", &mixed(24)].concat(),
        ),
        (
            "a Stripe access token",
            ["rk_", "test_", &mixed(24)].concat(),
        ),
        ("a Google Cloud API key", ["AI", "za", &mixed(35)].concat()),
        (
            "a Google OAuth secret",
            ["GOC", "SPX-", &mixed(28)].concat(),
        ),
        (
            "an Anthropic API key",
            ["sk-", "ant-", "api03-", &mixed(93), "AA"].concat(),
        ),
        ("an OpenAI API key", ["sk-", "proj-", &mixed(48)].concat()),
        ("an OpenAI API key", ["sk", "-", &mixed(48)].concat()),
        ("an npm access token", ["np", "m_", &mixed(36)].concat()),
        (
            "a PyPI upload token",
            ["py", "pi-", "AgE", &mixed(80)].concat(),
        ),
        (
            "a Hugging Face access token",
            ["h", "f_", &mixed(34)].concat(),
        ),
        (
            "a SendGrid API token",
            ["S", "G.", &mixed(22), ".", &mixed(43)].concat(),
        ),
        (
            "a JSON web token",
            [
                &jwt,
                mixed(30).as_str(),
                ".",
                &jwt,
                &mixed(60),
                ".",
                &mixed(43),
            ]
            .concat(),
        ),
        (
            "a private key",
            ["-----BE", "GIN PRIVATE KEY-----"].concat(),
        ),
        (
            "a private key",
            ["-----BE", "GIN RSA PRIVATE KEY-----"].concat(),
        ),
        (
            "a private key",
            ["-----BE", "GIN OPENSSH PRIVATE KEY-----"].concat(),
        ),
        (
            "a private key",
            ["-----BE", "GIN PGP PRIVATE KEY BLOCK-----"].concat(),
        ),
    ]
}

/// The rule, the text before the secret, the secret, the text after it.
fn in_context() -> Vec<(&'static str, &'static str, String, &'static str)> {
    let connection = "a password in a connection string";
    let assigned = "a secret assigned to a name";
    vec![
        (
            connection,
            "postgres://app:",
            "hunter2horse".to_owned(),
            "@db.internal:5432/app",
        ),
        (
            connection,
            "DATABASE_URL=mysql://root:",
            "s3cr3tPw".to_owned(),
            "@127.0.0.1/x",
        ),
        (
            connection,
            "redis://:",
            "Tr0ub4dor&3".to_owned(),
            "@cache:6379",
        ),
        (
            connection,
            "https://bot:",
            mixed(20),
            "@git.example.org/x.git",
        ),
        (
            connection,
            "Server=db;User Id=sa;Password=",
            "Hunter2!x".to_owned(),
            ";Encrypt=true",
        ),
        (
            "an Azure storage account key",
            "AccountKey=",
            [mixed(86).as_str(), "=="].concat(),
            ";EndpointSuffix=x",
        ),
        (
            assigned,
            "password = \"",
            ["Tr0ub4", "dor&3x"].concat(),
            "\"",
        ),
        (assigned, "DB_PASSWORD=", mixed(16), "\n"),
        (assigned, "api_key: ", mixed(32), ""),
        (assigned, "\"apiKey\": \"", mixed(24), "\","),
        (assigned, "the token is ", mixed(24), "."),
        (assigned, "client_secret => '", mixed(40), "'"),
        (assigned, "export AWS_SECRET_ACCESS_KEY=", mixed(40), ""),
        (
            assigned,
            "SECRET_KEY = '",
            ["dj4ng0-", "in5ecure-", "k3y_1x9"].concat(),
            "'",
        ),
        (assigned, "auth_token=", noise(32, HEX), ""),
        (
            "an authorization header",
            "Authorization: Bearer ",
            mixed(40),
            "",
        ),
        (
            "an authorization header",
            "-H 'Authorization: Basic ",
            mixed(30),
            "'",
        ),
        (
            "a bearer token",
            "it sent bearer ",
            mixed(32),
            " to the host",
        ),
    ]
}

#[test]
fn credentials_are_found_wherever_they_stand() {
    for (rule, secret) in secrets() {
        for (before, after) in [
            ("", ""),
            ("It uses ", " in CI."),
            ("x=\"", "\""),
            ("(", ")"),
            ("é", "ü"),
            ("\n", "\r\n"),
        ] {
            let found = screen(&format!("{before}{secret}{after}"));
            let found = found.unwrap_or_else(|| panic!("{rule} {before:?} {after:?}"));
            assert_eq!(
                (found.rule, found.range.start),
                (rule, before.len()),
                "{before:?}"
            );
        }
    }
    for (rule, before, secret, after) in in_context() {
        for lead in ["", "We saw that ", "\n\t"] {
            let found = screen(&format!("{lead}{before}{secret}{after}"));
            let found = found.unwrap_or_else(|| panic!("{rule}: {before}"));
            assert_eq!(
                (found.rule, found.range.start),
                (rule, lead.len() + before.len()),
                "{before}"
            );
        }
    }
}

#[test]
fn no_rule_name_tells_a_secret() {
    for (_, secret) in secrets() {
        let found = screen(&secret).map(|it| it.rule).unwrap_or_default();
        assert!(!found.is_empty() && !secret.contains(found));
    }
}

#[test]
fn what_is_no_secret_passes() {
    let ids = [
        format!("token = {}", noise(40, HEX)),
        format!("secret digest: sha256:{}", noise(64, HEX)),
        format!("password_hash was sha256:{}", noise(64, HEX)),
        format!("token_commit: {}", noise(40, HEX)),
        format!("the secret is at commit {}", noise(40, HEX)),
        format!("repo:src/token.rs#L1-L9@{}", noise(40, HEX)),
        format!("artifact:secret.md@sha256:{}", noise(64, HEX)),
        "token: 01J9Z3N8M6W0X4V5Y7K2QHPRTA".to_owned(),
        "the upload is pypi-from-every-branch-that-passed-all-of-its-checks-once-more".to_owned(),
        "secret_id = 123e4567-e89b-42d3-a456-426614174000".to_owned(),
        "api_key = 123E4567-E89B-42D3-A456-426614174000".to_owned(),
        format!("AK{}IOSFODNN7EXAMPLE", "IA"),
        format!("gh{}{}", "p_", "x".repeat(36)),
        format!("sk-{}", "0".repeat(48)),
        format!("sk-ant-{}-...", "api03"),
        ["-----BE", "GIN PUBLIC KEY-----"].concat(),
        ["-----BE", "GIN CERTIFICATE-----"].concat(),
    ];
    let prose = [
        "",
        "Every call must carry a bearer token; without one it is refused.",
        "The loopback server needs a token: printed once, kept in the home.",
        "password: required, at least 12 characters",
        "The secret is that nobody reads the logs.",
        "The password was rotated yesterday by the on-call engineer.",
        "token = <token>",
        "token: ${GITHUB_TOKEN}",
        "password=$DB_PASSWORD",
        "api_key = os.environ[\"API_KEY\"]",
        "apiKey: process.env.OPENAI_API_KEY,",
        "api_key: {{ secrets.API_KEY }}",
        "API_KEY=your-api-key-here-123",
        "token=xxxxxxxxxxxxxxxxxxxx1",
        "password = ********",
        "secret = \"changeme123\"",
        "token: example-token-1234567890",
        "postgres://user:password@localhost/db",
        "postgres://app:${PGPASSWORD}@db/app",
        "postgres://app:<password>@db/app",
        "postgres://postgres:postgres@localhost:5432/postgres",
        "postgres://db.internal:5432/app",
        "https://example.com:8080/a@b",
        "see https://docs.example.com/auth#token:refresh-flow",
        "token = self.token_provider.next_token()",
        "let token = TokenKind::Identifier;",
        "let token: Option<AccessToken> = parse_token(input)?;",
        "secret: SecretString::from_environment_variable",
        "token_type: refresh_token_v2",
        "password_field = \"user_password_confirmation\"",
        "max_tokens = 1200",
        "tokens: 1200000000",
        "token_count is 12,345,678",
        "inline_tokens: o200k_base",
        "access_key = row.access_key_id",
        "api-key: /run/secrets/api_key_v2",
        "credentials: ~/.config/engram/credentials.toml",
        "api_key = ApiKeyProviderFactory.create",
        "The tokenizer is o200k_base; the secret screen runs before the store.",
        "The session token is stored at src/auth/session.rs#L120-L188.",
        "secret = settings.SECRET_KEY",
        "password = base64.b16encode(random_bytes[8:])",
        "credentials = standard_b64encode(credentials)",
        "secret = Xxh3Builder::new()",
        "InheritPrivateKey: X509RequestInheritOptions = 3",
        "private_key: repo:deploy/keys.rs#L10-L20@HEAD",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN_FROM_THE_VAULT",
        "sk-learn-style-estimators-are-used-in-the-pipeline",
        "risk-assessment_of_the_ledger-module-in-production",
        "ghp_ is the prefix of GitHub tokens; eyJ that of JWTs.",
        "AKIA keys have sixteen more characters.",
        "Das Passwort ist lang genug; der Schlüssel liegt im Tresor.",
        "トークンは期限切れです。",
    ];
    for text in ids.iter().map(String::as_str).chain(prose) {
        assert_eq!(screen(text), None, "{text}");
    }
}

#[test]
fn the_first_of_several_is_named() {
    let text = format!(
        "a {} b {}{}",
        ["gh", "p_", &mixed(36)].concat(),
        "AKI",
        noise(17, UPPER)
    );
    assert_eq!(
        screen(&text).map(|it| (it.rule, it.range.start)),
        Some(("a GitHub token", 2))
    );
}

#[test]
fn bytes_that_are_no_text_are_screened_too() {
    let secret = ["gh", "p_", &mixed(36)].concat();
    let mut bytes = vec![0xFF, 0x00, 0xFE];
    bytes.extend_from_slice(secret.as_bytes());
    bytes.push(0x80);
    assert_eq!(screen_bytes(&bytes).map(|it| it.range.start), Some(3));
}

/// At these lengths, quadratic work would take minutes.
#[test]
fn hostile_megabytes_are_screened_to_their_end() {
    for unit in [
        "a",
        "=",
        "password=",
        "eyJ",
        "://a:",
        "sk-",
        "bearer ",
        "AKIA",
        "token is ",
        " ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        ";pwd={a1b2;pwd=c3d4;",
        "password=Tr0ub4dor3 ",
        "password is abc-",
        "aB3-",
        "dp.pt.",
        "curl -u a:b ",
        "host=a user=b password=c ",
        "jdbc:a:?password=abcd ",
        "{\"private_key\": \"",
        "//a/:_auth=abcdef",
        "[masked: x] ",
        "[masked: ",
        "a\0",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        let _ = crate::find_secrets(text.as_bytes());
        let _ = screen(&text);
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Some(secret) = screen_bytes(&bytes) {
            prop_assert!(!secret.range.is_empty() && secret.range.end <= bytes.len());
        }
    }

    #[test]
    fn words_are_no_secret(words in prop::collection::vec("[a-z]{2,12}", 1..40)) {
        prop_assert_eq!(screen(&words.join(" ")), None);
        prop_assert_eq!(screen(&format!("the branch is {}", words.join("-"))), None);
    }

    #[test]
    fn a_token_in_any_text_is_found(before in "(?s).{0,80}", after in "(?s).{0,80}") {
        let secret = ["gh", "p_", &mixed(36)].concat();
        let text = format!("{before} {secret} {after}");
        prop_assert!(screen(&text).is_some());
    }
}
