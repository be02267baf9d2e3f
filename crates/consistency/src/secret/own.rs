//! Our own rules: cases that the maintained set leaves out because they need judgement, and the way
//! claims write secrets in sentences.
//!
//! Remove a rule here once the maintained set finds the same.

use super::{
    rules::Rule,
    value::{
        always, assigned_and_certain, assigned_and_long, assigned_and_no_digest, clearly_chosen,
        given_as_key, is_assigned_secret, is_credential, is_named_password, is_password, is_random,
        no_placeholder, words_as_password,
    },
};

/// What may follow the name itself: `password2`, `secret_key_base64`.
macro_rules! suffix {
    () => {
        r#"(?:[_.-]?(?:key|id|access[_-]?key|token|value|data|base64|base|[0-9]{1,2})){0,2}"#
    };
}

/// The end of the name and the separator before a value: `=`, `"]: "`, `is now`, `">`, `" value="`,
/// `", `.
macro_rules! sets {
    () => {
        r#"(?:["'],[ \t]{0,4}|["'`\])\\]{0,4}(?:\s{0,8}(?:=>|:=|===?|==|=|:)\s{0,8}|\s{1,8}(?:(?:(?:is|was|has been)\s{1,2})?(?:changed|set|reset|rotated|updated)\s{1,2}to|is|was|to)(?: now)?:?\s{1,8}|>|\s{1,4}value\s{0,2}=\s{0,2}))"#
    };
}

/// In quotes, anything without a space; without quotes, no characters that only code has.
macro_rules! value {
    ($least:literal) => {
        concat!(
            r#"(?:[@rbf]?\\?"([^"\s\\]{"#,
            $least,
            r#",})|[@rbf]?'([^'\s\\]{"#,
            $least,
            r#",})|["'`]{0,3}([^\s"'`,;<>(){}\[\]|]{"#,
            $least,
            r#",}))"#,
        )
    };
}

