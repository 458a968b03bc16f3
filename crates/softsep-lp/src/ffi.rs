//! All extern calls to HiGHS. Lengths are checked here against the sizes of the instance before a pointer is passed on.
//! Codes are converted to types here, and an unknown code is an error.
//!
//! Safety of all calls: `Highs` owns the pointer that `Highs_create` returned and frees it once, in `Drop`. It is
//! `Send`: HiGHS instances share no mutable state except the scheduler, which is per thread and never started (see
//! `options` in [`crate::Lp`]). It is not `Sync`, so that no two threads call into one instance at a time. Arrays
//! passed in are only read, or filled up to the checked length, during the call; HiGHS keeps none of them. The only
//! pointer that it keeps, the interrupt flag, is owned by the same struct and outlives the instance.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use highs_sys as sys;

use crate::{LpError, Model};

/// The version of the linked HiGHS library.
pub fn highs_version() -> String {
    // SAFETY: returns a pointer to a static, NUL-terminated string.
    unsafe { CStr::from_ptr(sys::Highs_version()) }.to_string_lossy().into_owned()
}

pub(crate) struct Highs {
    raw: NonNull<c_void>,
    /// The flag that the callback reads; stored so that its address stays valid.
    interrupt: Option<Arc<AtomicBool>>,
}

// SAFETY: see the module documentation.
unsafe impl Send for Highs {}

impl Drop for Highs {
    fn drop(&mut self) {
        // SAFETY: created by Highs_create, destroyed once.
        unsafe { sys::Highs_destroy(self.raw.as_ptr()) }
    }
}

/// The callback of HiGHS inside its loops; requests a stop if the flag is set.
unsafe extern "C" fn on_callback(
    _kind: c_int,
    _message: *const c_char,
    _out: *const sys::HighsCallbackDataOut,
    input: *mut sys::HighsCallbackDataIn,
    user: *mut c_void,
) {
    if input.is_null() || user.is_null() {
        return;
    }
    // SAFETY: `user` is the address of the flag that `Highs` keeps alive; `input` is valid during the call.
    unsafe {
        let flag = &*(user as *const AtomicBool);
        // HiGHS keeps the last value, so that a cleared flag must be written too.
        (*input).user_interrupt = i32::from(flag.load(Ordering::Relaxed));
    }
}

fn check(code: i32, call: &'static str) -> Result<(), LpError> {
    match code {
        sys::STATUS_OK | sys::STATUS_WARNING => Ok(()),
        sys::STATUS_ERROR => Err(LpError::CallFailed(call)),
        code => Err(LpError::UnknownCode { call, code: i64::from(code) }),
    }
}

fn check_length(what: &'static str, got: usize, want: usize) -> Result<(), LpError> {
    if got == want { Ok(()) } else { Err(LpError::Length { what, got, want }) }
}

fn index_of(index: usize) -> Result<i32, LpError> {
    i32::try_from(index).map_err(|_| LpError::TooLarge(index))
}

impl Highs {
    pub(crate) fn create() -> Result<Self, LpError> {
        // SAFETY: no arguments; a null pointer is handled.
        let raw = NonNull::new(unsafe { sys::Highs_create() }).ok_or(LpError::CallFailed("create"))?;
        Ok(Self { raw, interrupt: None })
    }

    fn ptr(&self) -> *mut c_void {
        self.raw.as_ptr()
    }

    pub(crate) fn cols(&self) -> usize {
        // SAFETY: plain getter.
        unsafe { sys::Highs_getNumCol(self.ptr()) as usize }
    }

    pub(crate) fn rows(&self) -> usize {
        // SAFETY: plain getter.
        unsafe { sys::Highs_getNumRow(self.ptr()) as usize }
    }

    pub(crate) fn set_bool(&mut self, name: &CStr, value: bool) -> Result<(), LpError> {
        // SAFETY: `name` is NUL-terminated and only read.
        let code = unsafe { sys::Highs_setBoolOptionValue(self.ptr(), name.as_ptr(), i32::from(value)) };
        check(code, "set option")
    }

    pub(crate) fn set_int(&mut self, name: &CStr, value: i32) -> Result<(), LpError> {
        // SAFETY: as above.
        let code = unsafe { sys::Highs_setIntOptionValue(self.ptr(), name.as_ptr(), value) };
        check(code, "set option")
    }

