//! The separation of a run, built once from the user's choice and the needs of the method.

use std::fmt;
use std::sync::Arc;

use softsep_lp::MipSolver;

use super::soft::chain_states;
use super::{Cascade, Exact, Kkt, Separation, SeparationKind, SoftSeparation, SoftSettings};
use crate::error::Error;
use crate::model::Problem;
use crate::run::Clock;
use crate::uncertainty::{Count, Space, States};

/// The largest number of extreme points that an automatic choice scans where each takes a conic program.
const CHEAP_CONIC_SCAN: usize = 1000;

/// When an automatic choice includes an exact separation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// Always: the method does not end without one.
    Required,
    /// Where it costs little beside the run itself.
    IfCheap,
    /// Never.
    Unwanted,
}

/// The run that a separation is built for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SeparationContext<'a> {
    /// The settings of soft separation.
    pub soft: SoftSettings,
    /// Whether the run needs bounds on the maximum.
    pub proof: Proof,
    /// The relative gap of the run.
    pub gap: f64,
    /// The seed of the run.
    pub seed: u64,
    /// The clock of the run.
    pub clock: &'a Clock,
    /// The solver of mixed-integer programs.
    pub(crate) solver: MipSolver,
}

impl<'a> SeparationContext<'a> {
    /// A context for a run with this gap, seed and clock.
    pub fn new(soft: SoftSettings, proof: Proof, gap: f64, seed: u64, clock: &'a Clock) -> Self {
        Self { soft, proof, gap, seed, clock, solver: MipSolver::default() }
    }

    /// The same context with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { solver: solver.clone(), ..self }
    }
}

/// Builds a separation outside of this crate, once for each run.
pub trait SeparationFactory: Send + Sync {
    /// The separation for a problem.
    fn build<'p>(&self, problem: &'p Problem, context: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error>;
}

/// A shared [`SeparationFactory`]; equal to its clones only.
#[derive(Clone)]
pub struct CustomSeparation(Arc<dyn SeparationFactory>);

impl CustomSeparation {
    /// Wraps a factory.
    pub fn new(factory: impl SeparationFactory + 'static) -> Self {
        Self(Arc::new(factory))
    }
}

impl SeparationKind {
    /// A separation of another crate.
    pub fn custom(factory: impl SeparationFactory + 'static) -> Self {
        Self::Custom(CustomSeparation::new(factory))
    }
}

impl fmt::Debug for CustomSeparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomSeparation")
    }
}

impl PartialEq for CustomSeparation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Builds the separation of a run. Errs where the kind does not apply to the problem.
pub fn build_separation<'p>(
    kind: &SeparationKind,
    problem: &'p Problem,
    context: &SeparationContext,
) -> Result<Box<dyn Separation + 'p>, Error> {
    let refuse = |reason: super::NoExactSeparation| Error::Settings(reason.to_string());
    let soft = || {
        let states = chain_states(problem, &context.soft, context.clock)?;
        soft_separation(problem, states, context)
    };
    match kind {
        SeparationKind::Custom(custom) => custom.0.build(problem, context),
        SeparationKind::Soft => soft(),
        SeparationKind::Scan | SeparationKind::Split | SeparationKind::Bilinear => {
            Exact::of_kind(kind, problem).map_err(refuse)?.build_with(problem, &context.solver)
        }
        SeparationKind::Kkt => {
            let mut kkt = Kkt::new(problem).map_err(|reason| refuse(reason.into()))?.with_solver(&context.solver);
            // Big-M constants that would be infinite are refused before the run. One that is stopped here computes them
            // no more.
            match kkt.prepare(context.clock) {
                Ok(()) | Err(Error::Interrupted(_)) => Ok(Box::new(kkt)),
                Err(error) => Err(error),
            }
        }
        SeparationKind::Cascade => {
            let exact = Exact::choose(problem).map_err(refuse)?.build_combined(problem, &context.solver)?;
            Ok(Box::new(Cascade::new(soft()?, Some(exact))))
        }
        SeparationKind::Auto => {
            let states = match chain_states(problem, &context.soft, context.clock) {
                // A set without states has no chains; an exact separation needs none.
                Err(Error::Set(_)) if context.proof == Proof::Required => {
                    return Exact::choose(problem).map_err(refuse)?.build_combined(problem, &context.solver);
                }
                states => states?,
            };
            let exact = match context.proof {
                Proof::Required => Some(Exact::choose(problem).map_err(refuse)?),
                Proof::IfCheap => Exact::choose(problem).ok().filter(|exact| is_cheap(exact, problem, states.as_ref())),
                Proof::Unwanted => None,
            };
            let exact = exact.map(|exact| exact.build_combined(problem, &context.solver)).transpose()?;
            Ok(Box::new(Cascade::new(soft_separation(problem, states, context)?, exact)))
        }
    }
}

fn soft_separation<'p>(
    problem: &'p Problem,
    states: Arc<dyn States + 'p>,
    context: &SeparationContext,
) -> Result<Box<dyn Separation + 'p>, Error> {
    let SeparationContext { soft, gap, seed, clock, .. } = context;
    Ok(Box::new(SoftSeparation::new(problem, states, soft.clone(), *gap, *seed, clock)?))
}

/// Whether an exact separation costs little beside the run itself: where there is a list to scan, or where Q is
/// monotone and one point is the worst.
fn is_cheap(exact: &Exact, problem: &Problem, states: &dyn States) -> bool {
    match exact {
        Exact::Scan(points) => {
            problem.set.is_finite_list() || problem.recourse.is_linear() || *points <= CHEAP_CONIC_SCAN
        }
        Exact::Split | Exact::Bilinear | Exact::Kkt => states.space() == Space::Finite(Count::Exactly(1)),
    }
}
