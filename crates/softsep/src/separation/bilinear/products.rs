//! Products of dual rows with ξ: what ties the slopes to the set more closely than their ranges do.
//!
//! A row of the dual times `ζ ≥ 0` or `width − ζ ≥ 0` holds too, and is linear in the products of its columns with ζ.
//! All of these products together would be the dual of affine decision rules; taken are those of the rows that belong
//! to a y next to the entry of ξ that ζ moves, so that the rules behind them let each y follow what it stands next to.
//! They need no range of a slope, and so can make one finite.

use std::collections::BTreeMap;

use super::program::{Affine, Place, Written};
use crate::model::RecourseModel;
use crate::recourse::{DualColumns, merged};
use crate::separation::slopes::widths;
use crate::uncertainty::Polytope;

/// More entries than this are not worth their price: the products are left out.
const ENTRIES: usize = 400_000;

/// The columns of products: of a dual's column with ζ.
type Columns = BTreeMap<(usize, usize), usize>;

impl Written {
    pub(super) fn add_products(
        &mut self,
        duals: &DualColumns,
        recourse: &RecourseModel,
        polytope: &Polytope,
        place: &Place,
    ) {
        let zetas = |entry: usize| (0..polytope.columns.len()).filter(move |&zeta| polytope.columns[zeta].0 == entry);
        // Which ζ each dual row is next to: those of the entries of ξ in the rows of its y.
        let by_column = recourse.g.transpose();
        let mut next: Vec<Vec<usize>> = Vec::with_capacity(duals.rows().len());
        let mut entries = 0;
        for row in duals.rows() {
            let mut near: Vec<usize> =
                by_column.row(row.y).flat_map(|(i, _)| recourse.u.row(i)).flat_map(|(entry, _)| zetas(entry)).collect();
            near.sort_unstable();
            near.dedup();
            entries += 4 * near.len() * row.terms.len();
            next.push(near);
        }
        if entries > ENTRIES {
            return;
        }
        let (lower, _) = self.model.col_bounds();
        let widths = widths(polytope);
        let mut columns = Columns::new();
        for (zeta, &(entry, _)) in polytope.columns.iter().enumerate() {
            for (dual, _) in self.slopes[entry].clone() {
                self.product(dual, zeta, &lower, &widths, &mut columns);
            }
        }
        for (row, near) in duals.rows().iter().zip(&next) {
            for &zeta in near {
                let mut terms = Vec::with_capacity(row.terms.len());
                for &(dual, value) in &row.terms {
                    terms.push((self.product(dual, zeta, &lower, &widths, &mut columns), value));
                }
                // For each side: the row times ζ, and what is left of width times the row.
                for (side, sign) in [(row.least, -1.0), (row.most, 1.0)] {
                    if side.is_finite() {
                        self.at_most(&terms, sign, side, &place.zeta[zeta], 0.0);
                        if widths[zeta].is_finite() {
                            let mut rest: Vec<(usize, f64)> =
                                terms.iter().map(|&(column, value)| (column, -value)).collect();
                            rest.extend(row.terms.iter().map(|&(dual, value)| (dual, widths[zeta] * value)));
                            self.at_most(&rest, sign, -side, &place.zeta[zeta], widths[zeta] * side);
                        }
                    }
                }
            }
        }
        self.tie(polytope, place, &columns);
        self.share(polytope, &lower, &columns);
    }

    /// The column of a product, made when first asked for.
    fn product(&mut self, dual: usize, zeta: usize, lower: &[f64], widths: &[f64], columns: &mut Columns) -> usize {
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

    /// `sign·(Σ terms − factor·ζ − constant) ≤ 0`.
    fn at_most(&mut self, terms: &[(usize, f64)], sign: f64, factor: f64, zeta: &Affine, constant: f64) {
        let mut all: Vec<(usize, f64)> = terms.iter().map(|&(column, value)| (column, sign * value)).collect();
        all.extend(zeta.terms.iter().map(|&(column, value)| (column, -sign * factor * value)));
        self.model.add_row(f64::NEG_INFINITY, sign * (constant + factor * zeta.constant), &merged(all));
    }

    /// The products of slopes and entries consist of products of duals and ζ.
    fn tie(&mut self, polytope: &Polytope, place: &Place, columns: &Columns) {
        for product in &place.products {
            let mut terms = vec![(product.column, -1.0), (product.slope, polytope.base[product.entry] - product.from)];
            for &zeta in &product.zetas {
                let step = polytope.columns[zeta].1;
                let made = |&(dual, value): &(usize, f64)| Some((*columns.get(&(dual, zeta))?, step * value));
                terms.extend(self.slopes[product.entry].iter().filter_map(made));
            }
            self.model.add_row(0.0, 0.0, &merged(terms));
        }
    }

    /// A row of the set times a multiplier: what is spent on some ζ is not there for others.
    fn share(&mut self, polytope: &Polytope, lower: &[f64], columns: &Columns) {
        let mut zetas_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &(dual, zeta) in columns.keys() {
            zetas_of.entry(dual).or_default().push(zeta);
        }
        for (&dual, zetas) in zetas_of.iter().filter(|(dual, zetas)| lower[**dual] == 0.0 && zetas.len() > 1) {
            for row in polytope.rows.iter().filter(|row| row.terms.len() > 1) {
                // A product that was not made is at least zero: it may be left out where that only loosens the row.
                if row.terms.iter().any(|(zeta, value)| zetas.binary_search(zeta).is_err() && *value < 0.0) {
                    continue;
                }
                let made = |&(zeta, value): &(usize, f64)| Some((*columns.get(&(dual, zeta))?, value));
                let mut terms: Vec<(usize, f64)> = row.terms.iter().filter_map(made).collect();
                terms.push((dual, -row.limit));
                self.model.add_row(f64::NEG_INFINITY, 0.0, &terms);
            }
        }
    }
}
