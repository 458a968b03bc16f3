//! Readable numbers: times, ratios, shares.

use super::printed::{self, PrintedTime};
use super::results::Timing;

/// Seconds with as many digits as mean something.
pub(super) fn seconds(value: f64) -> String {
    match value {
        0.0..0.1 => format!("{value:.3}"),
        0.1..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A time as the paper prints it.
pub(super) fn printed(time: PrintedTime) -> String {
    match time {
        PrintedTime::Took(mean, deviation) => format!("{} ± {}", seconds(mean), seconds(deviation)),
        PrintedTime::Over => format!("> {}", printed::LIMIT),
    }
}

/// A printed time in short form, without its deviation.
pub(super) fn printed_mean(time: PrintedTime) -> String {
    match time {
        PrintedTime::Took(mean, _) => seconds(mean),
        PrintedTime::Over => printed(time),
    }
}

/// A time of ours.
pub(super) fn timing(timing: Timing, limit: f64) -> String {
    match timing {
        Timing::Unknown => "–".to_owned(),
        Timing::Over { after } if after < limit => format!("> {}", seconds(after)),
        Timing::Over { .. } => format!("> {limit}"),
        Timing::Never => "none".to_owned(),
        Timing::Took { mean, deviation, over, never } => {
            let mut text = format!("{} ± {}", seconds(mean), seconds(deviation));
            if over > 0 {
                text += &format!(" ({over} > {limit})");
            }
            if never > 0 {
                text += &format!(" ({never} none)");
            }
            text
        }
    }
}

/// A measured time in short form, without its deviation.
pub(super) fn mean_only(timing: Timing, limit: f64) -> String {
    match timing {
        Timing::Unknown => "–".to_owned(),
        Timing::Over { after } if after < limit => format!("> {}", seconds(after)),
        Timing::Over { .. } => format!("> {limit}"),
        Timing::Never => "none".to_owned(),
        Timing::Took { mean, over: 0, never: 0, .. } => seconds(mean),
        Timing::Took { mean, over, never: 0, .. } => format!("{} ({over} > {limit})", seconds(mean)),
        Timing::Took { mean, never, .. } => format!("{} ({never} none)", seconds(mean)),
    }
}

/// The paper's time over ours.
pub(super) fn ratio(paper: PrintedTime, ours: Timing) -> String {
    match (paper, ours) {
        (PrintedTime::Took(paper, _), Timing::Took { mean, .. }) => factor(paper / mean),
        (PrintedTime::Over, Timing::Took { mean, .. }) => format!("> {}", factor(printed::LIMIT / mean)),
        (PrintedTime::Took(paper, _), Timing::Over { after }) => format!("< {}", factor(paper / after)),
        _ => "–".to_owned(),
    }
}

fn factor(value: f64) -> String {
    match value {
        0.0..0.095 => format!("{value:.2}"),
        0.095..9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A gap in percent, to two digits.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 1e-4 {
        return "< 0.0001 %".to_owned();
    }
    let decimals = (1 - percent.log10().floor() as i32).clamp(0, 5) as usize;
    format!("{percent:.decimals$} %")
}

/// An integer with a comma between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let mut text = digits[..head].to_owned();
    for chunk in digits.as_bytes()[head..].chunks(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.extend(chunk.iter().map(|digit| char::from(*digit)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0123, 1.234, 12.34, 772.78].map(seconds), ["0.012", "1.23", "12.3", "773"]);
        assert_eq!(
            [0.087, 0.00123, 9.7e-5, 1e-9, 0.0].map(percent),
            ["8.7 %", "0.12 %", "0.0097 %", "< 0.0001 %", "< 0.0001 %"]
        );
        assert_eq!([7, 1_000, 123_456].map(grouped), ["7", "1,000", "123,456"]);
    }

    #[test]
    fn times_over_a_limit_bound_the_ratio() {
        let took = Timing::Took { mean: 2.0, deviation: 0.5, over: 0, never: 0 };
        assert_eq!(ratio(PrintedTime::Took(30.0, 1.0), took), "15");
        assert_eq!(ratio(PrintedTime::Over, took), "> 900");
        assert_eq!(ratio(PrintedTime::Took(30.0, 1.0), Timing::Over { after: 10.0 }), "< 3.0");
        assert_eq!(ratio(PrintedTime::Over, Timing::Over { after: 10.0 }), "–");
        assert_eq!(mean_only(Timing::Over { after: 4.4 }, 10.0), "> 4.40");
        assert_eq!(timing(Timing::Took { mean: 2.0, deviation: 0.5, over: 1, never: 0 }, 10.0), "2.00 ± 0.50 (1 > 10)");
    }
}
