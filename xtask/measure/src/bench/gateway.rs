//! `cargo xtask bench --gateway`: what checks and permissions cost: a message against counting its
//! tokens, an agent's read against the user's, a message with claims against as many commits, the
//! brief of many claims against that of few, and the first read of a sent file against the next.

use std::{fs, path::Path, process::Stdio, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    client::LineClient,
    filled, idle,
    table::{self, Bar, bar_outcome, print_figure, print_row},
    workload::{create_sandbox, deref_arguments},
};
use crate::{
    http::{HttpConnection, RunningServer},
    sandbox::{Sandbox, commit_all, engram},
};
use xtask::shell::{build_example, command, output, run};

/// Reads of each party, and how many it makes before the next one's turn.
const READS: usize = 400;
const ROUND: usize = 50;
/// The number of messages, the claims in each, and the number of packs.
const MESSAGES: usize = 60;
const CLAIMS: usize = 12;
const PACKS: usize = 40;
const BRIEFS: usize = 100;
const FEW: u64 = 1_000;
/// The maximum size of the default `tools/list`, in bytes.
const TOOLS: usize = 7_250;

const CHECK: Bar = Bar::at_most(2.0);
const AGENT: Bar = Bar::at_most(1.2);
const GRANT: Bar = Bar::at_most(1.3);
const MESSAGE: Bar = Bar::at_most(0.5);
const BRIEF: Bar = Bar::at_most(3.0);
const PACK: Bar = Bar::at_most(1.2);

pub(super) fn perform(root: &Path, binary: &Path, many: u64) -> Result<()> {
    let place = create_sandbox()?;
    let cost = build_example(root, "engram-gateway", "cost")?;
    table::print_head();
    time_check(&cost)?;
    let mut team = ParentAndChild::new(&place, binary)?;
    team.time_reads()?;
    team.time_messages()?;
    team.time_packs(&place)?;
    drop(team);
    time_briefs(root, &place, binary, many)?;
    let mut client = LineClient::start_mcp(place.engram(binary).arg("mcp"))?;
    let tools = client.ask("tools/list", json!({}))?.result.to_string();
    let bar = bar_outcome(tools.len() <= TOOLS, &format!("at most {TOOLS}"));
    print_figure("tools/list", &format!("{} bytes", tools.len()), &bar);
    client.finish()
}

/// Compares a check with counting tokens, both in one program, without a pipe.
fn time_check(cost: &Path) -> Result<()> {
    let times: Value = serde_json::from_str(&output(command(cost).arg("--json"))?)?;
    let of = |what: &str| -> Vec<Duration> {
        let times = times[what].as_array().into_iter().flatten();
        times
            .filter_map(Value::as_u64)
            .map(Duration::from_nanos)
            .collect()
    };
    let what = format!("validate a message of {} tokens", times["tokens"]);
    print_row(
        &what,
        &of("check"),
        ("counting its tokens", &of("count")),
        0.5,
        Some(CHECK),
    );
    Ok(())
}

/// A parent with a child, and the user, over HTTP.
struct ParentAndChild {
    served: RunningServer,
    user: HttpConnection,
    lead: HttpConnection,
    child: HttpConnection,
    /// The number of claims so far, which makes each one different.
    said: usize,
}

impl ParentAndChild {
    fn new(place: &Sandbox, binary: &Path) -> Result<Self> {
        let served = serve(binary, &place.home(), &place.repo())?;
        let mut user = served.connection_with(&served.token);
        let open = |by: &mut HttpConnection, agent: Value| -> Result<String> {
            let opened = by.post("/agent", &agent.to_string())?.success_body()?;
            Ok(opened["token"].as_str().context("no token")?.to_owned())
        };
        let lead = open(&mut user, json!({ "name": "lead", "role": "architect" }))?;
        let mut lead = served.connection_with(&lead);
        let child = open(&mut lead, json!({ "name": "ada", "role": "programmer" }))?;
        open(&mut lead, json!({ "name": "bob", "role": "programmer" }))?;
        Ok(Self {
            child: served.connection_with(&child),
            user,
            lead,
            served,
            said: 0,
        })
    }

