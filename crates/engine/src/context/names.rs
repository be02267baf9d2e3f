//! The names of agents, as people and agents read them. Names are compared by how they look: no
//! agent may have a name of Engram or of the user, and a name that an agent chose is distinguished
//! from one that a person gave.

use std::{collections::HashSet, sync::LazyLock};

use engram_gateway::quoted;
use engram_model::{
    AgentId, Code, Engram, Entry, ProjectId, Refusal, is_hidden, operation::Agent, shorten,
};
use engram_store::{Attribution, FamilyOf, NamesOf, Reader};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_security::skeleton;

/// The author of what the engine itself says.
pub(crate) const ENGINE: &str = "engram";

/// The names of Engram and of the user, and the empty name, folded. A `μ` looks like a u and reads
/// as an m.
static OURS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let ours = [
        "",
        "user",
        "the user",
        "by the user",
        "your user",
        "human",
        "the human",
        "you",
        "yourself",
        "owner",
        "the owner",
        "engram",
        "the engram",
        "engraμ",
        "the engraμ",
    ];
    ours.iter().flat_map(|it| readings(it)).collect()
});
/// The most signs of a name that are each read both ways.
const MAX_SIGNS: usize = 4;
/// Handles up to this length are shown in full even where a part would do.
const SHORT: usize = 16;
/// Marks a name that an agent gave to another agent whose handle is that name.
const BY_AN_AGENT: &str = "named by an agent";

/// Folds a name to how it looks: without case, accents, spaces, punctuation and invisible
/// characters. Digits and letters of other scripts become the Latin letters that they resemble. A
/// sign such as `$` may be read as a letter or passed over: there is a result for each reading.
fn readings(name: &str) -> Vec<String> {
    let plain = if name.is_ascii() {
        name.to_lowercase()
    } else {
        let seen = name.chars().filter(|it| !is_hidden(*it)).map(unframed);
        // Twice, because a capital may resemble a Latin letter when its small letter does not, and
        // vice versa.
        skeleton_of(&skeleton_of(&seen.nfkd().collect::<String>()))
    };
    let signs = plain.chars().filter(|it| is_sign(*it)).count();
    // With more signs, only the readings in which all are letters or none is.
    let choices: Vec<usize> = if signs <= MAX_SIGNS {
        (0..1 << signs).collect()
    } else {
        vec![0, usize::MAX]
    };
    choices.into_iter().map(|it| reading(&plain, it)).collect()
}

/// One reading of a folded name. The bits of `as_letters` say which of its signs are letters.
fn reading(plain: &str, as_letters: usize) -> String {
    let mut signs = 0;
    let is_read = |c: &char| {
        if !is_sign(*c) {
            return true;
        }
        signs += 1;
        as_letters >> (signs - 1).min(usize::BITS - 1) & 1 == 1
    };
    let letters = plain.chars().filter(is_read).map(lookalike_letter);
    let folded: String = letters.filter(|it| it.is_alphanumeric()).collect();
    // Pairs of letters that look like one letter.
    folded
        .replace("rn", "m")
        .replace("vv", "w")
        .replace('g', "q")
}

/// Whether this resembles a letter, but is not one.
fn is_sign(c: char) -> bool {
    !c.is_alphanumeric() && lookalike_letter(c).is_alphanumeric()
}

