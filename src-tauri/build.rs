//! Checks the configuration, the permissions and the capability of the window, and embeds its page.

use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    println!("cargo:rerun-if-changed=tauri.conf.json");
    // The page must be there when it is embedded; the real one is made by `cargo xtask ui`.
    let page = Path::new("ui/dist/index.html");
    if !page.exists() {
        fs::create_dir_all("ui/dist")?;
        fs::write(
            page,
            "<!doctype html><meta charset=utf-8><title>Engram</title><p>Run <code>cargo xtask ui</code> and build again.",
        )?;
    }
    let attributes = tauri_build::Attributes::new()
        .codegen(tauri_build::CodegenContext::new())
        .capabilities_path_pattern("src-tauri/capabilities/**/*")
        .app_manifest(
            tauri_build::AppManifest::new().permissions_path_pattern("src-tauri/permissions/**/*"),
        );
    Ok(tauri_build::try_build(attributes)?)
}
