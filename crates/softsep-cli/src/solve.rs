//! `softsep solve`: a problem in, a decision with its bounds out.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use softsep::methods::{Entry, METHODS};
use softsep::report::{HtmlReport, result_file, solve_summary};
use softsep::{Assumed, CallLimits, Certify, ChainConstants, Outcome, ProbabilisticTarget, Problem, Settings, Solver};

use crate::exit::{Exit, Failure};
use crate::method_options::MethodOptions;
use crate::output::{OutputFile, print, say};
use crate::progress::{Show, Watch, form_of};
use crate::{interrupt, numbers, policy};

const EXAMPLES: &str = "\
Examples:
  softsep solve depots.json
  softsep solve depots.json --gap 1e-6 --time-limit 60 --out result.json
  softsep solve depots.json --method extensive --max-copies 50000 --verbose
  softsep solve depots.json --method benders --trace run.csv
  softsep solve depots.json --report depots.html
  softsep solve depots.json --policy policy.json
  softsep solve depots.json --method ccg --solver gurobi
  softsep solve depots.json --method sgd --certify probabilistic --confidence 0.99
  softsep solve depots.json --json --quiet | jq .objective

The same problem, options and seed give the same result to the last digit, whatever the number of
threads, unless a time limit or Ctrl-C ends the run.";

/// Solve a problem
///
/// Prints a short summary: the status, the objective, bounds on the optimum and how they are known, the decision and
/// its worst case. Ctrl-C stops the run and keeps the best solution found; a second Ctrl-C leaves at once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Solve {
    /// The problem, an aro/1 JSON file
    problem: PathBuf,

    /// The method; "softsep methods" explains each
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = method_names())]
    method: String,

    /// Stop when (upper − lower) / |upper| is at most this
    #[arg(long, value_name = "REL", default_value = "1e-3", value_parser = numbers::gap, allow_negative_numbers = true)]
    gap: f64,

    /// Stop after this number of seconds with the best solution found [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = numbers::time_limit, allow_negative_numbers = true)]
    time_limit: Option<Duration>,

    /// Stop after this number of iterations of the method [default: no limit]
    #[arg(long, value_name = "N", value_parser = numbers::iterations, allow_negative_numbers = true)]
    iterations: Option<u64>,

    /// The seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,

    /// Threads to use; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// The solver of mixed-integer programs: highs (built in), gurobi, or gurobi:FILE
    ///
    /// It solves the masters of ccg, benders, extensive and branch-and-cut --tree multi where x has integers, and the
    /// programs of --separation bilinear and kkt. Everything else (the recourse, linear masters, the nodes of our own
    /// tree) is solved by HiGHS. Gurobi is your own installation with your licence, version 10 or later: its C library
    /// is looked for in the folder of GUROBI_HOME, where the system looks for libraries, and in the usual folders;
    /// FILE names the library or the folder of the installation.
    #[arg(long, value_name = "NAME", default_value = "highs")]
    solver: Solver,

    /// The kind of upper bound to prove [default: the strongest that costs the method nothing]
    #[arg(long, value_name = "KIND")]
    certify: Option<CertifyKind>,

    /// The probability with which a probabilistic certificate must hold [default: 0.95]
    #[arg(long, value_name = "P", value_parser = numbers::confidence, allow_negative_numbers = true)]
    confidence: Option<f64>,

    /// The share of the set that may cost more than the objective, to be verified by draws [default: 0.001]
    #[arg(long, value_name = "LEVEL", value_parser = numbers::level, allow_negative_numbers = true)]
    violation: Option<f64>,

    /// A constant of the worst-case statement that you guarantee: rho=P, or margin=COST (the paper's Δ⋆) and with it
    /// eta=P and lipschitz=SLOPE, which are derived where they can be and are not given; without any, the statement
    /// rests on constants derived from the problem alone
    #[arg(long, value_name = "NAME=VALUE", value_parser = numbers::assumption)]
    assume: Vec<(String, f64)>,

    /// Write the log table to this file; "-" is the standard error, as --verbose
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    log: Option<PathBuf>,

    /// Write every iteration to this file, for plots: CSV, or one JSON object per line if its name ends in .jsonl
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trace: Option<PathBuf>,

    /// Show the log table on the standard error in place of the progress line
    #[arg(long, help_heading = "Output")]
    verbose: bool,

    /// Show nothing but the result and errors
    #[arg(long, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,

    /// Print the result as aro-result/1 JSON in place of the summary
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Write the result as aro-result/1 JSON to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Write an HTML page to this file: the result and its meaning, charts, the worst case; any browser opens it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write an explicit policy for the decision to this file, as JSON: every recourse variable as a constant and a
    /// slope for each parameter that it follows
    ///
    /// y(ξ) = constant + Σ slope·ξ is feasible for every ξ of the set, and the cost is never above the file's
    /// "upper_bound": once ξ is known, y is a sum. This takes recourse with costs that do not depend on ξ, over
    /// every set. The policy is computed after the run, within the rest of the time limit.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    policy: Option<PathBuf>,

    #[command(flatten)]
    method_options: MethodOptions,
}

