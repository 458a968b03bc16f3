//! Soft separation without thorough searches. It misses needles, so that draws have to say how likely that is.

use softsep::cuts::CutPool;
use softsep::separation::{Effort, Found, Query, Separation, SeparationContext, SeparationFactory, build_separation};
use softsep::{BranchAndCutSettings, BundleSettings, Error, MethodSettings, Problem, SeparationKind, SgdSettings};

struct Quick<'p>(Box<dyn Separation + 'p>);

impl Separation for Quick<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        match query.effort {
            Effort::Thorough => self.0.separate(&query.with_effort(Effort::Normal), pool),
            _ => self.0.separate(query, pool),
        }
    }

    fn is_exact(&self) -> bool {
        false
    }
}

struct QuickFactory;

impl SeparationFactory for QuickFactory {
    fn build<'p>(&self, problem: &'p Problem, context: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error> {
        Ok(Box::new(Quick(build_separation(&SeparationKind::Soft, problem, context)?)))
    }
}

/// A method that separates without thorough searches.
pub(crate) fn quick(method: &str) -> MethodSettings {
    let kind = SeparationKind::custom(QuickFactory);
    match method {
        "bundle" => MethodSettings::Bundle(BundleSettings::default().with_separation(kind)),
        "sgd" => MethodSettings::Sgd(SgdSettings::default().with_separation(kind)),
        _ => MethodSettings::BranchAndCut(BranchAndCutSettings::default().with_separation(kind)),
    }
}
