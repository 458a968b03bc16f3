//! The bilinear program `max objective(π; x) + s(π)ᵀξ` over duals π and members ξ, as a mixed-integer linear program.
//!
//! Only the products `s_j·ξ_j` are not linear, and some extreme point ξ is optimal. Where the values of ξ_j at extreme
//! points are known, its *levels*, one binary for each level selects it ([`Domain::Levels`]). Elsewhere the optimality
//! conditions of ξ for the slopes s select an extreme point, with one binary for each complementary pair
//! ([`Domain::Corners`], Zeng and Zhao 2013, e-companion ). Both formulations need bounds on slopes and
//! multipliers, which `tighten.rs` computes. Without its binaries the program is a relaxation.

use softsep_lp::Model;

use crate::model::RecourseModel;
use crate::numeric::tolerances::COORDINATE_TOL;
use crate::recourse::{DualColumns, DualSet, merged};
use crate::separation::mixed_integer::MixedInteger;
use crate::separation::slopes::widths;
use crate::uncertainty::{Polytope, ShapeRow};

/// The points among which ξ is chosen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Domain {
    /// The points of the polytope whose entries are at these levels, in ascending order.
    Levels(Polytope, Vec<Vec<f64>>),
    /// The extreme points of the polytope.
    Corners(Polytope),
}

/// A bilinear program at a decision.
pub(super) struct BilinearProgram<'a> {
    pub(super) recourse: &'a RecourseModel,
    pub(super) duals: DualSet,
    /// `Ex`.
    pub(super) shift: &'a [f64],
    pub(super) domain: &'a Domain,
}

/// Valid bounds on the factors of the products.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VariableBounds {
    /// The smallest and the largest value of each slope.
    pub(super) slopes: Vec<(f64, f64)>,
    /// The largest values of the two members of each complementary pair. Both members are nonnegative, and one is zero.
    pub(super) pairs: Vec<[f64; 2]>,
}

/// The linear or mixed-integer program for HiGHS.
pub(super) struct MilpModel {
    pub(super) model: Model,
    /// The objective, which is maximised: one coefficient per column.
    pub(super) value: Vec<f64>,
    /// The slopes as terms over the dual's columns.
    pub(super) slopes: Vec<Vec<(usize, f64)>>,
    /// The columns of slopes that have one, by entry.
    pub(super) slope_columns: Vec<(usize, usize)>,
    /// The columns of the complementary pairs.
    pub(super) pairs: Vec<[usize; 2]>,
    /// Binaries that select a level: column, entry, level.
    pub(super) picks: Vec<(usize, usize, f64)>,
    /// Whether there are binaries. Bounds may decide all of them in advance.
    pub(super) has_binaries: bool,
    /// The bound without which the products are not exact, in words; `None` if all bounds are finite.
    pub(super) missing_bound: Option<&'static str>,
}

/// The largest ratio of a multiplier's bound to the slopes. Above it HiGHS's integrality tolerance would allow both
/// members of a complementary pair to be positive.
const MAX_BIG_M_RATIO: f64 = 1e4;

/// The linear program to write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Formulation {
    /// Without binaries, restricted to points with at least this objective value.
    Relaxation {
        /// The smallest objective value.
        least: f64,
        /// Whether products of dual rows with ξ are included: the relaxation is much tighter, and larger.
        products: bool,
    },
    /// With binaries.
    MixedInteger {
        /// As above.
        products: bool,
    },
}

impl Domain {
    /// Bounds before any tightening: the ranges of slopes, and infinite bounds on complementary pairs.
    pub(super) fn initial_bounds(&self, slopes: Vec<(f64, f64)>) -> VariableBounds {
        let pairs = match self {
            Domain::Levels(..) => Vec::new(),
            Domain::Corners(polytope) => {
                let inequalities = polytope.rows.iter().filter(|row| !row.equal).count();
                vec![[f64::INFINITY; 2]; polytope.columns.len() + inequalities]
            }
        };
        VariableBounds { slopes, pairs }
    }

    /// The only point, if there is exactly one.
    pub(super) fn only(&self) -> Option<Vec<f64>> {
        match self {
            Domain::Levels(_, levels) => levels.iter().map(|levels| (levels.len() == 1).then(|| levels[0])).collect(),
            Domain::Corners(polytope) => polytope.columns.is_empty().then(|| polytope.base.clone()),
        }
    }
}

