//! The address of a repository's remote, in a form that all its clones share.

use git2::Config;

use crate::Repo;

/// The longest address.
const MAX_BYTES: usize = 300;

impl Repo {
    /// The normalised address of `origin` or, without it, of the only remote; `None` if there is
    /// none, or if it is a path of this machine.
    pub fn remote(&self) -> Option<String> {
        let settings = self.git.config().and_then(|mut it| it.snapshot()).ok()?;
        let address = |name: &str| address_of(&settings, name);
        address("origin").or_else(|| {
            let names = self.git.remotes().ok()?;
            (names.len() == 1).then(|| address(names.get(0).ok()??))?
        })
    }
}

/// As written, not as the settings of this machine rewrite it: those may add a password.
fn address_of(settings: &Config, name: &str) -> Option<String> {
    let url = settings.get_str(&format!("remote.{name}.url")).ok()?;
    normalised_address(url)
}

/// Reduces an address to what its clones share, such as `example.com/team/shop`: without scheme,
/// user, password, port, query, and `.git`. `None` for a path.
fn normalised_address(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((_, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            (without_port(without_user(authority)), path)
        }
        // `user@host:path`; a single letter before the colon is a drive.
        None => {
            let (authority, path) = url.split_once(':')?;
            let host = without_user(authority);
            if authority.contains(['/', '\\']) || host.len() < 2 {
                return None;
            }
            (host, path)
        }
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let is_path = |c: char| c.is_alphanumeric() || "._-/~+".contains(c);
    let is_plain = !host.is_empty() && host.chars().all(is_host) && path.chars().all(is_path);
    let is_usual = !path.is_empty() && !path.split('/').any(|it| it.is_empty() || it == "..");
    let address = format!("{}/{path}", host.to_ascii_lowercase());
    (is_plain && is_usual && address.len() <= MAX_BYTES).then_some(address)
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |it| it.1)
}

fn without_port(authority: &str) -> &str {
    authority.split_once(':').map_or(authority, |it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_an_address_and_it_holds_no_credentials() {
        for url in [
            "https://example.com/team/shop.git",
            "https://ada:s3cret@Example.com:8443/team/shop",
            "ssh://git@example.com:2222/team/shop.git/",
            "git@example.com:team/shop.git",
            "example.com:/team/shop",
            "https://token@example.com/team/shop.git?private_token=s3cret#x",
            "  git://example.com/team/shop  ",
        ] {
            let told = normalised_address(url);
            assert_eq!(told.as_deref(), Some("example.com/team/shop"), "{url}");
        }
        for url in [
            "",
            "/srv/git/shop.git",
            "../shop",
            "file:///srv/git/shop.git",
            "C:\\code\\shop",
            "C:/code/shop",
            "https://example.com",
            "https://example.com/",
            "https://example.com/a/../b",
            "https://exa mple.com/team/shop",
            "https://example.com/team/sh\u{202e}op",
            "https://example.com/user:s3cret@team/shop",
            "ext::sh -c touch% /tmp/x",
        ] {
            assert_eq!(normalised_address(url), None, "{url}");
        }
        assert_eq!(
            normalised_address(&format!("https://a.b/{}", "x".repeat(400))),
            None
        );
    }
}
