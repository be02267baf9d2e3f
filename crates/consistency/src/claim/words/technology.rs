//! Technologies by purpose. Two of one kind exclude each other if a claim names the one in use: a
//! service that keeps its data in PostgreSQL does not keep it in MySQL. One system may use
//! several of some kinds; for those, the claim must say that it names the only one.

use std::{collections::HashMap, sync::LazyLock};

/// The kinds, each with common names in lower case, without spaces, dots or hyphens.
const KINDS: &[(&str, &str)] = &[
    (
        "database",
        "postgresql, mysql, mariadb, sqlite, mongodb, dynamodb, cassandra, cockroachdb, oracle, \
         sqlserver, mssql, couchdb, firestore, spanner, clickhouse, snowflake, bigquery, \
         redshift, neo4j, duckdb, scylladb, tidb, influxdb",
    ),
    ("cache", "redis, memcached, valkey, dragonfly, hazelcast"),
    (
        "queue",
        "kafka, rabbitmq, nats, sqs, pulsar, activemq, zeromq, kinesis, redpanda, pubsub",
    ),
    (
        "search",
        "elasticsearch, opensearch, solr, meilisearch, typesense, algolia",
    ),
    (
        "language",
        "rust, python, java, kotlin, scala, typescript, javascript, go, golang, ruby, php, \
         elixir, erlang, haskell, clojure, swift, perl, elm, dart, c++, c#, ocaml, zig, lua, \
         julia, fsharp",
    ),
    (
        "frontend",
        "react, vue, angular, svelte, solid, ember, preact, leptos, yew, htmx, alpinejs",
    ),
    (
        "webframework",
        "django, flask, fastapi, rails, sinatra, express, nestjs, spring, springboot, laravel, \
         symfony, axum, actix, rocket, gin, echo, fiber, phoenix",
    ),
    (
        "siteframework",
        "nextjs, nuxt, remix, sveltekit, astro, hugo, jekyll, gatsby",
    ),
    (
        "cloud",
        "aws, azure, gcp, heroku, flyio, digitalocean, hetzner, linode, vercel, netlify, \
         render, railway",
    ),
    ("cdn", "cloudflare, fastly, akamai, cloudfront, bunny"),
    ("objectstore", "s3, gcs, minio, ceph, azureblob, r2"),
    ("orchestrator", "kubernetes, nomad, swarm, ecs, mesos"),
    (
        "infrastructure",
        "terraform, pulumi, cloudformation, opentofu, cdk, bicep",
    ),
    ("configuration", "ansible, chef, puppet"),
    (
        "pipeline",
        "githubactions, circleci, jenkins, gitlabci, travis, buildkite, drone, teamcity, \
         azurepipelines, tekton",
    ),
    (
        "format",
        "json, xml, yaml, toml, csv, protobuf, avro, messagepack, msgpack, plaintext, logfmt, \
         parquet, ini, html, markdown, cbor, bson, thrift",
    ),
    (
        "interface",
        "rest, graphql, grpc, soap, trpc, jsonrpc, xmlrpc, openapi",
    ),
    (
        "logs",
        "loki, splunk, datadog, cloudwatch, papertrail, graylog, newrelic, honeycomb",
    ),
    ("logshipper", "logstash, fluentd"),
    ("metrics", "prometheus, graphite, statsd, victoriametrics"),
    (
        "passwordhash",
        "bcrypt, argon2, argon2id, argon2i, scrypt, pbkdf2",
    ),
    (
        "hash",
        "sha256, sha1, sha512, sha384, md5, blake3, blake2, blake2b, xxhash, crc32, sha3, \
         murmur3, siphash",
    ),
    (
        "signature",
        "rs256, hs256, es256, eddsa, ed25519, ps256, rs512, hs512, es384",
    ),
    (
        "cipher",
        "aes256, aes128, aes, chacha20, aes256gcm, 3des, des, blowfish, xchacha20, aesgcm",
    ),
    (
        "compression",
        "gzip, zstd, brotli, lz4, snappy, bzip2, xz, deflate, lzma",
    ),
    (
        "login",
        "oauth, oauth2, saml, mtls, ldap, kerberos, basicauth, apikeys",
    ),
    (
        "tests",
        "pytest, unittest, nose, jest, vitest, mocha, jasmine, junit, testng, rspec, minitest, \
         phpunit, nextest",
    ),
    ("browsertests", "playwright, cypress, selenium"),
    ("bundler", "webpack, vite, parcel, turbopack, rspack, trunk"),
    // Other bundlers are built on these.
    ("bundlerpart", "rollup, esbuild"),
    ("packages", "npm, yarn, pnpm, bun"),
    ("pythonpackages", "pip, poetry, pipenv, conda, uv"),
    (
        "build",
        "maven, gradle, bazel, cmake, meson, sbt, ant, scons, buck",
    ),
    // CMake and Meson generate files for these.
    ("buildrunner", "make, ninja"),
    ("proxy", "nginx, haproxy, envoy, traefik, caddy, apache"),
    (
        "ids",
        "uuid, uuidv4, uuidv7, ulid, snowflakeid, nanoid, cuid, ksuid",
    ),
    ("runtime", "nodejs, node, deno, jvm, dotnet, wasmtime"),
    (
        "os",
        "ubuntu, debian, alpine, fedora, centos, rhel, archlinux, nixos, amazonlinux",
    ),
    // OIDC is built on OAuth, and both may issue JWTs. Sentry takes errors beside any log store.
    // Aurora is compatible with MySQL or PostgreSQL, TimescaleDB extends PostgreSQL, and OpenShift
    // extends Kubernetes.
    (
        TOOL,
        "tls, ssl, http, https, docker, podman, git, jwt, oidc, sentry, aurora, timescaledb, openshift",
    ),
];

