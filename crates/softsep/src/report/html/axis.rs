//! Axes of charts: positions of values, and round tick labels.

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisScale {
    Linear,
    /// Logarithmic: equal factors have equal lengths.
    Log,
}

/// A round value with its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    scale: AxisScale,
    ticks: Vec<Tick>,
}

/// Approximate number of ticks of an axis.
const TARGET_TICKS: f64 = 5.0;

impl Axis {
    /// A linear axis from `low` to `high`, both finite. An axis without length is widened.
    pub(super) fn linear(low: f64, high: f64) -> Self {
        // Differences in the last digits are rounding errors.
        let least = 1e-6 * low.abs().max(high.abs()).max(1e-6);
        let (low, high) = if high - low < least { (low - least / 2.0, high + least / 2.0) } else { (low, high) };
        Self { low, high, scale: AxisScale::Linear, ticks: round_numbers(low, high) }
    }

    /// From zero to `high`.
    pub(super) fn from_zero(high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        Self { low: 0.0, high, scale: AxisScale::Linear, ticks: round_numbers(0.0, high) }
    }

    /// A logarithmic axis with integral powers of ten from below `low` to above `high`, both positive; labels are
    /// percentages.
    pub(super) fn log_percent(low: f64, high: f64) -> Self {
        let first = low.log10().floor() as i32;
        let last = (high.log10().ceil() as i32).max(first + 1);
        let stride = ((last - first) as f64 / (TARGET_TICKS + 1.0)).ceil().max(1.0) as usize;
        let ticks =
            (first..=last).step_by(stride).map(|power| Tick { at: 10f64.powi(power), label: percent_power(power + 2) });
        Self { low: 10f64.powi(first), high: 10f64.powi(last), scale: AxisScale::Log, ticks: ticks.collect() }
    }

    /// Returns the axis with other labels.
    pub(super) fn labelled(mut self, word: impl Fn(f64) -> String) -> Self {
        self.ticks.iter_mut().for_each(|tick| tick.label = word(tick.at));
        self
    }

    /// The smallest value on the axis.
    pub(super) fn low(&self) -> f64 {
        self.low
    }

    /// The position of `value`, from 0 at the low end to 1 at the high end; outside of [0, 1] for values off the axis.
    pub(super) fn position(&self, value: f64) -> f64 {
        match self.scale {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            // Values without a logarithm are at the low end.
            AxisScale::Log if value <= self.low => 0.0,
            AxisScale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    pub(super) fn ticks(&self) -> &[Tick] {
        &self.ticks
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, all with the same number of decimals.
fn round_numbers(low: f64, high: f64) -> Vec<Tick> {
    let rough = (high - low) / TARGET_TICKS;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough).unwrap_or(rough);
    let decimals = (-(step * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
    let size = low.abs().max(high.abs());
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let label = |at: f64| match size {
        _ if at == 0.0 => "0".to_owned(),
        1e7.. => exponent(at, step),
        _ if decimals > 8 => exponent(at, step),
        _ => format!("{at:.decimals$}"),
    };
    (first..=last).map(|multiple| multiple as f64 * step).map(|at| Tick { at, label: label(at) }).collect()
}

/// The exponential notation with enough digits to distinguish two ticks.
fn exponent(at: f64, step: f64) -> String {
    let digits = (at.abs().log10().floor() - (step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{at:.digits$e}")
}

/// 10^power percent.
fn percent_power(power: i32) -> String {
    match power {
        0.. => format!("{} %", 10f64.powi(power)),
        -4..0 => format!("{:.*} %", power.unsigned_abs() as usize, 10f64.powi(power)),
        _ => format!("1e{power} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks().iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::linear(0.0, 10.0)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&Axis::linear(-0.3, 0.4)), ["-0.2", "0", "0.2", "0.4"]);
        assert_eq!(labels(&Axis::linear(33650.0, 33700.0)), ["33650", "33660", "33670", "33680", "33690", "33700"]);
        assert_eq!(labels(&Axis::linear(0.0, 3e9)), ["0", "1e9", "2e9", "3e9"]);
        assert_eq!(labels(&Axis::linear(0.0, 2e-11)), ["0", "5e-12", "1.0e-11", "1.5e-11", "2.0e-11"]);
        assert_eq!(labels(&Axis::from_zero(0.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn all_ticks_are_on_the_axis_and_have_distinct_labels() {
        for (low, high) in
            [(1.0, 1.0), (1e6, 1e6 + 1e-9), (-1e12, 1e12), (0.0, 1e-300), (2.34567, 2.34569), (1e15, 1.1e15)]
        {
            let axis = Axis::linear(low, high);
            assert!(axis.ticks().len() >= 2 && axis.ticks().len() <= 12, "{axis:?}");
            let mut words: Vec<&str> = labels(&axis);
            words.dedup();
            assert_eq!(words.len(), axis.ticks().len(), "{axis:?}");
            for tick in axis.ticks() {
                assert!((-1e-6..=1.0 + 1e-6).contains(&axis.position(tick.at)), "{axis:?}");
            }
        }
    }

    #[test]
    fn logarithmic_axes_have_ticks_in_percent() {
        let axis = Axis::log_percent(2e-4, 0.7);
        assert_eq!(labels(&axis), ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"]);
        assert!((axis.position(1e-2) - 0.5).abs() < 1e-12);
        assert_eq!((axis.position(0.0), axis.position(-1.0)), (0.0, 0.0));
        assert!(labels(&Axis::log_percent(1e-12, 1e3)).len() <= 7);
        assert_eq!(labels(&Axis::log_percent(0.1, 0.1)), ["10 %", "100 %"]);
    }
}
