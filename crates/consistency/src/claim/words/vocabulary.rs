//! The tables of [`lexicon`](super::lexicon), with common words and their roles in a claim, and the
//! word lists of the parser. Words are separated by a comma and a space; if two rows list a word,
//! the first decides.

use super::lexicon::Meaning::{self, *};

/// Words in exactly this form, or phrases with single spaces.
pub(crate) const EXACT: &[(Meaning, &str)] = &[
    (
        Filled("place"),
        "lives in, live in, sits in, resides in, is found in",
    ),
    (
        Noise,
        "a, an, the, this, that, these, those, its, it, their, his, her, our, my, your, we, \
         they, he, she, i, you, and, as, so, then, than, there, which, who, where, what, how, \
         times, time, currently, now, today, always, usually, typically, automatically, \
         actually, exactly, just, only, exclusively, each other, itself, here, out, off of, also known as, \
         i.e, please, very, quite, own, such, up, in total, in parallel, at the moment, at \
         once, overall, whole, entire, given, same, until further notice, right now, or, 's, \
         any other, on end, any more, anymore, yet, already, still, actual, currently, \
         specific, see, cf, namely",
    ),
    (
        Preposition,
        "of, for, in, on, at, by, from, to, with, via, into, per, through, over, between, onto, \
         within, inside, after, since, using, behind, against, across, under, among, as well \
         as, for each, because of, due to, according to",
    ),
    (
        Light,
        "is, are, be, been, being, has, have, having, had, does, do, did, was, were, gets, get, \
         got, makes, make, takes, take, uses, use, used, run, runs, running, goes, go, comes, \
         come, must, must be, has to, have to, shall, gives, give, consists, set, sets, set to, \
         is set to, amounts, equals, remains, will always, uses up, done",
    ),
    (
        Open,
        "can, may, supports, support, depends, depend, compatible, either, one of, some of, any \
         of, works with, work with, contains, includes, contain, include",
    ),
    (
        Negation,
        "not, no, never, cannot, can't, isn't, aren't, doesn't, don't, didn't, won't, wasn't, \
         weren't, hasn't, haven't, mustn't, needn't, couldn't, neither, nor, none, no longer, \
         lacks, lack, lacking, fails to, will not, nothing, nowhere",
    ),
    (
        All,
        "all, every, each, everywhere, any, all of the, every single, all of, each of the, all \
         the",
    ),
    (NoneOf, "none of the, none of, no single"),
    (
        Some,
        "some, most, several, many, a few, few, certain, various, a number of, partly, \
         sometimes, often, rarely, mostly",
    ),
    (
        Except,
        "except, except for, apart from, but not, besides, other than, excluding",
    ),
    (
        Also,
        "also, additionally, too, another, in addition, moreover, likewise, extra, additional, \
         other, secondary",
    ),
    (
        Past,
        "previously, formerly, originally, initially, historically, used to, in the past, \
         until, once had, back then, at first, at the time, last year, last month, last week, \
         earlier, at one time",
    ),
    (
        Plan,
        "will, will be, going to, plan to, plans to, planned, planning, proposal, proposed, \
         propose, consider, considering, should, should be, might, could, would, intend, \
         intends, want to, wants to, todo, to-do, fixme, suggest, suggested, suggestion, idea, \
         recommend, recommended, recommends, we want, ought, wish, hope, upcoming, soon, next \
         release, next quarter, next year, let's, assume, assuming, suppose, hypothetically, \
         perhaps, maybe, probably, possibly, roadmap, eventually",
    ),
    (
        Example,
        "e.g, eg, for example, for instance, such as, example, examples, like for, tutorial",
    ),
    (
        Default,
        "default, defaults, by default, defaults to, default to, out of the box, unless \
         overridden, preset",
    ),
    (
        Condition,
        "as soon as, when, whenever, if, while, unless, during, under load, without, provided, in case, \
         only when, only if, even if, as long as, once, depending, whereas, as of",
    ),
    (
        About,
        "about, approximately, approx, roughly, around, nearly, almost, ~, ≈, circa, ca, some \
         about, an estimated",
    ),
    (
        Form(super::lexicon::Form::AtMost),
        "at most, up to, no more than, not more than, maximally, <=, ≤, or less, or fewer, or \
         lower, or older, or earlier, not exceed, not longer than, no longer than",
    ),
    (
        Form(super::lexicon::Form::AtLeast),
        "at least, no less than, no fewer than, not less than, >=, ≥, or more, or newer, or \
         later, or higher, or above, and up, and above, and later, and newer, minimally, or \
         greater, upwards",
    ),
    (
        Form(super::lexicon::Form::More),
        "more than, over, above, larger than, greater than, longer than, exceeding, bigger \
         than, higher than, beyond, >",
    ),
    (
        Form(super::lexicon::Form::Less),
        "less than, fewer than, under, below, smaller than, shorter than, lower than, <",
    ),
    (
        Alive(false),
        "deprecated, obsolete, discontinued, sunset, shut down, decommissioned, end of life, \
         eol, gone, retired, phased out, abandoned",
    ),
    (
        Alive(true),
        "current, still supported, still in use, still available, still exists, in use, still \
         used, still maintained, still works, supported, still active, still there, still \
         present, maintained, still live",
    ),
    (
        Concept("timeout"),
        "time out, times out, timed out, timing out, time-out, timeout, timeouts, gives up, \
         give up",
    ),
    (
        Concept("lasting"),
        "time to live, ttl, lifetime, life time, valid for, max age, retention, lifespan, stays \
         valid, stay valid, valid, live, lives, last, lasts, remain valid, remains valid",
    ),
    (
        Concept("idle"),
        "idle, idling, idleness, idle time, inactivity, silence, silent",
    ),
    (
        Concept("interval"),
        "period, interval, once every, frequency, periodically",
    ),
    (
        Concept("port"),
        "port, ports, listen, listens, listening, bind, binds, bound",
    ),
    (
        Concept("count"),
        "number of, count, number, amount, quantity, total",
    ),
    (
        Concept("retry"),
        "tried again, try again, tries again, retries, reattempted",
    ),
    // The first attempt is not a retry.
    (Concept("attempt"), "attempt, attempts, tries"),
    (
        Concept("parallel"),
        "at the same time, concurrently, simultaneously, concurrency, concurrent, parallelism",
    ),
    (
        Opposite("enable", true),
        "on, enabled, turned on, switched on, active, activated, true, enable, yes, turns on, \
         turn on",
    ),
    (
        Opposite("enable", false),
        "off, disabled, turned off, switched off, inactive, deactivated, false, disable, turns \
         off, turn off",
    ),
    (
        Opposite("mandatory", true),
        "required, mandatory, obligatory, compulsory, needs, requires, need, require, needed",
    ),
    (
        Opposite("mandatory", false),
        "optional, voluntary, not required, not mandatory",
    ),
    (Opposite("before", true), "before, prior to"),
    (Opposite("public", true), "public, publicly"),
    (Opposite("public", false), "private, privately"),
    (Opposite("sync", true), "sync, synchronous, synchronously"),
    (
        Opposite("sync", false),
        "async, asynchronous, asynchronously",
    ),
    (Opposite("present", true), "present"),
    (Opposite("present", false), "absent, missing"),
    (Opposite("state", true), "stateful"),
    (Opposite("state", false), "stateless"),
    (Opposite("loss", true), "lossy"),
    (Opposite("loss", false), "lossless"),
    (Opposite("manual", true), "manual, manually, by hand"),
    (Opposite("manual", false), "automatic"),
    (Opposite("static", true), "static, statically"),
    (Opposite("static", false), "dynamic, dynamically"),
    (Opposite("ascending", true), "ascending"),
    (Opposite("ascending", false), "descending"),
    (
        Opposite("serial", true),
        "sequential, sequentially, serially",
    ),
    (Opposite("strict", true), "strict, strictly"),
    (Opposite("strict", false), "lenient, leniently"),
    (Opposite("open", true), "open, opens, opened"),
    (Opposite("open", false), "closed, closes, close"),
    (Opposite("read-only", true), "read-only, readonly"),
    (
        Opposite("read-only", false),
        "writable, writeable, read-write",
    ),
    (Opposite("pass", true), "passes, pass, succeeds, succeed"),
    (Opposite("pass", false), "fails, fail, failing"),
    (
        Environment("production"),
        "production, prod, in prod, live system",
    ),
    (Environment("staging"), "staging, stage"),
    (
        Environment("development"),
        "development, dev, local, locally, on localhost",
    ),
    (
        Environment("test"),
        "qa, uat, test environment, in tests, testing environment, the tests",
    ),
    (Environment("sandbox"), "sandbox, demo"),
    (Environment("canary"), "canary, preview, beta environment"),
    (Environment("ci"), "ci"),
    (Environment("linux"), "linux"),
    (Environment("macos"), "macos, darwin, osx"),
    (Environment("windows"), "windows"),
    (Environment("android"), "android"),
    (Environment("ios"), "ios, ipados"),
    (Environment("arm64"), "arm64, aarch64"),
    (Environment("amd64"), "amd64, x86_64, x86-64"),
];

