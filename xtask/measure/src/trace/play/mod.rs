//! Decides who does what in which turn. A seed determines everything: nothing depends on the time,
//! or on an id from the product.

mod messages;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    clone::{Item, SourceFile},
    record::{At, CallMade, GivenGrant, Turn, file_of},
    team::{AnswerOrRefusal, Team},
    wrong::{OF_CHILD, OF_PARENT},
};
use crate::accuracy::Chance;

/// A child's turns between two reports.
const REPORTS: usize = 4;
/// The number of files that the parent sends at once.
const PACK: usize = 6;
/// The number of repository spans in a turn.
const SPANS: usize = 3;

pub(crate) struct Play<'a> {
    team: Team,
    sources: &'a [SourceFile],
    /// The number of each file, by path.
    numbers: BTreeMap<&'a str, usize>,
    /// The files in which each name occurs, except the one that declares it.
    used: BTreeMap<&'a str, Vec<usize>>,
    /// The text from which pages are cut.
    prose: String,
    chance: Chance,
    /// The state of each agent's work.
    work: Vec<Work>,
    /// Requests that wait for an answer, in order.
    waiting: Vec<ReadRequest>,
    refusals: usize,
    calls: Vec<CallMade>,
}

/// The state of an agent's work.
#[derive(Default)]
struct Work {
    /// Its files, and how many of them it was pointed to and has read.
    files: Vec<usize>,
    told: usize,
    read: usize,
    turns: usize,
    /// The items that it may report next.
    found: Vec<(usize, Item)>,
    /// Pointers to read again after a grant or a denial.
    again: Vec<RepeatedRead>,
    /// The id and number of the refusal that its next message answers.
    refused: Option<(String, usize)>,
}

/// A pointer to read again, with the token of its grant if a message carried one.
struct RepeatedRead {
    at: At,
    token: Option<String>,
}

/// A request to read.
struct ReadRequest {
    id: String,
    agent: usize,
    at: At,
}

impl<'a> Play<'a> {
    pub(crate) fn new(team: Team, sources: &'a [SourceFile], seed: u64) -> Self {
        let mut chance = Chance(seed);
        let mut files: Vec<usize> = (0..sources.len()).collect();
        for at in (1..files.len()).rev() {
            files.swap(at, chance.below(at + 1));
        }
        let mut work: Vec<Work> = team.agents.iter().map(|_| Work::default()).collect();
        let children = work.len() - 1;
        for (at, file) in files.into_iter().enumerate() {
            // The parent may read every file.
            work[0].files.push(file);
            work[1 + at % children].files.push(file);
        }
        let prose = sources.iter().filter(|it| it.path.ends_with(".md"));
        let prose: Vec<&str> = prose
            .flat_map(|it| it.text.lines())
            .filter(|it| it.len() > 80 && !it.contains(['`', '|', '#']))
            .collect();
        Self {
            team,
            numbers: sources.iter().map(|it| it.path.as_str()).zip(0..).collect(),
            used: files_by_name(sources),
            prose: prose.join(" "),
            sources,
            chance,
            work,
            waiting: Vec::new(),
            refusals: 0,
            calls: Vec::new(),
        }
    }

    pub(crate) fn finish(self) -> Team {
        self.team
    }

    /// Plays one turn of the next agent.
    pub(crate) fn turn(&mut self, turn: usize) -> Result<Turn> {
        let agent = turn % self.team.agents.len();
        self.team.begin(agent, turn)?;
        self.work[agent].turns += 1;
        match agent {
            0 => self.play_lead()?,
            child => self.play_child(child)?,
        }
        Ok(Turn {
            turn,
            agent: self.team.agents[agent].name.clone(),
            calls: std::mem::take(&mut self.calls),
        })
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.chance.below(many) == 0
    }

    /// Returns a page of prose from a random place, with more tokens than a message may have.
    fn page(&mut self) -> String {
        let from = self.chance.below(self.prose.len() / 2);
        let from = self.prose.ceil_char_boundary(from);
        let end = self.prose.floor_char_boundary(from + 6_000);
        self.prose[from..end].to_owned()
    }