    fn wait_until_idle(&self) -> Result<()> {
        idle::wait_until_quiet(&[self.served.id()], idle::LULL)
    }

    /// Times the same reads by the user, by an agent within its budget, and by the agent with a
    /// grant. A grant is issued before each read, so that all reads find the same journal.
    fn time_reads(&mut self) -> Result<()> {
        let (mut users, mut agents, mut grants) = (Vec::new(), Vec::new(), Vec::new());
        for from in (0..READS).step_by(ROUND) {
            for (times, by) in [
                (&mut users, "user"),
                (&mut agents, "agent"),
                (&mut grants, "grant"),
            ] {
                for n in from..from + ROUND {
                    let mut asked = deref_arguments(n);
                    let to = if by == "grant" { "ada" } else { "bob" };
                    let grant = json!({ "to": to, "pointer": asked["pointer"], "cap_tokens": 400 });
                    let granted = self
                        .user
                        .post("/grant", &grant.to_string())?
                        .success_body()?;
                    let reader = match by {
                        "user" => &mut self.user,
                        _ => &mut self.child,
                    };
                    if by == "grant" {
                        asked["budget_token"] = granted["budget_token"].clone();
                    }
                    let answer = reader.post("/pointer/deref", &asked.to_string())?;
                    times.push(answer.took);
                    let read = answer.success_body()?;
                    ensure!(read["grant"].is_string() == (by == "grant"), "{by}: {read}");
                }
                self.wait_until_idle()?;
            }
        }
        print_row(
            "an agent's dereference",
            &agents,
            ("the user's", &users),
            0.5,
            Some(AGENT),
        );
        print_row(
            "the same with a grant",
            &grants,
            ("the user's", &users),
            0.5,
            Some(GRANT),
        );
        Ok(())
    }

    /// Returns a claim that was not made yet.
    fn claim(&mut self) -> Value {
        self.said += 1;
        let (n, file) = (self.said, self.said % 20);
        json!({
            "kind": "fact", "claim": format!("The svc{n:05} retry limit is {} per minute.", 100 + n % 900), "confidence": 0.9,
            "ttl": "P7D", "scope": "project", "pointers": [format!("repo:src/file{file}.rs#L{}@HEAD", 1 + n % 390)],
        })
    }

    fn time_messages(&mut self) -> Result<()> {
        let (mut messages, mut commits) = (Vec::new(), Vec::new());
        for _ in 0..MESSAGES {
            let engrams: Vec<Value> = (0..CLAIMS).map(|_| self.claim()).collect();
            let message = json!({
                "role": "programmer", "task_status": "working", "engrams": engrams,
                "output": { "summary": "Twelve findings.", "next": "" },
            });
            let sent = self.child.post("/message", &message.to_string())?;
            messages.push(sent.took);
            let sent = sent.success_body()?;
            ensure!(
                sent["engrams"].as_array().map(Vec::len) == Some(CLAIMS),
                "{sent}"
            );
            self.wait_until_idle()?;
            let mut took = Duration::ZERO;
            for _ in 0..CLAIMS {
                let claim = self.claim().to_string();
                let stored = self.child.post("/engram", &claim)?;
                took += stored.took;
                stored.success_body()?;
            }
            commits.push(took);
            self.wait_until_idle()?;
        }
        let what = format!("a message of {CLAIMS} engrams");
        print_row(
            &what,
            &messages,
            ("as many commits", &commits),
            0.5,
            Some(MESSAGE),
        );
        Ok(())
    }

