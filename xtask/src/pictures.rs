//! `cargo xtask pictures`: draws every view in every width, theme, zoom and direction
//! (`tests/journey/dashboard/pictures.rs`), and combines those of a view into one sheet.

use std::{collections::BTreeMap, fs, path::Path, path::PathBuf};

use anyhow::Result;

use xtask::{
    setup,
    shell::{DASHBOARD, build, cargo, command, run},
    tools, ui,
};

#[derive(clap::Args)]
pub struct Pictures {
    /// Where the pictures go; whatever is there is kept
    #[arg(long, value_name = "DIR", default_value = "target/pictures")]
    to: PathBuf,
}

impl Pictures {
    pub fn perform(self, root: &Path) -> Result<()> {
        setup::ensure(setup::Needs::ALL)?;
        ui::build(root, false)?;
        fs::create_dir_all(&self.to)?;
        let folder = self.to.canonicalize()?;
        let built = build(root, &["--workspace", "--bins", DASHBOARD])?;
        let mut draw = cargo();
        draw.args(["test", "--workspace", "--test=journey"])
            .args(["--features=engram-cli/dashboard,engram-desktop/bench"])
            .args(["pictures::every_view", "--", "--nocapture"])
            .current_dir(root)
            .envs(built.get("engram").map(|it| ("ENGRAM_BIN", it)))
            .env("ENGRAM_TOOLS", tools::folder())
            .env("ENGRAM_PICTURES", &folder);
        run(&mut draw)?;
        for (view, pictures) in by_view(&folder)? {
            let sheet = folder.join(format!("{view}.sheet.png"));
            let mut montage = command("montage");
            montage.args(pictures).args(["-tile", "5x"]);
            montage.args(["-geometry", "900x+8+8>", "-background", "gray"]);
            run(montage.arg(&sheet))?;
            println!("{}", sheet.display());
        }
        Ok(())
    }
}

/// Returns the pictures of each view: one theme per row, from narrow to wide.
fn by_view(folder: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut views: BTreeMap<String, Vec<(String, u32, PathBuf)>> = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let Some(name) = path.file_stem().and_then(|it| it.to_str()) else {
            continue;
        };
        let mut parts = name.rsplitn(4, '-');
        let (Some(zoom), Some(width), Some(theme), Some(view)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let (Ok(zoom), Ok(width)) = (zoom.parse::<u32>(), width.parse::<u32>()) else {
            continue;
        };
        let order = width * 1000 + zoom;
        let of_view = views.entry(view.to_owned()).or_default();
        of_view.push((theme.to_owned(), order, path));
    }
    let sorted = views.into_iter().map(|(view, mut all)| {
        all.sort();
        (view, all.into_iter().map(|(.., path)| path).collect())
    });
    Ok(sorted.collect())
}
