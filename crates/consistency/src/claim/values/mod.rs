//! The values of a claim: numbers with their units, ranges, versions and dates; and whether two
//! values can both be right.

pub(super) mod date;
pub(super) mod number;
pub(super) mod quantity;
pub(super) mod range;
pub(super) mod unit;
pub(super) mod value;
