//! `softsep generate`: instances of families from the literature.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use softsep::ProblemDefinition;
use softsep::definition::ScenarioList;
use softsep::internals::format::{write, write_scenarios};
use softsep::uncertainty::SetDefinition;
use softsep_paper::instances::{
    Energy, FacilityLocation, InstanceError, Inventory, LocationTransportation, LotSizing, Network, NetworkDesign,
    Newsvendor, Uncertain, UnitCommitment, energy, facility_location, inventory, location_transportation, lot_sizing,
    network, network_design, newsvendor, unit_commitment,
};

use crate::exit::{Exit, Failure};
use crate::numbers;
use crate::output::{OutputFile, print, say};

const EXAMPLES: &str = "\
Examples:
  softsep generate location-transportation --n 5 --uncertainty budget --gamma 0.4 --out depots.json
  softsep generate location-transportation --n 10 --uncertainty scenarios --scenarios 5000 --out list.json
  softsep generate location-transportation --n 20 --mixed-integer --seed 7 > ellipsoid.json
  softsep generate inventory --n 8 --out stores.json";

const INVENTORY: &str = "\
Examples:
  softsep generate inventory --n 8 --out stores.json
  softsep generate inventory --n 20 --uncertainty budget --gamma 0.3 --out stores.json";

const ENERGY: &str = "\
Examples:
  softsep generate energy --n 9 --out grid.json
  softsep generate energy --n 15 --uncertainty budget --gamma 0.5 --out grid.json";

const NETWORK: &str = "\
Examples:
  softsep generate network --n 6 --out arcs.json
  softsep generate network --n 10 --uncertainty budget --gamma 0.2 --out arcs.json";

const NEWSVENDOR: &str = "\
Examples:
  softsep generate newsvendor --n 15 --uncertainty budget --budget 5 --out items.json
  softsep generate newsvendor --n 10 --out items.json";

const UNIT_COMMITMENT: &str = "\
Examples:
  softsep generate unit-commitment --n 6 --periods 24 --uncertainty budget --budget 4 --out units.json
  softsep generate unit-commitment --n 5 --periods 12 --uncertainty polyhedron --gamma 0.25 --out units.json";

const LOT_SIZING: &str = "\
Examples:
  softsep generate lot-sizing --n 2 --periods 12 --uncertainty budget --budget 1 --out lots.json
  softsep generate lot-sizing --n 3 --periods 8 --out lots.json";

const FACILITY_LOCATION: &str = "\
Examples:
  softsep generate facility-location --n 15 --customers 30 --uncertainty budget --budget 3 --out sites.json
  softsep generate facility-location --n 10 --customers 10 --uncertainty scenarios --scenarios 500 --out sites.json";

const NETWORK_DESIGN: &str = "\
Examples:
  softsep generate network-design --n 6 --pairs 6 --uncertainty budget --budget 2 --out design.json
  softsep generate network-design --n 8 --pairs 12 --uncertainty budget --budget 4 --out design.json";

/// Write a random instance of a problem family
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    #[command(subcommand)]
    family: Family,
}

#[derive(Debug, Subcommand)]
enum Family {
    /// Capacity bought at n sites before the demand of n customers is known
    ///
    /// After demand is known, goods are shipped from the sites, and missing demand is met by an expensive emergency
    /// source. The same --n and --seed give the same costs and demands whatever the uncertainty set.
    #[command(after_help = EXAMPLES)]
    LocationTransportation {
        #[command(flatten)]
        drawing: Drawing,

        /// Sites must be opened, at a setup cost, before capacity is bought there
        #[arg(long)]
        mixed_integer: bool,
    },

    /// Stock ordered at n stores before their demand is known
    ///
    /// After demand is known, stores send each other goods at a cost that grows with the distance. Lost sales are dear,
    /// and leftovers cost something too, so that little demand is costly as well as much. Every store's balance is an
    /// equality. The same --n and --seed give the same costs and demands whatever the uncertainty set.
    #[command(after_help = INVENTORY)]
    Inventory(Drawing),

    /// Generation and lines built in a grid of n nodes before demand and wind are known
    ///
    /// After demand and wind are known, generation is dispatched. Every node's balance is an equality, flows go either
    /// way along a line within its capacity, and load is shed at a high cost. The uncertain parameters are the n
    /// demands and the wind at every third node. n is at least
    /// 2. The same --n and --seed give the same costs and demands whatever the uncertainty set.
    #[command(after_help = ENERGY)]
    Energy(Drawing),

    /// Arc capacity bought in a network of n nodes before the demands of n pairs of nodes are known
    ///
    /// After the demands are known, each pair sends its flow through the network: it is conserved at every node, which
    /// is an equality for each pair and node, and all pairs share the capacities. Flow that is not sent costs a
    /// penalty. n is at least 2; there are some 3n² flows. The same --n and --seed give the same costs and demands
    /// whatever the uncertainty set.
    #[command(after_help = NETWORK)]
    Network(Drawing),

