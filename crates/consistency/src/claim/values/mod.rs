//! The values of a claim: numbers with their units, ranges, versions, dates; and whether two of
//! them can both be right.

pub(super) mod date;
pub(super) mod number;
pub(super) mod quantity;
pub(super) mod range;
pub(super) mod unit;
pub(super) mod value;
