//! The bilinear program `max objective(π; x) + s(π)ᵀξ` over duals π and members ξ, written as a mixed-integer linear
//! one.
//!
//! Only the products `s_j·ξ_j` are not linear, and ξ need only be a corner of the set. Where the values of ξ_j at
//! corners are known, its *levels*, a binary each picks one ([`Domain::Levels`]); otherwise the optimality conditions
//! of ξ against s pick a corner, with a binary for each complementary pair ([`Domain::Corners`], Zeng and Zhao 2013,
//! e-companion ). Either way ranges of slopes and multipliers stand in the rows; all of them are computed
//! (`tighten.rs`), and without the binaries what is written is a relaxation.

use softsep_lp::Model;

use crate::model::RecourseModel;
use crate::recourse::{DualColumns, DualSet, merged};
use crate::separation::slopes::widths;
use crate::uncertainty::Polytope;

/// What ξ ranges over.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Domain {
    /// The points of the polytope whose entries are at these levels, in ascending order.
    Levels(Polytope, Vec<Vec<f64>>),
    /// The corners of the polytope.
    Corners(Polytope),
}

/// A bilinear program at a decision.
pub(super) struct Program<'a> {
    pub(super) recourse: &'a RecourseModel,
    pub(super) duals: DualSet,
    /// `Ex`.
    pub(super) shift: &'a [f64],
    pub(super) domain: &'a Domain,
}

/// What is known about the quantities that the products need.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    /// The least and the most of each slope.
    pub(super) slopes: Vec<(f64, f64)>,
    /// The most that each side of a complementary pair can be; both are at least zero, one of them is zero.
    pub(super) pairs: Vec<[f64; 2]>,
}

/// The program in HiGHS's columns.
pub(super) struct Written {
    pub(super) model: Model,
    /// What is maximised, one coefficient per column.
    pub(super) value: Vec<f64>,
    /// The slopes as terms over the dual's columns.
    pub(super) slopes: Vec<Vec<(usize, f64)>>,
    /// The columns of slopes that have one, by entry.
    pub(super) slope_columns: Vec<(usize, usize)>,
    /// The columns of the complementary pairs.
    pub(super) pairs: Vec<[usize; 2]>,
    /// Binaries that pick a level: column, entry, level.
    pub(super) picks: Vec<(usize, usize, f64)>,
    /// Whether there are binaries; all may be settled without.
    pub(super) has_binaries: bool,
    /// What the products still lack to be exact.
    pub(super) lacks: Option<&'static str>,
}

/// A bound that is so much larger than the slopes makes "zero or not" a matter of a solver's tolerance.
const LOOSE: f64 = 1e4;

/// How a program is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Without binaries: a relaxation of what is worth at least so much.
    Relaxed {
        /// So much.
        least: f64,
        /// Whether dual rows are multiplied by ξ: a much closer relaxation, and a larger one.
        products: bool,
    },
    /// With binaries.
    Whole,
}

impl Domain {
    /// What is known at first: the ranges of slopes, and of the set's own coordinates.
    pub(super) fn known(&self, slopes: Vec<(f64, f64)>) -> Known {
        let pairs = match self {
            Domain::Levels(..) => Vec::new(),
            Domain::Corners(polytope) => {
                let inequalities = polytope.rows.iter().filter(|row| !row.equal).count();
                vec![[f64::INFINITY; 2]; polytope.columns.len() + inequalities]
            }
        };
        Known { slopes, pairs }
    }

    /// The only member, if there is but one.
    pub(super) fn only(&self) -> Option<Vec<f64>> {
        match self {
            Domain::Levels(_, levels) => levels.iter().map(|levels| (levels.len() == 1).then(|| levels[0])).collect(),
            Domain::Corners(polytope) => polytope.columns.is_empty().then(|| polytope.base.clone()),
        }
    }
}

impl Program<'_> {
    pub(super) fn write(&self, known: &Known, form: Form) -> Written {
        let mut model = Model::new();
        let columns = DualColumns::write(self.recourse, self.duals, &mut model);
        let mut written = Written {
            value: columns.objective(self.shift),
            slopes: columns.slopes(&self.recourse.u),
            model,
            slope_columns: Vec::new(),
            pairs: Vec::new(),
            picks: Vec::new(),
            has_binaries: false,
            lacks: None,
        };
        let (polytope, place) = match self.domain {
            Domain::Levels(polytope, levels) => (polytope, written.add_levels(polytope, levels, known, form)),
            Domain::Corners(polytope) => (polytope, written.add_corners(polytope, known, form)),
        };
        if !matches!(form, Form::Relaxed { products: false, .. }) {
            written.add_products(&columns, self.recourse, polytope, &place);
        }
        if let Form::Relaxed { least, .. } = form {
            let terms: Vec<(usize, f64)> = written.value.iter().copied().enumerate().collect();
            written.model.add_row(least, f64::INFINITY, &terms);
        }
        written
    }
}