    pub(crate) fn set_double(&mut self, name: &CStr, value: f64) -> Result<(), LpError> {
        // SAFETY: as above.
        let code = unsafe { sys::Highs_setDoubleOptionValue(self.ptr(), name.as_ptr(), value) };
        check(code, "set option")
    }

    pub(crate) fn set_string(&mut self, name: &CStr, value: &CStr) -> Result<(), LpError> {
        // SAFETY: as above, for both strings.
        let code = unsafe { sys::Highs_setStringOptionValue(self.ptr(), name.as_ptr(), value.as_ptr()) };
        check(code, "set option")
    }

    pub(crate) fn pass_model(&mut self, model: &Model) -> Result<(), LpError> {
        let nonzeros = model.index.len();
        if nonzeros > i32::MAX as usize {
            return Err(LpError::TooLarge(nonzeros));
        }
        let integrality: Vec<i32> = model.integer.iter().map(|&i| i32::from(i)).collect();
        let (q_start, q_index, q_value) = lower_triangle(model);
        let mixed = model.integer.contains(&true);
        // SAFETY: the vectors have the given lengths (an invariant of Model) and outlive the call.
        let code = unsafe {
            sys::Highs_passModel(
                self.ptr(),
                model.cols() as i32,
                model.rows() as i32,
                nonzeros as i32,
                q_index.len() as i32,
                sys::MATRIX_FORMAT_ROW_WISE,
                1,
                sys::OBJECTIVE_SENSE_MINIMIZE,
                model.offset,
                model.cost.as_ptr(),
                model.col_lower.as_ptr(),
                model.col_upper.as_ptr(),
                model.row_lower.as_ptr(),
                model.row_upper.as_ptr(),
                model.start.as_ptr(),
                model.index.as_ptr(),
                model.value.as_ptr(),
                if q_index.is_empty() { std::ptr::null() } else { q_start.as_ptr() },
                if q_index.is_empty() { std::ptr::null() } else { q_index.as_ptr() },
                if q_index.is_empty() { std::ptr::null() } else { q_value.as_ptr() },
                if mixed { integrality.as_ptr() } else { std::ptr::null() },
            )
        };
        check(code, "pass model")
    }

