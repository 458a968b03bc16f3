//! The hot loop allocates nothing: a recourse solve that a known basis answers, and the support functions with closed forms.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use softsep::Problem;
use softsep::instances::{LocationTransportation, Uncertain, location_transportation};
use softsep::recourse::{Answer, Linear, Recourse};
use softsep::run::Clock;

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test only: a second one would count on another thread.
#[test]
fn solves_by_reuse_and_support_points_allocate_nothing() {
    for uncertainty in [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.35 }, Uncertain::Scenarios(50)] {
        let instance = LocationTransportation { n: 8, uncertainty, mixed_integer: false, seed: 3 };
        let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(&problem);
        let mut xi = vec![0.0; 8];
        let mut counted = 0;
        // The first pass meets the bases and factors them; the second finds them all known.
        for pass in 0..2 {
            let (mut x, mut direction) = (vec![250.0; 8], vec![1.0; 8]);
            for round in 0..2000 {
                let before = (COUNT.load(Ordering::Relaxed), engine.work().reused);
                x[round % 8] += 1e-3;
                direction[round % 8] -= 1e-3;
                problem.set.support(&direction, &mut xi).unwrap();
                engine.at(&x);
                engine.solve(&xi, &mut answer).unwrap();
                if pass == 1 && engine.work().reused > before.1 {
                    counted += 1;
                    assert_eq!(COUNT.load(Ordering::Relaxed), before.0, "round {round} of {} allocates", problem.name);
                }
            }
        }
        assert!(counted > 1500, "only {counted} solves were answered by reuse");
    }
}
