//! Newsvendors with transshipment: stock at several shops.
//!
//! Stock is ordered before demand is known. Demand may be above or below its forecast at two shops at a time (a
//! two-sided budget of uncertainty). Then shops sell, send stock to one another at a cost, return leftover stock, and
//! pay for unmet demand.

use softsep::{BundleSettings, Certify, Error, Expr, ExtensiveSettings, Model, SetDefinition, Settings, Sides};

const FORECAST: [f64; 4] = [100.0, 80.0, 120.0, 60.0];
const DEVIATION: [f64; 4] = [40.0, 30.0, 60.0, 20.0];
const PRICE: [f64; 4] = [12.0, 11.0, 14.0, 10.0];
const ORDER: f64 = 6.0;
const RETURN: f64 = 3.0;
const TRANSSHIP: f64 = 1.5;
const UNMET: f64 = 4.0;
/// The largest profit for sure; three methods agree on it below.
const PROFIT: f64 = 12_200.0 / 9.0;

pub(crate) fn main() -> Result<(), Error> {
    let shops = FORECAST.len();
    let mut m = Model::new("newsvendors with transshipment");
    let stock = m.first_stage_vec("stock", shops, 0.0..=400.0);
    let demand = m.uncertain_vec("demand", shops, ..);
    m.uncertainty(SetDefinition::budget(2.0, Sides::Two, FORECAST, DEVIATION));

    let sell = m.recourse_vec("sell", shops, 0.0..);
    let unmet = m.recourse_vec("unmet", shops, 0.0..);
    let left = m.recourse_vec("left", shops, 0.0..);
    // One variable for each ordered pair of shops, as rows of a matrix.
    let mut send = Vec::new();
    for from in 0..shops {
        send.push(m.recourse_vec(&format!("send {from} to"), shops, 0.0..));
    }

    // Profit is a negative cost: the worst case of a minimisation is the least profit.
    let mut cost = Expr::default();
    for i in 0..shops {
        cost += ORDER * stock[i] - PRICE[i] * sell[i] + UNMET * unmet[i] - RETURN * left[i];
        let others = || (0..shops).filter(move |&j| j != i);
        let sent: Expr = others().map(|j| send[i][j]).sum();
        let received: Expr = others().map(|j| send[j][i]).sum();
        cost += TRANSSHIP * &sent;
        m.add(format!("stock of {i}"), (sell[i] + left[i] + sent).eq(stock[i] + received));
        m.add(format!("demand of {i}"), (sell[i] + unmet[i]).eq(demand[i]));
    }
    m.minimize(cost);

    let settings = Settings::default().gap(1e-6);
    let result = m.solve(&settings)?;
    let profit = -result.objective().unwrap_or(f64::NAN);
    println!("stock {:?}", stock.iter().map(|&stock| result[stock]).collect::<Vec<_>>());
    println!("profit of at least {profit:.2}, with demand {:?}", demand.iter().map(|&d| result[d]).collect::<Vec<_>>());

    // Two other ways: all extreme points of the set in one program, and cutting planes with a proof at the end.
    let extensive = m.solve(&settings.clone().method(ExtensiveSettings::default()))?;
    let bundle = m.solve(&settings.method(BundleSettings::default()).certify(Certify::Exact))?;
    for solution in [&result, &extensive, &bundle] {
        assert!(
            solution.objective().is_some_and(|cost| (cost + PROFIT).abs() < 1e-5 * PROFIT),
            "{:?}",
            solution.objective()
        );
    }
    Ok(())
}
