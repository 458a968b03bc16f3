//! Clarabel, set up once for a program and solved for many costs and right-hand sides. Every answer is verified, and a
//! ladder of other settings follows where verification fails.

use std::fmt;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::certificate::{ConicCertificate, FARKAS_GAIN_TOL, Flaw, Proof, SolveData};
use super::elastic::ElasticProgram;
use super::recession::{LinearRay, linear_ray};
use super::standard_form::{ConicProgram, StandardForm};
use super::units::Units;
use crate::recourse::RecourseError;
use crate::run::{Clock, Interrupt, run_until};

/// Terms up to which a program is solved in the caller's thread: its iterations are short enough to notice the clock.
const MAX_INLINE_TERMS: usize = 20_000;

/// Status at which a conic solve ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConicStatus {
    /// An optimum with a dual that proves it.
    Solved,
    /// No feasible point exists, by a Farkas certificate.
    Infeasible,
    /// A feasible point exists, and the cost falls without limit along a ray.
    Unbounded,
    /// The time limit passed or an interrupt came.
    Stopped(Interrupt),
    /// A feasible point and a lower bound that holds, but farther apart than every rung of the ladder allows. The bound
    /// is −∞ if the dual could not be repaired.
    Inexact(String),
    /// Every rung of the ladder failed. The reason is that of the last one.
    Failed(String),
}

/// Result of [`ConicProgram::solve`].
#[derive(Debug, Clone)]
pub(crate) struct ConicSolution {
    /// Status of the solve.
    pub(crate) status: ConicStatus,
    /// Lower bound on the optimum: ∞ if infeasible, −∞ if there is none. Of [`ConicProgram::solve`] it holds up to the
    /// tolerance of the solver.
    pub(crate) dual_objective: f64,
    /// The optimum, or the ray if unbounded (largest entry 1).
    pub(crate) primal: Vec<f64>,
    /// Multipliers of the rows, positive at a lower bound, or the Farkas certificate if infeasible (largest entry 1).
    pub(crate) row_duals: Vec<f64>,
}

impl ConicProgram {
    /// Solves the program once to the tolerance of the solver, within the time limit of the clock.
    pub(crate) fn solve(self, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        self.solve_once(Proof::Tolerance, clock)
    }

    /// Solves the program once, with a lower bound that holds.
    pub(crate) fn solve_with_bound(self, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        self.solve_once(Proof::Bound, clock)
    }

    fn solve_once(self, proof: Proof, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        let (cols, rows, terms) = self.size();
        if terms <= MAX_INLINE_TERMS {
            return self.solve_inline(proof, clock);
        }
        let worker_clock = clock.clone();
        match run_until(clock, move || self.solve_inline(proof, &worker_clock)) {
            Ok(Some(solved)) => solved,
            Ok(None) => Ok(ConicSolution {
                status: ConicStatus::Stopped(clock.check().err().unwrap_or(Interrupt::TimeLimit)),
                dual_objective: f64::NEG_INFINITY,
                primal: vec![0.0; cols],
                row_duals: vec![0.0; rows],
            }),
            Err(failure) => Err(RecourseError::Unsupported(failure.to_string())),
        }
    }

    fn solve_inline(self, proof: Proof, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        let mut solver = ConicSolver::new(self, proof, clock)?;
        let status = solver.solve();
        let ConicCertificate { y, pi, bound, .. } = solver.certificate;
        let dual_objective =
            if status == ConicStatus::Infeasible { f64::INFINITY } else { bound + solver.form.constant };
        Ok(ConicSolution { status, dual_objective, primal: y, row_duals: pi })
    }
}

/// Settings of Clarabel, and the tolerance to which its answer is verified.
pub(super) struct InteriorPointRung {
    /// Rounds of Ruiz equilibration. 0 switches it off.
    equilibrations: u32,
    /// Largest scaling factor of the equilibration.
    scaling: f64,
    /// Static regularisation of the KKT matrix.
    regularisation: f64,
    /// Tolerance of gap and residuals that Clarabel is set to.
    tolerance: f64,
    /// Tolerance of gap and residuals to which the answer is verified.
    accepted: f64,
    /// Whether the program is solved in internal units.
    in_units: bool,
}

