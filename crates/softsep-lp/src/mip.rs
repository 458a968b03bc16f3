//! A mixed-integer linear program in the solver of the user's choice.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::gurobi::GurobiProgram;
use crate::lp::MIP_ABSOLUTE_GAP;
use crate::{Gurobi, GurobiError, Lp, LpError, Model, Status, Toggle};

/// The solver of mixed-integer programs.
#[derive(Debug, Clone, Default)]
pub enum MipSolver {
    /// HiGHS, which is built in.
    #[default]
    Highs,
    /// Gurobi, where it is installed.
    Gurobi(Gurobi),
}

impl MipSolver {
    /// The name and the version of a solver that is not built in.
    pub fn external(&self) -> Option<String> {
        match self {
            MipSolver::Highs => None,
            MipSolver::Gurobi(gurobi) => Some(format!("Gurobi {}", gurobi.version())),
        }
    }
}

/// A mixed-integer linear program, silent and on one thread.
///
/// HiGHS takes programs without integers whatever the choice. The same model, options and seed give the same result.
#[derive(Debug)]
pub struct Mip {
    program: Program,
}

enum Program {
    Highs(Box<Lp>),
    Gurobi(Box<GurobiProgram>),
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Program::Highs(lp) => lp.fmt(f),
            Program::Gurobi(_) => f.write_str("a program in Gurobi"),
        }
    }
}

impl Mip {
    /// Passes `model` to a solver.
    pub fn new(model: &Model, solver: &MipSolver) -> Result<Self, LpError> {
        let program = match solver {
            MipSolver::Gurobi(gurobi) if model.has_integers() => {
                Program::Gurobi(Box::new(GurobiProgram::new(gurobi, model)?))
            }
            MipSolver::Gurobi(_) | MipSolver::Highs => Program::Highs(Box::new(Lp::new(model)?)),
        };
        Ok(Self { program })
    }

    /// Replaces the costs of all columns.
    pub fn set_costs(&mut self, cost: &[f64]) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_costs(cost),
            Program::Gurobi(program) => Ok(program.set_costs(cost)?),
        }
    }

    /// Sets the relative gap at which the search may stop.
    pub fn set_mip_gap(&mut self, gap: f64) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_mip_gap(gap),
            Program::Gurobi(program) => Ok(program.set_mip_gap(gap, MIP_ABSOLUTE_GAP)?),
        }
    }

    /// Sets the integrality tolerance: the largest distance of an integer column from an integer. Solvers have least
    /// values: 1e-10 for HiGHS, 1e-9 for Gurobi.
    pub fn set_integrality(&mut self, tolerance: f64) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_integrality(tolerance),
            Program::Gurobi(program) => Ok(program.set_integrality(tolerance)?),
        }
    }

    /// Sets whether the search may start again from a root that was presolved further. Gurobi follows its own rule.
    pub fn set_restarts(&mut self, on: bool) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_mip_restarts(on),
            Program::Gurobi(_) => Ok(()),
        }
    }

    /// Sets the largest number of nodes.
    pub fn set_node_limit(&mut self, nodes: u64) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_mip_nodes(nodes),
            Program::Gurobi(program) => Ok(program.set_node_limit(nodes)?),
        }
    }

    /// Sets the random seed of the solver.
    pub fn set_seed(&mut self, seed: u64) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_seed(seed),
            Program::Gurobi(program) => Ok(program.set_seed(seed)?),
        }
    }

    /// Sets the time limit of each later solve; `None` removes it.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_time_limit(limit),
            Program::Gurobi(program) => Ok(program.set_time_limit(limit)?),
        }
    }

    /// Stops a running solve, and every later one, soon after `flag` is set.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_interrupt(flag),
            Program::Gurobi(program) => Ok(program.set_interrupt(flag)?),
        }
    }

    /// Sets the start point of the next solve, with one value per column; the solver checks its feasibility.
    pub fn set_start_point(&mut self, cols: &[f64]) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_start_point(cols),
            Program::Gurobi(program) => {
                let known: Vec<(usize, f64)> = cols.iter().copied().enumerate().collect();
                Ok(program.set_start(&known)?)
            }
        }
    }

    /// Starts the next tree from a partial point with the given columns, including all integers. The solver completes
    /// it by a linear program.
    pub fn set_partial_start(&mut self, known: &[(usize, f64)]) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.set_partial_start(known),
            Program::Gurobi(program) => Ok(program.set_start(known)?),
        }
    }

    /// Prepares a solve from scratch without presolve, which has returned wrong statuses.
    pub fn restart_without_presolve(&mut self) -> Result<(), LpError> {
        match &mut self.program {
            Program::Highs(lp) => {
                lp.clear_solver()?;
                lp.set_presolve(Toggle::Off)
            }
            Program::Gurobi(program) => {
                program.clear()?;
                Ok(program.set_presolve_off()?)
            }
        }
    }

    /// Solves the program.
    pub fn solve(&mut self) -> Result<Status, LpError> {
        match &mut self.program {
            Program::Highs(lp) => lp.solve(),
            Program::Gurobi(program) => Ok(program.solve()?),
        }
    }

    /// The objective at the point of the last solve. It is of no use without a point.
    pub fn objective(&self) -> f64 {
        match &self.program {
            Program::Highs(lp) => lp.objective(),
            Program::Gurobi(program) => program.objective().unwrap_or(f64::INFINITY),
        }
    }

    /// Whether the last solve has a feasible point.
    pub fn has_feasible_point(&self) -> bool {
        match &self.program {
            Program::Highs(lp) => lp.has_feasible_point(),
            Program::Gurobi(program) => program.point().is_some(),
        }
    }

    /// Writes the values of all columns after the last solve. Errs if it has no point.
    pub fn primal(&self, cols: &mut [f64]) -> Result<(), LpError> {
        match &self.program {
            Program::Highs(lp) => lp.primal(cols),
            Program::Gurobi(program) => {
                let point = program.point().ok_or(GurobiError::NoPoint)?;
                if point.len() != cols.len() {
                    return Err(LpError::Length { what: "column values", got: cols.len(), want: point.len() });
                }
                cols.copy_from_slice(point);
                Ok(())
            }
        }
    }

    /// The proven bound of the last solve, also if it was stopped early.
    pub fn dual_bound(&self) -> Option<f64> {
        match &self.program {
            Program::Highs(lp) => lp.mip_dual_bound(),
            Program::Gurobi(program) => program.bound(),
        }
    }

    /// Number of branch-and-bound nodes of the last solve.
    pub fn nodes(&self) -> u64 {
        match &self.program {
            Program::Highs(lp) => lp.mip_nodes(),
            Program::Gurobi(program) => program.nodes(),
        }
    }
}