    /// Arcs opened in a network before the demands of pairs of nodes are known
    ///
    /// As network, but an arc must be opened at a fixed cost before capacity is bought on it, and the number of pairs
    /// is free. The same --n, --pairs and --seed give the same costs and demands whatever the uncertainty set.
    #[command(after_help = NETWORK_DESIGN)]
    NetworkDesign {
        #[command(flatten)]
        drawing: Drawing,

        /// The number of pairs of nodes with a demand [default: n]
        #[arg(long, value_name = "N", value_parser = numbers::size, allow_negative_numbers = true)]
        pairs: Option<u16>,
    },

    /// n units committed for every hour before demand is known
    ///
    /// Commitments, start-ups and least times up and down are decided before demand is known, dispatch within limits
    /// and ramps after it. Load is shed at a high cost. Demand may be above or below its forecast. The same --n,
    /// --periods and --seed give the same costs and demands whatever the uncertainty set.
    #[command(after_help = UNIT_COMMITMENT)]
    UnitCommitment {
        #[command(flatten)]
        drawing: Drawing,

        /// The number of hours
        #[arg(
            long,
            value_name = "N",
            default_value = "24",
            value_parser = numbers::size,
            allow_negative_numbers = true
        )]
        periods: u16,
    },

    /// Set-ups and production of n items planned before demand is known
    ///
    /// Stock is held and demand is owed after it is known. Demand may be above or below its mean. The same --n,
    /// --periods and --seed give the same costs and demands whatever the uncertainty set.
    #[command(after_help = LOT_SIZING)]
    LotSizing {
        #[command(flatten)]
        drawing: Drawing,

        /// The number of periods
        #[arg(
            long,
            value_name = "N",
            default_value = "12",
            value_parser = numbers::size,
            allow_negative_numbers = true
        )]
        periods: u16,
    },

    /// n sites opened before it is known which of them fail
    ///
    /// Site i loses the share ξ_i of its capacity. Customers are served from the sites that are open and left, and
    /// unmet demand costs a penalty. The same --n, --customers and --seed give the same costs and demands whatever the
    /// uncertainty set.
    #[command(after_help = FACILITY_LOCATION)]
    FacilityLocation {
        #[command(flatten)]
        drawing: Drawing,

        /// The number of customers [default: 2n]
        #[arg(long, value_name = "N", value_parser = numbers::size, allow_negative_numbers = true)]
        customers: Option<u16>,
    },

    /// Stock of n items ordered before their demands are known
    ///
    /// After demand is known an item may replace others at a cost. Unmet demand and leftovers have prices. Demand may
    /// be above or below its mean. The same --n and --seed give the same costs and demands whatever the uncertainty
    /// set.
    #[command(after_help = NEWSVENDOR)]
    Newsvendor(Drawing),
}

/// The options of every family.
#[derive(Debug, Args)]
struct Drawing {
    /// The size n of the instance
    #[arg(long, value_name = "N", value_parser = numbers::size, allow_negative_numbers = true)]
    n: u16,

    /// The uncertainty set
    #[arg(long, value_name = "SET", default_value = "ellipsoid")]
    uncertainty: Set,

    /// For --uncertainty scenarios: how many
    #[arg(long, value_name = "N", value_parser = numbers::scenarios, allow_negative_numbers = true)]
    scenarios: Option<u32>,

    /// For --uncertainty budget or polyhedron: the budget as a fraction of the number of uncertain parameters, from 0
    /// to 1
    #[arg(long, value_name = "G", value_parser = numbers::fraction, allow_negative_numbers = true)]
    gamma: Option<f64>,

    /// For --uncertainty budget, in place of --gamma: how many parameters may deviate fully
    #[arg(long, value_name = "B", conflicts_with = "gamma", allow_negative_numbers = true)]
    budget: Option<f64>,

    /// The seed of all that is random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,

    /// Write the problem to this file; long scenario lists go to a CSV beside it [default: the standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Words of `--uncertainty`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    /// A rotated ellipsoid
    Ellipsoid,
    /// Points drawn uniformly from the boundary of that ellipsoid
    Scenarios,
    /// Every parameter between its base and its peak, and a limit on the sum of the changes
    Budget,
    /// The same with a limit for each half of the parameters
    Polyhedron,
}

/// Scenarios that a problem file holds itself; more go to a CSV.
const INLINE: usize = 200;

/// Numbers of a scenario list that fit into memory with ease (0.8 GB).
const NUMBERS: u64 = 100_000_000;

