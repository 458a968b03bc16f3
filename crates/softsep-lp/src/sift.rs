//! Sifting: a linear program with many more columns than rows, solved over a subset of its columns at a time.
//!
//! A basis has one column per row, and most columns never enter one. The program over some columns is solved, and the
//! others are priced by its duals (by the Farkas ray if it is infeasible). The columns with the most negative reduced
//! costs are added, until there is none. The solution is then optimal for the entire program.

use crate::{Algorithm, Basis, BasisStatus, Lp, LpError, Model, Status, Toggle};

/// Number of columns per row in the initial program: the cheapest ones.
const INITIAL_COLUMNS_PER_ROW: usize = 6;

/// Number of columns per row that are added in a round.
const ADDED_COLUMNS_PER_ROW: usize = 2;

/// Number of rounds after which sifting is not worthwhile.
const MAX_ROUNDS: usize = 30;

/// Columns with a reduced cost above the negative of this are not added: the dual feasibility tolerance of HiGHS.
const REDUCED_COST_TOL: f64 = 1e-7;

/// Smaller multipliers of a ray are zero.
const ZERO_MULTIPLIER_TOL: f64 = 1e-9;

/// The optimal solution of a sifted program.
#[derive(Debug, Clone)]
pub struct SiftingSolution {
    /// The optimal value.
    pub objective: f64,
    /// The values of all columns.
    pub primal: Vec<f64>,
    /// The multipliers of the rows.
    pub dual: Vec<f64>,
    /// The optimal basis.
    pub basis: Basis,
}

/// Solves `model`, a linear program without integers, by sifting. `prepare` is called for each of its programs, for
/// example to set limits. Returns `None` if sifting finds no optimum, or would need too many columns or rounds: only
/// columns that can be zero can be omitted.
pub fn sift(
    model: &Model,
    mut prepare: impl FnMut(&mut Lp) -> Result<(), LpError>,
) -> Result<Option<SiftingSolution>, LpError> {
    let mut is_included = initial_columns(model);
    let limit = model.cols() / 2;
    let mut basis = Basis::new(vec![BasisStatus::Lower; model.cols()], vec![BasisStatus::Basic; model.rows()]);
    let (mut dual, mut reduced) = (vec![0.0; model.rows()], vec![0.0; model.cols()]);
    for round in 0..MAX_ROUNDS {
        let columns: Vec<usize> = (0..model.cols()).filter(|&col| is_included[col]).collect();
        if columns.len() > limit {
            return Ok(None);
        }
        let mut lp = Lp::new(&restricted(model, &columns))?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::PrimalSimplex)?;
        prepare(&mut lp)?;
        if round > 0 {
            lp.set_basis(&Basis::new(
                columns.iter().map(|&col| basis.col(col)),
                (0..model.rows()).map(|row| basis.row(row)),
            ))?;
        }
        let is_optimal = match lp.solve()? {
            Status::Optimal if lp.has_basis() => true,
            Status::Infeasible if find_farkas_ray(&mut lp, &mut dual)? => false,
            _ => return Ok(None),
        };
        let mut found = Basis::default();
        lp.basis(&mut found)?;
        columns.iter().enumerate().for_each(|(position, &col)| basis.set_col(col, found.col(position)));
        (0..model.rows()).for_each(|row| basis.set_row(row, found.row(row)));
        if is_optimal {
            lp.dual(&mut dual)?;
            reduced.copy_from_slice(&model.cost);
            price(model, &dual, &mut reduced);
        } else {
            price_by_ray(model, &columns, &dual, &mut reduced);
        }
        let mut entering: Vec<usize> =
            (0..model.cols()).filter(|&col| !is_included[col] && reduced[col] < -REDUCED_COST_TOL).collect();
        if entering.is_empty() && !is_optimal {
            return Ok(None);
        }
        if entering.is_empty() {
            let (mut values, mut primal) = (vec![0.0; columns.len()], vec![0.0; model.cols()]);
            lp.primal(&mut values)?;
            columns.iter().zip(values).for_each(|(&col, value)| primal[col] = value);
            return Ok(Some(SiftingSolution { objective: lp.objective(), primal, dual, basis }));
        }
        entering.sort_by(|&a, &b| reduced[a].total_cmp(&reduced[b]));
        entering.iter().take(ADDED_COLUMNS_PER_ROW * model.rows().max(1)).for_each(|&col| is_included[col] = true);
    }
    Ok(None)
}

