//! The home under an open engine.

mod lost_home;
