//! Algorithm 3 as printed: branch and cut whose integral points are searched and certified by calls of Algorithm 2.
//!
//! At each integral point (x̄, θ̄) the chain of its integer assignment is called once ("cut" phase). A state with
//! Q(x̄, ξ) > θ̄ + ε_cert gives a violated cut. Otherwise max{0, ⌈log_(1/ρ) r⌉} more calls follow ("certification"
//! phase, eq. certification-calls), and where none of these gives a violated cut, Û = f(x̄) + θ̄ + ε_cert is certified
//! (EC.3). Fractional points get no cuts, and nothing ascends or scans. The search ends when Û is within ε_opt of the
//! tree's lower bound; x⋆ is the decision with the least Û.
//!
//! The search goes by the letter, the report by what is known: the ledger has the cost of x⋆ at the worst scenario
//! evaluated there, and where that is above Û the certificate is withdrawn.

use std::ops::ControlFlow;

use super::settings::BranchAndCutSettings;
use crate::certification::{CallRule, Evaluator, keep_unseparated};
use crate::certify::{Certify, ProbabilisticTarget};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::methods::unbounded::prove_unbounded;
use crate::model::Problem;
use crate::numeric::tolerances::{CUT_TOL, cost_tol};
use crate::recourse::CutKind;
use crate::run::{Attested, Run, Stop};
use crate::separation::soft::{AdaptiveOracle, AutoOr, KeyedCall, chain_states};
use crate::tree::{LazyCutCallback, Point};

/// ε_cert of an automatic choice, as a share of ε_opt.
const CERT_SHARE: f64 = 0.5;

/// The share of ε_opt − ε_cert at which nodes are closed: the rest makes up for rounding.
const CLOSED: f64 = 0.9;

/// x⋆ with its bound.
struct Accepted {
    x: Vec<f64>,
    /// f(x⋆) + θ̄.
    level: f64,
    /// Û.
    upper: f64,
    is_certified: bool,
}

/// How the calls at an integral point ended.
enum Calls {
    /// A state violates θ̄ + ε_cert.
    Violated,
    /// None does, and Û is certified.
    Certified,
    /// None does; Û is not certified, for this reason.
    Uncertified(String),
    /// The recourse is unbounded.
    Unbounded,
}

/// The oracle, the certification and the cut pool of a tree search.
pub(super) struct CertifyingCallback<'a> {
    problem: &'a Problem,
    certify: Certify,
    pub(super) pool: &'a mut CutPool,
    oracle: AdaptiveOracle<'a>,
    rule: CallRule,
    epsilon_cert: AutoOr,
    evaluator: Evaluator<'a>,
    accepted: Option<Accepted>,
    certificates: u64,
    counted: u64,
}

/// The oracle and its rule for a run. Errs where an exact certificate is asked for, and where the constants given do
/// not apply to the chains.
pub(super) fn oracle<'p>(
    problem: &'p Problem,
    settings: &BranchAndCutSettings,
    certify: Certify,
    run: &mut Run,
) -> Result<(AdaptiveOracle<'p>, CallRule), Error> {
    let target = match certify {
        Certify::Exact => {
            return Err(Error::Settings(
                "--search chains certifies by calls of its chains: leave --certify exact out, or --search chains"
                    .into(),
            ));
        }
        Certify::None => None,
        Certify::Probabilistic(target) => Some(target),
        Certify::Free => Some(ProbabilisticTarget::default()),
    };
    let (soft, clock) = (settings.chains(), run.clock().clone());
    let states = chain_states(problem, &soft, &clock)?;
    let rule = CallRule::of(problem, states.as_ref(), &soft, target, &clock)?;
    let (gap, seed) = (run.limits().gap, run.limits().seed);
    let oracle = AdaptiveOracle::new(problem, states, rule.settings(soft), gap, seed, &clock)?;
    run.say(&rule.describe());
    Ok((oracle, rule))
}

