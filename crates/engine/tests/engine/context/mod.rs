//! What surrounds a request: its repository, and the runs that it must not see.

mod isolation_of_runs;
mod lost_repository;
mod other_repositories;