/// The skeleton of UTS 39 in lower case, without accents. UTS 39 treats a stroke through a letter
/// as an accent.
fn skeleton_of(name: &str) -> String {
    let unmarked: String = name.chars().filter(|it| !is_combining_mark(*it)).collect();
    skeleton(&unmarked)
        .filter(|it| !is_combining_mark(*it))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The letter in a white-on-black circle or square, or in half of a flag. Unicode itself decomposes
/// the other framed letters.
fn unframed(c: char) -> char {
    let alphabets = ['\u{1f150}', '\u{1f170}', '\u{1f1e6}'];
    let letter = alphabets
        .iter()
        .filter_map(|it| u32::from(c).checked_sub(u32::from(*it)))
        .find(|it| *it < 26);
    letter
        .and_then(|it| char::from_digit(it + 10, 36))
        .unwrap_or(c)
}

/// The letter that a digit, a sign or a letter of a skeleton resembles, where UTS 39 keeps them
/// apart. UTS 39 asks which glyphs are identical, but less is enough to deceive a reader. Covers
/// the letters of the names in [`OURS`], and `l` for every single stroke.
fn lookalike_letter(c: char) -> char {
    match c {
        '@' | '4' | 'ᴀ' | 'ʌ' => 'a',
        '3' | 'ᴇ' | 'ꞓ' | 'ɜ' | 'ҽ' | 'ᗴ' | 'ǝ' | 'ɘ' | 'э' | '∈' | '£' | '€' => {
            'e'
        }
        '9' | 'ɢ' => 'g',
        'ʜ' => 'h',
        '1' | '|' | '!' | 'i' => 'l',
        'ᴍ' | 'ʍ' => 'm',
        'ɴ' | 'π' | 'ᴎ' => 'n',
        '0' => 'o',
        'ʀ' | 'ɾ' | 'ᴙ' | 'ɹ' | '𝽰' => 'r',
        '5' | '$' | '§' | 'ᔕ' | 'ƨ' | 'ȿ' | 'ꞅ' => 's',
        '7' | 'ᴛ' => 't',
        'μ' | 'ц' | 'ʊ' | 'ᴜ' | '⊔' | 'น' | 'ᥙ' | '∐' | 'ᶙ' | 'ⴘ' => 'u',
        'ω' | 'ᴡ' => 'w',
        'ʏ' | 'ʎ' => 'y',
        other => other,
    }
}

/// Whether a name could be mistaken for Engram or the user.
pub(crate) fn is_reserved_name(name: &str) -> bool {
    let begins = |it: &String| OUR_BEGINNINGS.iter().any(|ours| it.starts_with(ours));
    readings(name)
        .iter()
        .any(|it| OURS.contains(it) || begins(it))
}

/// Beginnings, folded, that make a name look like the user's whatever follows.
const OUR_BEGINNINGS: [&str; 3] = ["theuser", "youtheuser", "theowner"];
/// The most characters of a name with its mark: where a name is cut, the mark is not.
const MAX_MARKED: usize = 40;

/// Refuses a name that could be mistaken for Engram or the user.
pub(crate) fn refuse_reserved_name(what: &str, name: &str) -> Result<(), Refusal> {
    if !is_reserved_name(name) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::SchemaInvalid,
        format!("{what} could be mistaken for Engram or the user"),
        "Use a name that says what the agent does, such as programmer-1.",
    ))
}

/// The name of an agent in records.
pub(crate) fn recorded_name(name: &str) -> String {
    // Invisible characters do not make a name different.
    let name: String = name.chars().filter(|c| !is_hidden(*c)).collect();
    let bare = name.strip_suffix(MARK).unwrap_or(&name);
    if is_reserved_name(bare) {
        return marked(bare.trim(), MARK);
    }
    name
}

/// The mark of an agent whose name could be mistaken for Engram or the user.
const MARK: &str = " (agent)";

/// A name with its mark.
fn marked(name: &str, mark: &str) -> String {
    // A cut name ends with one more character.
    let room = MAX_MARKED.saturating_sub(mark.chars().count() + 1);
    format!("{}{mark}", shorten(name, room)).trim().to_owned()
}

/// The author of a claim, as shown. Earlier builds stored the agent's own name for itself.
pub(crate) fn author_of(engram: &Engram) -> String {
    shown_name(engram.agent.as_ref(), &engram.provenance.created_by)
}

/// The author of an entry, as shown.
pub(crate) fn author_of_entry(attribution: &Attribution) -> String {
    shown_name(attribution.agent.as_ref(), &attribution.by)
}

/// Fills in the names shown in an entry of the feed. What the engine finds in an agent's write is
/// recorded with the agent's handle but under the engine's own name.
pub(crate) fn fill_shown_names(entry: &mut Entry) {
    if !entry.by.is_empty() && entry.by != ENGINE {
        entry.by = shown_name(entry.agent.as_ref(), &entry.by);
    }
    if let Some(engram) = entry.change.stored_mut() {
        engram.provenance.created_by = author_of(engram);
    }
}

/// The name to show for an author: never one in [`OURS`] for an agent; unchanged for the user and
/// the engine.
fn shown_name(agent: Option<&AgentId>, by: &str) -> String {
    match agent {
        Some(_) => recorded_name(by),
        None => by.to_owned(),
    }
}