impl<'a> CertifyingCallback<'a> {
    /// A callback over a pool, with the oracle of [`oracle`].
    pub(super) fn new(
        problem: &'a Problem,
        settings: &BranchAndCutSettings,
        certify: Certify,
        (oracle, rule): (AdaptiveOracle<'a>, CallRule),
        pool: &'a mut CutPool,
        run: &Run,
    ) -> Result<Self, Error> {
        Ok(Self {
            problem,
            certify,
            pool,
            oracle,
            rule,
            epsilon_cert: settings.epsilon_cert,
            evaluator: Evaluator::new(problem, run.clock())?,
            accepted: None,
            certificates: 0,
            counted: 0,
        })
    }

    /// ε_opt for an objective of this size.
    fn epsilon_opt(objective: f64, run: &Run) -> f64 {
        run.limits().gap * objective.abs()
    }

    /// ε_cert, at least the violation that the tree's linear programs leave.
    fn epsilon_cert(&self, objective: f64, run: &Run) -> f64 {
        let wanted = match self.epsilon_cert {
            AutoOr::Given(epsilon) => epsilon,
            AutoOr::Auto => CERT_SHARE * Self::epsilon_opt(objective, run),
        };
        wanted.max(2.0 * CUT_TOL * objective.abs().max(1.0))
    }

    /// A call of Algorithm 2 at x̄; whether its state violates `level`.
    fn call(&mut self, x: &[f64], level: f64, run: &mut Run) -> Result<(KeyedCall, bool), Error> {
        let clock = run.clock().clone();
        let called = self.oracle.call(x, run.objective_size(), &clock);
        let solves = self.oracle.solves();
        run.count_solves(solves - std::mem::replace(&mut self.counted, solves));
        Ok((called?, self.oracle.value() > level))
    }

    /// The "cut" phase and the "certification" phase at (x̄, θ̄), where `level` is θ̄ + ε_cert.
    fn call_until_certified(&mut self, x: &[f64], level: f64, run: &mut Run) -> Result<Calls, Error> {
        self.oracle.begin();
        let (KeyedCall { label, calls }, violated) = self.call(x, level, run)?;
        if violated {
            return Ok(Calls::Violated);
        }
        if self.oracle.value() == f64::NEG_INFINITY {
            return Ok(Calls::Unbounded);
        }
        let more = match self.rule.calls(label, calls) {
            Ok(more) => more,
            Err(why) => return Ok(Calls::Uncertified(why)),
        };
        for _ in 0..more {
            if self.call(x, level, run)?.1 {
                return Ok(Calls::Violated);
            }
        }
        Ok(Calls::Certified)
    }

    /// The body of the loop over integer incumbents (x̄, θ̄). True if the point is accepted.
    fn meet(&mut self, x: &[f64], theta: f64, run: &mut Run) -> Result<ControlFlow<Stop, bool>, Error> {
        let objective = self.problem.first.value(x) + theta;
        // A point without cuts has no θ̄ to be certified.
        let epsilon = if theta.is_finite() { self.epsilon_cert(objective, run) } else { 0.0 };
        let ended = match self.call_until_certified(x, theta + epsilon, run) {
            Err(error) if error.is_interrupt() => {
                if self.evaluator.admits(x, self.pool) {
                    keep_unseparated(self.problem, x, run)?;
                }
                return Err(error);
            }
            ended => ended?,
        };
        let certified = match ended {
            Calls::Unbounded => return prove_unbounded(self.problem, self.certify, run).map(ControlFlow::Break),
            Calls::Violated => {
                let before = self.pool.end();
                self.add_cut(run);
                // Where no cut is new, the relaxation is off by no more than its solver's tolerance.
                if self.pool.count_new(before) > 0 {
                    return Ok(ControlFlow::Continue(false));
                }
                Err("no likely upper bound: a cut of the tree is not met to its solver's tolerance".into())
            }
            Calls::Certified => Ok(()),
            Calls::Uncertified(why) => Err(why),
        };
        self.accept(x, objective, objective + epsilon, certified, run)?;
        Ok(ControlFlow::Continue(true))
    }

    /// Adds the cut of the last call's state. Withdraws a decision that has no recourse there.
    fn add_cut(&mut self, run: &mut Run) {
        let Some(found) = self.oracle.found() else { return };
        let Some(cut) = &found.cut else { return };
        self.pool.insert(cut, &found.xi);
        let is_excluded = |accepted: &Accepted| !self.pool.admits(&accepted.x);
        if cut.kind == CutKind::Feasibility && self.accepted.as_ref().is_some_and(is_excluded) {
            self.accepted = None;
            run.withdraw_incumbent();
        }
    }

    /// Makes x̄ the decision x⋆, if its Û is less than that of the last one.
    fn accept(
        &mut self,
        x: &[f64],
        level: f64,
        upper: f64,
        certified: Result<(), String>,
        run: &mut Run,
    ) -> Result<(), Error> {
        self.certificates += u64::from(certified.is_ok());
        let is_better = self.accepted.as_ref().is_none_or(|accepted| upper < accepted.upper);
        if !is_better || !self.evaluator.admits(x, self.pool) {
            return Ok(());
        }
        let is_certified = certified.is_ok();
        self.accepted = Some(Accepted { x: x.to_vec(), level, upper, is_certified });
        let attested = match certified {
            Ok(()) => Attested { likely: Some(self.rule.bound(upper)), ..Attested::default() },
            Err(why) => Attested { remarks: vec![why], ..Attested::default() },
        };
        let (value, worst) = self.known_cost(x, run)?;
        run.replace_incumbent(x, value, &worst);
        run.attest(x, value, attested);
        Ok(())
    }

    /// The cost of x̄ at the worst scenario known: evaluated by the calls, or that of the largest cut. For the ledger
    /// alone: the search does not learn from it.
    fn known_cost(&mut self, x: &[f64], run: &mut Run) -> Result<(f64, Vec<f64>), Error> {
        let (worst, value) = self.oracle.worst();
        let known = (self.problem.first.value(x) + value, worst.to_vec());
        match self.pool.largest_at(x) {
            Some((cut, _)) => {
                let xi = self.pool.scenario(cut).to_vec();
                let cost = self.evaluator.cost_alone(x, &xi, run)?;
                Ok(if cost > known.0 { (cost, xi) } else { known })
            }
            None => Ok(known),
        }
    }

    /// The end of the search, where Û is within ε_opt of the lower bound.
    pub(super) fn ended(&self, run: &Run) -> Option<Stop> {
        let (accepted, lower) = (self.accepted.as_ref()?, run.bounds().lower()?);
        let is_close = accepted.upper - lower <= Self::epsilon_opt(accepted.upper, run).max(cost_tol(accepted.upper));
        is_close.then(|| if run.bounds().meet(run.limits().gap) { Stop::Gap } else { Stop::Stalled })
    }

    /// Completes the ledger: the cost of x⋆ by all cuts of the run, and the certificate, unless that cost is above it.
    pub(super) fn finish(&mut self, run: &mut Run) -> Result<(), Error> {
        match self.evaluator.revise_incumbent(self.pool, run) {
            Err(error) if !error.is_interrupt() => return Err(error),
            _ => {}
        }
        run.say(&format!(
            "{} bounds certified; {} calls of {} chains",
            self.certificates,
            self.oracle.calls(),
            self.oracle.chains()
        ));
        let Some(accepted) = self.accepted.as_ref().filter(|accepted| accepted.is_certified) else { return Ok(()) };
        let Some(best) = run.bounds().best().filter(|best| best.x == accepted.x) else { return Ok(()) };
        let (value, upper) = (best.value, accepted.upper);
        let mut remarks = Vec::new();
        if value > upper {
            remarks.push(format!(
                "a bound of {upper} was certified by calls, and a scenario known to the run shows it to be false"
            ));
        }
        let spare = Self::epsilon_opt(upper, run) - (upper - accepted.level);
        if spare < 0.0 {
            remarks.push(format!("ε_cert is above ε_opt by {:.3e}, so that the gap cannot be met", -spare));
        }
        if !remarks.is_empty() {
            let likely = Some(self.rule.bound(upper)).filter(|_| value <= upper);
            let x = accepted.x.clone();
            let withdrawn = Some(upper).filter(|_| value > upper);
            run.attest(&x, value, Attested { likely, withdrawn, remarks, ..Attested::default() });
        }
        Ok(())
    }
}

impl LazyCutCallback for CertifyingCallback<'_> {
    fn separate(&mut self, points: &[Point], run: &mut Run) -> Result<ControlFlow<Stop, Vec<bool>>, Error> {
        let mut accepted = Vec::with_capacity(points.len());
        for point in points {
            accepted.push(match point.integral {
                true => match self.meet(&point.x, point.eta, run)? {
                    ControlFlow::Continue(accepted) => accepted,
                    ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
                },
                // Only a relaxation without any cut asks here: the cut of the nominal scenario bounds it.
                false => {
                    let mut nominal = vec![0.0; self.problem.set.dim()];
                    self.problem.set.nominal(&mut nominal);
                    self.evaluator.cost(&point.x, &nominal, self.pool, run)?;
                    false
                }
            });
        }
        Ok(ControlFlow::Continue(accepted))
    }

    /// A decision of a heuristic is an integer incumbent whose θ̄ is the largest cut there.
    fn evaluate(&mut self, x: &[f64], run: &mut Run) -> Result<(), Error> {
        let theta = self.pool.largest_at(x).map_or(f64::NEG_INFINITY, |(_, value)| value);
        self.meet(x, theta, run).map(|_| ())
    }

    fn pool(&self) -> &CutPool {
        self.pool
    }

    fn cutoff(&self, run: &Run) -> f64 {
        self.accepted.as_ref().map_or(f64::INFINITY, |accepted| {
            let spare = Self::epsilon_opt(accepted.upper, run) - (accepted.upper - accepted.level);
            accepted.level - (CLOSED * spare).max(cost_tol(accepted.level))
        })
    }

    fn lower_bound_rose(&mut self, lower: f64, run: &mut Run) -> Result<Option<Stop>, Error> {
        run.lower(lower);
        Ok(self.ended(run))
    }

    /// Soft separation may have missed a scenario without recourse: exact separations decide.
    fn unbounded_relaxation(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        prove_unbounded(self.problem, self.certify, run).map(Some)
    }
}