/// Words in all their forms.
pub(crate) const STEMMED: &[(Meaning, &str)] = &[
    (Concept("limit"), "limit, maximum, max, cap, ceiling"),
    (Concept("minimum"), "minimum, min"),
    (Concept("retry"), "retry"),
    (Concept("poll"), "poll, check"),
    (Concept("connection"), "conn"),
    (Concept("database"), "db, database"),
    (Concept("message"), "msg, message"),
    (Concept("request"), "req, request"),
    (Concept("authentication"), "auth, authn, authentication"),
    (Concept("repository"), "repo, repository"),
    (Concept("directory"), "dir, folder, directory"),
    (Concept("parallel"), "parallel"),
    (Concept("length"), "length, long"),
    (Concept("size"), "size"),
    (Opposite("allow", true), "allow, permit"),
    (Opposite("allow", false), "forbid, prohibit, disallow"),
    (Opposite("accept", true), "accept"),
    (Opposite("accept", false), "refuse, reject"),
    (Opposite("include", true), "include"),
    (Opposite("include", false), "exclude, omit"),
    (Opposite("mutable", true), "mutable"),
    (Opposite("mutable", false), "immutable"),
    (Opposite("valid", false), "invalid"),
    (Opposite("consistent", false), "inconsistent"),
    (
        Generic,
        "service, component, system, value, setting, option, parameter, variable, key, flag, \
         field, property, configuration, config, constant, env, environment, application, \
         feature, default value, entry, data, code, function, method, thing, item, \
         logic",
    ),
    (
        Light,
        "run, stay, remain, use, utilize, provide, perform, operate, happen, occur, configure, \
         say, mean, take, make, give, get, become, go",
    ),
    (Filled("write"), "write, implement"),
    (Filled("place"), "define, declare, locate, reside"),
    (Filled("deploy"), "deploy, host"),
    (Filled("store"), "persist, save, store"),
    (Filled("build"), "build, compile, bundle"),
    (Filled("manage"), "manage, provision"),
    (Filled("sign"), "sign"),
    (Filled("hash"), "hash"),
    (Filled("encrypt"), "encrypt"),
    (Filled("compress"), "compress"),
    (Filled("own"), "own, maintain"),
    (Filled("branch"), "branch, fork"),
    (Filled("publish"), "publish, emit"),
    (Filled("ship"), "ship, forward"),
    (Filled("log"), "log"),
    (Filled("answer"), "answer, respond, reply"),
    (Filled("compute"), "compute, derive, generate"),
    (Filled("speak"), "speak"),
    (Filled("back"), "power"),
    (End("expire"), "expire"),
    (End("delete"), "delete, purge, erase, discard, prune"),
    (End("remove"), "remove, drop, evict"),
    (End("release"), "release, unlock"),
    (End("close"), "close, terminate"),
    (End("invalidate"), "invalidate, revoke"),
    (Hold("keep"), "keep, retain, preserve"),
    (Hold("hold"), "hold"),
    (
        Change,
        "raise, lower, increase, decrease, bump, reduce, migrate, switch, change, upgrade, \
         downgrade, rename, replace, move, rewrite, convert",
    ),
    (
        Verb,
        "accept, reject, return, send, receive, read, fetch, load, flush, wait, start, stop, \
         begin, end, check, poll, listen, serve, expose, open, create, update, render, \
         validate, verify, parse, process, handle, trigger, call, scan, sync, refuse, block, \
         cache, retry, rotate, renew, refresh, limit, throttle, allow, permit, grant, deny, \
         lock, print, show, display, pin, attach, connect, resolve, restore, acknowledge, \
         preempt, panic, throw, fire, batch, shard, replicate, partition, transfer, carry, \
         negotiate, target, span, paginate, round, reach, mount, map, depend, exist, apply, \
         want, like, buffer, ask, carry, own, pay, enforce, support, cover, lag, grow, fail, \
         succeed, schedule, queue, bind, live",
    ),
];

