//! Finds and installs what a machine lacks. A second run finds nothing missing and is instant.

use anyhow::Result;

use crate::{host, tools};

/// What the following task needs.
#[derive(Clone, Copy)]
pub struct Needs {
    /// A virtual display, and a program that captures it.
    pub screenshot: bool,
    /// What `screenshot` needs, a web driver, and the clients that drive Engram in tests.
    pub test: bool,
}

impl Needs {
    /// Everything that development needs.
    pub const ALL: Self = Self {
        screenshot: true,
        test: true,
    };
}

/// Installs what is missing, or fails and says what to do.
pub fn ensure(needs: Needs) -> Result<()> {
    host::install_packages(needs)?;
    host::ensure_rust(needs)?;
    host::ensure_wasm_compiler()?;
    if needs.test {
        tools::ensure()?;
    }
    Ok(())
}
