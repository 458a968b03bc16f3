//! Sifting: a linear program with many more columns than rows, solved over a few of its columns at a time.
//!
//! A basis has one column per row, and most columns never enter one. The program over some columns is solved, the
//! others are priced by its duals (by the proof that it is infeasible, where it is), the most promising join, and so on
//! until none would help. That is the optimum of all of it.

use crate::{Algorithm, Basis, BasisStatus, Lp, LpError, Model, Status, Toggle};

/// Columns of each row that are there from the beginning: its cheapest.
const CHEAPEST: usize = 6;

/// Columns per row that join at once.
const JOIN: usize = 2;

/// Rounds after which it does not pay.
const ROUNDS: usize = 30;

/// HiGHS's own tolerance for reduced costs.
const PRICED_OUT: f64 = 1e-7;

/// A multiplier of a ray that is this small is zero.
const ROUNDING: f64 = 1e-9;

/// The optimum of a sifted program.
#[derive(Debug, Clone)]
pub struct Sifted {
    /// Its value.
    pub objective: f64,
    /// All columns.
    pub primal: Vec<f64>,
    /// Its basis.
    pub basis: Basis,
}

/// Solves `model`, a linear program without integers, by sifting; `ready` prepares each of its programs, with limits
/// for example. `None` where the way does not lead to an optimum, or would not be short: only columns that may stand at
/// zero can be left out.
pub fn sift(model: &Model, mut ready: impl FnMut(&mut Lp) -> Result<(), LpError>) -> Result<Option<Sifted>, LpError> {
    let mut is_in = first_columns(model);
    let limit = model.cols() / 2;
    let mut basis = Basis::new(vec![BasisStatus::Lower; model.cols()], vec![BasisStatus::Basic; model.rows()]);
    let (mut dual, mut reduced) = (vec![0.0; model.rows()], vec![0.0; model.cols()]);
    for round in 0..ROUNDS {
        let columns: Vec<usize> = (0..model.cols()).filter(|&col| is_in[col]).collect();
        if columns.len() > limit {
            return Ok(None);
        }
        let mut lp = Lp::new(&restricted(model, &columns))?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::PrimalSimplex)?;
        ready(&mut lp)?;
        if round > 0 {
            lp.set_basis(&Basis::new(
                columns.iter().map(|&col| basis.col(col)),
                (0..model.rows()).map(|row| basis.row(row)),
            ))?;
        }
        let is_optimal = match lp.solve()? {
            Status::Optimal if lp.has_basis() => true,
            Status::Infeasible if proves_infeasible(&mut lp, &mut dual)? => false,
            _ => return Ok(None),
        };
        let mut found = Basis::default();
        lp.basis(&mut found)?;
        columns.iter().enumerate().for_each(|(place, &col)| basis.set_col(col, found.col(place)));
        (0..model.rows()).for_each(|row| basis.set_row(row, found.row(row)));
        if is_optimal {
            lp.dual(&mut dual)?;
            reduced.copy_from_slice(&model.cost);
            price(model, &dual, &mut reduced);
        } else {
            reduced.fill(0.0);
            price(model, &dual, &mut reduced);
            if gain(model, &columns, &dual, &reduced, -1.0) > gain(model, &columns, &dual, &reduced, 1.0) {
                reduced.iter_mut().for_each(|reduced| *reduced = -*reduced);
            }
        }
        let mut promising: Vec<usize> =
            (0..model.cols()).filter(|&col| !is_in[col] && reduced[col] < -PRICED_OUT).collect();
        if promising.is_empty() && !is_optimal {
            return Ok(None);
        }
        if promising.is_empty() {
            let (mut values, mut primal) = (vec![0.0; columns.len()], vec![0.0; model.cols()]);
            lp.primal(&mut values)?;
            columns.iter().zip(values).for_each(|(&col, value)| primal[col] = value);
            return Ok(Some(Sifted { objective: lp.objective(), primal, basis }));
        }
        promising.sort_by(|&a, &b| reduced[a].total_cmp(&reduced[b]));
        promising.iter().take(JOIN * model.rows().max(1)).for_each(|&col| is_in[col] = true);
    }
    Ok(None)
}

/// Whether there is a proof that the program is infeasible, which is written down. A primal simplex leaves none, a dual
/// one from where it ended does.
fn proves_infeasible(lp: &mut Lp, ray: &mut [f64]) -> Result<bool, LpError> {
    if lp.has_basis() && lp.dual_ray(ray)? {
        return Ok(true);
    }
    lp.set_algorithm(Algorithm::DualSimplex)?;
    Ok(lp.solve()? == Status::Infeasible && lp.has_basis() && lp.dual_ray(ray)?)
}