    pub(crate) fn change_rows_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), LpError> {
        let rows = self.rows();
        check_length("row lower bounds", lower.len(), rows)?;
        check_length("row upper bounds", upper.len(), rows)?;
        if rows == 0 {
            return Ok(());
        }
        // SAFETY: both slices have `rows` entries.
        let code = unsafe {
            sys::Highs_changeRowsBoundsByRange(self.ptr(), 0, rows as i32 - 1, lower.as_ptr(), upper.as_ptr())
        };
        check(code, "change row bounds")
    }

    pub(crate) fn change_cols_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), LpError> {
        let cols = self.cols();
        check_length("column lower bounds", lower.len(), cols)?;
        check_length("column upper bounds", upper.len(), cols)?;
        if cols == 0 {
            return Ok(());
        }
        // SAFETY: both slices have `cols` entries.
        let code = unsafe {
            sys::Highs_changeColsBoundsByRange(self.ptr(), 0, cols as i32 - 1, lower.as_ptr(), upper.as_ptr())
        };
        check(code, "change column bounds")
    }

    pub(crate) fn change_col_bounds(&mut self, col: usize, lower: f64, upper: f64) -> Result<(), LpError> {
        // SAFETY: plain call; HiGHS rejects a column that does not exist.
        let code = unsafe { sys::Highs_changeColBounds(self.ptr(), index_of(col)?, lower, upper) };
        check(code, "change column bounds")
    }

    /// Appends the rows of a [`Model`] without columns.
    pub(crate) fn add_rows(&mut self, rows: &Model) -> Result<(), LpError> {
        let (count, nonzeros, cols) = (rows.rows(), rows.index.len(), self.cols());
        if nonzeros > i32::MAX as usize {
            return Err(LpError::TooLarge(nonzeros));
        }
        if let Some(&col) = rows.index.iter().find(|&&col| col < 0 || col as usize >= cols) {
            return Err(LpError::Length { what: "a new row's columns", got: col as usize, want: cols });
        }
        // SAFETY: the vectors have the given lengths (an invariant of Model), their columns exist, and they outlive the
        // call.
        let code = unsafe {
            sys::Highs_addRows(
                self.ptr(),
                count as i32,
                rows.row_lower.as_ptr(),
                rows.row_upper.as_ptr(),
                nonzeros as i32,
                rows.start.as_ptr(),
                rows.index.as_ptr(),
                rows.value.as_ptr(),
            )
        };
        check(code, "add rows")
    }

    /// Deletes the rows with entry 1; the other entries become the new indices of their rows.
    pub(crate) fn delete_rows(&mut self, mask: &mut [i32]) -> Result<(), LpError> {
        check_length("rows to delete", mask.len(), self.rows())?;
        // SAFETY: one entry per row.
        check(unsafe { sys::Highs_deleteRowsByMask(self.ptr(), mask.as_mut_ptr()) }, "delete rows")
    }

    pub(crate) fn change_costs(&mut self, cost: &[f64]) -> Result<(), LpError> {
        let cols = self.cols();
        check_length("costs", cost.len(), cols)?;
        if cols == 0 {
            return Ok(());
        }
        // SAFETY: the slice has `cols` entries.
        let code = unsafe { sys::Highs_changeColsCostByRange(self.ptr(), 0, cols as i32 - 1, cost.as_ptr()) };
        check(code, "change costs")
    }

    pub(crate) fn run(&mut self) -> Result<i32, LpError> {
        // SAFETY: plain calls; the interrupt flag, if any, lives as long as self.
        let code = unsafe {
            sys::Highs_zeroAllClocks(self.ptr());
            sys::Highs_run(self.ptr())
        };
        // The model status covers an error of the run, and is more specific.
        let _ = code;
        // SAFETY: plain getter.
        Ok(unsafe { sys::Highs_getModelStatus(self.ptr()) })
    }

    pub(crate) fn clear_solver(&mut self) -> Result<(), LpError> {
        // SAFETY: plain call.
        check(unsafe { sys::Highs_clearSolver(self.ptr()) }, "clear solver")
    }

    pub(crate) fn objective(&self) -> f64 {
        // SAFETY: plain getter.
        unsafe { sys::Highs_getObjectiveValue(self.ptr()) }
    }

    pub(crate) fn info_int(&self, name: &CStr) -> Result<i32, LpError> {
        let mut value = 0;
        // SAFETY: `name` is NUL-terminated, `value` is a valid location.
        check(unsafe { sys::Highs_getIntInfoValue(self.ptr(), name.as_ptr(), &mut value) }, "get info")?;
        Ok(value)
    }

    pub(crate) fn info_long(&self, name: &CStr) -> Result<i64, LpError> {
        let mut value = 0;
        // SAFETY: as above.
        check(unsafe { sys::Highs_getInt64InfoValue(self.ptr(), name.as_ptr(), &mut value) }, "get info")?;
        Ok(value)
    }

    pub(crate) fn info_double(&self, name: &CStr) -> Result<f64, LpError> {
        let mut value = 0.0;
        // SAFETY: as above.
        check(unsafe { sys::Highs_getDoubleInfoValue(self.ptr(), name.as_ptr(), &mut value) }, "get info")?;
        Ok(value)
    }

    pub(crate) fn set_solution(&mut self, cols: &[f64]) -> Result<(), LpError> {
        check_length("column values", cols.len(), self.cols())?;
        let none = std::ptr::null();
        // SAFETY: one value per column; HiGHS accepts null for absent arrays.
        check(unsafe { sys::Highs_setSolution(self.ptr(), cols.as_ptr(), none, none, none) }, "set solution")
    }

    /// Fills those of the four arrays that are given.
    pub(crate) fn solution(
        &self,
        col_value: Option<&mut [f64]>,
        col_dual: Option<&mut [f64]>,
        row_value: Option<&mut [f64]>,
        row_dual: Option<&mut [f64]>,
    ) -> Result<(), LpError> {
        let pointer = |slice: Option<&mut [f64]>, what, want| match slice {
            None => Ok(std::ptr::null_mut()),
            Some(slice) => check_length(what, slice.len(), want).map(|()| slice.as_mut_ptr()),
        };
        let (cols, rows) = (self.cols(), self.rows());
        let col_value = pointer(col_value, "column values", cols)?;
        let col_dual = pointer(col_dual, "column duals", cols)?;
        let row_value = pointer(row_value, "row values", rows)?;
        let row_dual = pointer(row_dual, "row duals", rows)?;
        // SAFETY: each pointer is null or the start of a slice of the checked length.
        let code = unsafe { sys::Highs_getSolution(self.ptr(), col_value, col_dual, row_value, row_dual) };
        check(code, "get solution")
    }

    pub(crate) fn dual_ray(&self, ray: &mut [f64]) -> Result<bool, LpError> {
        check_length("dual ray", ray.len(), self.rows())?;
        let mut has = 0;
        // SAFETY: `ray` has one entry per row.
        check(unsafe { sys::Highs_getDualRay(self.ptr(), &mut has, ray.as_mut_ptr()) }, "get dual ray")?;
        Ok(has == 1)
    }

    pub(crate) fn primal_ray(&self, ray: &mut [f64]) -> Result<bool, LpError> {
        check_length("primal ray", ray.len(), self.cols())?;
        let mut has = 0;
        // SAFETY: `ray` has one entry per column.
        check(unsafe { sys::Highs_getPrimalRay(self.ptr(), &mut has, ray.as_mut_ptr()) }, "get primal ray")?;
        Ok(has == 1)
    }

    pub(crate) fn get_basis(&self, cols: &mut [i32], rows: &mut [i32]) -> Result<(), LpError> {
        check_length("column statuses", cols.len(), self.cols())?;
        check_length("row statuses", rows.len(), self.rows())?;
        // SAFETY: lengths checked.
        check(unsafe { sys::Highs_getBasis(self.ptr(), cols.as_mut_ptr(), rows.as_mut_ptr()) }, "get basis")
    }

    pub(crate) fn set_basis(&mut self, cols: &[i32], rows: &[i32]) -> Result<(), LpError> {
        check_length("column statuses", cols.len(), self.cols())?;
        check_length("row statuses", rows.len(), self.rows())?;
        // SAFETY: lengths checked.
        check(unsafe { sys::Highs_setBasis(self.ptr(), cols.as_ptr(), rows.as_ptr()) }, "set basis")
    }

    /// Sets the values of some columns as the start of a branch-and-bound tree; HiGHS completes the others.
    pub(crate) fn set_sparse_solution(&mut self, index: &[i32], value: &[f64]) -> Result<(), LpError> {
        check_length("start", value.len(), index.len())?;
        // SAFETY: both arrays have the given number of entries and are only read.
        let code =
            unsafe { sys::Highs_setSparseSolution(self.ptr(), index.len() as i32, index.as_ptr(), value.as_ptr()) };
        check(code, "set solution")
    }

    /// Makes every later run check `flag` and stop when it is set.
    pub(crate) fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> Result<(), LpError> {
        let address = Arc::as_ptr(&flag).cast_mut().cast::<c_void>();
        // SAFETY: `address` stays valid: the flag is stored in self until HiGHS is destroyed or gets another one.
        check(unsafe { sys::Highs_setCallback(self.ptr(), Some(on_callback), address) }, "set callback")?;
        self.interrupt = Some(flag);
        for kind in
            [sys::kHighsCallbackSimplexInterrupt, sys::kHighsCallbackIpmInterrupt, sys::kHighsCallbackMipInterrupt]
        {
            // SAFETY: plain call.
            check(unsafe { sys::Highs_startCallback(self.ptr(), kind) }, "start callback")?;
        }
        Ok(())
    }
}

/// The Hessian in the format of HiGHS: lower triangle, by columns.
fn lower_triangle(model: &Model) -> (Vec<i32>, Vec<i32>, Vec<f64>) {
    let mut entries = model.hessian.clone();
    entries.sort_by_key(|&(row, col, _)| (col, row));
    let mut start = vec![0; model.cols() + 1];
    for &(_, col, _) in &entries {
        start[col + 1] += 1;
    }
    for col in 0..model.cols() {
        start[col + 1] += start[col];
    }
    let index = entries.iter().map(|&(row, _, _)| row as i32).collect();
    let value = entries.iter().map(|&(_, _, value)| value).collect();
    (start, index, value)
}
