//! Finds what a machine lacks and installs it; a second run finds nothing and is instant.

use anyhow::Result;

use crate::{host, tools};

/// What the task that follows will use.
#[derive(Clone, Copy)]
pub struct Needs {
    /// A virtual display, and a program that captures it.
    pub screenshot: bool,
    /// All that, a web driver, and the clients that the tests drive us with.
    pub test: bool,
}

impl Needs {
    /// All that development takes.
    pub const ALL: Self = Self {
        screenshot: true,
        test: true,
    };
}

/// Installs what is missing, or says what to do.
pub fn ensure(needs: Needs) -> Result<()> {
    host::packages(needs)?;
    host::rust(needs)?;
    host::wasm_compiler()?;
    if needs.test {
        tools::ensure()?;
    }
    Ok(())
}