/// Writes a Farkas ray of an infeasible program. Returns false if none is found. The primal simplex provides no ray;
/// the dual simplex, started from the final basis, does.
fn find_farkas_ray(lp: &mut Lp, ray: &mut [f64]) -> Result<bool, LpError> {
    if lp.has_basis() && lp.dual_ray(ray)? {
        return Ok(true);
    }
    lp.set_algorithm(Algorithm::DualSimplex)?;
    Ok(lp.solve()? == Status::Infeasible && lp.has_basis() && lp.dual_ray(ray)?)
}

/// The initial columns: those whose lower bound is not zero, and the cheapest of each row.
fn initial_columns(model: &Model) -> Vec<bool> {
    let can_wait = |col: usize| model.col_lower[col] == 0.0 && model.col_upper[col] >= 0.0;
    let mut is_included: Vec<bool> = (0..model.cols()).map(|col| !can_wait(col)).collect();
    let mut of_row = Vec::new();
    for row in 0..model.rows() {
        of_row.clear();
        of_row.extend(model.terms(row).map(|(col, _)| col));
        if of_row.len() > INITIAL_COLUMNS_PER_ROW {
            of_row.select_nth_unstable_by(INITIAL_COLUMNS_PER_ROW, |&a, &b| {
                model.cost[a].total_cmp(&model.cost[b]).then(a.cmp(&b))
            });
            of_row.truncate(INITIAL_COLUMNS_PER_ROW);
        }
        of_row.iter().for_each(|&col| is_included[col] = true);
    }
    is_included
}

/// The program over some of the columns; the others are zero.
fn restricted(model: &Model, columns: &[usize]) -> Model {
    let mut position = vec![None; model.cols()];
    let mut program = Model::new();
    for &col in columns {
        position[col] = Some(program.add_col(model.cost[col], model.col_lower[col], model.col_upper[col]));
    }
    let mut terms = Vec::new();
    for row in 0..model.rows() {
        terms.clear();
        terms.extend(model.terms(row).filter_map(|(col, value)| Some((position[col]?, value))));
        program.add_row(model.row_lower[row], model.row_upper[row], &terms);
    }
    program.set_offset(model.offset);
    program
}

/// Computes `reduced −= Aᵀ dual`.
fn price(model: &Model, dual: &[f64], reduced: &mut [f64]) {
    for (row, &dual) in dual.iter().enumerate().filter(|(_, dual)| **dual != 0.0) {
        for (col, value) in model.terms(row) {
            reduced[col] -= dual * value;
        }
    }
}

/// Computes the reduced costs of all columns by the Farkas ray of the infeasible program over some of them.
fn price_by_ray(model: &Model, columns: &[usize], ray: &[f64], reduced: &mut [f64]) {
    reduced.fill(0.0);
    price(model, ray, reduced);
    if farkas_value(model, columns, ray, reduced, -1.0) > farkas_value(model, columns, ray, reduced, 1.0) {
        reduced.iter_mut().for_each(|reduced| *reduced = -*reduced);
    }
}