impl Written {
    /// A column, worth `value` per unit.
    pub(super) fn column(&mut self, value: f64, lower: f64, upper: f64) -> usize {
        self.value.push(value);
        self.model.add_col(0.0, lower, upper)
    }

    fn binary(&mut self, form: Form) -> usize {
        if form == Form::Whole {
            self.has_binaries = true;
            self.value.push(0.0);
            self.model.add_integer(0.0, 0.0, 1.0)
        } else {
            self.column(0.0, 0.0, 1.0)
        }
    }

    /// Adds `s_j·ξ_j` where ξ_j is `at`.
    fn add_fixed(&mut self, entry: usize, at: f64) {
        for &(column, coefficient) in &self.slopes[entry] {
            self.value[column] += coefficient * at;
        }
    }

    /// A column for the slope of an entry.
    fn slope_column(&mut self, entry: usize, known: &Known) -> usize {
        let (least, most) = known.slopes[entry];
        let column = self.column(0.0, least, most);
        let mut terms = self.slopes[entry].clone();
        terms.push((column, -1.0));
        self.model.add_row(0.0, 0.0, &terms);
        self.slope_columns.push((entry, column));
        column
    }

    /// With `r` the lowest level and `z = s·(ξ − r)`, and β_v picking level v: `z ≤ (t − r)·s + Σ_v β_v·max (v − t)·s`
    /// for every t, the maximum taken over the range of s. Levels for t suffice: together they are the concave
    /// envelope, and with β whole the one with β_t = 1 is exact.
    fn add_levels(&mut self, polytope: &Polytope, levels: &[Vec<f64>], known: &Known, form: Form) -> Place {
        let mut place = Place { zeta: Vec::new(), products: Vec::new() };
        let mut pick_of: Vec<Vec<usize>> = Vec::with_capacity(levels.len());
        for (entry, levels) in levels.iter().enumerate() {
            self.add_fixed(entry, levels[0]);
            let mut picks = Vec::new();
            if levels.len() > 1 {
                let slope = self.slope_column(entry, known);
                let product = self.column(1.0, f64::NEG_INFINITY, f64::INFINITY);
                let zetas = (0..polytope.columns.len()).filter(|&zeta| polytope.columns[zeta].0 == entry).collect();
                place.products.push(Product { zetas, entry, column: product, from: levels[0], slope });
                for &level in &levels[1..] {
                    let pick = self.binary(form);
                    picks.push(pick);
                    self.picks.push((pick, entry, level));
                }
                if picks.len() > 1 {
                    let terms: Vec<(usize, f64)> = picks.iter().map(|&pick| (pick, 1.0)).collect();
                    self.model.add_row(f64::NEG_INFINITY, 1.0, &terms);
                }
                let (least, most) = known.slopes[entry];
                for &at in levels {
                    let rise = |level: f64| match level - at {
                        0.0 => 0.0,
                        by if by > 0.0 => by * most,
                        by => by * least,
                    };
                    let first = rise(levels[0]);
                    if !levels.iter().all(|&level| rise(level).is_finite()) {
                        self.lacks = Some("the slope of the recourse cost in some entry of ξ has no finite bound");
                        continue;
                    }
                    let mut terms = vec![(product, 1.0), (slope, levels[0] - at)];
                    terms.extend(picks.iter().zip(&levels[1..]).map(|(&pick, &level)| (pick, first - rise(level))));
                    self.model.add_row(f64::NEG_INFINITY, first, &terms);
                }
            }
            pick_of.push(picks);
        }
        for &(entry, step) in &polytope.columns {
            let zeta = |level: f64| ((level - polytope.base[entry]) / step).max(0.0);
            let first = zeta(levels[entry][0]);
            let terms =
                pick_of[entry].iter().zip(&levels[entry][1..]).map(|(&pick, &level)| (pick, zeta(level) - first));
            place.zeta.push(Affine { constant: first, terms: terms.collect() });
        }
        // Rows that hold one ζ alone are met by all levels that are left.
        for row in polytope.rows.iter().filter(|row| row.terms.len() > 1) {
            let mut limit = row.limit;
            let mut terms = Vec::new();
            for &(column, coefficient) in &row.terms {
                limit -= coefficient * place.zeta[column].constant;
                terms.extend(place.zeta[column].terms.iter().map(|&(pick, value)| (pick, coefficient * value)));
            }
            self.model.add_row(if row.equal { limit } else { f64::NEG_INFINITY }, limit, &merged(terms));
        }
        place
    }

