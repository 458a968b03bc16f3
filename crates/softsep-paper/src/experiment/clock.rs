//! Wall-clock time and CPU time of the process.

use std::ops::{AddAssign, Sub};
use std::time::Instant;

/// Seconds by both clocks. `cpu` is `None` where the system does not tell it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Elapsed {
    pub(super) wall: f64,
    /// Seconds of all threads of the process together.
    pub(super) cpu: Option<f64>,
}

impl Sub for Elapsed {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { wall: self.wall - other.wall, cpu: self.cpu.map(|cpu| cpu - other.cpu.unwrap_or(0.0)) }
    }
}

impl AddAssign for Elapsed {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu = other.cpu.map(|cpu| cpu + self.cpu.unwrap_or(0.0));
    }
}

/// Runs from its start on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch {
    start: Instant,
    cpu: Option<f64>,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), cpu: cpu_seconds() }
    }

    pub(super) fn elapsed(&self) -> Elapsed {
        let cpu = cpu_seconds().zip(self.cpu).map(|(now, start)| now - start);
        Elapsed { wall: self.start.elapsed().as_secs_f64(), cpu }
    }
}

/// CPU seconds of the process so far.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// CPU seconds of the process so far.
#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let watch = Stopwatch::start();
        let mut sum = 0.0;
        while watch.elapsed().cpu.unwrap() < 0.05 {
            sum += (0..1000).map(|term| f64::from(term).sqrt()).sum::<f64>();
        }
        assert!(sum > 0.0 && watch.elapsed().wall > 0.0);
    }

    #[test]
    fn times_of_parts_are_taken_off_on_both_clocks() {
        let mut parts = Elapsed::default();
        for _ in 0..2 {
            parts += Elapsed { wall: 1.0, cpu: Some(0.5) };
        }
        assert_eq!(Elapsed { wall: 5.0, cpu: Some(3.0) } - parts, Elapsed { wall: 3.0, cpu: Some(2.0) });
        assert_eq!((Elapsed { wall: 5.0, cpu: None } - Elapsed::default()).cpu, None);
    }
}