/// The first rung suits almost every problem. The others set Clarabel up anew: for large right-hand sides and costs
/// (internal units), for data of very different sizes (more equilibration), for harmful equilibration (none) with a
/// near-singular KKT matrix (more regularisation), and with Clarabel's own tolerance.
pub(super) const LADDER: [InteriorPointRung; 6] = [
    InteriorPointRung::new(10, 1e4, 1e-8, 1e-10, 1e-7),
    InteriorPointRung { in_units: true, ..InteriorPointRung::new(10, 1e4, 1e-8, 1e-10, 1e-7) },
    InteriorPointRung::new(50, 1e8, 1e-9, 1e-9, 1e-7),
    InteriorPointRung::new(0, 1.0, 1e-7, 1e-9, 1e-7),
    InteriorPointRung::new(10, 1e4, 1e-8, 1e-8, 1e-6),
    InteriorPointRung { in_units: true, ..InteriorPointRung::new(10, 1e4, 1e-8, 1e-8, 1e-6) },
];

impl InteriorPointRung {
    const fn new(equilibrations: u32, scaling: f64, regularisation: f64, tolerance: f64, accepted: f64) -> Self {
        Self { equilibrations, scaling, regularisation, tolerance, accepted, in_units: false }
    }

    fn settings(&self) -> DefaultSettings<f64> {
        DefaultSettings {
            verbose: false,
            tol_gap_abs: self.tolerance,
            tol_gap_rel: self.tolerance,
            tol_feas: self.tolerance,
            equilibrate_enable: self.equilibrations > 0,
            equilibrate_max_iter: self.equilibrations,
            equilibrate_min_scaling: self.scaling.recip(),
            equilibrate_max_scaling: self.scaling,
            static_regularization_constant: self.regularisation,
            // Equal data must give equal answers, bit for bit.
            max_threads: 1,
            direct_solve_method: "qdldl".to_owned(),
            // Presolve and dropped zeros change the structure, which forbids updates in place.
            presolve_enable: false,
            input_sparse_dropzeros: false,
            #[cfg(feature = "psd")]
            chordal_decomposition_enable: false,
            ..DefaultSettings::default()
        }
    }
}

/// A program that is solved many times, with other costs and other shifts of its rows.
///
/// An answer depends on cost and shift alone, not on earlier solves: costs and right-hand side are written anew each
/// time, the equilibration is that of the program as it was built, and an interior-point method starts from its own
/// point.
pub(super) struct ConicSolver {
    pub(super) form: StandardForm,
    pub(super) data: SolveData,
    pub(super) certificate: ConicCertificate,
    /// Interior-point iterations so far.
    pub(super) iterations: u64,
    /// Solves that the first rung did not decide.
    pub(super) recovered: u64,
    solver: DefaultSolver<f64>,
    /// Set up at the first infeasible solve.
    elastic: Option<ElasticProgram>,
    zero_cost: Vec<f64>,
    clock: Clock,
}

impl fmt::Debug for ConicSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConicSolver").field("form", &self.form).field("question", &self.data).finish_non_exhaustive()
    }
}

impl ConicSolver {
    pub(super) fn new(program: ConicProgram, proof: Proof, clock: &Clock) -> Result<Self, RecourseError> {
        let form = StandardForm::new(program)?;
        let mut data = SolveData {
            cost: form.cost.clone(),
            shift: vec![0.0; form.rows.rows()],
            right_side: vec![0.0; form.entries.len()],
        };
        form.right_side(&data.shift, &mut data.right_side);
        let solver = new_program_solver(&form, &data, None, &LADDER[0], clock).map_err(RecourseError::Unsupported)?;
        let certificate = ConicCertificate::new(&form, proof);
        let zero_cost = vec![0.0; form.cost.len()];
        Ok(Self {
            form,
            data,
            certificate,
            iterations: 0,
            recovered: 0,
            solver,
            elastic: None,
            zero_cost,
            clock: clock.clone(),
        })
    }

