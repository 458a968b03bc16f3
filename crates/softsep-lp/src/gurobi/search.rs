//! The places where the Gurobi library may be.

use std::path::{Path, PathBuf};

/// Major versions, and minor versions of each, whose names are tried where the system looks for libraries.
const MAJORS: std::ops::RangeInclusive<u32> = 10..=19;
const MINORS: std::ops::RangeInclusive<u32> = 0..=5;

/// Folders that hold installations, and the beginning of the names of these.
const USUAL_PARENTS: [&str; 5] = ["/opt", "/usr/local", "/Library", "/opt/homebrew", "C:\\"];
const USUAL_NAME: &str = "gurobi";

/// Folders of an installation or a wheel that may hold the library.
const SUBFOLDERS: [&str; 9] =
    ["", "lib", "bin", "linux64/lib", "armlinux64/lib", "macos_universal2/lib", "win64/bin", ".libs", "gurobipy/.libs"];

/// The folder of `GUROBI_HOME`.
pub(super) fn home() -> Option<PathBuf> {
    std::env::var_os("GUROBI_HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Files that may be the library, in the order of trial. A name alone is for the system's loader.
pub(super) fn candidates() -> Vec<PathBuf> {
    let mut found = home().map_or_else(Vec::new, |home| in_folder(&home));
    for major in MAJORS.rev() {
        found.extend(MINORS.rev().map(|minor| PathBuf::from(file_name(&format!("{major}{minor}")))));
    }
    for parent in USUAL_PARENTS {
        found.extend(installations(Path::new(parent)).iter().flat_map(|folder| in_folder(folder)));
    }
    found
}

/// The libraries in the folder of an installation, the latest first.
pub(super) fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let files = SUBFOLDERS.iter().flat_map(|subfolder| entries(&folder.join(subfolder)));
    let mut found: Vec<(u32, PathBuf)> = files.filter_map(|file| Some((release(&file)?, file))).collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, file)| file).collect()
}

/// Folders as `gurobi1300` in `parent`, the latest first.
fn installations(parent: &Path) -> Vec<PathBuf> {
    let is_installation = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(USUAL_NAME))
    };
    let mut found: Vec<PathBuf> = entries(parent).filter(is_installation).collect();
    found.sort_by(|one, other| other.cmp(one));
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The name of the library's file for a release, as 130 for version 13.0.
fn file_name(release: &str) -> String {
    format!("{}gurobi{release}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// The release of a library's file in the order of versions: 95 for 9.5, 130 for 13.0. `None` for other files.
fn release(file: &Path) -> Option<u32> {
    let name = file.file_name()?.to_str()?;
    let digits = name.strip_prefix(std::env::consts::DLL_PREFIX)?.strip_prefix("gurobi")?;
    let digits = digits.strip_suffix(std::env::consts::DLL_SUFFIX)?;
    let is_number = (2..=3).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_a_folder_are_found_by_name_the_latest_first() {
        let folder = std::env::temp_dir().join(format!("softsep-gurobi-{}", std::process::id()));
        let names = ["95", "130", "120", "_light", "130.1", ""].map(file_name);
        for (name, subfolder) in names.iter().zip(["lib", "lib", "", "lib", "lib", "lib"]) {
            let place = folder.join(subfolder);
            assert!(std::fs::create_dir_all(&place).is_ok() && std::fs::write(place.join(name), "").is_ok());
        }
        let found: Vec<PathBuf> = in_folder(&folder);
        let wanted = [folder.join("lib").join(&names[1]), folder.join(&names[2]), folder.join("lib").join(&names[0])];
        assert_eq!(found, wanted);
        assert!(std::fs::remove_dir_all(&folder).is_ok());
        assert_eq!(in_folder(&folder), Vec::<PathBuf>::new());
    }
}
