//! The machine on which times are measured.

use std::fs;
use std::thread;

/// The processor, its cores and the system in one line.
pub(super) fn description() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let noun = if cores == 1 { "core" } else { "cores" };
    let model = processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{model}, {cores} {noun}, {}", std::env::consts::OS)
}

/// The name of the processor; known on Linux only.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned()).filter(|name| !name.is_empty())
}