/// Words of `--certify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CertifyKind {
    /// No upper bound: the objective stays an estimate
    None,
    /// By random draws: a bound on the share of the set that costs more than the objective, and an upper bound that
    /// holds with probability --confidence where the constants, derived or given by --assume, allow one
    Probabilistic,
    /// An upper bound that holds for sure
    Exact,
}

fn method_names() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|entry| PossibleValue::new(entry.name).help(entry.summary)))
}

/// The files that a run writes besides its log.
struct OutputFiles {
    trace: Option<OutputFile>,
    out: Option<OutputFile>,
    report: Option<OutputFile>,
    policy: Option<OutputFile>,
}

impl Solve {
    /// Solves, prints and writes.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let settings = self.settings()?;
        let file = self.problem.as_path();
        let show = self.show()?;
        let files = self.output_files()?;
        let problem = softsep::read(file).map_err(|error| Failure::of(error.into(), file))?;
        if files.policy.is_some() {
            policy::check(&problem, file)?;
        }
        let log = self.log_file().map(|log| OutputFile::new(log, &[file])?.stream()).transpose()?;
        let trace = files.trace.as_ref().map(OutputFile::stream).transpose()?;

        let trace_format = self.trace.as_deref().map(form_of);
        let mut watch = Watch::new(show, log.as_ref(), trace.as_ref().zip(trace_format));
        if files.report.is_some() {
            watch = watch.keeping_history();
        }
        let interrupt = self.interrupt_flag(&watch)?;
        let start = Instant::now();
        let outcome = softsep::solve_with(&problem, &settings, &mut watch, &interrupt);
        let (history, traced) = watch.finish();

