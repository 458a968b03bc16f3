//! The cost of each problem, derived by hand: f(x) plus the worst recourse cost as a formula in x, and the range of x
//! to search.
//!
//! Nothing here comes from the problem files or from the solver; a formula that misreads its file is caught by the test
//! that compares the two.

/// The values that a variable is searched over.
pub(crate) enum Range {
    Real(f64, f64),
    Whole(i32, i32),
}

use Range::{Real, Whole};

/// The worst-case cost of a decision.
#[derive(Clone, Copy)]
pub(crate) enum Cost {
    /// A formula.
    Formula(fn(&[f64]) -> f64),
    /// The recourse engine at these scenarios, where no formula is short enough.
    Scenarios(&'static [[f64; 3]]),
    /// There is no optimum.
    None,
}

use Cost::{Formula, Scenarios};

/// One problem.
#[derive(Clone, Copy)]
pub(crate) struct Hand {
    pub(crate) name: &'static str,
    /// Number of first-stage variables.
    pub(crate) dim: usize,
    /// The range of the next variable, given those before it.
    pub(crate) range: fn(&[f64]) -> Range,
    pub(crate) cost: Cost,
}

/// The positive part.
fn plus(value: f64) -> f64 {
    value.max(0.0)
}

/// The largest of a cost over a few scenarios.
fn worst<const N: usize, const D: usize>(scenarios: [[f64; D]; N], cost: impl Fn([f64; D]) -> f64) -> f64 {
    scenarios.into_iter().map(cost).fold(f64::NEG_INFINITY, f64::max)
}

/// One order against a total demand: shortage and leftover stock have prices.
fn newsvendor(order: f64, demand: f64, short: f64, left_over: f64) -> f64 {
    short * plus(demand - order) + left_over * plus(order - demand)
}

/// Site choices, then capacities up to 800 at open sites that make up 772 in all.
fn zeng_zhao_range(x: &[f64]) -> Range {
    if x.len() < 3 {
        return Whole(0, 1);
    }
    let (site, built) = (x.len() - 3, x[3..].iter().sum::<f64>());
    let later = 800.0 * x[site + 1..3].iter().sum::<f64>();
    Real(plus(772.0 - built - later), 800.0 * x[site])
}

/// The vertices of {0 ≤ g ≤ 1, g₁ + g₂ + g₃ ≤ 1.8, g₁ + g₂ ≤ 1.2}.
const ZENG_ZHAO: [[f64; 3]; 12] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 0.2, 0.0],
    [0.2, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.8, 0.0, 1.0],
    [0.0, 0.8, 1.0],
    [1.0, 0.0, 0.8],
    [0.0, 1.0, 0.8],
    [1.0, 0.2, 0.6],
    [0.2, 1.0, 0.6],
];

fn zeng_zhao_cost_of_sites(x: &[f64]) -> f64 {
    400.0 * x[0] + 414.0 * x[1] + 326.0 * x[2] + 18.0 * x[3] + 25.0 * x[4] + 20.0 * x[5]
}

/// f(x) where the recourse is left to the engine.
pub(crate) fn first_cost(name: &str, x: &[f64]) -> f64 {
    match name {
        "zeng-zhao" => zeng_zhao_cost_of_sites(x),
        _ => unreachable!("{name} has a formula"),
    }
}

/// A day that lacks (m, p) against a diesel generator of size x.
fn microgrid(x: f64, [am, pm]: [f64; 2]) -> f64 {
    let lack = [plus(10.0 - am), plus(10.0 - pm)];
    lack.iter().map(|&lack| 2.0 * lack.min(x) + 22.0 * plus(lack - x)).sum()
}

/// Two shops from one stock: a shortage falls on the cheaper shop first.
fn two_shops(stock: f64, [north, south]: [f64; 2]) -> f64 {
    let short = plus(north + south - stock);
    8.0 * short.min(north) + 10.0 * plus(short - north) + 2.0 * plus(stock - north - south)
}

/// The surplus of one side serves the other, at `price` each and up to `line`; the rest of the demand is unmet, at
/// `missed` each.
fn two_sides(have: [f64; 2], need: [f64; 2], price: f64, line: f64, missed: f64) -> f64 {
    let lack = [plus(need[0] - have[0]), plus(need[1] - have[1])];
    let spare = [plus(have[0] - need[0]), plus(have[1] - need[1])];
    let moved = lack[0].min(spare[1]).min(line) + lack[1].min(spare[0]).min(line);
    price * moved + missed * (lack[0] + lack[1] - moved)
}

/// Two plants that share `s` at the least cost of a + b + a² + ab + b².
fn plants(s: f64) -> f64 {
    s + 0.75 * s * s
}