/// The first word of an instruction, which states nothing.
pub(crate) const ORDERS: &str = "run, use, set, make, add, ensure, keep, try, please, do, don't, ignore, remember, \
     remove, avoid, prefer, disregard, note";
/// What a changelog or a commit says first, where it says what was done.
pub(crate) const CHANGES: &str = "add, added, adds, bump, bumped, bumps, fix, fixed, fixes, update, updated, updates, upgrade, \
     upgraded, upgrades, remove, removed, removes, drop, dropped, drops, rename, renamed, introduce, \
     introduced, release, released, deprecate, deprecated, implement, implemented, improve, improved, \
     clarify, clarified, refactor, refactored, increase, increased, decrease, decreased, reduce, \
     reduced, raise, raised, lower, lowered, merge, merged, revert, reverted, move, moved, replace, \
     replaced, switch, switched, migrate, migrated, enable, enabled, disable, disabled, track, \
     leverage";
/// Verbs of what happened once, unless "is" or "must be" precedes them.
pub(crate) const HAPPENED: &str = "passed, failed, contributed, happened, occurred, finished, completed, succeeded, crashed, took, \
     landed, shipped, arrived, began, started, went, came, ran, grew, fell, rose, dropped, increased, \
     decreased, improved";
/// The kinds of change that head an entry.
pub(crate) const HEADS: &str = "added, changed, fixed, removed, deprecated, breaking, feature, features, feat, fix, fixes, bug, \
     bugfix, chore, refactor, revert, change, changes, security";