        let outcome = outcome.map_err(|error| {
            note(log.as_ref(), &format!("error: {error}\n"));
            Failure::of(error, file)
        })?;
        let summary = solve_summary(&problem, &outcome);
        note(log.as_ref(), &summary);
        let result = result_file(&problem, &outcome).write();
        // Every file is written before a failure is reported: one full disk does not lose the others.
        let written = files.out.map_or(Ok(()), |out| out.write(|file| file.write_all(result.as_bytes())));
        let reported = files.report.zip(history).map_or(Ok(()), |(report, history)| {
            let (name, history) = (file.to_string_lossy(), &history);
            let (problem, settings, outcome) = (&problem, &settings, &outcome);
            let page = HtmlReport { problem, file: Some(&name), settings, outcome, history }.page();
            report.write(|file| file.write_all(page.as_bytes()))
        });
        let printed = print(if self.json { &result } else { &summary });
        // Last, because it may take a while.
        let policy_written = match files.policy {
            Some(target) => self.write_policy(&target, &problem, &outcome, start, &interrupt),
            None => Ok(None),
        };
        printed?;
        written?;
        reported?;
        if let Some(line) = policy_written? {
            note(log.as_ref(), &format!("{line}\n"));
            if !self.quiet {
                say(&line);
            }
        }
        files.trace.map_or(Ok(()), |target| target.settle(traced))?;
        if let Some(failure) = outcome.failure {
            return Err(Failure::of(failure, file));
        }
        Ok(if interrupt.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Done })
    }

    /// The flag that Ctrl-C raises, with a message beside the progress line.
    fn interrupt_flag(&self, watch: &Watch) -> Result<Arc<AtomicBool>, Failure> {
        let (speak, quiet) = (watch.speaker(), self.quiet);
        interrupt::flag(move || {
            if !quiet {
                speak("interrupted: stopping with the best solution so far; Ctrl-C again to leave at once");
            }
        })
    }

    /// Finds and writes an explicit policy for the decision, within the rest of the time limit.
    fn write_policy(
        &self,
        target: &OutputFile,
        problem: &Problem,
        outcome: &Outcome,
        start: Instant,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Option<String>, Failure> {
        let request = policy::PolicyRequest {
            problem,
            file: &self.problem,
            x: outcome.bounds.best().map(|best| best.x.as_slice()),
            gap: self.gap,
            limits: CallLimits {
                time_limit: self.time_limit.map(|limit| limit.saturating_sub(start.elapsed())),
                threads: self.threads,
                interrupt: Arc::clone(interrupt),
            },
        };
        request.write(target)
    }

    /// The file of the log, if it is not the standard error.
    fn log_file(&self) -> Option<&Path> {
        self.log.as_deref().filter(|log| *log != Path::new("-"))
    }

    /// The files to write, checked before any work is done: each is another one, and none is the problem.
    fn output_files(&self) -> Result<OutputFiles, Failure> {
        for (option, target) in [("trace", self.trace.as_deref()), ("report", self.report.as_deref())] {
            if target == Some(Path::new("-")) {
                return Err(Failure::unusable(format!(
                    "--{option} -: the standard output is for the result; name a file"
                )));
            }
        }
        let mut in_use: Vec<&Path> = [Some(self.problem.as_path()), self.log_file()].into_iter().flatten().collect();
        let trace = self.trace.as_ref().map(|trace| OutputFile::new(trace, &in_use)).transpose()?;
        in_use.extend(self.trace.as_deref());
        let out = self.out.as_ref().map(|out| OutputFile::new(out, &in_use)).transpose()?;
        in_use.extend(self.out.as_deref());
        let report = self.report.as_ref().map(|report| OutputFile::new(report, &in_use)).transpose()?;
        in_use.extend(self.report.as_deref());
        let policy = self.policy.as_ref().map(|policy| policy::target(policy, &in_use)).transpose()?;
        Ok(OutputFiles { trace, out, report, policy })
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let method = Entry::find(&self.method).map_err(|error| Failure::unusable(error.to_string()))?;
        Ok(Settings {
            method: self.method_options.of(method)?,
            gap: self.gap,
            time_limit: self.time_limit,
            iterations: self.iterations,
            seed: self.seed,
            threads: self.threads,
            certify: self.certify()?,
            solver: self.solver.clone(),
        })
    }

    fn certify(&self) -> Result<Certify, Failure> {
        let only_probabilistic = [
            (self.confidence.is_some(), "--confidence"),
            (self.violation.is_some(), "--violation"),
            (!self.assume.is_empty(), "--assume"),
        ];
        let stray = only_probabilistic.iter().find(|(given, _)| *given);
        match (self.certify, stray) {
            (Some(CertifyKind::Probabilistic), _) => self.wanted().map(Certify::Probabilistic),
            (_, Some((_, flag))) => Err(Failure::unusable(format!("{flag} goes with --certify probabilistic"))),
            (None, None) => Ok(Certify::Free),
            (Some(CertifyKind::None), None) => Ok(Certify::None),
            (Some(CertifyKind::Exact), None) => Ok(Certify::Exact),
        }
    }

    fn wanted(&self) -> Result<ProbabilisticTarget, Failure> {
        let refuse = |what: &str| Err(Failure::unusable(format!("--assume: {what}")));
        let of = |name: &str| {
            self.assume.iter().filter(|(given, _)| given == name).map(|(_, value)| *value).collect::<Vec<_>>()
        };
        let single = |name: &str| match of(name).as_slice() {
            [] => Ok(None),
            [value] => Ok(Some(*value)),
            _ => Err(Failure::unusable("--assume: each constant can be given once")),
        };
        let [rho, margin, eta, lipschitz] = ["rho", "margin", "eta", "lipschitz"].map(single);
        let assumed = match (rho?, margin?, eta?, lipschitz?) {
            (None, None, None, None) => Assumed::Nothing,
            (Some(rho), None, None, None) => Assumed::Miss { rho },
            (None, Some(margin), eta, lipschitz) => Assumed::Chain(ChainConstants { margin, eta, lipschitz }),
            (None, None, _, _) => return refuse("eta and lipschitz go with margin: rho is made of all"),
            (Some(_), ..) => return refuse("rho stands alone: margin, eta and lipschitz are another way to it"),
        };
        let free = ProbabilisticTarget::default();
        let (confidence, level) = (self.confidence.unwrap_or(free.confidence), self.violation.unwrap_or(free.level));
        let wanted = ProbabilisticTarget { confidence, level, assumed };
        wanted.validate().map_err(|error| Failure::unusable(format!("--assume: {error}")))?;
        Ok(wanted)
    }

    fn show(&self) -> Result<Show, Failure> {
        let log_on_stderr = self.log.as_deref() == Some(Path::new("-"));
        match self.quiet {
            true if log_on_stderr => {
                Err(Failure::unusable("--quiet forbids the log that --log - asks for; name a file"))
            }
            true => Ok(Show::Nothing),
            false if self.verbose || log_on_stderr => Ok(Show::Table),
            false => Ok(Show::Line),
        }
    }
}

/// Writes to the log. As in the table, a write that fails is ignored.
fn note(log: Option<&File>, text: &str) {
    if let Some(mut log) = log {
        let _ = log.write_all(text.as_bytes());
    }
}