    /// Solves for the cost and the shift in `data`. The result is in `certificate`.
    pub(super) fn solve(&mut self) -> ConicStatus {
        self.form.right_side(&self.data.shift, &mut self.data.right_side);
        let mut why = String::new();
        let mut inexact: Option<ConicCertificate> = None;
        for (rung_index, rung) in LADDER.iter().enumerate() {
            if let Err(stop) = self.clock.check() {
                self.certificate.clear();
                return ConicStatus::Stopped(stop);
            }
            let outcome = if rung_index == 0 {
                self.attempt(None, rung)
            } else {
                let units = rung.in_units.then(|| Units::new(&self.form, &self.data));
                new_program_solver(&self.form, &self.data, units.as_ref(), rung, &self.clock)
                    .map_err(Flaw::fatal)
                    .and_then(|solver| self.attempt(Some((solver, units)), rung))
            };
            match outcome {
                Ok(status) => {
                    if rung_index == 0 && status == ConicStatus::Solved && self.certificate.is_coarse(&self.data) {
                        self.refine();
                    }
                    self.recovered += u64::from(rung_index > 0 && !matches!(status, ConicStatus::Stopped(_)));
                    return status;
                }
                Err(flaw) => {
                    // A feasible point is worth more than a small gap.
                    let rank = |certificate: &ConicCertificate| {
                        (!certificate.holds(), certificate.objective - certificate.value(&self.data))
                    };
                    if !flaw.is_fatal && inexact.as_ref().is_none_or(|best| rank(&self.certificate) < rank(best)) {
                        inexact = Some(self.certificate.clone());
                    }
                    why = flaw.why;
                }
            }
            // Recourse that is infeasible by a small margin is hard to tell from recourse that is feasible by a small
            // margin. The least violation is well conditioned.
            if rung_index == 0 && self.verify_least_violation(FARKAS_GAIN_TOL).is_ok() {
                self.recovered += 1;
                return ConicStatus::Infeasible;
            }
        }
        // Between a program that is infeasible by more than the tolerance and one that has a point up to the tolerance,
        // the smallest gain that holds decides.
        if !inexact.as_ref().is_some_and(ConicCertificate::holds) && self.verify_least_violation(0.0).is_ok() {
            self.recovered += 1;
            return ConicStatus::Infeasible;
        }
        if let Err(stop) = self.clock.check() {
            self.certificate.clear();
            return ConicStatus::Stopped(stop);
        }
        if let Some(inexact) = inexact {
            self.certificate = inexact;
            return ConicStatus::Inexact(why);
        }
        self.certificate.clear();
        ConicStatus::Failed(why)
    }

    /// Solves again in internal units, and keeps the better of the two certificates: absolute tolerances say little
    /// about costs that are far below 1.
    fn refine(&mut self) {
        let found = self.certificate.clone();
        let rung = &LADDER[1];
        let units = Units::new(&self.form, &self.data);
        let refined = new_program_solver(&self.form, &self.data, Some(&units), rung, &self.clock)
            .map_err(Flaw::fatal)
            .and_then(|solver| self.attempt(Some((solver, Some(units))), rung));
        let gap = |certificate: &ConicCertificate| certificate.objective - certificate.value(&self.data);
        if !matches!(refined, Ok(ConicStatus::Solved)) || gap(&found) <= gap(&self.certificate) {
            self.certificate = found;
        }
    }

    /// Solves once, with the kept solver or with a fresh one, and verifies the result.
    fn attempt(
        &mut self,
        mut fresh: Option<(DefaultSolver<f64>, Option<Units>)>,
        rung: &InteriorPointRung,
    ) -> Result<ConicStatus, Flaw> {
        let Self { form, data, certificate, solver, .. } = self;
        let (solver, units) = fresh.as_mut().map_or((solver, None), |(solver, units)| (solver, units.as_ref()));
        resolve_in(units, solver, &data.cost, &data.right_side, &mut self.iterations).map_err(Flaw::fatal)?;
        if is_ray(solver.solution.status) {
            let ray = match linear_ray(form, &data.cost, &self.clock) {
                LinearRay::Found(ray) => ray,
                LinearRay::Missing(why) => return Err(Flaw::fatal(why)),
                LinearRay::Curved => {
                    certificate.verify_ray(form, data, &solver.solution).map_err(Flaw::fatal)?;
                    certificate.y.clone()
                }
            };
            // A ray does not imply a feasible point: solve for one with zero costs. (H stays, since ½yᵀHy is bounded
            // below.)
            resolve_in(units, solver, &self.zero_cost, &data.right_side, &mut self.iterations).map_err(Flaw::fatal)?;
            if is_optimum(solver.solution.status) {
                let is_feasible = certificate.has_feasible_point(form, data, &solver.solution);
                certificate.set_ray(&ray);
                return is_feasible
                    .then_some(ConicStatus::Unbounded)
                    .ok_or_else(|| Flaw::fatal("beside a ray of descent, the point found violates rows".to_owned()));
            }
        }
        match solver.solution.status {
            status if is_optimum(status) => {
                certificate.verify_optimum(form, data, &solver.solution, rung.accepted)?;
                Ok(ConicStatus::Solved)
            }
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                // Two certificates are available. The deeper one is tried first.
                let deepest = verify_least_violation(
                    form,
                    data,
                    certificate,
                    &mut self.elastic,
                    &self.clock,
                    &mut self.iterations,
                    FARKAS_GAIN_TOL,
                );
                let z = &solver.solution.z;
                deepest.or_else(|_| certificate.verify_farkas(form, data, z, FARKAS_GAIN_TOL)).map_err(Flaw::fatal)?;
                Ok(ConicStatus::Infeasible)
            }
            SolverStatus::CallbackTerminated => {
                certificate.clear();
                // The callback terminates only after the clock has stopped, and a clock does not restart.
                Ok(ConicStatus::Stopped(self.clock.check().err().unwrap_or(Interrupt::Interrupted)))
            }
            // The last point may be as good as an optimum.
            other => match certificate.verify_optimum(form, data, &solver.solution, rung.accepted) {
                Ok(()) => Ok(ConicStatus::Solved),
                Err(Flaw { why, is_fatal }) => {
                    let is_fatal = is_fatal || certificate.bound.is_infinite();
                    Err(Flaw { why: format!("Clarabel ended with {other}, and {why}"), is_fatal })
                }
            },
        }
    }

    fn verify_least_violation(&mut self, least_gain: f64) -> Result<(), String> {
        verify_least_violation(
            &self.form,
            &self.data,
            &mut self.certificate,
            &mut self.elastic,
            &self.clock,
            &mut self.iterations,
            least_gain,
        )
    }
}

