//! The `engram` command as its users run it: the real binary, with a home, a repository and a
//! user's folder of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agent_names;
mod batch;
mod connect;
mod crashes;
mod criteria;
mod detect;
mod examples;
mod failures;
mod fixture;
mod git_folders;
mod grants;
mod help;
mod homes;
mod links;
mod mcp;
mod messages;
mod models;
mod other_repositories;
mod pointers;
mod private;
mod processes;
mod projects;
mod refusals;
mod requests;
mod surroundings;
mod terminal;
mod verbs;
mod window;