impl BilinearProgram<'_> {
    /// Writes the program with these bounds.
    pub(super) fn write(&self, bounds: &VariableBounds, formulation: Formulation) -> MilpModel {
        let mut model = Model::new();
        let columns = DualColumns::write(self.recourse, self.duals, &mut model);
        let mut milp = MilpModel {
            value: columns.objective(self.shift),
            slopes: columns.slopes(&self.recourse.u),
            model,
            slope_columns: Vec::new(),
            pairs: Vec::new(),
            picks: Vec::new(),
            has_binaries: false,
            missing_bound: None,
        };
        let (polytope, set_columns) = match self.domain {
            Domain::Levels(polytope, levels) => (polytope, milp.add_levels(polytope, levels, bounds, formulation)),
            Domain::Corners(polytope) => (polytope, milp.add_corners(polytope, bounds, formulation)),
        };
        let (Formulation::Relaxation { products, .. } | Formulation::MixedInteger { products }) = formulation;
        if products {
            milp.add_products(&columns, self.recourse, polytope, &set_columns);
        }
        if let Formulation::Relaxation { least, .. } = formulation {
            let terms: Vec<(usize, f64)> = milp.value.iter().copied().enumerate().collect();
            milp.model.add_row(least, f64::INFINITY, &terms);
        }
        milp
    }
}

impl MilpModel {
    /// Adds a column with the objective coefficient `value`.
    pub(super) fn column(&mut self, value: f64, lower: f64, upper: f64) -> usize {
        self.value.push(value);
        self.model.add_col(0.0, lower, upper)
    }

    fn binary(&mut self, formulation: Formulation) -> usize {
        if matches!(formulation, Formulation::MixedInteger { .. }) {
            self.has_binaries = true;
            self.value.push(0.0);
            self.model.add_integer(0.0, 0.0, 1.0)
        } else {
            self.column(0.0, 0.0, 1.0)
        }
    }

    /// Adds `s_j·ξ_j` to the objective for ξ_j fixed at `at`.
    fn add_fixed(&mut self, entry: usize, at: f64) {
        for &(column, coefficient) in &self.slopes[entry] {
            self.value[column] += coefficient * at;
        }
    }

    /// Adds a column for the slope of an entry, with its range.
    fn slope_column(&mut self, entry: usize, bounds: &VariableBounds) -> usize {
        let (least, most) = bounds.slopes[entry];
        let column = self.column(0.0, least, most);
        let mut terms = self.slopes[entry].clone();
        terms.push((column, -1.0));
        self.model.add_row(0.0, 0.0, &terms);
        self.slope_columns.push((entry, column));
        column
    }

    /// Adds levels, their binaries, and the rows of the set.
    ///
    /// Let r be the lowest level, `z = s·(ξ − r)`, and β_v the binary of level v. Then
    /// `z ≤ (t − r)·s + Σ_v β_v·max (v − t)·s` for every t, where the maximum is over the range of s. It suffices to
    /// take levels for t: together these rows are the concave envelope, and for integral β the row with β_t = 1 is
    /// exact.
    fn add_levels(
        &mut self,
        polytope: &Polytope,
        levels: &[Vec<f64>],
        bounds: &VariableBounds,
        formulation: Formulation,
    ) -> SetColumns {
        let mut set_columns = SetColumns { zeta: Vec::new(), products: Vec::new() };
        let mut pick_of: Vec<Vec<usize>> = Vec::with_capacity(levels.len());
        for (entry, levels) in levels.iter().enumerate() {
            self.add_fixed(entry, levels[0]);
            let mut picks = Vec::new();
            if levels.len() > 1 {
                let slope = self.slope_column(entry, bounds);
                let product = self.column(1.0, f64::NEG_INFINITY, f64::INFINITY);
                let zetas = (0..polytope.columns.len()).filter(|&zeta| polytope.columns[zeta].0 == entry).collect();
                set_columns.products.push(Product { zetas, entry, column: product, from: levels[0], slope });
                for &level in &levels[1..] {
                    let pick = self.binary(formulation);
                    picks.push(pick);
                    self.picks.push((pick, entry, level));
                }
                if picks.len() > 1 {
                    let terms: Vec<(usize, f64)> = picks.iter().map(|&pick| (pick, 1.0)).collect();
                    self.model.add_row(f64::NEG_INFINITY, 1.0, &terms);
                }
                self.add_level_envelope(product, slope, levels, &picks, bounds.slopes[entry]);
            }
            pick_of.push(picks);
        }
        for &(entry, step) in &polytope.columns {
            let zeta = |level: f64| ((level - polytope.base[entry]) / step).max(0.0);
            let first = zeta(levels[entry][0]);
            let terms =
                pick_of[entry].iter().zip(&levels[entry][1..]).map(|(&pick, &level)| (pick, zeta(level) - first));
            set_columns.zeta.push(Affine { constant: first, terms: terms.collect() });
        }
        // Every remaining level satisfies the rows with a single ζ.
        for row in polytope.rows.iter().filter(|row| row.terms.len() > 1) {
            let mut limit = row.limit;
            let mut terms = Vec::new();
            for &(column, coefficient) in &row.terms {
                limit -= coefficient * set_columns.zeta[column].constant;
                terms.extend(set_columns.zeta[column].terms.iter().map(|&(pick, value)| (pick, coefficient * value)));
            }
            self.model.add_row(if row.equal { limit } else { f64::NEG_INFINITY }, limit, &merged(terms));
        }
        set_columns
    }

