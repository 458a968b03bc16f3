//! Longer texts of a page.

use super::results::{CellState, Results};
use super::setup::MethodSetup;
use super::study::Study;
use super::words::percent;

/// The meaning of the column "rebounds".
pub(super) const REBOUNDS: &str = "A rebound is a gap that has risen to more than 1.5 times the smallest before it; \
    the column has their mean number in a run.";

const INSTANCES: &str = "Instances are drawn as the paper's text describes them. A replication has one seed, whatever \
    the row and the method, so that methods meet the same instances.";

const EXACT_COST: &str = "the worst of all scenarios of the list, if that is within 0.1 % (later 0.01 %), and \
    otherwise the end of an ascent from a scenario beyond that, which bounds the worst case from below";

const COST_BY_ASCENTS: &str = "the worst end of 20 ascents from random ends of the set and of one from each scenario \
    that was the worst for an earlier decision: what it is found to cost bounds the worst case from below, and is \
    exact as far as we know";

const CURVES: &str = "Curves are of the linear average, as in the paper, from the optimum of the nominal scenario. The \
    paper prints no numbers for its figures, and says neither how many sites its instances have (here three) nor how \
    many iterations it makes. Runs are of Algorithm 1 as printed: steps 1/√n in the metric of its electronic \
    companion, which is fixed beforehand.";

/// The certificates of the runs of Algorithm 3, if there are any.
pub(super) fn certificates(study: &Study, results: &Results) -> Option<String> {
    let setup = study.setups.iter().position(|setup| *setup == MethodSetup::Algorithm3)?;
    let runs = (0..study.rows.len()).flat_map(|row| results.measured(row, setup));
    let ended: Vec<_> = runs.filter(|run| !run.is_over && run.is_likely.is_some()).collect();
    let likely = ended.iter().filter(|run| run.is_likely == Some(true)).count();
    let refuted = ended.iter().filter(|run| run.is_refuted).count();
    (!ended.is_empty()).then(|| certificates_of(ended.len(), likely, refuted))
}

/// How many of so many runs rest on the paper's ρ, and how many of these are false.
fn certificates_of(runs: usize, likely: usize, refuted: usize) -> String {
    let certified = match likely {
        0 => "none certified an upper bound by calls of a chain: none rests on a ρ.".to_owned(),
        _ => format!(
            "{likely} certified an upper bound by calls of a chain, which rests on ρ = 0.9; nobody has shown that to \
             hold. {refuted} of these bounds are below the cost of their own decision."
        ),
    };
    format!("Of {runs} runs of Algorithm 3 that ended, {certified}")
}

/// The paragraphs of "How this was measured".
pub(super) fn how_measured(study: &Study, results: &Results) -> Vec<String> {
    let last = if study.exhibit.is_figure() { CURVES.to_owned() } else { times(study) };
    vec![INSTANCES.to_owned(), gaps(study, results), last]
}

/// The bounds that gaps are measured from, and the costs of decisions.
pub(super) fn gaps(study: &Study, results: &Results) -> String {
    let references: Vec<_> = (0..study.rows.len()).flat_map(|row| results.references(row)).collect();
    let widest = references.iter().map(|reference| reference.width()).fold(0.0, f64::max);
    let is_exact = references.iter().all(|reference| reference.is_exact);
    format!(
        "Gaps are measured from a lower bound on the optimum that holds for sure; the best decision known costs {} \
         more. What a decision costs is {}. It is looked at outside the clock of the method.",
        if widest < 1e-6 { "less than 0.0001 %".to_owned() } else { format!("at most {}", percent(widest)) },
        if is_exact { EXACT_COST } else { COST_BY_ASCENTS }
    )
}

/// Cells that were refused or failed: each reason once, with its rows.
pub(super) fn missing<'s>(study: &'s Study, results: &Results) -> Vec<(String, Vec<&'s str>)> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (row_index, row) in study.rows.iter().enumerate() {
        for (setup_index, setup) in study.setups.iter().enumerate() {
            for entry in results.entries(row_index, setup_index) {
                let reason = match entry {
                    CellState::Refused(why) => format!("{} does not take these: {why}", setup.title()),
                    CellState::Failed(why) => format!("{} failed: {why}", setup.title()),
                    CellState::Open | CellState::Measured(_) => continue,
                };
                match reasons.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, rows)) if rows.contains(&row.title.as_str()) => {}
                    Some((_, rows)) => rows.push(&row.title),
                    None => reasons.push((reason, vec![&row.title])),
                }
            }
        }
    }
    reasons
}

/// The clock of the times that tables show.
pub(super) fn clock(study: &Study) -> &'static str {
    if study.shows_cpu_time() {
        "Seconds are CPU time of the process, which ran on one thread; the limit is of wall-clock time."
    } else {
        "Seconds are wall-clock time."
    }
}

fn times(study: &Study) -> String {
    let (limit, clock) = (study.limit, clock(study));
    format!(
        "Times are mean ± standard deviation until the decision at hand is within 0.1 % (and 0.01 %) of that bound; \
         for ADR, until its program is solved, and its gap is what the rules cost; for Algorithm 3, until it has \
         certified a gap of 0.1 % or gives up. {clock} A run that the limit of {limit} s stopped counts with the time \
         until then. “To its own proof” is when a method had proved a gap of 0.1 % itself, without knowing the \
         optimum. In the columns after the ratio times are means, solves and gaps medians. For bundle and \
         branch-and-cut the ratio is to the paper's algorithm. The paper's times are from an Apple M3 Pro with Python \
         and Gurobi."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rho_is_named_only_where_some_run_rests_on_it() {
        assert!(!certificates_of(18, 0, 0).contains("0.9"));
        let some = certificates_of(15, 12, 1);
        assert!(
            ["Of 15 runs", "12 certified", "ρ = 0.9", "1 of these"].iter().all(|words| some.contains(words)),
            "{some}"
        );
    }
}
