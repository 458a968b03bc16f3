//! Parts that the crate's own tests, benchmarks, command line and experiments use. **No stability promise**: anything
//! here may change or go in any release.

/// Draws that certify a decision.
pub mod certification {
    pub use crate::certification::{Certifier, Judgement};
}

/// Markov chains over scenarios.
pub mod chain {
    pub use crate::chain::{Acceptance, Chain, Chains, Ladder, Replicas, TransitionKernel};
}

/// Texts of definitions.
pub mod definition {
    pub use crate::definition::complaint::one_line;
}

/// The bounds of the theory for a problem.
pub mod diagnose {
    pub use crate::diagnose::{
        AverageBounds, Certified, Constant, Convergence, Diagnosis, Identification, Inquiry, Provenance, ScoresAt,
        TemperedResult, diagnose, nominal_decision, temperature_for,
    };
}

/// Files.
pub mod format {
    pub use crate::format::{load, load_text, read_decision, read_scenarios, write, write_scenarios};
}

/// Proposals of chains.
pub mod proposal {
    pub use crate::proposal::geodesic::Geodesic;
    pub use crate::proposal::hamiltonian::Hamiltonian;
    pub use crate::proposal::hit_and_run::HitAndRun;
    pub use crate::proposal::kernel_mixture::KernelMixture;
    pub use crate::proposal::langevin::Langevin;
    pub use crate::proposal::langevin_sphere::LangevinOnSphere;
    pub use crate::proposal::neighbour::Neighbour;
    pub use crate::proposal::proposal_mixture::ProposalMixture;
    pub use crate::proposal::random_step::RandomStep;
    pub use crate::proposal::tangent::Tangent;
    pub use crate::proposal::tilted::Tilted;
    pub use crate::proposal::tilted_chord::TiltedChord;
    pub use crate::proposal::uniform::Uniform;
    pub use crate::proposal::weighted::Weighted;
}

/// Recourse engines by kind.
pub mod recourse {
    pub use crate::recourse::conic::Conic;
    pub use crate::recourse::fixed::Fixed;
    pub use crate::recourse::linear::{BasisPolicies, BasisProbe, Interval, Linear};
}

/// Parts of reports.
pub mod report {
    pub use crate::report::diagnosis::diagnosis_summary;
    pub use crate::report::html::{STYLE, html_text};
}

/// Separations by kind, and their parts.
pub mod separation {
    pub use crate::separation::ascent::{Ascent, ascend};
    pub use crate::separation::assessor::Assessor;
    pub use crate::separation::bilinear::{Bilinear, NotBilinear};
    pub use crate::separation::exact::Exact;
    pub use crate::separation::finite_equivalent::finite_equivalent;
    pub use crate::separation::kkt::{Kkt, NotKkt};
    pub use crate::separation::scan::Scan;
    pub use crate::separation::slopes::SlopeRanges;
    pub use crate::separation::soft::{Schedule, SearchQuery, TemperedSearch};
    pub use crate::separation::split::Split;
}

/// Constants and laws of the paper.
pub mod theory {
    pub use crate::theory::*;
}

/// Sets from their definitions, and states of sets.
pub mod uncertainty {
    pub use crate::uncertainty::build::build;
    pub use crate::uncertainty::polyhedron::vertex_walk;
}