fn is_optimum(status: SolverStatus) -> bool {
    matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved)
}

fn is_ray(status: SolverStatus) -> bool {
    matches!(status, SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible)
}

/// Computes and verifies the Farkas certificate of least violation, see [`ElasticProgram`].
fn verify_least_violation(
    form: &StandardForm,
    data: &SolveData,
    certificate: &mut ConicCertificate,
    elastic: &mut Option<ElasticProgram>,
    clock: &Clock,
    iterations: &mut u64,
    least_gain: f64,
) -> Result<(), String> {
    let elastic = match elastic {
        Some(elastic) => elastic,
        None => elastic.insert(ElasticProgram::new(form, clock)?),
    };
    let z = elastic.farkas_multipliers(&data.right_side, iterations)?;
    certificate.verify_farkas(form, data, z, least_gain)
}

fn new_program_solver(
    form: &StandardForm,
    data: &SolveData,
    units: Option<&Units>,
    rung: &InteriorPointRung,
    clock: &Clock,
) -> Result<DefaultSolver<f64>, String> {
    if let Some(units) = units {
        let (p, a) = units.matrices(form);
        let (cost, right_side) = (units.costs(&data.cost), units.right_side(&data.right_side));
        return new_solver(&p, &cost, &a, &right_side, &form.standard_cones, rung, clock);
    }
    new_solver(&form.p, &data.cost, &form.a, &data.right_side, &form.standard_cones, rung, clock)
}

/// Sets up a solver for `min ½yᵀPy + qᵀy` over `Ay + s = b`, s in the cones.
pub(super) fn new_solver(
    p: &CscMatrix<f64>,
    q: &[f64],
    a: &CscMatrix<f64>,
    b: &[f64],
    cones: &[SupportedConeT<f64>],
    rung: &InteriorPointRung,
    clock: &Clock,
) -> Result<DefaultSolver<f64>, String> {
    let mut solver = DefaultSolver::new(p, q, a, b, cones, rung.settings()).map_err(|error| error.to_string())?;
    // Called once per iteration. Clarabel's own time limit would count the set-up time in each solve, and does not
    // notice an interrupt.
    let clock = clock.clone();
    solver.set_termination_callback(move |_| clock.check().is_err());
    Ok(solver)
}

/// [`resolve`] in internal units, if there are any. The solution is in the units of the program.
fn resolve_in(
    units: Option<&Units>,
    solver: &mut DefaultSolver<f64>,
    cost: &Vec<f64>,
    right_side: &Vec<f64>,
    iterations: &mut u64,
) -> Result<(), String> {
    let Some(units) = units else { return resolve(solver, cost, right_side, iterations) };
    resolve(solver, &units.costs(cost), &units.right_side(right_side), iterations)?;
    units.convert_back(&mut solver.solution);
    Ok(())
}

/// Solves again for other costs and another right-hand side, and adds the iterations.
pub(super) fn resolve(
    solver: &mut DefaultSolver<f64>,
    cost: &Vec<f64>,
    right_side: &Vec<f64>,
    iterations: &mut u64,
) -> Result<(), String> {
    solver.update_q(cost).and_then(|()| solver.update_b(right_side)).map_err(|error| error.to_string())?;
    solver.solve();
    *iterations += u64::from(solver.solution.iterations);
    Ok(())
}
