//! The state of this machine: system packages, and a compiler that builds for wasm.

use std::path::Path;

use anyhow::{Context, Result, bail};
use which::which;

use crate::{
    setup::Needs,
    shell::{cargo, command, output, run, run_twice, succeeds},
};

/// Debian and Ubuntu packages that the product is built with.
const BUILD: &[&str] = &[
    "build-essential",
    "cmake",
    "libayatana-appindicator3-dev",
    "libgtk-3-dev",
    "librsvg2-dev",
    "libssl-dev",
    "libwebkit2gtk-4.1-dev",
    "pkg-config",
];
/// Packages that show the window without a physical display, and capture it.
const SCREENSHOT: &[&str] = &["fonts-dejavu-core", "imagemagick", "xvfb"];
/// Packages that drive the window in tests.
const TEST: &[&str] = &[
    "chromium",
    "chromium-driver",
    "dbus-daemon",
    "python3-venv",
    "libglib2.0-bin",
    "webkit2gtk-driver",
    "xdotool",
];
/// Debian's compiler for the web, with the source of its standard library.
const WEB: &[&str] = &["rustc-web", "rust-web-src"];

const WASM: &str = "wasm32-unknown-unknown";

/// Installs the missing system packages; instant if none is missing.
pub fn install_packages(needs: Needs) -> Result<()> {
    if which("apt-get").is_ok() && which("dpkg-query").is_ok() {
        return install_debian_packages(needs);
    }
    if cfg!(target_os = "linux") && !has_libraries() {
        bail!(
            "the window needs WebKitGTK 4.1, GTK 3 and librsvg with their headers, pkg-config, cmake, make and a C compiler; \
             install them with your package manager, for example\n  \
             Fedora: sudo dnf install webkit2gtk4.1-devel gtk3-devel librsvg2-devel libappindicator-gtk3-devel openssl-devel cmake make gcc-c++\n  \
             Arch:   sudo pacman -S webkit2gtk-4.1 gtk3 librsvg libappindicator-gtk3 openssl cmake base-devel\n\
             and run this again"
        );
    }
    let missing: Vec<_> = needed_programs(needs)
        .filter(|it| which(it).is_err())
        .collect();
    if !missing.is_empty() {
        bail!(
            "{} not found; install with your package manager and run this again",
            missing.join(", ")
        );
    }
    println!("system libraries: all installed");
    Ok(())
}

fn needed_programs(needs: Needs) -> impl Iterator<Item = &'static str> {
    let screenshot: &[_] = if needs.screenshot && cfg!(target_os = "linux") {
        &["Xvfb", "import"]
    } else {
        &[]
    };
    let test: &[_] = if needs.test {
        &[
            "python3",
            "npm",
            "WebKitWebDriver",
            "chromedriver",
            "dbus-daemon",
            "gio",
            "xdotool",
        ]
    } else {
        &[]
    };
    screenshot.iter().chain(test).copied()
}

fn has_libraries() -> bool {
    succeeds(command("pkg-config").args(["--exists", "webkit2gtk-4.1", "gtk+-3.0", "librsvg-2.0"]))
}

fn install_debian_packages(needs: Needs) -> Result<()> {
    let missing = not_installed(&wanted_packages(needs)?)?;
    if missing.is_empty() {
        println!("system packages: all installed");
        return Ok(());
    }
    println!("system packages to install: {}", missing.join(" "));
    let Some(prefix) = root_prefix()? else {
        bail!(
            "installing needs root; run this line, then the same task again:\n  \
             sudo apt-get update && sudo apt-get install -y --no-install-recommends {}",
            missing.join(" ")
        );
    };
    let apt = |arguments: &[&str]| {
        let mut apt = match prefix {
            [] => command("apt-get"),
            [program, rest @ ..] => {
                let mut sudo = command(program);
                sudo.args(rest).arg("apt-get");
                sudo
            }
        };
        apt.args(["-q", "-o", "Dpkg::Use-Pty=0"]).args(arguments);
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(&missing);
    run_twice(|| apt(&["update"]))
        .and_then(|()| run_twice(|| apt(&install)))
        .context("the system packages could not be installed; is there a network, and is no other apt-get at work?")
}

/// How to become root: no prefix, or sudo without a question; none if neither works.
fn root_prefix() -> Result<Option<&'static [&'static str]>> {
    if output(command("id").arg("-u"))? == "0" {
        return Ok(Some(&[]));
    }
    Ok(succeeds(command("sudo").args(["-n", "true"])).then_some(&["sudo", "-n"]))
}