    /// For given s, ξ is best in the polytope `Aζ ≤ b, ζ ≥ 0` exactly if there are multipliers λ ≥ 0 with `μ = Aᵀλ − w
    /// ≥ 0`, w = s along ζ, such that `ζ ⊥ μ` and `λ ⊥ b − Aζ`; then `wᵀζ = bᵀλ`, which is linear. The products are
    /// written too, as envelopes: they bound λ.
    fn add_corners(&mut self, polytope: &Polytope, known: &Known, form: Form) -> Place {
        let mut place = Place { zeta: Vec::new(), products: Vec::new() };
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
                None => self.slope_column(entry, known),
            };
            slope_of[entry] = Some(slope);
            let [most_mu, most_zeta] = known.pairs[column];
            let most_zeta = most_zeta.min(widths[column]);
            let mu = self.column(0.0, 0.0, most_mu);
            let zeta = self.column(0.0, 0.0, most_zeta);
            self.pairs.push([mu, zeta]);
            place.zeta.push(Affine { constant: 0.0, terms: vec![(zeta, 1.0)] });
            stationary.push(vec![(mu, 1.0), (slope, step)]);
            // w·ζ ≤ most w·ζ, and w·ζ ≤ width·w + least w·(ζ − width).
            let product = self.column(0.0, f64::NEG_INFINITY, f64::INFINITY);
            let (least, most) = known.slopes[entry];
            let (least, most) = if step > 0.0 { (step * least, step * most) } else { (step * most, step * least) };
            if most.is_finite() {
                self.model.add_row(f64::NEG_INFINITY, 0.0, &[(product, 1.0), (zeta, -most)]);
            }
            if least.is_finite() && most_zeta.is_finite() {
                let terms = [(product, 1.0), (slope, -most_zeta * step), (zeta, -least)];
                self.model.add_row(f64::NEG_INFINITY, -least * most_zeta, &terms);
            }
            strong.push((product, -1.0));
            place.products.push(Product {
                zetas: vec![column],
                entry,
                column: product,
                from: polytope.base[entry],
                slope,
            });
        }
        for row in &polytope.rows {
            let mut activity: Vec<(usize, f64)> =
                row.terms.iter().map(|&(column, coefficient)| (self.pairs[column][1], coefficient)).collect();
            let lambda = if row.equal {
                // It can be of any size on either side, and what binaries decide about the others drowns in it.
                self.lacks = Some("an equality of the uncertainty set has a multiplier without a bound");
                self.column(row.limit, f64::NEG_INFINITY, f64::INFINITY)
            } else {
                let [most_lambda, most_slack] = known.pairs[self.pairs.len()];
                let lambda = self.column(row.limit, 0.0, most_lambda);
                let slack = self.column(0.0, 0.0, most_slack);
                self.pairs.push([lambda, slack]);
                activity.push((slack, 1.0));
                lambda
            };
            self.model.add_row(row.limit, row.limit, &activity);
            row.terms.iter().for_each(|&(column, coefficient)| stationary[column].push((lambda, -coefficient)));
            strong.push((lambda, row.limit));
        }
        // μ + w − Aᵀλ = 0 and bᵀλ = Σ products.
        for terms in stationary {
            self.model.add_row(0.0, 0.0, &merged(terms));
        }
        self.model.add_row(0.0, 0.0, &strong);
        let steepest = (polytope.columns.iter())
            .map(|&(entry, step)| step.abs() * known.slopes[entry].0.abs().max(known.slopes[entry].1.abs()))
            .filter(|steepness| steepness.is_finite())
            .fold(0.0_f64, f64::max);
        for (pair, most) in self.pairs.clone().into_iter().zip(&known.pairs) {
            // One of the two is zero.
            if !most.iter().all(|most| most.is_finite()) {
                self.lacks = Some("a multiplier of the uncertainty set has no finite bound");
            } else if most[0] > LOOSE * steepest {
                self.lacks =
                    Some("a multiplier of the uncertainty set has a bound so large that a binary would not hold it");
            } else if most.iter().all(|&most| most > 0.0) {
                let second = self.binary(form);
                self.model.add_row(f64::NEG_INFINITY, most[0], &[(pair[0], 1.0), (second, most[0])]);
                self.model.add_row(f64::NEG_INFINITY, 0.0, &[(pair[1], 1.0), (second, -most[1])]);
            }
        }
        place
    }

    /// The slopes at a point.
    pub(super) fn slopes_at(&self, point: &[f64]) -> Vec<f64> {
        self.slopes.iter().map(|terms| terms.iter().map(|&(column, value)| value * point[column]).sum()).collect()
    }

    /// The binaries of a known ξ, for a tree to start from.
    pub(super) fn start(&self, xi: &[f64]) -> Vec<(usize, f64)> {
        self.picks
            .iter()
            .map(|&(pick, entry, level)| (pick, f64::from((xi[entry] - level).abs() <= 1e-9 * level.abs().max(1.0))))
            .collect()
    }
}

/// A number plus terms over columns.
pub(super) struct Affine {
    pub(super) constant: f64,
    pub(super) terms: Vec<(usize, f64)>,
}

/// The column of a product `s_j·(ξ_j − from)`, where some of the ζ move ξ_j.
pub(super) struct Product {
    pub(super) zetas: Vec<usize>,
    pub(super) entry: usize,
    pub(super) column: usize,
    pub(super) from: f64,
    pub(super) slope: usize,
}

/// Where ζ and the products stand in the columns.
pub(super) struct Place {
    pub(super) zeta: Vec<Affine>,
    pub(super) products: Vec<Product>,
}