    /// Returns lines of code from one of the agent's files.
    fn code(&mut self, agent: usize) -> Vec<&'a str> {
        let files = &self.work[agent].files;
        let from = self.chance.below(files.len());
        let sources = self.sources;
        let mut code = (from..from + files.len())
            .map(|at| sources[files[at % files.len()]].code())
            .filter(|it| it.len() > 3);
        code.next().unwrap_or_default()
    }

    /// A child's turn: it reads, stores a claim, and reports every few turns.
    fn play_child(&mut self, agent: usize) -> Result<()> {
        self.read_next_files(agent)?;
        if let Some((file, item)) = self.work[agent].found.pop() {
            self.commit(agent, file, &item)?;
        }
        if self.work[agent].turns.is_multiple_of(REPORTS) {
            self.report(agent)?;
        }
        Ok(())
    }

    /// Reads the next of its files, up to its limit, and beyond it if there is more.
    fn read_next_files(&mut self, agent: usize) -> Result<()> {
        let (file, items) = self.next_file(agent);
        let keys = items.first().map(|it| it.name.replace('_', " "));
        self.query(agent, &keys.unwrap_or_default())?;
        let again = std::mem::take(&mut self.work[agent].again);
        let is_greedy = !again.is_empty() || self.one_in(4);
        let most = if is_greedy {
            SPANS
        } else {
            1 + self.chance.below(2)
        };
        let (more, further) = self.next_file(agent);
        let all = items.iter().map(|it| (file, it));
        let spans: Vec<(usize, Item)> = all
            .chain(further.iter().map(|it| (more, it)))
            .map(|(file, it)| (file, it.clone()))
            .collect();
        for (file, item) in spans.iter().take(most) {
            self.read(agent, &at_in_file(*file, &item.part))?;
        }
        for again in again {
            self.read_again(agent, &again)?;
        }
        if let (true, Some((file, item))) = (is_greedy, spans.get(most)) {
            let at = at_in_file(*file, &item.part);
            if !self.read(agent, &at)? && !self.one_in(3) {
                self.ask(agent, &at)?;
            }
        }
        let found = &mut self.work[agent].found;
        found.extend(spans);
        // Older items are dropped.
        let old = found.len().saturating_sub(12);
        found.drain(..old);
        Ok(())
    }

    fn next_file(&mut self, agent: usize) -> (usize, Vec<Item>) {
        let work = &mut self.work[agent];
        let file = work.files[work.read % work.files.len()];
        let round = work.read / work.files.len();
        work.read += 1;
        // Two items of each file; different ones when it is read again.
        let items = &self.sources[file].items;
        let items = items
            .iter()
            .cycle()
            .skip(2 * round)
            .take(items.len().min(2));
        (file, items.cloned().collect())
    }

    fn query(&mut self, agent: usize, keys: &str) -> Result<()> {
        let asked = json!({ "keys": [keys], "k": 5 });
        let found = expect_answer(self.team.agents[agent].tool("less_query_engrams", asked)?)?;
        let found = found["engrams"].as_array().map_or(0, Vec::len);
        self.calls.push(CallMade::Query(found));
        Ok(())
    }

    fn pointer(&self, at: &At) -> String {
        let part = at.find('#').map_or("", |it| &at[it..]);
        self.sources[file_of(at)].pointer(part)
    }

    /// Converts a pointer back to file and part.
    fn parse_at(&self, pointer: &Value) -> Result<At> {
        let path = pointer.as_str().unwrap_or_default();
        let path = path.split_once(':').unwrap_or_default().1;
        let path = path.strip_suffix("@HEAD").unwrap_or_default();
        let (path, part) = path.split_at(path.find('#').unwrap_or(path.len()));
        let file = self.numbers.get(path);
        let file = file.with_context(|| format!("{pointer} was made up"))?;
        Ok(at_in_file(*file, part))
    }

    /// Reads a pointer over MCP; returns whether it could.
    fn read(&mut self, agent: usize, at: &At) -> Result<bool> {
        let asked = json!({ "pointer": self.pointer(at) });
        let said = self.team.agents[agent].tool("less_deref_pointer", asked)?;
        self.record_read(at, &said)
    }

    /// Reads a pointer over HTTP, which reports what paid. A grant whose token came with a message
    /// pays once.
    fn read_again(
        &mut self,
        agent: usize,
        RepeatedRead { at, token }: &RepeatedRead,
    ) -> Result<()> {
        let mut asked = json!({ "pointer": self.pointer(at) });
        if let Some(token) = token {
            asked["budget_token"] = token.as_str().into();
        }
        let times = if self.one_in(3) { 2 } else { 1 };
        for _ in 0..times {
            let said = self.team.agents[agent].post("/pointer/deref", &asked.to_string())?;
            self.record_read(at, &said)?;
        }
        Ok(())
    }

    fn record_read(&mut self, at: &At, said: &AnswerOrRefusal) -> Result<bool> {
        let did = match said {
            Ok(read) => {
                let tokens = read["tokens"].as_u64().context("a read has no tokens")?;
                if read["grant"].is_string() {
                    CallMade::Granted(at.clone(), tokens)
                } else {
                    CallMade::Read(at.clone(), tokens)
                }
            }
            Err(refusal) => {
                let code = code_of(refusal);
                ensure!(code == "DEREF_DENIED", "{at}: {refusal}");
                CallMade::Denied(at.clone(), code)
            }
        };
        self.calls.push(did);
        Ok(said.is_ok())
    }

    fn ask(&mut self, agent: usize, at: &At) -> Result<()> {
        let asked = json!({
            "pointer": self.pointer(at),
            "reason": "The claim rests on what stands there.",
            "intended_use": "To confirm it.",
        });
        let said = expect_answer(self.team.agents[agent].tool("less_request_deref", asked)?)?;
        self.calls.push(CallMade::Ask(at.clone()));
        self.wait(agent, &said["request_id"], at)
    }

    fn wait(&mut self, agent: usize, id: &Value, at: &At) -> Result<()> {
        let id = id.as_str().context("a request has no id")?.to_owned();
        if self.waiting.iter().all(|it| it.id != id) {
            let at = at.clone();
            self.waiting.push(ReadRequest { id, agent, at });
        }
        Ok(())
    }

    fn commit(&mut self, agent: usize, file: usize, item: &Item) -> Result<()> {
        let pointers = self.evidence(file, item);
        let mut asked = claim(item);
        asked["pointers"] = pointers.iter().map(|it| self.pointer(it)).collect();
        expect_answer(self.team.agents[agent].tool("less_put_engram", asked)?)?;
        self.calls.push(CallMade::Commit(pointers));
        Ok(())
    }

    /// Returns where an item is, and where it is used.
    fn evidence(&self, file: usize, item: &Item) -> Vec<At> {
        // The next file in order, which is likely to be near.
        let used = self.used.get(item.name.as_str()).map_or(&[][..], |it| it);
        let next = used.iter().find(|it| **it > file);
        let next = next.or(used.first().filter(|it| **it != file));
        let uses = next.and_then(|other| {
            let (other, mut lines) = (*other, self.sources[*other].text.lines());
            let line = 1 + lines.position(|it| has_word(it, &item.name))?;
            Some(at_in_file(other, &format!("#L{line}")))
        });
        std::iter::once(at_in_file(file, &item.part))
            .chain(uses)
            .collect()
    }

    /// Sends a child's report.
    fn report(&mut self, agent: usize) -> Result<()> {
        let count = 2 + self.chance.below(3);
        let found = &mut self.work[agent].found;
        let said = found.split_off(found.len().saturating_sub(count));
        if said.is_empty() {
            return Ok(());
        }
        let engrams = said.iter().map(|(file, item)| {
            let mut engram = claim(item);
            let pointers = self.evidence(*file, item);
            engram["pointers"] = pointers.iter().map(|it| self.pointer(it)).collect();
            engram
        });
        let mut message = json!({
            "role": self.team.agents[agent].role,
            "task_status": "working",
            "engrams": engrams.collect::<Vec<_>>(),
            "output": { "summary": format!("{} findings of this area.", said.len()), "next": "The next files." },
        });
        if self.one_in(4) {
            let (file, _) = self.next_file(agent);
            let pointer = self.sources[file].pointer("");
            message["deref_requests"] =
                json!([{ "pointer": pointer, "reason": "It may be used there." }]);
        }
        let (message, said) = self.send(agent, message, None, OF_CHILD)?;
        if let Some(id) = said["requests"].get(0) {
            let at = self.parse_at(&message["deref_requests"][0]["pointer"])?;
            self.wait(agent, id, &at)?;
        }
        Ok(())
    }

    /// The parent's turn: it reads the brief, answers requests, reads, and points one child or all
    /// of a role to files.
    fn play_lead(&mut self) -> Result<()> {
        let brief = self.team.agents[0].get("/brief")?;
        let tokens = brief["tokens"].as_u64().context("a brief has no tokens")?;
        self.calls.push(CallMade::Brief(tokens));
        self.answer()?;
        if self.one_in(3) {
            let (file, items) = self.next_file(0);
            for item in items.iter().take(1) {
                self.read(0, &at_in_file(file, &item.part))?;
            }
        }
        self.send_orders()
    }

    /// Answers the children's requests; it leaves some to the user.
    fn answer(&mut self) -> Result<()> {
        for ReadRequest { id, agent, at } in std::mem::take(&mut self.waiting) {
            let to = self.team.agents[agent].name.clone();
            if self.one_in(4) {
                let verdict = json!({ "verdict": "deny", "why": "The claims on it answer this." });
                self.team.answer(&id, false, &verdict)?;
                self.calls.push(CallMade::Deny(to, at.clone()));
            } else {
                let is_user = self.one_in(6);
                let verdict = json!({ "verdict": "grant", "cap_tokens": 400, "ttl": "PT6H" });
                self.team.answer(&id, is_user, &verdict)?;
                let (at, by) = (at.clone(), is_user.then(|| "user".to_owned()));
                self.calls.push(CallMade::Grant(GivenGrant { to, at, by }));
            }
            self.work[agent]
                .again
                .push(RepeatedRead { at, token: None });
        }
        Ok(())
    }

    fn send_orders(&mut self) -> Result<()> {
        let child = 1 + self.chance.below(self.team.agents.len() - 1);
        let name = self.team.agents[child].name.clone();
        let pack = self.pack(child);
        let mut message = json!({
            "role": self.team.agents[child].role,
            "shared_brief_micro": ["Goal: know what each file is for."],
            "budgets": {},
            "grants": [],
            "target_pointer_pack": pack,
            "instructions": ["Say what stands there, with where it is used; two to four claims."],
        });
        if self.one_in(3) {
            message["budgets"] = json!({ "max_repo_spans": 2 + self.chance.below(2) });
        }
        if self.one_in(4) {
            message["grants"] =
                json!([{ "budget_token": "", "pointer": pack[0], "cap_tokens": 300 }]);
        }
        let to = (!self.one_in(4)).then_some(name);
        let (message, said) = self.send(0, message, to, OF_PARENT)?;
        for delivery in said["sent"].as_array().into_iter().flatten() {
            let name = delivery["to"].as_str().unwrap_or_default();
            let child = self.team.agents.iter().position(|it| it.name == name);
            let child = child.context("a message went to a stranger")?;
            let given = delivery["message"]["grants"].as_array();
            for (at, given) in given.into_iter().flatten().enumerate() {
                let at = self.parse_at(&message["grants"][at]["pointer"])?;
                let grant = GivenGrant {
                    to: name.to_owned(),
                    at: at.clone(),
                    by: None,
                };
                self.calls.push(CallMade::Grant(grant));
                let token = given["budget_token"].as_str().map(str::to_owned);
                self.work[child].again.push(RepeatedRead { at, token });
            }
        }
        Ok(())
    }

    /// Returns pointers to the next files of a child's area.
    fn pack(&mut self, child: usize) -> Vec<String> {
        let work = &mut self.work[child];
        let from = work.told;
        work.told += PACK;
        let files = (from..from + PACK).map(|at| work.files[at % work.files.len()]);
        files.map(|it| self.sources[it].pointer("")).collect()
    }
}