    /// Adds the rows of the concave envelope of a product over these levels, for slopes in this range.
    fn add_level_envelope(
        &mut self,
        product: usize,
        slope: usize,
        levels: &[f64],
        picks: &[usize],
        (least, most): (f64, f64),
    ) {
        for &at in levels {
            let rise = |level: f64| match level - at {
                0.0 => 0.0,
                by if by > 0.0 => by * most,
                by => by * least,
            };
            let first = rise(levels[0]);
            if !levels.iter().all(|&level| rise(level).is_finite()) {
                self.missing_bound = Some("the slope of the recourse cost in some entry of ξ has no finite bound");
                continue;
            }
            let mut terms = vec![(product, 1.0), (slope, levels[0] - at)];
            terms.extend(picks.iter().zip(&levels[1..]).map(|(&pick, &level)| (pick, first - rise(level))));
            self.model.add_row(f64::NEG_INFINITY, first, &terms);
        }
    }

    /// Adds the polytope and the optimality conditions of ξ.
    ///
    /// For given s, ξ is optimal in the polytope `Aζ ≤ b, ζ ≥ 0` exactly if there are multipliers λ ≥ 0 with
    /// `μ = Aᵀλ − w ≥ 0`, w = s along ζ, such that `ζ ⊥ μ` and `λ ⊥ b − Aζ`; then `wᵀζ = bᵀλ`, which is linear.
    /// Envelopes of the products are added too: they bound λ.
    fn add_corners(&mut self, polytope: &Polytope, bounds: &VariableBounds, formulation: Formulation) -> SetColumns {
        let mut set_columns = SetColumns { zeta: Vec::new(), products: Vec::new() };
        let mut slope_of = vec![None; polytope.base.len()];
        for (entry, &base) in polytope.base.iter().enumerate() {
            self.add_fixed(entry, base);
        }
        let widths = widths(polytope);
        let mut stationary: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut strong = Vec::new();
        for (column, &(entry, step)) in polytope.columns.iter().enumerate() {
            let slope = match slope_of[entry] {
                Some(slope) => slope,
                None => self.slope_column(entry, bounds),
            };
            slope_of[entry] = Some(slope);
            let [most_mu, most_zeta] = bounds.pairs[column];
            let most_zeta = most_zeta.min(widths[column]);
            let mu = self.column(0.0, 0.0, most_mu);
            let zeta = self.column(0.0, 0.0, most_zeta);
            self.pairs.push([mu, zeta]);
            set_columns.zeta.push(Affine { constant: 0.0, terms: vec![(zeta, 1.0)] });
            stationary.push(vec![(mu, 1.0), (slope, step)]);
            let product = self.product_column(slope, step, bounds.slopes[entry], zeta, most_zeta);
            strong.push((product, -1.0));
            let from = polytope.base[entry];
            set_columns.products.push(Product { zetas: vec![column], entry, column: product, from, slope });
        }
        for row in &polytope.rows {
            let lambda = self.add_set_row(row, bounds);
            row.terms.iter().for_each(|&(column, coefficient)| stationary[column].push((lambda, -coefficient)));
            strong.push((lambda, row.limit));
        }
        // Stationarity: μ + w − Aᵀλ = 0. Strong duality: bᵀλ = Σ products.
        for terms in stationary {
            self.model.add_row(0.0, 0.0, &merged(terms));
        }
        self.model.add_row(0.0, 0.0, &strong);
        self.add_complementarity(polytope, bounds, formulation);
        set_columns
    }

