//! The engine over a real home and a real repository, with a clock that the tests turn.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod accepted;
mod agents;
mod anchors;
mod briefs;
mod children;
mod clocks;
mod conflicts;
mod due;
mod echoes;
mod erasure;
mod evidence;
mod fixture;
mod grants;
mod handles;
mod hidden;
mod homes;
mod judges;
mod kept;
mod lifecycle;
mod lost;
mod messages;
mod names;
mod patience;
mod places;
mod promotion;
mod races;
mod rebuild;
mod recall;
mod requests;
mod sample;
mod scopes;
mod settling;
mod simulation;
mod updates;
mod verdicts;
