//! Tolerances that are used in more than one file, each with its reason. All are relative to the size of the compared
//! numbers, if that is above 1.

/// Two costs closer than this are equal: solvers return no more digits.
pub(crate) const COST_TOL: f64 = 1e-9;

/// Two values of an entry of ξ closer than this share of its range are equal: no solver returns more digits.
pub(crate) const COORDINATE_TOL: f64 = 1e-9;

/// Largest violation of a bound or row of X by a feasible decision: HiGHS and Clarabel return points that violate rows
/// by up to 1e-7 of their own scaling.
pub(crate) const FEASIBILITY_TOL: f64 = 1e-6;

/// Two bounds that cross by more cannot both hold: the tolerances of two solvers do not explain it.
pub(crate) const CONTRADICTION_TOL: f64 = 1e-5;

/// A feasibility cut violated by more shows that a scenario has no recourse.
pub(crate) const FARKAS_TOL: f64 = 1e-7;

/// A cut must be violated by more to be added to a master problem or a node relaxation: HiGHS leaves smaller
/// violations.
pub(crate) const CUT_TOL: f64 = 1e-7;

/// An integer column within this distance of an integer counts as integral. The caller rounds it and solves for the
/// other columns.
pub(crate) const INTEGRALITY_TOL: f64 = 1e-6;

/// The strictest integrality tolerance that HiGHS accepts, for a second solve where the rounding of integers costs too
/// much.
pub(crate) const STRICT_INTEGRALITY_TOL: f64 = 1e-10;

/// Rounding almost integral values to integers may raise the objective by this: [`INTEGRALITY_TOL`] explains as much.
pub(crate) const ROUNDING_RISE_TOL: f64 = 1e-6;

/// Primal and dual feasibility tolerance of HiGHS. A basis is tested to the same tolerance here, so that a basis that
/// HiGHS calls optimal is optimal here too.
pub(crate) const LP_FEASIBILITY_TOL: f64 = 1e-7;

/// The least dual feasibility tolerance that HiGHS accepts, for a second solve where its duals prove no bound.
pub(crate) const STRICT_DUAL_TOL: f64 = 1e-10;

/// Optimal values of linear programs are widened by this where they serve as bounds: HiGHS's relative tolerance.
pub(crate) const LP_BOUND_TOL: f64 = 1e-7;

/// Largest violation of a recourse row where no solver is involved, only rounding: a hundredth of
/// [`LP_FEASIBILITY_TOL`].
pub(crate) const ROW_TOL: f64 = 1e-9;

/// Largest distance of a decision from the edge of robust feasibility, as a share of the size of rows, at which it
/// counts as one on the edge: ten times the violations that masters leave.
pub(crate) const EDGE_TOL: f64 = 1e-6;

/// Entries of a ray below this, relative to its largest one, are rounding errors.
pub(crate) const RAY_SUPPORT_TOL: f64 = 1e-6;

/// A bound within this of the worst scenario's cost makes that the worst case: recourse engines agree up to smaller
/// differences.
pub(crate) const EXACTNESS_TOL: f64 = 1e-6;

/// The least gain of a step after which an exact ascent continues: smaller ones are rounding errors.
pub(crate) const ASCENT_GAIN_TOL: f64 = 1e-12;

/// Gaps are relative to the upper bound, and to this where that is nearly zero.
pub(crate) const MIN_GAP_SIZE: f64 = 1e-10;

/// A sum may be off by this share of the total magnitude of its terms: some hundred units in the last place. Bounds
/// that must hold rigorously are widened by it.
pub(crate) const SUMMATION_TOL: f64 = 1e-14;

/// HiGHS reads a bound of this absolute value as infinite.
pub(crate) const HIGHS_INFINITY: f64 = 1e20;

/// The absolute difference that [`COST_TOL`] allows between costs of this size.
pub(crate) fn cost_tol(value: f64) -> f64 {
    COST_TOL * value.abs().max(1.0)
}
