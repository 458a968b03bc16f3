//! Products of dual rows with ξ, as in the reformulation-linearization technique: they relate the slopes to the set
//! more tightly than ranges do.
//!
//! A dual row times `ζ ≥ 0` or `width − ζ ≥ 0` is valid, and linear in the products of its columns with ζ. All of these
//! products together are the dual of affine policies. Included are the products of rows whose y shares a recourse row
//! with the entry of ξ that ζ moves; they correspond to policies in which each y depends on the entries of ξ in its own
//! rows. The products need no range of a slope, and so can make one finite.

use std::collections::BTreeMap;

use super::milp::{Affine, MilpModel, SetColumns};
use crate::model::RecourseModel;
use crate::recourse::{DualColumns, merged};
use crate::separation::slopes::widths;
use crate::uncertainty::Polytope;

/// The largest number of nonzeros of the products. Larger programs take longer than they save, and get no products.
const MAX_PRODUCT_ENTRIES: usize = 400_000;

/// The columns of products, by the dual column and ζ.
type ProductColumns = BTreeMap<(usize, usize), usize>;

impl MilpModel {
    /// Adds the products, unless there are too many.
    pub(super) fn add_products(
        &mut self,
        duals: &DualColumns,
        recourse: &RecourseModel,
        polytope: &Polytope,
        set_columns: &SetColumns,
    ) {
        let zetas = |entry: usize| (0..polytope.columns.len()).filter(move |&zeta| polytope.columns[zeta].0 == entry);
        // For each dual row, the coordinates ζ of the entries of ξ in the recourse rows of its y.
        let by_column = recourse.g.transpose();
        let mut near_zetas: Vec<Vec<usize>> = Vec::with_capacity(duals.rows().len());
        let mut entries = 0;
        for row in duals.rows() {
            let mut near: Vec<usize> =
                by_column.row(row.y).flat_map(|(i, _)| recourse.u.row(i)).flat_map(|(entry, _)| zetas(entry)).collect();
            near.sort_unstable();
            near.dedup();
            entries += 4 * near.len() * row.terms.len();
            near_zetas.push(near);
        }
        if entries > MAX_PRODUCT_ENTRIES {
            return;
        }
        let (lower, _) = self.model.col_bounds();
        let widths = widths(polytope);
        let mut columns = ProductColumns::new();
        for (zeta, &(entry, _)) in polytope.columns.iter().enumerate() {
            for (dual, _) in self.slopes[entry].clone() {
                self.product(dual, zeta, &lower, &widths, &mut columns);
            }
        }
        for (row, near) in duals.rows().iter().zip(&near_zetas) {
            for &zeta in near {
                let mut terms = Vec::with_capacity(row.terms.len());
                for &(dual, value) in &row.terms {
                    terms.push((self.product(dual, zeta, &lower, &widths, &mut columns), value));
                }
                // For each side, the row times ζ and the row times (width − ζ).
                for (side, sign) in [(row.least, -1.0), (row.most, 1.0)] {
                    if side.is_finite() {
                        self.at_most(&terms, sign, side, &set_columns.zeta[zeta], 0.0);
                        if widths[zeta].is_finite() {
                            let mut rest: Vec<(usize, f64)> =
                                terms.iter().map(|&(column, value)| (column, -value)).collect();
                            rest.extend(row.terms.iter().map(|&(dual, value)| (dual, widths[zeta] * value)));
                            self.at_most(&rest, sign, -side, &set_columns.zeta[zeta], widths[zeta] * side);
                        }
                    }
                }
            }
        }
        self.define_slope_products(polytope, set_columns, &columns);
        self.add_set_products(polytope, &lower, &columns);
    }

    /// Returns the column of a product; adds it on the first call.
    fn product(
        &mut self,
        dual: usize,
        zeta: usize,
        lower: &[f64],
        widths: &[f64],
        columns: &mut ProductColumns,
    ) -> usize {
        if let Some(&column) = columns.get(&(dual, zeta)) {
            return column;
        }
        let signed = lower[dual] == 0.0;
        let column = self.column(0.0, if signed { 0.0 } else { f64::NEG_INFINITY }, f64::INFINITY);
        if signed && widths[zeta].is_finite() {
            self.model.add_row(f64::NEG_INFINITY, 0.0, &[(column, 1.0), (dual, -widths[zeta])]);
        }
        columns.insert((dual, zeta), column);
        column
    }

    /// Adds the row `sign·(Σ terms − factor·ζ − constant) ≤ 0`.
    fn at_most(&mut self, terms: &[(usize, f64)], sign: f64, factor: f64, zeta: &Affine, constant: f64) {
        let mut all: Vec<(usize, f64)> = terms.iter().map(|&(column, value)| (column, sign * value)).collect();
        all.extend(zeta.terms.iter().map(|&(column, value)| (column, -sign * factor * value)));
        self.model.add_row(f64::NEG_INFINITY, sign * (constant + factor * zeta.constant), &merged(all));
    }

    /// Writes each product of a slope and an entry of ξ as a sum of products of dual columns and ζ.
    fn define_slope_products(&mut self, polytope: &Polytope, set_columns: &SetColumns, columns: &ProductColumns) {
        for product in &set_columns.products {
            let mut terms = vec![(product.column, -1.0), (product.slope, polytope.base[product.entry] - product.from)];
            for &zeta in &product.zetas {
                let step = polytope.columns[zeta].1;
                let existing = |&(dual, value): &(usize, f64)| Some((*columns.get(&(dual, zeta))?, step * value));
                terms.extend(self.slopes[product.entry].iter().filter_map(existing));
            }
            self.model.add_row(0.0, 0.0, &merged(terms));
        }
    }

    /// Adds the products of the set's rows with nonnegative dual columns.
    fn add_set_products(&mut self, polytope: &Polytope, lower: &[f64], columns: &ProductColumns) {
        let mut zetas_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &(dual, zeta) in columns.keys() {
            zetas_of.entry(dual).or_default().push(zeta);
        }
        for (&dual, zetas) in zetas_of.iter().filter(|(dual, zetas)| lower[**dual] == 0.0 && zetas.len() > 1) {
            for row in polytope.rows.iter().filter(|row| row.terms.len() > 1) {
                // Products without a column are nonnegative. Leaving them out relaxes the row if their coefficient is
                // not negative.
                if row.terms.iter().any(|(zeta, value)| zetas.binary_search(zeta).is_err() && *value < 0.0) {
                    continue;
                }
                let existing = |&(zeta, value): &(usize, f64)| Some((*columns.get(&(dual, zeta))?, value));
                let mut terms: Vec<(usize, f64)> = row.terms.iter().filter_map(existing).collect();
                terms.push((dual, -row.limit));
                self.model.add_row(f64::NEG_INFINITY, 0.0, &terms);
            }
        }
    }
}