    /// Adds a column for the product w·ζ, `w = step·slope`, with its concave envelope: `w·ζ ≤ most w·ζ` and
    /// `w·ζ ≤ width·w + least w·(ζ − width)`.
    fn product_column(
        &mut self,
        slope: usize,
        step: f64,
        (least, most): (f64, f64),
        zeta: usize,
        most_zeta: f64,
    ) -> usize {
        let product = self.column(0.0, f64::NEG_INFINITY, f64::INFINITY);
        let (least, most) = if step > 0.0 { (step * least, step * most) } else { (step * most, step * least) };
        if most.is_finite() {
            self.model.add_row(f64::NEG_INFINITY, 0.0, &[(product, 1.0), (zeta, -most)]);
        }
        if least.is_finite() && most_zeta.is_finite() {
            let terms = [(product, 1.0), (slope, -most_zeta * step), (zeta, -least)];
            self.model.add_row(f64::NEG_INFINITY, -least * most_zeta, &terms);
        }
        product
    }

    /// Adds a row of the set with its slack, and returns the column of its multiplier λ.
    fn add_set_row(&mut self, row: &ShapeRow, bounds: &VariableBounds) -> usize {
        let mut activity: Vec<(usize, f64)> =
            row.terms.iter().map(|&(column, coefficient)| (self.pairs[column][1], coefficient)).collect();
        let lambda = if row.equal {
            // This multiplier has either sign and any size. HiGHS's tolerances at that size would void the binaries.
            self.missing_bound = Some("an equality of the uncertainty set has a multiplier without a bound");
            self.column(row.limit, f64::NEG_INFINITY, f64::INFINITY)
        } else {
            let [most_lambda, most_slack] = bounds.pairs[self.pairs.len()];
            let lambda = self.column(row.limit, 0.0, most_lambda);
            let slack = self.column(0.0, 0.0, most_slack);
            self.pairs.push([lambda, slack]);
            activity.push((slack, 1.0));
            lambda
        };
        self.model.add_row(row.limit, row.limit, &activity);
        lambda
    }

    /// Adds one binary for each complementary pair: one of the two members is zero.
    fn add_complementarity(&mut self, polytope: &Polytope, bounds: &VariableBounds, formulation: Formulation) {
        let steepest = (polytope.columns.iter())
            .map(|&(entry, step)| step.abs() * bounds.slopes[entry].0.abs().max(bounds.slopes[entry].1.abs()))
            .filter(|steepness| steepness.is_finite())
            .fold(0.0_f64, f64::max);
        for (pair, most) in self.pairs.clone().into_iter().zip(&bounds.pairs) {
            if !most.iter().all(|most| most.is_finite()) {
                self.missing_bound = Some("a multiplier of the uncertainty set has no finite bound");
            } else if most[0] > MAX_BIG_M_RATIO * steepest {
                self.missing_bound =
                    Some("a multiplier of the uncertainty set has a bound so large that a binary would not hold it");
            } else if most.iter().all(|&most| most > 0.0) {
                let second = self.binary(formulation);
                self.model.add_row(f64::NEG_INFINITY, most[0], &[(pair[0], 1.0), (second, most[0])]);
                self.model.add_row(f64::NEG_INFINITY, 0.0, &[(pair[1], 1.0), (second, -most[1])]);
            }
        }
    }

    /// Returns the slopes at a point of the program.
    pub(super) fn slopes_at(&self, point: &[f64]) -> Vec<f64> {
        self.slopes.iter().map(|terms| terms.iter().map(|&(column, value)| value * point[column]).sum()).collect()
    }

    /// Returns the program for a tree search that starts from the scenario ξ.
    pub(super) fn starting_at(&self, xi: &[f64]) -> MixedInteger<'_> {
        MixedInteger { model: &self.model, value: &self.value, has_binaries: self.has_binaries, start: self.start(xi) }
    }

    /// Returns the values of the binaries at ξ.
    fn start(&self, xi: &[f64]) -> Vec<(usize, f64)> {
        self.picks
            .iter()
            .map(|&(pick, entry, level)| {
                (pick, f64::from((xi[entry] - level).abs() <= COORDINATE_TOL * level.abs().max(1.0)))
            })
            .collect()
    }
}

/// An affine function of columns.
pub(super) struct Affine {
    pub(super) constant: f64,
    pub(super) terms: Vec<(usize, f64)>,
}

/// The column of a product `s_j·(ξ_j − from)`, and the coordinates ζ on which ξ_j depends.
pub(super) struct Product {
    pub(super) zetas: Vec<usize>,
    pub(super) entry: usize,
    pub(super) column: usize,
    pub(super) from: f64,
    pub(super) slope: usize,
}

/// The coordinates ζ of the set and the products, in terms of columns.
pub(super) struct SetColumns {
    pub(super) zeta: Vec<Affine>,
    pub(super) products: Vec<Product>,
}
