//! Conflicts: found, listed, and shown to those who may see both sides.

mod arrival_order;
mod detection;
mod due;
mod gate;
mod near;
mod series;
mod visibility;