/// Words for what a value may be at most or at least.
pub(crate) const BOUNDS: &str = "highest, lowest, maximum, minimum, largest, smallest, permitted, allowed, range, ranges, accepts, valid";
/// Words between a setting and what it is set to.
pub(crate) const LINKS: &str = "is, to, as, =, :, equals";
/// Words that may follow these but are not a value.
pub(crate) const UNSET: &str = "a, an, the, not, no, what, used, set, read, optional, required, mandatory, empty, unset, \
     absent, null, undefined, missing, never, always, only, also, now, still, how, why, where, when, \
     it, be";
/// Words that make a participle a state: "must have finished".
pub(crate) const AUXILIARIES: &str =
    "has, have, had, gets, get, once, after, until, when, if, already, that, which, of";
/// After one of these, "on" and "off" mean enabled and disabled.
pub(crate) const COPULAS: &str = "is, are, be, was, were, been, currently, turned, switched, not, isn't, aren't, =, stays, \
     remains, always";
/// Prepositions that the parser distinguishes; any other counts as "with".
pub(crate) const GOVERNING: &str = "from, in, at, for, after, within, by, to, of, per, on, inside, across, between, into, \
     over, under, behind";
/// Adjectives that narrow the subject, as participles do: "private keys".
pub(crate) const ATTRIBUTES: &str = "active, inactive, mandatory, optional, public, private, synchronous, asynchronous, \
     stateful, stateless, manual, automatic, static, dynamic, sequential, read-only, \
     writable, mutable, immutable, invalid, forbidden";
/// Words that, before a number, name a place of evidence: "line 43".
pub(crate) const EVIDENCE: &str = "line, lines, #, pr, issue, commit";
/// Prepositions that begin a circumstance before the subject.
pub(crate) const LEADS: &str =
    "on, in, with, for, under, during, within, at, since, from, before, after";
/// Nouns of things that a number distinguishes: step 9, shard 3.
pub(crate) const NUMBERED: &str = "number, step, phase, part, section, chapter, figure, case, rule, task, test, question, \
     example, entry, item, point, option, worker, node, shard, replica, instance, partition, \
     slot, batch, sprint, milestone, ticket, user, customer, claim, fact, note, record, row, \
     column";
/// Nouns of things that come one after the other, as the subject of a clause: "build 12 passed".
pub(crate) const SERIAL: &str = "build, migration, pipeline, job, run, deploy, deployment, attempt, round, iteration, epoch, \
     checkpoint, backup, snapshot, release, layer, block, chunk, page, issue, pr";
/// Nouns whose number is a value, not a label: "port number 80".
pub(crate) const WITH_NUMBERS: &str = "port, version, build, revision";

/// The words of a list.
pub(crate) fn words_of_list(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ")
}

/// Whether a list has a word.
pub(crate) fn list_has(list: &str, word: &str) -> bool {
    words_of_list(list).any(|it| it == word)
}
