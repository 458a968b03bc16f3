//! Recourse without variables: rows that are satisfied or violated.

use super::{Answer, Recourse, RecourseBasis, RecourseError, RecourseOutcome, RecourseWork};
use crate::model::{Problem, RecourseModel};
use crate::numeric::tolerances::ROW_TOL;

/// Q is 0 where all rows are satisfied and ∞ elsewhere. The row with the largest violation is the certificate.
pub struct Fixed {
    model: RecourseModel,
    x: Vec<f64>,
    shift: Vec<f64>,
    dual: Vec<f64>,
    work: RecourseWork,
}

impl Fixed {
    /// Builds the engine. Fails if the recourse has variables or cones.
    pub fn new(problem: &Problem) -> Result<Self, RecourseError> {
        let model = problem.recourse.clone();
        if model.dim() > 0 || !model.cones.is_empty() {
            return Err(RecourseError::Unsupported(
                "this engine takes recourse without variables and cones only".into(),
            ));
        }
        let rows = model.rows();
        Ok(Self {
            model,
            x: vec![0.0; problem.first.dim()],
            shift: vec![0.0; rows],
            dual: vec![0.0; rows],
            work: RecourseWork::default(),
        })
    }
}

impl Recourse for Fixed {
    fn at(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
    }

    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.work.solves += 1;
        self.model.shift(&self.x, xi, &mut self.shift);
        self.dual.fill(0.0);
        answer.slope_x.fill(0.0);
        answer.slope_xi.fill(0.0);
        (answer.outcome, answer.value, answer.cost, answer.intercept) = (RecourseOutcome::Solved, 0.0, 0.0, 0.0);
        let mut max_violation = ROW_TOL;
        let mut violated = None;
        for (row, &activity) in self.shift.iter().enumerate() {
            let (lower, upper) = (self.model.row_lower[row], self.model.row_upper[row]);
            for (gain, sign) in [(lower - activity, 1.0), (activity - upper, -1.0)] {
                // Relative to the bound, since a large bound is not met to the last digit.
                let size = if sign > 0.0 { lower.abs() } else { upper.abs() };
                if gain / size.max(1.0) > max_violation {
                    max_violation = gain / size.max(1.0);
                    violated = Some((row, sign, gain));
                }
            }
        }
        if let Some((row, sign, gain)) = violated {
            self.dual[row] = sign;
            self.model.e.transpose_mul_add(-1.0, &self.dual, &mut answer.slope_x);
            self.model.u.transpose_mul_add(-1.0, &self.dual, &mut answer.slope_xi);
            answer.intercept = gain - answer.slope_x.iter().zip(&self.x).map(|(slope, x)| slope * x).sum::<f64>();
            (answer.outcome, answer.value, answer.cost) = (RecourseOutcome::Infeasible, f64::INFINITY, f64::INFINITY);
        }
        Ok(())
    }

    fn decision(&mut self, _y: &mut [f64]) {}

    fn dual(&mut self, pi: &mut [f64]) {
        pi.copy_from_slice(&self.dual);
    }

    fn warm_start(&self) -> RecourseBasis {
        RecourseBasis::default()
    }

    /// Does nothing, since no state is kept between solves.
    fn start_from(&mut self, _warm: &RecourseBasis) -> Result<(), RecourseError> {
        Ok(())
    }

    fn work(&self) -> RecourseWork {
        self.work
    }
}
