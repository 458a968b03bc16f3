//! Bounds on linear functions over a region that hold for sure: closed forms where there are some, weak duality
//! elsewhere. Whatever a solver returned on the way, and however the sums were rounded, no member of the region is
//! above them.

use softsep_lp::{Algorithm, Lp, Model, Toggle};

use crate::format::Points;
use crate::numeric::dot;
use crate::recourse::RecourseError;
use crate::uncertainty::{Ball, Polytope, Shape};

/// The share of the sum of all magnitudes that is added for what rounding may have lost: some hundred units in the last
/// place.
const ROUNDING: f64 = 1e-14;

/// Where functions are bounded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ground<'a> {
    /// A shape.
    Shape(&'a Shape),
    /// A list.
    List(&'a Points),
}

impl Ground<'_> {
    /// How far each entry of ξ goes, about.
    pub(super) fn reach(&self, dim: usize) -> Vec<f64> {
        let mut reach = vec![0.0; dim];
        match self {
            Self::Shape(Shape { polytope: Some(polytope), .. }) => {
                polytope.columns.iter().for_each(|&(entry, step)| reach[entry] += step.abs());
            }
            Self::Shape(shape) => {
                if let Some(ball) = &shape.ball {
                    reach.iter_mut().enumerate().for_each(|(entry, reach)| *reach = ball.half_width(entry));
                }
            }
            Self::List(points) => {
                let Some(first) = points.iter().next() else { return reach };
                for xi in points.iter() {
                    reach
                        .iter_mut()
                        .enumerate()
                        .for_each(|(entry, reach)| *reach = reach.max((xi[entry] - first[entry]).abs()));
                }
            }
        }
        reach
    }
}

/// Bounds over one region.
pub(super) struct Support<'a> {
    ground: Ground<'a>,
    /// A point in or near the region, which functions are measured from: ξ may be far from zero, and move little.
    pub(super) middle: Vec<f64>,
    polytope: Option<Solver<'a>>,
    rest: Vec<f64>,
}

impl<'a> Support<'a> {
    pub(super) fn new(ground: Ground<'a>) -> Result<Self, RecourseError> {
        let (middle, polytope) = match ground {
            Ground::Shape(Shape { polytope: Some(polytope), .. }) => {
                (polytope.base.clone(), Some(Solver::new(polytope)?))
            }
            Ground::Shape(shape) => (shape.ball.as_ref().map_or_else(Vec::new, |ball| ball.center.clone()), None),
            Ground::List(points) => (points.iter().next().map_or_else(Vec::new, <[f64]>::to_vec), None),
        };
        Ok(Self { ground, middle, polytope, rest: Vec::new() })
    }

    /// What `slopeᵀ(ξ − middle)` is at most. Over a polytope and a ball together `share` is the part of the slope that
    /// the ball answers for: any proves a bound.
    pub(super) fn at_most(&mut self, slope: &[f64], share: Option<&[f64]>) -> Result<f64, RecourseError> {
        let Self { ground, middle, polytope, rest } = self;
        match *ground {
            Ground::List(points) => {
                let (mut most, mut size) = (f64::NEG_INFINITY, 0.0_f64);
                for xi in points.iter() {
                    let steps =
                        || slope.iter().zip(xi.iter().zip(&*middle)).map(|(slope, (xi, middle))| slope * (xi - middle));
                    most = most.max(steps().sum());
                    size = size.max(steps().map(f64::abs).sum());
                }
                Ok(most + ROUNDING * size)
            }
            Ground::Shape(shape) => match (&shape.ball, polytope) {
                (Some(ball), None) => Ok(over_ball(ball, slope)),
                (None, Some(solver)) => solver.at_most(slope),
                (Some(ball), Some(solver)) => {
                    let Some(share) = share else { return solver.at_most(slope) };
                    rest.clear();
                    rest.extend(slope.iter().zip(share).map(|(slope, share)| slope - share));
                    let moved: Vec<f64> =
                        ball.center.iter().zip(&*middle).map(|(center, middle)| center - middle).collect();
                    let off = dot(share, &moved) + ROUNDING * magnitude(share, &moved);
                    Ok(over_ball(ball, share) + off + solver.at_most(rest)?)
                }
                (None, None) => Ok(f64::INFINITY),
            },
        }
    }
}

/// `‖Aᵀa‖`.
fn over_ball(ball: &Ball, slope: &[f64]) -> f64 {
    let squares: f64 = ball.columns.iter().map(|column| dot(column, slope).powi(2)).sum();
    squares.sqrt() + ROUNDING * ball.columns.iter().map(|column| magnitude(slope, column)).sum::<f64>()
}

/// The maximum over a polytope `ξ = base + Sζ`, whose ζ are all between 0 and 1, above what the function is at the
/// base.
struct Solver<'a> {
    polytope: &'a Polytope,
    kind: Kind,
    /// What a unit of each ζ earns.
    gains: Vec<f64>,
}