/// The names in a project that no other agent may use.
pub(crate) struct TakenNames {
    agents: Vec<OwnedName>,
    /// The readings of the names that a person gave with claims and notes.
    said: HashSet<String>,
}

/// An agent that was opened, or that a person named.
struct OwnedName {
    handle: AgentId,
    /// The readings of the name and of the handle.
    looks: Vec<String>,
    is_given: bool,
}

impl TakenNames {
    pub(crate) fn of(tx: &Reader<'_>, project: ProjectId) -> Result<Self, Refusal> {
        let owner = |it: engram_store::NameOwner| OwnedName {
            looks: [readings(&it.label), readings(&it.handle.0)].concat(),
            handle: it.handle,
            is_given: it.is_given,
        };
        let said = tx.names(project, NamesOf::NoAgent)?;
        Ok(Self {
            agents: tx.name_owners(project)?.into_iter().map(owner).collect(),
            said: said.iter().flat_map(|it| readings(it)).collect(),
        })
    }

    /// Like [`recorded_name`], but distinguished from similar names: those that a person gave, and
    /// those of other opened agents. A name that a person gave to this agent is its own.
    pub(crate) fn distinguish(&self, agent: &Agent, name: &str) -> String {
        let name = recorded_name(name);
        let looks = readings(&name);
        let is_given = self.is_given(agent);
        if is_given
            && [&agent.label, &agent.handle.0]
                .iter()
                .any(|it| readings(it) == looks)
        {
            return name;
        }
        let is_taken = |owned: &OwnedName| {
            owned.handle != agent.handle && looks.iter().any(|it| owned.looks.contains(it))
        };
        let is_said = looks.iter().any(|it| self.said.contains(it));
        if !is_said && !self.agents.iter().any(is_taken) {
            return name;
        }
        let mark = if readings(&agent.handle.0) == looks && !is_given {
            BY_AN_AGENT
        } else {
            handle_ending(&agent.handle)
        };
        marked(&name, &format!(" ({mark})"))
    }

    /// Refuses a new name for an agent if somebody else has or had it, or one that looks like it:
    /// their claims would be listed under both. An agent may take back a name that it had, or that
    /// another connection of its `row` has.
    pub(crate) fn refuse_taken(
        &self,
        tx: &Reader<'_>,
        agent: &Agent,
        row: &[AgentId],
        name: &str,
    ) -> Result<(), Refusal> {
        let looks = readings(name);
        let resembles = |names: &[String]| {
            names
                .iter()
                .any(|it| readings(it).iter().any(|it| looks.contains(it)))
        };
        let is_owned = |owned: &OwnedName| {
            !row.contains(&owned.handle) && looks.iter().any(|it| owned.looks.contains(it))
        };
        let is_said = looks.iter().any(|it| self.said.contains(it));
        let is_taken = is_said
            || self.agents.iter().any(is_owned)
            || (!resembles(&tx.names(agent.project, NamesOf::Agent(&agent.handle))?)
                && resembles(&tx.names(agent.project, NamesOf::OthersThan(&agent.handle))?));
        if !is_taken {
            return Ok(());
        }
        let whose = match self.other_of_name(tx, agent, row, &looks)? {
            Some(other) => format!(
                "the name {} is taken: the agent {} ({}) has or had it, or one that looks like it",
                quoted(name),
                quoted(&recorded_name(&other.label)),
                other.handle.0
            ),
            None => format!(
                "the name {} is taken: a person signed with it, or with one that looks like it",
                quoted(name)
            ),
        };
        Err(Refusal::new(
            Code::SchemaInvalid,
            whose,
            "Choose a name that nobody had here: claims are listed by the names of their authors, also old ones.",
        ))
    }