/// Returns an engram for a message, without its pointers.
fn claim(item: &Item) -> Value {
    json!({
        "kind": item.kind, "claim": item.claim, "confidence": 0.9, "ttl": "P30D", "scope": "project",
    })
}

fn at_in_file(file: usize, part: &str) -> At {
    format!("{file}{part}")
}

fn expect_answer(said: AnswerOrRefusal) -> Result<Value> {
    said.map_err(|refusal| anyhow::anyhow!("refused: {refusal}"))
}

fn code_of(refusal: &Value) -> String {
    let code = refusal["code"].as_str().unwrap_or_default();
    code.trim_start_matches("LESS_").to_owned()
}

/// Returns the code files in which each name occurs.
fn files_by_name(sources: &[SourceFile]) -> BTreeMap<&str, Vec<usize>> {
    let names = sources.iter().flat_map(|it| &it.items);
    let mut uses: BTreeMap<&str, Vec<usize>> =
        names.map(|it| (it.name.as_str(), Vec::new())).collect();
    let code = sources
        .iter()
        .enumerate()
        .filter(|it| it.1.path.ends_with(".rs"));
    for (at, source) in code {
        let words: BTreeSet<&str> = source.text.split(is_between).collect();
        for word in words {
            if let Some(files) = uses.get_mut(word) {
                files.push(at);
            }
        }
    }
    uses
}

fn has_word(line: &str, name: &str) -> bool {
    line.split(is_between).any(|it| it == name)
}

fn is_between(letter: char) -> bool {
    !letter.is_alphanumeric() && letter != '_'
}
