//! A thin safe interface to [HiGHS](https://highs.dev): linear, mixed-integer and convex quadratic programs that are
//! built once and then modified in place. Mixed-integer linear programs can also go to Gurobi ([`Mip`], [`Gurobi`]),
//! whose library is loaded at run time.
//!
//! [`Lp`] owns one HiGHS instance. Bounds, costs and rows change without rebuilding. Results are written to slices that
//! the caller owns. The basis can be read ([`Basis`], `Send` and cheap to store) and set again. Time limits and an
//! interrupt flag apply inside every solve. All `unsafe` code of the project is in the private modules `ffi` and
//! `gurobi::library`.
//!
//! ```
//! use softsep_lp::{Lp, Model, Status};
//!
//! // min x + 2y  s.t.  x + y >= 3,  0 <= x <= 2,  y >= 0
//! let mut model = Model::new();
//! let x = model.add_col(1.0, 0.0, 2.0);
//! let y = model.add_col(2.0, 0.0, f64::INFINITY);
//! model.add_row(3.0, f64::INFINITY, &[(x, 1.0), (y, 1.0)]);
//! let mut lp = Lp::new(&model)?;
//! assert_eq!(lp.solve()?, Status::Optimal);
//! assert_eq!(lp.objective(), 4.0);
//! # Ok::<(), softsep_lp::LpError>(())
//! ```
#![deny(unsafe_code)]

mod basis;
mod dual_bound;
#[allow(unsafe_code)]
mod ffi;
mod gurobi;
mod lp;
mod mip;
mod model;
mod options;
mod sift;

pub use basis::{Basis, BasisStatus};
pub use dual_bound::{DualBound, DualSum};
pub use ffi::highs_version;
pub use gurobi::{Gurobi, GurobiError};
pub use lp::{Lp, Status};
pub use mip::{Mip, MipSolver};
pub use model::Model;
pub use options::{Algorithm, Toggle};
pub use sift::{SiftingSolution, sift};

/// Errors of calls to HiGHS or Gurobi. A model without a solution is not an error: see [`Status`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LpError {
    /// Gurobi cannot be used, or has failed.
    #[error(transparent)]
    Gurobi(#[from] GurobiError),
    /// HiGHS returned its error status.
    #[error("HiGHS returned an error for the call {0}")]
    CallFailed(&'static str),
    /// HiGHS returned a code that this crate does not know.
    #[error("HiGHS answered {call} with the unknown code {code}")]
    UnknownCode {
        /// The call.
        call: &'static str,
        /// The returned code.
        code: i64,
    },
    /// A slice has the wrong length.
    #[error("{what} has {got} entries where {want} are needed")]
    Length {
        /// The name of the slice.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The required length.
        want: usize,
    },
    /// The model is too large for HiGHS's 32-bit indices.
    #[error("the model has {0} nonzeros, more than HiGHS can index")]
    TooLarge(usize),
}