enum Kind {
    /// Each ζ has its own limits, and at most one row with positive coefficients limits them together: its price
    /// decides.
    Knapsack {
        caps: Vec<f64>,
        joint: Option<usize>,
        /// Columns by what they gain for a unit of the joint limit, for the search for its price.
        order: Vec<usize>,
    },
    /// Anything else: a linear program, whose duals prove the bound.
    Program(Box<Lp>),
}

impl<'a> Solver<'a> {
    fn new(polytope: &'a Polytope) -> Result<Self, RecourseError> {
        let gains = vec![0.0; polytope.columns.len()];
        let kind = match knapsack(polytope) {
            Some(kind) => kind,
            None => {
                let mut model = Model::new();
                polytope.columns.iter().for_each(|_| _ = model.add_col(0.0, 0.0, 1.0));
                for row in &polytope.rows {
                    model.add_row(if row.equal { row.limit } else { f64::NEG_INFINITY }, row.limit, &row.terms);
                }
                let mut lp = Lp::new(&model)?;
                lp.set_presolve(Toggle::Off)?;
                // Costs alone change from one function to the next.
                lp.set_algorithm(Algorithm::PrimalSimplex)?;
                Kind::Program(Box::new(lp))
            }
        };
        Ok(Self { polytope, kind, gains })
    }

    fn at_most(&mut self, slope: &[f64]) -> Result<f64, RecourseError> {
        let Self { polytope, kind, gains } = self;
        for (gain, &(entry, step)) in gains.iter_mut().zip(&polytope.columns) {
            *gain = slope[entry] * step;
        }
        let size: f64 = gains.iter().map(|gain| gain.abs()).sum();
        let beyond = match kind {
            Kind::Knapsack { caps, joint, order } => fill(polytope, gains, caps, *joint, order),
            Kind::Program(lp) => {
                let largest = gains.iter().fold(0.0_f64, |largest, gain| largest.max(gain.abs()));
                let mut duals = vec![0.0; polytope.rows.len()];
                if largest > 0.0 {
                    lp.set_costs(&gains.iter().map(|gain| -gain / largest).collect::<Vec<_>>())?;
                    lp.solve()?;
                    lp.dual(&mut duals)?;
                }
                by_duals(polytope, gains, duals.iter().map(|dual| -dual * largest))
            }
        };
        Ok(beyond + ROUNDING * size)
    }
}

/// The polytope as a knapsack, if it is one.
fn knapsack(polytope: &Polytope) -> Option<Kind> {
    let mut caps = vec![1.0_f64; polytope.columns.len()];
    let mut joint = None;
    for (number, row) in polytope.rows.iter().enumerate() {
        match &row.terms[..] {
            _ if row.equal || row.limit < 0.0 => return None,
            [] => {}
            &[(column, coefficient)] if coefficient > 0.0 => caps[column] = caps[column].min(row.limit / coefficient),
            terms if joint.is_none() && terms.iter().all(|term| term.1 > 0.0) => joint = Some(number),
            _ => return None,
        }
    }
    Some(Kind::Knapsack { caps, joint, order: Vec::new() })
}

/// `min over μ ≥ 0 of μ·limit + Σ capₖ·(gainₖ − μ·weightₖ)⁺`, at the price where the limit is used up. Every μ bounds
/// the maximum.
fn fill(polytope: &Polytope, gains: &[f64], caps: &[f64], joint: Option<usize>, order: &mut Vec<usize>) -> f64 {
    let alone = |column: usize, price: f64| caps[column] * (gains[column] - price).max(0.0);
    let Some(joint) = joint else { return (0..gains.len()).map(|column| alone(column, 0.0)).sum() };
    let row = &polytope.rows[joint];
    order.clear();
    order.extend((0..row.terms.len()).filter(|&term| gains[row.terms[term].0] > 0.0));
    let ratio = |term: usize| gains[row.terms[term].0] / row.terms[term].1;
    order.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)).then(a.cmp(&b)));
    let (mut left, mut price) = (row.limit, 0.0);
    for &term in order.iter() {
        let (column, weight) = row.terms[term];
        left -= weight * caps[column];
        if left < 0.0 {
            price = ratio(term);
            break;
        }
    }
    let mut weights = vec![0.0; gains.len()];
    row.terms.iter().for_each(|&(column, weight)| weights[column] = weight);
    price * row.limit + (0..gains.len()).map(|column| alone(column, price * weights[column])).sum::<f64>()
}

/// `Σ limit·λ + Σ (gain − Bᵀλ)⁺`: no ζ is above 1, so that any λ of the right signs bounds the maximum.
fn by_duals(polytope: &Polytope, gains: &[f64], duals: impl Iterator<Item = f64>) -> f64 {
    let mut reduced = gains.to_vec();
    let mut bound = 0.0;
    for (row, dual) in polytope.rows.iter().zip(duals) {
        let dual = if row.equal || dual > 0.0 { dual } else { 0.0 };
        bound += row.limit * dual;
        row.terms.iter().for_each(|&(column, coefficient)| reduced[column] -= coefficient * dual);
    }
    bound + reduced.into_iter().map(|reduced| reduced.max(0.0)).sum::<f64>()
}

fn magnitude(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}
