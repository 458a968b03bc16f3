//! Rigorous upper bounds on linear functions over a region: closed forms where they exist, weak duality elsewhere. The
//! bounds hold for any point that a solver returns and account for rounding errors.

use softsep_lp::{Algorithm, Lp, Model, Toggle};

use crate::definition::ScenarioList;
use crate::numeric::dot;
use crate::numeric::tolerances::SUMMATION_TOL;
use crate::recourse::RecourseError;
use crate::uncertainty::{Ball, Polytope, Shape};

/// The region over which functions are bounded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SupportRegion<'a> {
    /// A shape.
    Shape(&'a Shape),
    /// A list.
    List(&'a ScenarioList),
}

impl SupportRegion<'_> {
    /// Approximate half-width of the region in each entry of ξ.
    pub(super) fn half_widths(&self, dim: usize) -> Vec<f64> {
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

/// Upper bounds on linear functions over one region.
pub(super) struct SupportBounds<'a> {
    region: SupportRegion<'a>,
    /// A point in or near the region. Functions are measured relative to it, because ξ may be far from zero and vary
    /// little.
    pub(super) reference_point: Vec<f64>,
    polytope: Option<PolytopeBound<'a>>,
    rest: Vec<f64>,
}

impl<'a> SupportBounds<'a> {
    pub(super) fn new(region: SupportRegion<'a>) -> Result<Self, RecourseError> {
        let (reference_point, polytope) = match region {
            SupportRegion::Shape(Shape { polytope: Some(polytope), .. }) => {
                (polytope.base.clone(), Some(PolytopeBound::new(polytope)?))
            }
            SupportRegion::Shape(shape) => {
                (shape.ball.as_ref().map_or_else(Vec::new, |ball| ball.center.clone()), None)
            }
            SupportRegion::List(points) => (points.iter().next().map_or_else(Vec::new, <[f64]>::to_vec), None),
        };
        Ok(Self { region, reference_point, polytope, rest: Vec::new() })
    }

    /// Returns an upper bound on `slopeᵀ(ξ − reference_point)`. Over a polytope and a ball together, `share` is the
    /// part of the slope that is bounded over the ball; any share gives a valid bound.
    pub(super) fn upper_bound(&mut self, slope: &[f64], share: Option<&[f64]>) -> Result<f64, RecourseError> {
        let Self { region, reference_point, polytope, rest } = self;
        match *region {
            SupportRegion::List(points) => {
                let (mut most, mut size) = (f64::NEG_INFINITY, 0.0_f64);
                for xi in points.iter() {
                    let steps = || {
                        slope
                            .iter()
                            .zip(xi.iter().zip(&*reference_point))
                            .map(|(slope, (xi, reference_point))| slope * (xi - reference_point))
                    };
                    most = most.max(steps().sum());
                    size = size.max(steps().map(f64::abs).sum());
                }
                Ok(most + SUMMATION_TOL * size)
            }
            SupportRegion::Shape(shape) => match (&shape.ball, polytope) {
                (Some(ball), None) => Ok(ball_bound(ball, slope)),
                (None, Some(polytope)) => polytope.upper_bound(slope),
                (Some(ball), Some(polytope)) => {
                    let Some(share) = share else { return polytope.upper_bound(slope) };
                    rest.clear();
                    rest.extend(slope.iter().zip(share).map(|(slope, share)| slope - share));
                    let moved: Vec<f64> = ball
                        .center
                        .iter()
                        .zip(&*reference_point)
                        .map(|(center, reference_point)| center - reference_point)
                        .collect();
                    let off = dot(share, &moved) + SUMMATION_TOL * magnitude(share, &moved);
                    Ok(ball_bound(ball, share) + off + polytope.upper_bound(rest)?)
                }
                (None, None) => Ok(f64::INFINITY),
            },
        }
    }
}

/// `‖Aᵀa‖`, with a bound on its rounding error.
fn ball_bound(ball: &Ball, slope: &[f64]) -> f64 {
    let squares: f64 = ball.columns.iter().map(|column| dot(column, slope).powi(2)).sum();
    squares.sqrt() + SUMMATION_TOL * ball.columns.iter().map(|column| magnitude(slope, column)).sum::<f64>()
}

/// The maximum of a linear function over a polytope `ξ = base + Sζ` with 0 ≤ ζ ≤ 1, relative to its value at the base.
struct PolytopeBound<'a> {
    polytope: &'a Polytope,
    method: BoundMethod,
    /// The gain per unit of each ζ.
    gains: Vec<f64>,
}