/// The value of the Farkas certificate given by a ray and its reduced costs, for a sign of the ray: positive if it
/// proves that the program over these columns is infeasible. HiGHS does not document the sign of its rays.
fn farkas_value(model: &Model, columns: &[usize], ray: &[f64], reduced: &[f64], sign: f64) -> f64 {
    let at_bound = |multiplier: f64, lower: f64, upper: f64| match multiplier {
        multiplier if multiplier > ZERO_MULTIPLIER_TOL => multiplier * lower,
        multiplier if multiplier < -ZERO_MULTIPLIER_TOL => multiplier * upper,
        _ => 0.0,
    };
    let rows: f64 =
        (0..model.rows()).map(|row| at_bound(sign * ray[row], model.row_lower[row], model.row_upper[row])).sum();
    let cols = columns.iter().map(|&col| at_bound(sign * reduced[col], model.col_lower[col], model.col_upper[col]));
    rows + cols.sum::<f64>()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Pseudorandom numbers in [0, 1).
    fn number(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A covering program with random demands and columns of three entries, some with other kinds of bounds.
    fn wide_program(rows: usize, cols: usize, seed: u64) -> Model {
        let mut seed = seed;
        let mut model = Model::new();
        let mut of_row = vec![Vec::new(); rows];
        for col in 0..cols {
            let (lower, upper) = match col % 11 {
                0 => (-1.0, 2.0),
                1 => (0.0, 1.5),
                2 => (f64::NEG_INFINITY, 0.0),
                _ => (0.0, f64::INFINITY),
            };
            let sign = if col % 11 == 2 { -1.0 } else { 1.0 };
            model.add_col(sign * (0.5 + number(&mut seed)), lower, upper);
            for _ in 0..3 {
                let row = (number(&mut seed) * rows as f64) as usize;
                let value = sign * (number(&mut seed) + 0.1);
                if of_row[row].iter().all(|&(known, _)| known != col) {
                    of_row[row].push((col, value));
                }
            }
        }
        for terms in &of_row {
            let demand = 5.0 * number(&mut seed);
            let most = if number(&mut seed) < 0.3 { demand + 1.0 } else { f64::INFINITY };
            model.add_row(demand, most, terms);
        }
        model.set_offset(3.0);
        model
    }

    #[test]
    fn the_optimum_of_few_columns_is_that_of_all() {
        let mut solved = 0;
        for seed in 1..=60 {
            let (rows, cols) = (5 + seed as usize % 20, 400 + 20 * seed as usize);
            let model = wide_program(rows, cols, seed);
            let mut full = Lp::new(&model).unwrap();
            assert_eq!(full.solve().unwrap(), Status::Optimal);
            let Some(sifted) = sift(&model, |_| Ok(())).unwrap() else { continue };
            solved += 1;
            let best = full.objective();
            assert!(
                (sifted.objective - best).abs() <= 1e-7 * best.abs().max(1.0),
                "{seed}: {} for {best}",
                sifted.objective
            );
            // The basis is optimal for the full program, which needs no pivot.
            full.clear_solver().unwrap();
            full.set_presolve(Toggle::Off).unwrap();
            full.set_basis(&sifted.basis).unwrap();
            assert_eq!((full.solve().unwrap(), full.simplex_iterations()), (Status::Optimal, 0), "{seed}");
            let mut primal = vec![0.0; cols];
            full.primal(&mut primal).unwrap();
            let off = primal.iter().zip(&sifted.primal).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off <= 1e-7, "{seed}: {off}");
        }
        assert!(solved >= 50, "{solved}");
    }

    /// The cheapest columns have small upper bounds: the initial program is infeasible in every row.
    #[test]
    fn columns_are_added_until_the_program_is_feasible() {
        for (rows, sign) in [(8, 1.0), (8, -1.0)] {
            let mut model = Model::new();
            let cols = 400;
            for col in 0..cols {
                model.add_col(
                    1.0 + col as f64,
                    0.0,
                    if col < INITIAL_COLUMNS_PER_ROW * rows { 0.1 } else { f64::INFINITY },
                );
            }
            for row in 0..rows {
                let terms: Vec<(usize, f64)> = (row..cols).step_by(rows).map(|col| (col, sign)).collect();
                let (lower, upper) = if sign > 0.0 { (3.0, f64::INFINITY) } else { (f64::NEG_INFINITY, -3.0) };
                model.add_row(lower, upper, &terms);
            }
            let first: Vec<usize> = (0..cols).filter(|&col| initial_columns(&model)[col]).collect();
            assert_eq!(Lp::new(&restricted(&model, &first)).unwrap().solve().unwrap(), Status::Infeasible);
            let best = {
                let mut lp = Lp::new(&model).unwrap();
                assert_eq!(lp.solve().unwrap(), Status::Optimal);
                lp.objective()
            };
            let sifted = sift(&model, |_| Ok(())).unwrap().unwrap();
            assert!((sifted.objective - best).abs() <= 1e-7 * best, "{} for {best}", sifted.objective);
        }
    }

    #[test]
    fn programs_without_an_optimum_are_not_sifted() {
        let mut infeasible = wide_program(5, 600, 1);
        infeasible.add_row(1.0, 1.0, &[]);
        assert!(sift(&infeasible, |_| Ok(())).unwrap().is_none());
        let mut unbounded = wide_program(5, 600, 1);
        let col = unbounded.add_col(-1.0, 0.0, f64::INFINITY);
        unbounded.add_row(0.0, f64::INFINITY, &[(col, 1.0)]);
        assert!(sift(&unbounded, |_| Ok(())).unwrap().is_none());
    }
}