pub(crate) const RULES: &[Rule] = &[
    // Prefixes and forms that identify a token on their own; the maintained rules require more.
    Rule {
        judge: no_placeholder,
        ..random_rule(
            "an Anthropic API key",
            &["sk-ant-"],
            r"\b(sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,})",
        )
    },
    random_rule(
        "an OpenAI API key",
        &["sk-"],
        r"\b(sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,80}))(?:[^A-Za-z0-9_-]|$)",
    ),
    random_rule(
        "a GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b((?:gh[pousr]|github_pat)_[A-Za-z0-9_]{36,})",
    ),
    random_rule(
        "a Slack token",
        &["xox"],
        r"\b(xox[abeoprs]-(?:\d-)?\d[A-Za-z0-9-]{9,})",
    ),
    random_rule(
        "a JSON web token",
        &["ey"],
        r"\b(ey[A-Za-z0-9_-]{17,}\.ey[A-Za-z0-9_-]{17,}(?:\.[A-Za-z0-9_-]{0,})?)",
    ),
    random_rule(
        "a Google OAuth secret",
        &["gocspx-"],
        r"\b(GOCSPX-[A-Za-z0-9_-]{28})",
    ),
    random_rule(
        "a Google OAuth token",
        &["ya29."],
        r"\b(ya29\.[A-Za-z0-9_-]{30,})",
    ),
    random_rule(
        "a Firebase server key",
        &[":apa91b"],
        r"\b([A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,})",
    ),
    random_rule(
        "a Stripe webhook secret",
        &["whsec_"],
        r"\b(whsec_[A-Za-z0-9+/]{24,64}=?)",
    ),
    random_rule(
        "a Square OAuth secret",
        &["sq0csp-"],
        r"\b(sq0csp-[A-Za-z0-9_\\-]{40,})",
    ),
    random_rule(
        "a Braintree access token",
        &["access_token$"],
        r"\b(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})",
    ),
    random_rule("a Twilio API key", &["sk"], r"\b(SK[0-9a-fA-F]{32})\b"),
    random_rule(
        "a Mailchimp API key",
        &["-us"],
        r"\b([0-9a-f]{32}-us\d{1,2})\b",
    ),
    random_rule(
        "a Resend API key",
        &["re_"],
        r"\b(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24})\b",
    ),
    random_rule(
        "a Telegram bot token",
        &[":aa"],
        r"(?:\b|bot)(\d{8,10}:AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)",
    ),
    random_rule(
        "a Discord bot token",
        &["."],
        r"\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})(?:[^A-Za-z0-9_-]|$)",
    ),
    random_rule(
        "a Discord webhook",
        &["/api/webhooks/"],
        r"(https://[a-z.]{0,20}discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,80})",
    ),
    random_rule(
        "an Atlassian API token",
        &["atbb", "atctt3"],
        r"\b(AT(?:BB|CTT3)[A-Za-z0-9_=-]{28,})",
    ),
    random_rule(
        "a HubSpot access token",
        &["pat-"],
        r"\b(pat-(?:na|eu|ap)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b",
    ),
    random_rule(
        "a SonarQube token",
        &["squ_", "sqp_", "sqa_"],
        r"\b(sq[upa]_[0-9a-f]{40})\b",
    ),
    random_rule(
        "a Mapbox secret token",
        &["sk.eyj"],
        r"\b(sk\.eyJ[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{20,})",
    ),
    random_rule(
        "a Netlify access token",
        &["nfp_"],
        r"\b(nfp_[A-Za-z0-9]{36})\b",
    ),
    random_rule("a Klaviyo API key", &["pk_"], r"\b(pk_[0-9a-f]{34})\b"),
    random_rule(
        "a Honeycomb ingest key",
        &["hcaik_", "hcaic_", "hcalk_"],
        r"\b(hca[il][kc]_[0-9a-z]{32,64})\b",
    ),
    random_rule(
        "a LaunchDarkly key",
        &["sdk-", "api-"],
        r"\b((?:sdk|api)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b",
    ),
    random_rule(
        "a Twilio auth token",
        &["ac"],
        r"\bAC[0-9a-f]{32}:([0-9a-f]{32})\b",
    ),
    random_rule("a Mailgun API key", &["key-"], r"\b(key-[0-9a-f]{32})\b"),
    random_rule(
        "an Airtable token",
        &["pat"],
        r"\b(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b",
    ),
    random_rule(
        "an Asana token",
        &["1/", "2/"],
        r"(?:^|[^A-Za-z0-9/])([12]/\d{13,17}(?:/\d{13,17})?:[0-9a-f]{32})\b",
    ),
    random_rule(
        "a ClickUp token",
        &["pk_"],
        r"\b(pk_\d{6,10}_[A-Z0-9]{32})\b",
    ),
    random_rule("a Fireworks API key", &["fw_"], r"\b(fw_[A-Za-z0-9]{24})\b"),
    random_rule(
        "an Alibaba access key",
        &["ltai"],
        r"\b(LTAI[A-Za-z0-9]{17,21})\b",
    ),
    random_rule(
        "a Google refresh token",
        &["1//0"],
        r"\b(1//0[A-Za-z0-9_-]{40,})",
    ),
    random_rule(
        "an Amazon MWS token",
        &["amzn.mws."],
        r"\b(amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    ),
    random_rule(
        "a Dropbox token",
        &["sl."],
        r"\b(sl\.(?:u\.)?[A-Za-z0-9_-]{120,})",
    ),
    random_rule(
        "a PyPI upload token",
        &["pypi-age"],
        // A version 2 macaroon in base64; words may also be between the hyphens.
        r"\b(pypi-AgE[A-Za-z0-9_-]{50,})",
    ),
    random_rule(
        "a Rust registry API key",
        &["cio"],
        r"\b(cio[A-Za-z0-9]{32})\b",
    ),
    random_rule(
        "a Hugging Face access token",
        &["hf_"],
        r"\b(hf_[A-Za-z0-9]{30,60})\b",
    ),
    Rule {
        judge: always,
        ..random_rule(
            "a private key",
            &["putty-user-key-file", "private-lines", "ls0tls1crudjti"],
            // The last alternatives are those headers in base64.
            r"PuTTY-User-Key-File-\d|Private-Lines: \d+(?:\s+[A-Za-z0-9+/=]{2,})+|LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NI)[A-Za-z0-9+/=]+",
        )
    },
    Rule {
        judge: always,
        ..random_rule(
            "a private key",
            &["private key"],
            // The header is enough to find it; the body is masked too, as much of it as matches.
            r#"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:[\s"',+|>*#/]|\\[nrt])*[A-Za-z0-9+/=]{16,})*(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{1,15}(?:\s|\\[nr])*-----END)?"#,
        )
    },
    Rule {
        judge: is_password,
        ..random_rule(
            "a password in a connection string",
            &["://"],
            r#"(?i)\b[a-z][a-z0-9+.-]+://[^\s:/@'"<>`]*:([^\s/@'"<>`]{3,})@[a-z0-9\[]"#,
        )
    },
    Rule {
        judge: is_password,
        ..random_rule(
            "a password in a connection string",
            &["password", "pwd"],
            // Limited in length, since a match that may never close would be searched to the end
            // each time.
            concat!(
                r#"(?i)(?:;[ \t]?(?:password|pwd)[ \t]?=[ \t]?"#,
                r#"|jdbc:[a-z0-9]+:[^\s"'<>]+?[?&;]password="#,
                r#"|\b(?:host|hostaddr|dbname|user|port|sslmode)=[^\s'"]+[ \t]+(?:[a-z_]+=[^\s'"]+[ \t]+)*?password=)"#,
                r#"(?:"([^"\r\n]{4,})"|'([^'\r\n]{4,})'|\{((?:[^}\r\n]|\}\}){4,128})\}|([^;&\s'"{}<>]{4,}))"#,
            ),
        )
    },
    Rule {
        judge: is_password,
        ..random_rule(
            "a password in a connection string",
            &["jdbc:oracle:"],
            r#"(?i)jdbc:oracle:[a-z]+:[^\s"'/@]+/([^\s"'/@]{4,})@"#,
        )
    },
    Rule {
        judge: is_password,
        ..random_rule(
            "a password in a connection string",
            &["password=", "pwd="],
            r#"(?i)\b(?:password|pwd)=([^;\s'"<>]{4,});[ \t]?(?:server|data source|host|uid|user(?: id)?|database|initial catalog|port|encrypt|trusted?_?connection)[ \t]?="#,
        )
    },
    Rule {
        judge: is_credential,
        ..random_rule(
            "a password in a login file",
            &["machine ", ":_auth", ":_password"],
            r#"(?i)(?:\bmachine[ \t]\S+\s+login[ \t]\S+\s+password[ \t]|//[^\s"']+/:_(?:authToken|auth|password)[ \t]?=[ \t]?"?)([^\s"'$]{6,})"#,
        )
    },
    Rule {
        judge: is_random,
        ..random_rule(
            "a signed link",
            &["sig=", "signature="],
            r"(?i)[?&](?:sig|x-amz-signature|x-goog-signature)=([A-Za-z0-9%+/_=-]{40,})",
        )
    },
    Rule {
        judge: is_random,
        ..random_rule(
            "an authorization header",
            &["authorization"],
            r#"(?i)\bauthorization["']?\s{0,4}[:=,]\s{0,4}["']?(?:bearer|basic|token|api-?key|key|bot|jwt|ssws|geniekey|splunk)\s{1,4}([a-z0-9+/=._~:-]{12,})"#,
        )
    },
    Rule {
        judge: is_random,
        ..random_rule(
            "a bearer token",
            &["bearer"],
            r#"(?i)\bbearer\s{1,4}([a-z0-9+/=._~-]{20,})"#,
        )
    },
    Rule {
        judge: is_assigned_secret,
        ..random_rule(
            ASSIGNED,
            &["pass", "pwd", "_pw", ".pw", "key", "secret"],
            concat!(
                r#"(?i)(?:pass(?:word|wd|phrase|code)|[_.-]pass|\bpass|pwd|[_.-]pw|api[ _.-]?key|"#,
                r#"(?:access|account|admin|app|application|auth|cookie|deploy|encryption|hmac|jwt|licen[cs]e|master|private|"#,
                r#"root|secret|service|session|shared|signing|storage|webhook)[ _.-]?(?:access[ _.-]?)?(?:key|secret)|client[ _.-]?secret)"#,
                suffix!(),
                sets!(),
                value!(8),
            ),
        )
    },
    Rule {
        judge: is_named_password,
        ..random_rule(
            ASSIGNED,
            &["passw", "passphrase", "pwd"],
            concat!(
                r#"(?i)(?:pass(?:word|wd|phrase)|pwd)"#,
                suffix!(),
                sets!(),
                value!(6)
            ),
        )
    },
    Rule {
        judge: clearly_chosen,
        ..random_rule(
            ASSIGNED,
            &["passw", "passphrase", "storepass"],
            concat!(
                r#"(?i)\b(?:store)?pass(?:word|wd|phrase)?[ \t]{1,2}"#,
                value!(8)
            ),
        )
    },
    Rule {
        judge: given_as_key,
        ..random_rule(
            ASSIGNED,
            &["key"],
            // "the API key for the bot is 3fK…"
            concat!(
                r#"(?i)\b(?:api|admin|access|app|application|ingest|integration|license|master|private|service|signing)[ _-]key"#,
                r#"(?:(?:\s{1,2}[a-z'-]{1,16}){1,6}\s{1,2}(?:is|was|=)\s{1,2}|[ \t]{1,2}[("'`]?)"#,
                value!(15),
            ),
        )
    },
    Rule {
        judge: words_as_password,
        ..random_rule(
            ASSIGNED,
            &["passw", "passphrase"],
            // "the DB password is correct-horse-battery"
            concat!(
                r#"(?i)(?:pass(?:word|wd|phrase))"#,
                r#"(?:"#,
                sets!(),
                r#"|[ \t]["'`])["'`]?([a-z]{3,}(?:[-_.][a-z]{3,}){2,7})\b"#
            ),
        )
    },
    Rule {
        judge: assigned_and_no_digest,
        ..random_rule(
            ASSIGNED,
            &["secret", "token", "credential", "pat"],
            concat!(
                r#"(?i)(?:secret|token|credentials?|[_-]pat)"#,
                suffix!(),
                sets!(),
                value!(8)
            ),
        )
    },
    Rule {
        judge: assigned_and_no_digest,
        ..random_rule(
            ASSIGNED,
            &["pass", "secret", "token", "key"],
            // "with the password Tr0ub4dor&3"
            concat!(
                r#"(?i)\b(?:pass(?:word|wd|phrase|code)|secret|token|api[ _-]?key|access[ _-]key)[ \t]{1,2}"#,
                value!(8)
            ),
        )
    },
    Rule {
        judge: assigned_and_certain,
        ..random_rule(
            ASSIGNED,
            &["key", "auth"],
            concat!(
                r#"(?i)(?:key|auth)(?:[_-]data)?[0-9]{0,2}["'`\])\\]{0,4}\s{0,8}(?:=>|:=|==?|:)\s{0,8}"#,
                value!(15)
            ),
        )
    },
    Rule {
        judge: assigned_and_long,
        ..random_rule(
            ASSIGNED,
            &["key"],
            // A name such as `cache_key`, whose value is a digest, is matched first and captured in
            // place of its value, since a name is not a secret.
            concat!(
                r#"(?i)(?:((?:artifact|blob|block|build|cache|chunk|commit|content|dedup|digest|entry|file|foreign|group|hash|host|idempotency|index|"#,
                r#"item|lookup|map|natural|object|partition|primary|public|range|record|routing|row|shard|sort|state|tree|unique)[ _.-]?key)"#,
                r#"["'`\])\\]{0,4}\s{0,8}[:=]{1,2}>?\s{0,8}["'`]{0,3}[a-z0-9]{15,}"#,
                r#"|[a-z0-9]{2}[_.-]key["'`\])\\]{0,4}\s{0,8}(?:=>|:=|==?|:)=?\s{0,8}"#,
                value!(32),
                r#")"#,
            ),
        )
    },
    Rule {
        judge: is_assigned_secret,
        ..random_rule(
            "a secret given to a command",
            &["pass", "token", "secret", "key", "pwd", "auth"],
            concat!(
                r#"(?i)(?:^|[\s"'`(])(?:--?(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|pass|pwd|token|secret|api-?key|access-?key|auth|key)|sshpass -p)"#,
                r#"[ =]\s{0,3}"#,
                value!(8),
            ),
        )
    },
];

const ASSIGNED: &str = "a secret assigned to a name";

/// A rule with this pattern, whose value must also be varied.
const fn random_rule(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        name,
        pattern,
        keywords,
        group: 0,
        least: 0.0,
        unless: &[],
        only: &[],
        judge: is_random,
    }
}