enum BoundMethod {
    /// Each ζ has its own bound, and at most one row with positive coefficients couples them: the multiplier of that
    /// row determines the maximum.
    Knapsack {
        caps: Vec<f64>,
        joint: Option<usize>,
        /// PolicyColumns by their gain per unit of the coupling row.
        order: Vec<usize>,
    },
    /// Any other polytope: a linear program, whose duals prove the bound.
    ProgramBuilder(Box<Lp>),
}

impl<'a> PolytopeBound<'a> {
    fn new(polytope: &'a Polytope) -> Result<Self, RecourseError> {
        let gains = vec![0.0; polytope.columns.len()];
        let method = match knapsack(polytope) {
            Some(method) => method,
            None => {
                let mut model = Model::new();
                polytope.columns.iter().for_each(|_| _ = model.add_col(0.0, 0.0, 1.0));
                for row in &polytope.rows {
                    model.add_row(if row.equal { row.limit } else { f64::NEG_INFINITY }, row.limit, &row.terms);
                }
                let mut lp = Lp::new(&model)?;
                lp.set_presolve(Toggle::Off)?;
                // Only the costs change from one function to the next.
                lp.set_algorithm(Algorithm::PrimalSimplex)?;
                BoundMethod::ProgramBuilder(Box::new(lp))
            }
        };
        Ok(Self { polytope, method, gains })
    }

    fn upper_bound(&mut self, slope: &[f64]) -> Result<f64, RecourseError> {
        let Self { polytope, method, gains } = self;
        for (gain, &(entry, step)) in gains.iter_mut().zip(&polytope.columns) {
            *gain = slope[entry] * step;
        }
        let size: f64 = gains.iter().map(|gain| gain.abs()).sum();
        let excess = match method {
            BoundMethod::Knapsack { caps, joint, order } => knapsack_bound(polytope, gains, caps, *joint, order),
            BoundMethod::ProgramBuilder(lp) => {
                let largest = gains.iter().fold(0.0_f64, |largest, gain| largest.max(gain.abs()));
                let mut duals = vec![0.0; polytope.rows.len()];
                if largest > 0.0 {
                    lp.set_costs(&gains.iter().map(|gain| -gain / largest).collect::<Vec<_>>())?;
                    lp.solve()?;
                    lp.dual(&mut duals)?;
                }
                dual_bound(polytope, gains, duals.iter().map(|dual| -dual * largest))
            }
        };
        Ok(excess + SUMMATION_TOL * size)
    }
}

/// Returns the knapsack form of a polytope, if it has one.
fn knapsack(polytope: &Polytope) -> Option<BoundMethod> {
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
    Some(BoundMethod::Knapsack { caps, joint, order: Vec::new() })
}

/// `min over μ ≥ 0 of μ·limit + Σ capₖ·(gainₖ − μ·weightₖ)⁺`, attained at the μ for which the limit is used up. Every μ
/// gives an upper bound.
fn knapsack_bound(
    polytope: &Polytope,
    gains: &[f64],
    caps: &[f64],
    joint: Option<usize>,
    order: &mut Vec<usize>,
) -> f64 {
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

/// `Σ limit·λ + Σ (gain − Bᵀλ)⁺`: no ζ is above 1, so that any λ with the right signs gives an upper bound.
fn dual_bound(polytope: &Polytope, gains: &[f64], duals: impl Iterator<Item = f64>) -> f64 {
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