/// Kinds that one system may use several of at once.
const TOGETHER: &[&str] = &[
    "webframework",
    "siteframework",
    "infrastructure",
    "configuration",
    "format",
    "interface",
    "logs",
    "logshipper",
    "metrics",
    "hash",
    "signature",
    "cipher",
    "compression",
    "login",
    "tests",
    "browsertests",
    "bundlerpart",
    "packages",
    "pythonpackages",
    "build",
    "buildrunner",
];

/// Whether one system may use several technologies of a kind; two claims then exclude each other
/// only if they say so.
pub(crate) fn live_together(kind: &str) -> bool {
    TOGETHER.contains(&kind)
}

/// Whether a kind becomes part of what is built with it; what is built with Node may run on another
/// technology.
pub(crate) fn is_part_of_product(kind: &str) -> bool {
    ["frontend", "webframework", "siteframework", "language"].contains(&kind)
}

/// Whether client and server agree on a kind for each response.
pub(crate) fn is_negotiated(kind: &str) -> bool {
    ["format", "compression"].contains(&kind)
}

/// Whether one of two names is a more specific form of the other: UUIDv7 is a UUID, AES-256 is AES.
pub(crate) fn is_form_of(one: &str, other: &str) -> bool {
    let longer = |name: &str, of: &str| {
        let rest = name.strip_prefix(of).unwrap_or_default();
        let mode = rest.starts_with(|it: char| it.is_ascii_digit() || "vbig".contains(it));
        mode || rest == "boot"
    };
    longer(one, other) || longer(other, one)
}

/// The kind of technologies that do not exclude each other.
pub(crate) const TOOL: &str = "tool";

/// Names that are also common words. They mean a technology only with a capital or in quotation
/// marks.
const COMMON: &str = "go, rest, make, echo, render, solid, express, oracle, spring, ant, rocket, gin, fiber, \
     swift, drone, parcel, trunk, nose, dart, elm, remix, ember, flask, chef, puppet, \
     swarm, nomad, railway, travis, apache, phoenix, hugo, bun, meson, ninja, buck, alpine, \
     node, des, aurora, spanner, snowflake, salt, rails, soap, bunny, dragonfly, julia, \
     zig, lua, crystal, astro, jest, cypress, poetry, conda";

/// Whether a name is also a common word.
pub(crate) fn is_common(folded: &str) -> bool {
    COMMON.split(", ").any(|it| it == folded)
}

/// The kind of technology of this name; `folded` is lower case without separators.
pub(crate) fn kind_of(folded: &str) -> Option<&'static str> {
    let one = || folded.strip_suffix('s').and_then(|it| NAMES.get(it));
    NAMES.get(folded).or_else(one).copied()
}

/// Whether a name is listed exactly as written: HTTPS is not the plural of HTTP.
pub(crate) fn is_listed(folded: &str) -> bool {
    NAMES.contains_key(folded)
}

static NAMES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let kinds = KINDS.iter();
    kinds
        .flat_map(|(kind, names)| names.split(", ").map(|it| (it, *kind)))
        .collect()
});

/// The main name of a technology that has several.
pub(crate) fn usual_name(folded: &str) -> &str {
    match folded {
        "postgres" | "pg" | "psql" => "postgresql",
        "mongo" => "mongodb",
        "k8s" => "kubernetes",
        "golang" => "go",
        "elastic" => "elasticsearch",
        "node" => "nodejs",
        "rustc" => "rust",
        "js" => "javascript",
        "reactjs" => "react",
        "vuejs" => "vue",
        "ghactions" => "githubactions",
        "yml" => "yaml",
        "msgpack" => "messagepack",
        "cockroach" => "cockroachdb",
        "oauth2" => "oauth",
        _ => folded,
    }
}

/// Whether two words form the name of a technology.
pub(crate) fn is_pair(first: &str, second: &str) -> bool {
    matches!(
        (first, second),
        ("github", "actions")
            | ("gitlab", "ci")
            | ("azure", "pipelines")
            | ("spring", "boot")
            | ("sql", "server")
            | ("google", "cloud")
            | ("docker", "swarm")
            | ("plain", "text")
            | ("basic", "auth")
            | ("api", "keys")
            | ("json", "rpc")
            | ("amazon", "linux")
            | ("azure", "blob")
            | ("pub", "sub")
            | ("victoria", "metrics")
            | ("ruby", "on")
    )
}

/// What technologies of a kind are called.
pub(crate) fn plural_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "database" => "databases",
        "cache" => "caches",
        "queue" => "message queues",
        "search" => "search engines",
        "language" => "languages",
        "frontend" => "front-end frameworks",
        "webframework" => "web frameworks",
        "siteframework" => "site frameworks",
        "cloud" => "cloud providers",
        "cdn" => "CDNs",
        "objectstore" => "object stores",
        "orchestrator" => "orchestrators",
        "infrastructure" => "infrastructure tools",
        "configuration" => "configuration tools",
        "pipeline" => "CI systems",
        "format" => "formats",
        "interface" => "kinds of API",
        "logs" => "log stores",
        "logshipper" => "log shippers",
        "metrics" => "metrics stores",
        "passwordhash" => "password hashes",
        "hash" => "hashes",
        "signature" => "signature algorithms",
        "cipher" => "ciphers",
        "compression" => "compressions",
        "login" => "ways to log in",
        "tests" => "test frameworks",
        "browsertests" => "browser test tools",
        "bundler" | "bundlerpart" => "bundlers",
        "packages" | "pythonpackages" => "package managers",
        "build" | "buildrunner" => "build tools",
        "proxy" => "proxies",
        "ids" => "kinds of id",
        "runtime" => "runtimes",
        "os" => "operating systems",
        _ => return None,
    })
}