impl Generate {
    /// Draws and writes.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let drawing = self.family.drawing();
        let (n, uncertainty, seed) = (drawing.n.into(), drawing.uncertainty()?, drawing.seed);
        let out = drawing.out.as_ref().map(|out| OutputFile::new(out, &[])).transpose()?;
        let drawn = match self.family {
            Family::LocationTransportation { mixed_integer, .. } => {
                location_transportation(&LocationTransportation { n, uncertainty, mixed_integer, seed })
            }
            Family::Inventory(_) => inventory(&Inventory { n, uncertainty, seed }),
            Family::Energy(_) => energy(&Energy { n, uncertainty, seed }),
            Family::Network(_) => network(&Network { n, uncertainty, seed }),
            Family::NetworkDesign { pairs, .. } => {
                network_design(&NetworkDesign { n, pairs: pairs.map_or(n, usize::from), uncertainty, seed })
            }
            Family::UnitCommitment { periods, .. } => {
                unit_commitment(&UnitCommitment { n, periods: periods.into(), uncertainty, seed })
            }
            Family::LotSizing { periods, .. } => {
                lot_sizing(&LotSizing { n, periods: periods.into(), uncertainty, seed })
            }
            Family::FacilityLocation { customers, .. } => {
                let customers = customers.map_or(2 * n, usize::from);
                facility_location(&FacilityLocation { n, customers, uncertainty, seed })
            }
            Family::Newsvendor(_) => newsvendor(&Newsvendor { n, uncertainty, seed }),
        };
        let problem = drawn.map_err(|error| match error {
            InstanceError::Set(_) => Failure::failed(error.to_string()),
            error => Failure::unusable(error.to_string()),
        })?;
        match out {
            None => print(&text_of(&problem)?)?,
            Some(out) => save(problem, &out)?,
        }
        Ok(Exit::Done)
    }
}

impl Family {
    fn drawing(&self) -> &Drawing {
        match self {
            Family::LocationTransportation { drawing, .. }
            | Family::NetworkDesign { drawing, .. }
            | Family::UnitCommitment { drawing, .. }
            | Family::LotSizing { drawing, .. }
            | Family::FacilityLocation { drawing, .. }
            | Family::Inventory(drawing)
            | Family::Energy(drawing)
            | Family::Network(drawing)
            | Family::Newsvendor(drawing) => drawing,
        }
    }
}

impl Drawing {
    /// The set with its own option; options of the other sets are refused.
    fn uncertainty(&self) -> Result<Uncertain, Failure> {
        let refuse = |what: &str| Err(Failure::unusable(what));
        let is_budget = matches!(self.uncertainty, Set::Budget | Set::Polyhedron);
        match (self.uncertainty, self.scenarios, self.gamma) {
            (Set::Ellipsoid | Set::Budget | Set::Polyhedron, Some(_), _) => {
                refuse("--scenarios goes with --uncertainty scenarios")
            }
            (_, _, Some(_)) if !is_budget => refuse("--gamma goes with --uncertainty budget or polyhedron"),
            _ if self.budget.is_some() && self.uncertainty != Set::Budget => {
                refuse("--budget goes with --uncertainty budget")
            }
            (Set::Scenarios, None, _) => refuse("--uncertainty scenarios needs --scenarios N, how many to draw"),
            (Set::Scenarios, Some(count), _) if u64::from(count) * u64::from(self.n) > NUMBERS => {
                refuse("that many scenarios do not fit into memory; ask for fewer, or for a smaller n")
            }
            (Set::Scenarios, Some(count), _) => Ok(Uncertain::Scenarios(count as usize)),
            (Set::Budget, _, Some(gamma)) => Ok(Uncertain::Budget { gamma }),
            (Set::Polyhedron, _, Some(gamma)) => Ok(Uncertain::Polyhedron { gamma }),
            (Set::Budget, _, None) => match self.budget {
                Some(total) => Ok(Uncertain::TotalBudget { total }),
                None => refuse(
                    "--uncertainty budget needs --gamma G, the budget as a fraction of the number of parameters, or \
                     --budget B, the budget itself",
                ),
            },
            (Set::Polyhedron, _, None) => {
                refuse("--uncertainty polyhedron needs --gamma G, the budget as a fraction of the number of parameters")
            }
            (Set::Ellipsoid, _, _) => Ok(Uncertain::Ellipsoid),
        }
    }
}

fn text_of(problem: &ProblemDefinition) -> Result<String, Failure> {
    write(problem).map_err(|error| Failure::failed(error.to_string()))
}

/// Writes the problem, and a long scenario list beside it.
fn save(mut problem: ProblemDefinition, out: &OutputFile) -> Result<(), Failure> {
    let mut places = out.path().display().to_string();
    let list = out.path().with_extension("csv");
    if let SetDefinition::Scenarios { points, file, .. } = &mut problem.uncertainty.set
        && points.len() > INLINE
        && !out.is_special()
        // The problem names the list, and JSON has no other names than these.
        && let Some(name) = list.file_name().and_then(OsStr::to_str)
    {
        save_scenarios(points, &problem.uncertainty.parameters, &list, out.path())?;
        places += &format!(", and its scenarios to {}", list.display());
        *file = Some(name.to_owned());
    }
    let text = text_of(&problem)?;
    out.write(|file| file.write_all(text.as_bytes()))?;
    say(&format!("wrote \"{}\" to {places}", problem.name));
    Ok(())
}

fn save_scenarios(points: &ScenarioList, parameters: &[String], list: &Path, problem: &Path) -> Result<(), Failure> {
    OutputFile::new(list, &[problem])?.write(|file| {
        let mut rows = BufWriter::new(file);
        write_scenarios(points, parameters, &mut rows)?;
        rows.flush()
    })
}