/// Every problem.
pub(crate) const HAND: &[Hand] = &[
    Hand {
        name: "box",
        dim: 1,
        range: |_| Real(0.0, 60.0),
        cost: Formula(|x| {
            2.0 * x[0] + worst([[10.0, 5.0], [10.0, 15.0], [20.0, 5.0], [20.0, 15.0]], |xi| two_shops(x[0], xi))
        }),
    },
    Hand {
        name: "budget-one-sided",
        dim: 1,
        range: |_| Real(0.0, 80.0),
        cost: Formula(|x| {
            let lack = plus(30.0 + 8.0 + 0.5 * 6.0 - x[0]);
            5.0 * x[0] + 4.0 * lack.min(4.0) + 12.0 * plus(lack - 4.0)
        }),
    },
    Hand {
        name: "budget-two-sided",
        dim: 1,
        range: |_| Real(0.0, 80.0),
        cost: Formula(|x| x[0] + worst([[16.0], [44.0]], |[demand]| newsvendor(x[0], demand, 5.0, 2.0))),
    },
    Hand {
        name: "cost-xi-box",
        dim: 1,
        range: |_| Real(0.0, 20.0),
        cost: Formula(|x| 5.0 * x[0] + 6.0 * plus(10.0 - x[0])),
    },
    Hand {
        name: "cost-xi-scenarios",
        dim: 1,
        range: |_| Real(0.0, 20.0),
        cost: Formula(|x| {
            5.0 * x[0] + worst([[4.0, 10.0], [9.0, 6.0], [7.0, 7.0]], |[price, load]| price * plus(load - x[0]))
        }),
    },
    Hand {
        name: "depot",
        dim: 2,
        range: |x| if x.is_empty() { Whole(0, 1) } else { Real(0.0, 800.0 * x[0]) },
        cost: Formula(|x| 400.0 * x[0] + 18.0 * x[1] + 22.0 * x[1].min(246.0) + 150.0 * plus(246.0 - x[1])),
    },
    Hand {
        name: "ellipsoid",
        dim: 1,
        range: |_| Real(0.0, 100.0),
        cost: Formula(|x| 2.0 * x[0] + worst([[45.0], [55.0]], |[demand]| newsvendor(x[0], demand, 8.0, 2.0))),
    },
    Hand {
        name: "ellipsoid-segment",
        dim: 1,
        range: |_| Real(0.0, 60.0),
        cost: Formula(|x| {
            let lacks = |lack: f64| plus(lack).min(x[0]) + 11.0 * plus(lack - x[0]) + 4.0 * plus(-lack);
            2.0 * x[0] + worst([[25.0], [-5.0]], |[lack]| lacks(lack))
        }),
    },
    Hand {
        name: "equality-free",
        dim: 1,
        range: |_| Real(-50.0, 50.0),
        cost: Formula(|x| 5.0 * x[0] + worst([[-6.0], [-2.0]], |[load]| newsvendor(x[0], load, 8.0, -3.0))),
    },
    Hand { name: "exp", dim: 1, range: |_| Real(0.0, 10.0), cost: Formula(|x| 2.0 * x[0] + 6.0 * (2.0 - x[0]).exp()) },
    Hand { name: "small-units", dim: 1, range: |_| Real(0.0, 2.0), cost: Formula(|x| 3.0 * x[0] + plus(1.0 - x[0])) },
    Hand {
        name: "big-m",
        dim: 2,
        range: |x| if x.is_empty() { Whole(0, 1) } else { Real(0.0, 800.0 * x[0]) },
        cost: Formula(|x| 400.0 * x[0] + 18.0 * x[1] + 22.0 * x[1].min(246.0) + 150.0 * plus(246.0 - x[1])),
    },
    Hand { name: "large-units", dim: 1, range: |_| Real(0.0, 2.0), cost: Formula(|x| x[0] - 1e8) },
    Hand { name: "no-recourse", dim: 1, range: |_| Real(6.0, 10.0), cost: Formula(|x| x[0]) },
    Hand { name: "zero", dim: 2, range: |_| Real(0.0, 10.0), cost: Formula(|x| 2.0 * (x[0] - 3.0).hypot(x[1] - 4.0)) },
    Hand {
        name: "feasibility",
        dim: 2,
        range: |x| if x.is_empty() { Real(5.0, 20.0) } else { Real(plus(9.0 - x[0]), 20.0) },
        cost: Formula(|x| {
            let city = x[0].min(9.0);
            7.0 * x[0] + 5.0 * x[1] + 2.0 * city + 3.0 * (9.0 - city)
        }),
    },
    Hand { name: "infeasible-first-stage", dim: 2, range: |_| Real(0.0, 12.0), cost: Cost::None },
    Hand { name: "infeasible-integers", dim: 1, range: |_| Whole(0, 5), cost: Cost::None },
    Hand { name: "infeasible-jointly", dim: 1, range: |_| Real(0.0, 10.0), cost: Cost::None },
    Hand { name: "infeasible-recourse", dim: 1, range: |_| Real(0.0, 5.0), cost: Cost::None },
    Hand { name: "infeasible-soc", dim: 2, range: |_| Real(0.0, 10.0), cost: Cost::None },
    Hand {
        name: "integers",
        dim: 2,
        range: |x| if x.is_empty() { Whole(0, 8) } else { Whole(0, 8.min(9 - x[0] as i32)) },
        cost: Formula(|x| {
            let fleet = [1.5 * x[0], 1.5 * x[1]];
            12.0 * x[0]
                + 10.0 * x[1]
                + worst([[3.0, 2.0], [5.0, 2.0], [3.0, 5.0]], |xi| two_sides(fleet, xi, 2.0, f64::INFINITY, 25.0))
        }),
    },
    Hand {
        name: "integers-quadratic",
        dim: 1,
        range: |_| Whole(0, 40),
        cost: Formula(|x| 9.0 * x[0] + plants(plus(30.0 - x[0]))),
    },
    Hand {
        name: "l1",
        dim: 2,
        range: |_| Real(0.0, 60.0),
        cost: Formula(|x| {
            let loads = [[36.0, 20.0], [24.0, 20.0], [30.0, 24.0], [30.0, 16.0]];
            3.0 * x[0] + 4.0 * x[1] + worst(loads, |xi| two_sides([x[0], x[1]], xi, 1.0, 2.0, 10.0))
        }),
    },
    Hand {
        name: "polyhedron",
        dim: 2,
        range: |_| Real(0.0, 30.0),
        cost: Formula(|x| {
            let vertices = [[5.0, 5.0], [15.0, 5.0], [5.0, 15.0], [20.0, 10.0], [10.0, 20.0]];
            6.0 * (x[0] + x[1]) + 10.0 * worst(vertices, |[up, low]| plus(up - x[0]) + plus(low - x[1]))
        }),
    },
    Hand { name: "power", dim: 1, range: |_| Real(1.0, 40.0), cost: Formula(|x| x[0] + 3.0 * 16.0 / x[0].cbrt()) },
    Hand {
        name: "psd",
        dim: 1,
        range: |_| Real(0.0, 10.0),
        cost: Formula(|x| 3.0 * x[0] + 5.0 * (1.0 + (5.0 - x[0]).hypot(4.0))),
    },
    Hand {
        name: "quadratic-first-stage",
        dim: 2,
        range: |_| Real(0.0, 20.0),
        cost: Formula(|x| 5.0 + x[0] * x[0] + x[0] * x[1] + x[1] * x[1] + 12.0 * plus(10.0 - x[0] - x[1])),
    },
    Hand {
        name: "quadratic-recourse",
        dim: 1,
        range: |_| Real(0.0, 40.0),
        cost: Formula(|x| 10.0 * x[0] + plants(plus(30.0 - x[0]))),
    },
    Hand {
        name: "ranged-rows",
        dim: 2,
        range: |x| if x.is_empty() { Real(0.0, 30.0) } else { Real(plus(x[0] - 6.0), (x[0] + 6.0).min(30.0)) },
        cost: Formula(|x| {
            let release = x[0] + x[1];
            -2.0 * x[0] - x[1] + (2.0 * plus(20.0 - release)).max(3.0 * plus(release - 10.0))
        }),
    },
    Hand {
        name: "scenarios",
        dim: 1,
        range: |_| Real(0.0, 40.0),
        cost: Formula(|x| 10.0 * x[0] + worst([[8.0], [11.0], [14.0]], |[need]| newsvendor(x[0], need, 25.0, 5.0))),
    },
    Hand {
        name: "scenarios-csv",
        dim: 1,
        range: |_| Real(0.0, 20.0),
        cost: Formula(|x| {
            let days = [[9.0, 7.0], [4.0, 6.0], [2.0, 8.0], [10.0, 3.0], [5.0, 5.0], [7.0, 1.0], [3.0, 4.0]];
            30.0 * x[0] + worst(days, |day| microgrid(x[0], day))
        }),
    },
    Hand {
        name: "soc",
        dim: 2,
        range: |_| Real(0.0, 10.0),
        cost: Formula(|x| {
            let corners = [[0.0, 0.0], [0.0, 8.0], [6.0, 0.0], [6.0, 8.0]];
            2.0 * worst(corners, |[east, north]| (x[0] - east).hypot(x[1] - north))
        }),
    },
    Hand {
        name: "unbounded-first-stage",
        dim: 2,
        range: |x| if x.is_empty() { Real(0.0, 30.0) } else { Real(x[0], 100.0) },
        cost: Cost::None,
    },
    Hand { name: "unbounded-recourse", dim: 1, range: |_| Real(0.0, 20.0), cost: Cost::None },
    Hand { name: "zeng-zhao", dim: 6, range: zeng_zhao_range, cost: Scenarios(&ZENG_ZHAO) },
];
