//! Sentences and percentages.

use crate::outcome::Outcome;
use crate::report::certificate::certificate_in_words;
use crate::report::summary::{gap_words, number};
use crate::run::Certificate;

/// Smaller gaps are described as negligible.
const NEGLIGIBLE_GAP: f64 = 5e-7;

/// Converts words to a sentence: a capital at the start, a full stop at the end.
pub(super) fn sentence(words: &str) -> String {
    let mut letters = words.trim_end_matches('.').chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).chain(['.']).collect())
}

/// Formats a share in percent, in short form if it is tiny.
pub(super) fn percent(share: f64) -> String {
    let hundredfold = 100.0 * share;
    if hundredfold == 0.0 || hundredfold.abs() >= 1e-3 {
        return format!("{} %", number(hundredfold));
    }
    format!("{} %", format!("{hundredfold:.2e}").replacen(".00e", "e", 1))
}

/// Explains a result to the decision maker: first the consequences of the bounds, then how they were proven.
pub(super) fn meaning(outcome: &Outcome) -> Vec<String> {
    let bounds = &outcome.bounds;
    let mut paragraphs = Vec::new();
    if let Some(failure) = &outcome.failure {
        paragraphs.push(format!("A computation failed, and the run ended with the result so far: {failure}."));
    }
    match (bounds.best(), bounds.certificate()) {
        (None, _) => paragraphs.push("No decision was found before the run stopped.".to_owned()),
        (Some(_), Certificate::Deterministic) => {
            let upper = bounds
                .upper()
                .map(|upper| format!("In every scenario of the set, this decision costs at most {}.", number(upper)));
            paragraphs.extend(upper);
        }
        (Some(best), _) if !best.is_separated => paragraphs.push(format!(
            "The run stopped before the worst case of this decision was searched for. At the nominal scenario it costs \
             {}; it may cost more in others, and some may have no recourse.",
            number(best.value)
        )),
        (Some(best), Certificate::Probabilistic | Certificate::None) => {
            paragraphs.push(format!(
                "At the worst scenario found, this decision costs {}; there may be worse ones.",
                number(best.value)
            ));
        }
    }
    if let Some(lower) = bounds.lower() {
        let gain = match (bounds.certificate(), bounds.gap()) {
            (Certificate::Deterministic, Some(gap)) if gap < NEGLIGIBLE_GAP => {
                " A better decision could save next to nothing.".to_owned()
            }
            (Certificate::Deterministic, Some(_)) => {
                format!(" A better decision could save at most the gap, relative to this cost: {}.", gap_words(outcome))
            }
            _ => String::new(),
        };
        paragraphs.push(format!("No decision has a worst case that costs less than {}.{gain}", number(lower)));
    }
    let mut known = certificate_in_words(outcome).into_iter();
    paragraphs.extend(known.next().map(|first| match first.split_once(": ") {
        Some(("none", why)) => format!("There is no certificate: {why}."),
        _ => format!("The certificate is {first}."),
    }));
    paragraphs.extend(known.map(|words| sentence(&words)));
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_sentences() {
        assert_eq!(sentence("the rows contradict one another"), "The rows contradict one another.");
        assert_eq!(sentence("Ξ is empty."), "Ξ is empty.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn shares_are_short() {
        let shares = [0.0, 1e-3, 0.25, 1e-6, 2.5e-7, 1e-12, 30.0];
        assert_eq!(shares.map(percent), ["0 %", "0.1 %", "25 %", "1e-4 %", "2.50e-5 %", "1e-10 %", "3000 %"]);
    }
}