fn wanted_packages(needs: Needs) -> Result<Vec<&'static str>> {
    let mut wanted = BUILD.to_vec();
    if needs.screenshot || needs.test {
        wanted.extend(SCREENSHOT);
    }
    if needs.test {
        wanted.extend(TEST);
        for (program, package) in [("python3", "python3"), ("npm", "npm"), ("git", "git")] {
            if which(program).is_err() {
                wanted.push(package);
            }
        }
    }
    if !toolchain_has_wasm()? && debian_has_web_compiler() {
        wanted.extend(WEB);
    }
    Ok(wanted)
}

fn not_installed(wanted: &[&'static str]) -> Result<Vec<&'static str>> {
    // This fails if a name is unknown, but still prints the others.
    let known = command("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Status}\n"])
        .args(wanted)
        .output()
        .context("dpkg-query does not start")?;
    let known = String::from_utf8_lossy(&known.stdout).into_owned();
    Ok(missing_packages(wanted, &known))
}

fn missing_packages(wanted: &[&'static str], known: &str) -> Vec<&'static str> {
    wanted
        .iter()
        .copied()
        .filter(|name| {
            !known
                .lines()
                .any(|line| line == format!("{name} installed"))
        })
        .collect()
}

/// Ensures that a compiler on this machine builds for wasm; the front end chooses which one it
/// uses.
pub fn ensure_wasm_compiler() -> Result<()> {
    if toolchain_has_wasm()? {
        println!("wasm: the active toolchain builds for it");
    } else if Path::new("/usr/bin/rustc").exists() && web_source_installed() {
        println!("wasm: rustc-web builds for it");
    } else if which("rustup").is_ok() {
        println!("wasm: adding the target to the active toolchain");
        run_twice(|| {
            let mut rustup = command("rustup");
            rustup.args(["target", "add", WASM]);
            rustup
        })
        .context("the wasm target could not be added; is there a network?")?;
    } else {
        bail!(
            "this Rust cannot build for {WASM}; install that target with what installed Rust, and run this again"
        );
    }
    Ok(())
}

fn toolchain_has_wasm() -> Result<bool> {
    let folder = output(command("rustc").args(["--print", "target-libdir", "--target", WASM]))
        .context("Rust is missing: install rustup, then run this again")?;
    Ok(std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()))
}

fn web_source_installed() -> bool {
    not_installed(WEB).is_ok_and(|it| it.is_empty())
}

/// Whether this release of Debian has the package, installed or not.
fn debian_has_web_compiler() -> bool {
    let listed = || output(command("apt-cache").args(["policy", "rustc-web"])).unwrap_or_default();
    if listed().contains("Candidate:") {
        return true;
    }
    // A bare machine has no package lists yet.
    std::fs::read_to_string("/etc/os-release")
        .ok()
        .and_then(|text| debian_version(&text))
        .is_some_and(|version| version >= 12)
}

/// Returns the major version, if this is Debian.
fn debian_version(os_release: &str) -> Option<u32> {
    let value = |key: &str| {
        os_release
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|it| it.trim_matches('"'))
    };
    (value("ID") == Some("debian")).then(|| value("VERSION_ID")?.parse().ok())?
}

/// Checks for the compiler and git, and installs what checks the sources.
pub fn ensure_rust(needs: Needs) -> Result<()> {
    let version = output(command("rustc").arg("--version"))
        .context("Rust is missing: install rustup, then run this again")?;
    println!(
        "{version} (at least {} is needed)",
        env!("CARGO_PKG_RUST_VERSION")
    );
    run(command("git").arg("--version"))
        .context("git is missing: install it, then run this again")?;
    let components = [("fmt", "rustfmt"), ("clippy", "clippy")];
    for (subcommand, component) in components {
        if needs.test && !succeeds(cargo().args([subcommand, "--version"])) {
            run_twice(|| {
                let mut rustup = command("rustup");
                rustup.args(["component", "add", component]);
                rustup
            })
            .with_context(|| {
                format!("{component} is missing: install it with what installed Rust")
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_installed_counts() {
        let known = "cmake installed\nxvfb config-files\ncmake-data installed\n";
        assert_eq!(
            missing_packages(&["cmake", "xvfb", "imagemagick"], known),
            ["xvfb", "imagemagick"]
        );
    }

    #[test]
    fn debian_is_known_by_its_release_file() {
        for (text, expected) in [
            ("ID=debian\nVERSION_ID=\"12\"\n", Some(12)),
            ("VERSION_ID=\"13\"\nID=debian\n", Some(13)),
            ("ID=ubuntu\nVERSION_ID=\"24.04\"\nID_LIKE=debian\n", None),
            (
                "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux trixie/sid\"\n",
                None,
            ),
            ("", None),
        ] {
            assert_eq!(debian_version(text), expected, "{text}");
        }
    }
}
