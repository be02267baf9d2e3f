//! Claims that are about to end, and their renewal.

pub const RENEW: &str = "Renew: restart its ttl";
pub const RENEW_MEANS: &str = "Restarts its ttl, on the same evidence";
pub const NO_TTL: &str = "This claim has no ttl";
pub const NO_TTL_HINT: &str = "It holds until it is replaced or forgotten.";
pub const JUDGE_FIRST: &str = "Its evidence changed";
pub const JUDGE_FIRST_HINT: &str =
    "Press Y if the claim is still true: that renews it too. Otherwise, press X or R.";
pub const RENEW_FITS: &str =
    "“Renew” is for claims that have a ttl and whose evidence did not change.";

/// The button, with the ttl in words.
pub fn renew_for(ttl: &str) -> String {
    format!("Renew for {ttl}")
}

/// After the renewal, with the ttl in words.
pub fn renewed(ttl: &str) -> String {
    format!("Renewed: it holds for {ttl} from now")
}

/// How many claims are about to end, and when the first does.
pub fn soon(claims: &str, first: &str) -> String {
    format!("{claims}, the first in {first}")
}

/// A count of these claims.
pub const ENDING: super::Noun = ("claim expires soon", "claims expire soon");
/// What is done to several: during a run, and after it.
pub const RENEWING: (&str, &str) = ("Renewing", "Renewed");
/// The button for several.
pub const RENEW_ALL: &str = "Renew";