    /// The agent that has or had a name with one of these readings, other than those of the row.
    fn other_of_name(
        &self,
        tx: &Reader<'_>,
        agent: &Agent,
        row: &[AgentId],
        looks: &[String],
    ) -> Result<Option<Agent>, Refusal> {
        let is_like = |name: &String| readings(name).iter().any(|it| looks.contains(it));
        for other in tx.family(agent.project, FamilyOf::Everybody, usize::MAX)? {
            let is_own = other.handle == agent.handle || row.contains(&other.handle);
            let names = tx.names(agent.project, NamesOf::Agent(&other.handle))?;
            if !is_own && (is_like(&other.handle.0) || names.iter().any(is_like)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Whether a person named this agent. An agent that calls for the first time is in no table
    /// yet.
    fn is_given(&self, agent: &Agent) -> bool {
        let known = self.agents.iter().find(|it| it.handle == agent.handle);
        let is_new_given = || agent.client.is_some() || agent.is_named_by_handle();
        known.map_or_else(is_new_given, |it| it.is_given)
    }
}

/// [`TakenNames::distinguish`], for one name.
pub(crate) fn distinct_name(tx: &Reader<'_>, agent: &Agent, name: &str) -> Result<String, Refusal> {
    Ok(TakenNames::of(tx, agent.project)?.distinguish(agent, name))
}

/// The part of a handle that distinguishes agents with the same name: the handles that the engine
/// makes up end in random characters.
fn handle_ending(handle: &AgentId) -> &str {
    let from = handle.0.char_indices().rev().nth(5).map_or(0, |it| it.0);
    if handle.0.chars().count() > SHORT {
        handle.0.get(from..).unwrap_or_default()
    } else {
        &handle.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_whole_however_long_the_name() {
        for mark in [MARK.to_owned(), format!(" ({BY_AN_AGENT})")] {
            for name in ["ada", &"the user . ".repeat(20)] {
                let marked = marked(name, &mark);
                assert!(marked.ends_with(&mark), "{marked}");
                assert!(marked.chars().count() <= MAX_MARKED, "{marked}");
            }
        }
    }

    #[test]
    fn a_name_is_ours_however_it_is_written() {
        for name in [
            "user",
            "the user",
            "The User",
            "USER",
            "ｕｓｅｒ",
            "ｔｈｅ　ｕｓｅｒ",
            "usеr",
            "uѕer",
            "υser",
            "you.",
            "You",
            "yоu",
            "engram",
            "Engram",
            "еngrаm",
            "engrarn",
            "en-gram",
            "u.s.e.r",
            "𝐮𝐬𝐞𝐫",
            "usér",
            "the\u{200b} user",
            "u\u{e0073}ser",
            "(user)",
            "\"user\"",
            "  ",
            "us3r",
            "ᴜꜱᴇʀ",
            "u§er",
            "usɘr",
            "us∈r",
            "usЭr",
            "ᥙser",
            "∐ser",
            "£ngram",
            // Lisu, Cherokee, Canadian syllabics, Coptic, Greek.
            "ꓴꓢꓰꓣ",
            "ꓬꓳꓴ",
            "ᏌᏚᎬᎡ",
            "Ꮜꮪꭼꭱ",
            "ᎩᎾᏌ",
            "ᑌᔕᗴᖇ",
            "ⲟwner",
            "μser",
            "µser",
            "USΕR",
            "engraμ",
            "eηgram",
            // Strokes, accents and signs.
            "øwner",
            "ɎØᵾ",
            "us€r",
            "u$er",
            "∪ser",
            "us\u{345}er",
            // Circles, squares, flags.
            "ⓤⓢⓔⓡ",
            "🅤🅢🅔🅡",
            "🅄🅂🄴🅁",
            "🇺🇸🇪🇷",
            // Capitals that resemble other letters than their small letters do.
            "ТНЕ ЦЅЕЯ",
            "ЕNGRАМ",
            "tнe uѕer",
            "eпgram",
            "0wner",
            "the owner",
            // Signs that are letters, and signs around a name.
            "you!",
            "The user!",
            "engram!",
            "user$",
            "|user|",
            "us|er",
            "@user",
            "@you",
            "@engram",
            "$u$er!",
            "!!!!!user",
            "user!?",
        ] {
            assert!(is_reserved_name(name), "{name}");
        }
        for name in [
            "programmer-1",
            "user-tests",
            "reviewer",
            "users",
            "Юрий",
            "engram-dev",
            "Zoë",
            "小林",
            "claude-code",
            "yours",
            "Ωmega",
            "μ-kernel",
            "ᏣᎳᎩ",
            "bruger-tests",
            "agent",
        ] {
            assert!(!is_reserved_name(name), "{name}");
        }
    }
}