/// Columns that cannot stand at zero or wait for no price, and the cheapest of each row.
fn first_columns(model: &Model) -> Vec<bool> {
    let can_wait = |col: usize| model.col_lower[col] == 0.0 && model.col_upper[col] >= 0.0;
    let mut is_in: Vec<bool> = (0..model.cols()).map(|col| !can_wait(col)).collect();
    let mut of_row = Vec::new();
    for row in 0..model.rows() {
        of_row.clear();
        of_row.extend(model.terms(row).map(|(col, _)| col));
        if of_row.len() > CHEAPEST {
            of_row.select_nth_unstable_by(CHEAPEST, |&a, &b| model.cost[a].total_cmp(&model.cost[b]).then(a.cmp(&b)));
            of_row.truncate(CHEAPEST);
        }
        of_row.iter().for_each(|&col| is_in[col] = true);
    }
    is_in
}

/// The program over some of the columns, the others being zero.
fn restricted(model: &Model, columns: &[usize]) -> Model {
    let mut place = vec![None; model.cols()];
    let mut program = Model::new();
    for &col in columns {
        place[col] = Some(program.add_col(model.cost[col], model.col_lower[col], model.col_upper[col]));
    }
    let mut terms = Vec::new();
    for row in 0..model.rows() {
        terms.clear();
        terms.extend(model.terms(row).filter_map(|(col, value)| Some((place[col]?, value))));
        program.add_row(model.row_lower[row], model.row_upper[row], &terms);
    }
    program.set_offset(model.offset);
    program
}

/// `reduced −= Aᵀ dual`.
fn price(model: &Model, dual: &[f64], reduced: &mut [f64]) {
    for (row, &dual) in dual.iter().enumerate().filter(|(_, dual)| **dual != 0.0) {
        for (col, value) in model.terms(row) {
            reduced[col] -= dual * value;
        }
    }
}

/// What a ray and its prices prove, taken with a sign: positive if the program over these columns is infeasible. HiGHS
/// does not say which sign its rays have.
fn gain(model: &Model, columns: &[usize], ray: &[f64], reduced: &[f64], sign: f64) -> f64 {
    let at_bound = |multiplier: f64, lower: f64, upper: f64| match multiplier {
        multiplier if multiplier > ROUNDING => multiplier * lower,
        multiplier if multiplier < -ROUNDING => multiplier * upper,
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

    /// Numbers in [0, 1) without a generator.
    fn number(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Cover random demands with columns of three entries, some of which have bounds of other kinds.
    fn wide(rows: usize, cols: usize, seed: u64) -> Model {
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
        let mut sifted_at_all = 0;
        for seed in 1..=60 {
            let (rows, cols) = (5 + seed as usize % 20, 400 + 20 * seed as usize);
            let model = wide(rows, cols, seed);
            let mut whole = Lp::new(&model).unwrap();
            assert_eq!(whole.solve().unwrap(), Status::Optimal);
            let Some(sifted) = sift(&model, |_| Ok(())).unwrap() else { continue };
            sifted_at_all += 1;
            let best = whole.objective();
            assert!(
                (sifted.objective - best).abs() <= 1e-7 * best.abs().max(1.0),
                "{seed}: {} for {best}",
                sifted.objective
            );
            // The basis is one of the whole program, which has nothing left to do.
            whole.forget().unwrap();
            whole.set_presolve(Toggle::Off).unwrap();
            whole.set_basis(&sifted.basis).unwrap();
            assert_eq!((whole.solve().unwrap(), whole.simplex_iterations()), (Status::Optimal, 0), "{seed}");
            let mut primal = vec![0.0; cols];
            whole.primal(&mut primal).unwrap();
            let off = primal.iter().zip(&sifted.primal).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off <= 1e-7, "{seed}: {off}");
        }
        assert!(sifted_at_all >= 50, "{sifted_at_all}");
    }

    /// Columns are cheap where they are of no use: the first of them leave every row short.
    #[test]
    fn columns_join_until_the_rows_can_be_met() {
        for (rows, sign) in [(8, 1.0), (8, -1.0)] {
            let mut model = Model::new();
            let cols = 400;
            for col in 0..cols {
                model.add_col(1.0 + col as f64, 0.0, if col < CHEAPEST * rows { 0.1 } else { f64::INFINITY });
            }
            for row in 0..rows {
                let terms: Vec<(usize, f64)> = (row..cols).step_by(rows).map(|col| (col, sign)).collect();
                let (lower, upper) = if sign > 0.0 { (3.0, f64::INFINITY) } else { (f64::NEG_INFINITY, -3.0) };
                model.add_row(lower, upper, &terms);
            }
            let first: Vec<usize> = (0..cols).filter(|&col| first_columns(&model)[col]).collect();
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
    fn what_has_no_optimum_is_not_sifted() {
        let mut infeasible = wide(5, 600, 1);
        infeasible.add_row(1.0, 1.0, &[]);
        assert!(sift(&infeasible, |_| Ok(())).unwrap().is_none());
        let mut unbounded = wide(5, 600, 1);
        let col = unbounded.add_col(-1.0, 0.0, f64::INFINITY);
        unbounded.add_row(0.0, f64::INFINITY, &[(col, 1.0)]);
        assert!(sift(&unbounded, |_| Ok(())).unwrap().is_none());
    }
}