    /// Times packs, each of which leads into files that nobody has read.
    fn time_packs(&mut self, place: &Sandbox) -> Result<()> {
        let file = |pack: usize, nth: usize| format!("packs/pack{pack}_{nth}.rs");
        fs::create_dir_all(place.repo().join("packs"))?;
        for (pack, nth) in (0..PACKS).flat_map(|pack| (0..CLAIMS).map(move |nth| (pack, nth))) {
            let lines: String = (1..=400)
                .map(|line| format!("fn item_{pack}_{nth}_{line}() -> u32 {{ {line} }}\n"))
                .collect();
            fs::write(place.repo().join(file(pack, nth)), lines)?;
        }
        commit_all(&place.repo())?;
        self.wait_until_idle()?;
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for pack in 0..PACKS {
            let pointers: Vec<String> = (0..CLAIMS)
                .map(|nth| format!("repo:{}#L11-L15@HEAD", file(pack, nth)))
                .collect();
            let message = json!({
                "role": "programmer", "shared_brief_micro": [], "budgets": {}, "grants": [],
                "target_pointer_pack": pointers, "instructions": ["Look there."],
            });
            let body = json!({ "message": message, "to": "ada" }).to_string();
            self.lead.post("/message", &body)?.success_body()?;
            self.wait_until_idle()?;
            for pointer in &pointers {
                for times in [&mut first, &mut again] {
                    let asked = json!({ "pointer": pointer }).to_string();
                    let answer = self.child.post("/pointer/deref", &asked)?;
                    times.push(answer.took);
                    answer.success_body()?;
                }
            }
        }
        let what = "the first read of a pointer that was sent";
        print_row(
            what,
            &first,
            ("the next read of it", &again),
            0.5,
            Some(PACK),
        );
        Ok(())
    }
}

/// A home whose brief is read by the user and by an agent.
struct BriefHome {
    served: RunningServer,
    agent: LineClient,
    briefs: Vec<Duration>,
    statuses: Vec<Duration>,
}

impl BriefHome {
    fn read(&mut self, times: usize) -> Result<()> {
        let mut user = self.served.connection_with(&self.served.token);
        for _ in 0..times {
            let answer = user.get("/brief")?;
            self.briefs.push(answer.took);
            let brief = answer.success_body()?;
            ensure!(brief["lines"][0].is_object(), "the brief is empty");
            let status = self.agent.call("engram_status", json!({}))?;
            self.statuses.push(status.took);
            let brief = &status.result["structuredContent"]["brief"];
            ensure!(brief[0].is_string(), "the status has no brief");
        }
        Ok(())
    }
}

/// Times the user's brief, and an agent's status with its brief, over many claims and over few.
fn time_briefs(root: &Path, place: &Sandbox, binary: &Path, many: u64) -> Result<()> {
    let writer = filled::build_writer(root)?;
    let start = |name: &str, count: u64| -> Result<BriefHome> {
        let home = place.create_folder(name)?;
        run(filled::fill_command(&writer, &home, &place.repo(), count).stdout(Stdio::null()))?;
        let served = serve(binary, &home, &place.repo())?;
        let mut home = BriefHome {
            served,
            agent: LineClient::start_mcp(engram(binary, &home, &place.repo()).arg("mcp"))?,
            briefs: Vec::new(),
            statuses: Vec::new(),
        };
        // The first answers read what the later ones find in the cache.
        home.read(1)?;
        home.briefs.clear();
        home.statuses.clear();
        idle::wait_until_quiet(&[home.served.id(), home.agent.id()], idle::LULL)?;
        Ok(home)
    };
    let mut homes = [start("many", many)?, start("few", FEW)?];
    for _ in (0..BRIEFS).step_by(10) {
        for home in &mut homes {
            home.read(10)?;
        }
    }
    let [large, small] = &homes;
    for (what, of_large, of_small) in [
        ("the brief", &large.briefs, &small.briefs),
        (
            "engram_status with its brief",
            &large.statuses,
            &small.statuses,
        ),
    ] {
        print_row(
            &format!("{what} over {many} engrams"),
            of_large,
            (&format!("over {FEW}"), of_small),
            0.5,
            Some(BRIEF),
        );
    }
    homes.into_iter().try_for_each(|it| it.agent.finish())
}

fn serve(binary: &Path, home: &Path, repo: &Path) -> Result<RunningServer> {
    RunningServer::start(engram(binary, home, repo).args(["--json", "serve"]))
}
