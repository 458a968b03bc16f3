//! All extern calls to Gurobi. Lengths are checked here before a pointer is passed on, and each code other than zero is
//! an error with the message of Gurobi.
//!
//! Safety of all calls. The functions are declared with the signatures of the Gurobi reference manual, and come from a
//! library that is never unloaded. [`Env`] owns an environment, which it frees once; [`RawModel`] owns a model and the
//! environment that it was made in, and frees the model first. Gurobi allows one thread at a time in an environment and
//! its models: a model owns its environment, so that both move together (`Send`), and neither is `Sync`. Arrays passed
//! in are only read, or filled up to the checked length, during the call; Gurobi copies what it keeps. The only pointer
//! that it keeps, the data of the callback, is owned by the same struct and outlives the model.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::GurobiError;

/// The least major version: the one before has other names for some functions.
const LEAST_MAJOR: c_int = 10;
const LEAST_VERSION: &str = "10.0";

/// From this major version on an environment is made by a function that takes the version.
const FIRST_VERSIONED_MAJOR: c_int = 12;

/// The codes of errors that have variants of their own.
const NO_LICENCE: c_int = 10_009;
const SIZE_LIMIT: c_int = 10_010;

/// Gurobi takes larger bounds for infinite.
const INFINITY: f64 = 1e100;

type EnvPtr = *mut c_void;
type ModelPtr = *mut c_void;
type OnCallback = unsafe extern "system" fn(ModelPtr, *mut c_void, c_int, *mut c_void) -> c_int;
type MakeEnv = unsafe extern "system" fn(*mut EnvPtr) -> c_int;
type MakeVersionedEnv = unsafe extern "system" fn(*mut EnvPtr, c_int, c_int, c_int) -> c_int;

/// Declares functions of the library, and finds all of them by their names.
macro_rules! functions {
    ($($field:ident: $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($field: unsafe extern "system" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find(library: &libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of the reference manual.
                unsafe { Ok(Self { $($field: *library.get($symbol)?,)* }) }
            }
        }
    };
}

functions! {
    start_env: b"GRBstartenv\0" (EnvPtr) -> c_int;
    free_env: b"GRBfreeenv\0" (EnvPtr);
    error_message: b"GRBgeterrormsg\0" (EnvPtr) -> *const c_char;
    set_int_parameter: b"GRBsetintparam\0" (EnvPtr, *const c_char, c_int) -> c_int;
    set_double_parameter: b"GRBsetdblparam\0" (EnvPtr, *const c_char, f64) -> c_int;
    new_model: b"GRBnewmodel\0" (
        EnvPtr, *mut ModelPtr, *const c_char, c_int, *const f64, *const f64, *const f64, *const c_char,
        *const *const c_char
    ) -> c_int;
    add_constraints: b"GRBaddconstrs\0" (
        ModelPtr, c_int, c_int, *const c_int, *const c_int, *const f64, *const c_char, *const f64, *const *const c_char
    ) -> c_int;
    env_of: b"GRBgetenv\0" (ModelPtr) -> EnvPtr;
    int_attribute: b"GRBgetintattr\0" (ModelPtr, *const c_char, *mut c_int) -> c_int;
    double_attribute: b"GRBgetdblattr\0" (ModelPtr, *const c_char, *mut f64) -> c_int;
    set_double_attribute: b"GRBsetdblattr\0" (ModelPtr, *const c_char, f64) -> c_int;
    double_array: b"GRBgetdblattrarray\0" (ModelPtr, *const c_char, c_int, c_int, *mut f64) -> c_int;
    set_double_array: b"GRBsetdblattrarray\0" (ModelPtr, *const c_char, c_int, c_int, *const f64) -> c_int;
    set_double_list: b"GRBsetdblattrlist\0" (ModelPtr, *const c_char, c_int, *const c_int, *const f64) -> c_int;
    set_callback: b"GRBsetcallbackfunc\0" (ModelPtr, Option<OnCallback>, *mut c_void) -> c_int;
    terminate: b"GRBterminate\0" (ModelPtr);
    reset: b"GRBreset\0" (ModelPtr, c_int) -> c_int;
    optimize: b"GRBoptimize\0" (ModelPtr) -> c_int;
    free_model: b"GRBfreemodel\0" (ModelPtr) -> c_int;
}

/// The function that makes an environment.
enum NewEnv {
    Plain(MakeEnv),
    Versioned(MakeVersionedEnv),
}

/// A loaded library.
pub(super) struct Library {
    path: PathBuf,
    version: [c_int; 3],
    new_env: NewEnv,
    functions: Functions,
}

impl Library {
    /// Whether the system can load a library from `path`.
    pub(super) fn can_load(path: &Path) -> bool {
        Self::handle(path).is_ok()
    }

    /// Loads a library, which stays loaded for good: threads of its own may outlive all models.
    fn handle(path: &Path) -> Result<&'static libloading::Library, GurobiError> {
        // SAFETY: the initialisers of the library run, as in every program that is linked to it.
        let library = unsafe { libloading::Library::new(path) };
        library.map(|library| &*Box::leak(Box::new(library))).map_err(|error| not_loaded(path, &error))
    }

    /// Loads the library at `path` and finds its functions.
    pub(super) fn load(path: &Path) -> Result<Self, GurobiError> {
        let handle = Self::handle(path)?;
        let [mut major, mut minor, mut technical] = [0; 3];
        // SAFETY: the type is that of the reference manual; the three locations are valid.
        unsafe {
            let version = handle
                .get::<unsafe extern "system" fn(*mut c_int, *mut c_int, *mut c_int)>(b"GRBversion\0")
                .map_err(|error| not_loaded(path, &error))?;
            version(&mut major, &mut minor, &mut technical);
        }
        let version = [major, minor, technical];
        if major < LEAST_MAJOR {
            let version = words(version);
            return Err(GurobiError::TooOld { library: path.into(), version, least: LEAST_VERSION });
        }
        // SAFETY: the types are those of the reference manual; the second is the one behind the macro `GRBemptyenv`.
        let new_env = unsafe {
            match major < FIRST_VERSIONED_MAJOR {
                true => handle.get::<MakeEnv>(b"GRBemptyenv\0").map(|make| NewEnv::Plain(*make)),
                false => handle.get::<MakeVersionedEnv>(b"GRBemptyenvinternal\0").map(|make| NewEnv::Versioned(*make)),
            }
        };
        let new_env = new_env.map_err(|error| not_loaded(path, &error))?;
        let functions = Functions::find(handle).map_err(|error| not_loaded(path, &error))?;
        Ok(Self { path: path.into(), version, new_env, functions })
    }

    /// The version, as 13.0.3.
    pub(super) fn version(&self) -> String {
        words(self.version)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes an error of a code, with the message that Gurobi keeps in an environment.
    fn check(&self, code: c_int, env: EnvPtr, call: &'static str) -> Result<(), GurobiError> {
        if code == 0 {
            return Ok(());
        }
        let message = self.message(env);
        Err(match code {
            NO_LICENCE => GurobiError::NoLicence { library: self.path.clone(), version: self.version(), message },
            code => GurobiError::CallFailed { call, code, message },
        })
    }

    fn message(&self, env: EnvPtr) -> String {
        if env.is_null() {
            return "without a message".into();
        }
        // SAFETY: `env` is an environment; the message is null or a NUL-terminated string of it, copied here.
        unsafe {
            let message = (self.functions.error_message)(env);
            if message.is_null() {
                return "without a message".into();
            }
            CStr::from_ptr(message).to_string_lossy().trim().to_owned()
        }
    }
}

fn words([major, minor, technical]: [c_int; 3]) -> String {
    format!("{major}.{minor}.{technical}")
}

fn not_loaded(path: &Path, error: &libloading::Error) -> GurobiError {
    GurobiError::NotLoaded { library: path.into(), why: error.to_string() }
}

fn count(length: usize) -> Result<c_int, GurobiError> {
    c_int::try_from(length).map_err(|_| wrong_length("an array beyond the indices of Gurobi"))
}

fn wrong_length(what: &str) -> GurobiError {
    GurobiError::CallFailed { call: "a call with arrays", code: 0, message: format!("not made: {what}") }
}

fn finite(value: f64) -> f64 {
    value.clamp(-INFINITY, INFINITY)
}

/// A started environment, which holds a licence.
pub(super) struct Env {
    raw: NonNull<c_void>,
    library: Arc<Library>,
}

// SAFETY: see the module documentation.
unsafe impl Send for Env {}

impl Env {
    /// Starts an environment without output.
    pub(super) fn start(library: &Arc<Library>) -> Result<Self, GurobiError> {
        let mut raw = null_mut();
        let [major, minor, technical] = library.version;
        // SAFETY: `raw` is a valid location.
        let code = unsafe {
            match library.new_env {
                NewEnv::Plain(make) => make(&mut raw),
                NewEnv::Versioned(make) => make(&mut raw, major, minor, technical),
            }
        };
        let Some(owned) = NonNull::new(raw) else {
            library.check(code, raw, "GRBemptyenv")?;
            return Err(GurobiError::CallFailed { call: "GRBemptyenv", code, message: "no environment".into() });
        };
        // From here on the environment is freed, whatever happens.
        let env = Self { raw: owned, library: Arc::clone(library) };
        library.check(code, raw, "GRBemptyenv")?;
        // SAFETY: plain calls on an environment; the name is NUL-terminated.
        unsafe {
            let code = (library.functions.set_int_parameter)(raw, c"OutputFlag".as_ptr(), 0);
            library.check(code, raw, "GRBsetintparam")?;
            library.check((library.functions.start_env)(raw), raw, "GRBstartenv")?;
        }
        Ok(env)
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        // SAFETY: made by `start`, freed once; its models are gone.
        unsafe { (self.library.functions.free_env)(self.raw.as_ptr()) }
    }
}

/// The columns of a model.
pub(super) struct Columns<'a> {
    pub(super) cost: &'a [f64],
    pub(super) lower: &'a [f64],
    pub(super) upper: &'a [f64],
    pub(super) integer: &'a [bool],
}

/// Rows with one side each, stored row by row.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) start: Vec<c_int>,
    pub(super) index: Vec<c_int>,
    pub(super) value: Vec<f64>,
    /// `<`, `>` or `=`.
    pub(super) sense: Vec<u8>,
    pub(super) side: Vec<f64>,
}

/// The data of the callback.
struct CallbackData {
    flag: Arc<AtomicBool>,
    terminate: unsafe extern "system" fn(ModelPtr),
}

/// The callback of Gurobi inside its loops; requests a stop if the flag is set.
unsafe extern "system" fn on_callback(model: ModelPtr, _data: *mut c_void, _at: c_int, user: *mut c_void) -> c_int {
    if !model.is_null() && !user.is_null() {
        // SAFETY: `user` is the data that `RawModel` keeps alive; Gurobi may be told to stop from its callback.
        unsafe {
            let interrupt = &*(user as *const CallbackData);
            if interrupt.flag.load(Ordering::Relaxed) {
                (interrupt.terminate)(model);
            }
        }
    }
    0
}

/// A model in an environment of its own.
pub(super) struct RawModel {
    raw: NonNull<c_void>,
    /// Taken out when the model is freed.
    env: Option<Env>,
    library: Arc<Library>,
    cols: usize,
    rows: usize,
    interrupt: Option<Arc<CallbackData>>,
}

// SAFETY: see the module documentation.
unsafe impl Send for RawModel {}

impl RawModel {
    /// Makes a model that is minimised.
    pub(super) fn new(env: Env, columns: &Columns, rows: &Rows) -> Result<Self, GurobiError> {
        let cols = columns.cost.len();
        if [columns.lower.len(), columns.upper.len(), columns.integer.len()] != [cols; 3] {
            return Err(wrong_length("columns of different lengths"));
        }
        let library = Arc::clone(&env.library);
        let lower: Vec<f64> = columns.lower.iter().copied().map(finite).collect();
        let upper: Vec<f64> = columns.upper.iter().copied().map(finite).collect();
        let kind: Vec<c_char> =
            columns.integer.iter().map(|&integer| (if integer { b'I' } else { b'C' }) as c_char).collect();
        let (mut raw, env_raw, cols_count) = (null_mut(), env.raw.as_ptr(), count(cols)?);
        // SAFETY: four arrays with one entry per column, and no names.
        let code = unsafe {
            (library.functions.new_model)(
                env_raw,
                &mut raw,
                c"softsep".as_ptr(),
                cols_count,
                columns.cost.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                kind.as_ptr(),
                std::ptr::null(),
            )
        };
        library.check(code, env_raw, "GRBnewmodel")?;
        let raw = NonNull::new(raw).ok_or_else(|| wrong_length("no model"))?;
        let mut model = Self { raw, env: Some(env), library, cols, rows: 0, interrupt: None };
        model.add_rows(rows)?;
        Ok(model)
    }

    fn add_rows(&mut self, rows: &Rows) -> Result<(), GurobiError> {
        let (amount, nonzeros) = (rows.start.len(), rows.index.len());
        let starts = rows.start.windows(2).all(|pair| pair[0] <= pair[1])
            && rows.start.first().is_none_or(|&start| start == 0)
            && rows.start.last().is_none_or(|&start| start as usize <= nonzeros);
        let indices = rows.index.iter().all(|&col| usize::try_from(col).is_ok_and(|col| col < self.cols));
        if [rows.sense.len(), rows.side.len()] != [amount; 2] || rows.value.len() != nonzeros || !starts || !indices {
            return Err(wrong_length("rows that do not fit the columns"));
        }
        if amount == 0 {
            return Ok(());
        }
        let sense: Vec<c_char> = rows.sense.iter().map(|&sense| sense as c_char).collect();
        let (amount_count, nonzero_count) = (count(amount)?, count(nonzeros)?);
        // SAFETY: the arrays have the given lengths, and all indices and starts are within them.
        let code = unsafe {
            (self.library.functions.add_constraints)(
                self.ptr(),
                amount_count,
                nonzero_count,
                rows.start.as_ptr(),
                rows.index.as_ptr(),
                rows.value.as_ptr(),
                sense.as_ptr(),
                rows.side.as_ptr(),
                std::ptr::null(),
            )
        };
        self.check(code, "GRBaddconstrs")?;
        self.rows = amount;
        Ok(())
    }

    fn ptr(&self) -> ModelPtr {
        self.raw.as_ptr()
    }

    /// The environment of the model, which has its parameters; Gurobi copies it from the one that it was made in.
    fn own_env(&self) -> EnvPtr {
        // SAFETY: plain getter.
        unsafe { (self.library.functions.env_of)(self.ptr()) }
    }

    fn check(&self, code: c_int, call: &'static str) -> Result<(), GurobiError> {
        match code {
            SIZE_LIMIT => Err(GurobiError::TooLarge { cols: self.cols, rows: self.rows }),
            code => self.library.check(code, self.own_env(), call),
        }
    }

    pub(super) fn set_int(&mut self, name: &CStr, value: c_int) -> Result<(), GurobiError> {
        // SAFETY: the name is NUL-terminated and only read.
        let code = unsafe { (self.library.functions.set_int_parameter)(self.own_env(), name.as_ptr(), value) };
        self.check(code, "GRBsetintparam")
    }

    pub(super) fn set_double(&mut self, name: &CStr, value: f64) -> Result<(), GurobiError> {
        // SAFETY: as above.
        let code =
            unsafe { (self.library.functions.set_double_parameter)(self.own_env(), name.as_ptr(), finite(value)) };
        self.check(code, "GRBsetdblparam")
    }

    /// Sets the constant of the objective.
    pub(super) fn set_offset(&mut self, offset: f64) -> Result<(), GurobiError> {
        // SAFETY: as above.
        let code = unsafe { (self.library.functions.set_double_attribute)(self.ptr(), c"ObjCon".as_ptr(), offset) };
        self.check(code, "GRBsetdblattr")
    }

    /// Sets an attribute of all columns.
    pub(super) fn set_columns(&mut self, name: &CStr, values: &[f64]) -> Result<(), GurobiError> {
        if values.len() != self.cols {
            return Err(wrong_length("one value for each column is needed"));
        }
        let cols = count(self.cols)?;
        // SAFETY: one value per column.
        let code =
            unsafe { (self.library.functions.set_double_array)(self.ptr(), name.as_ptr(), 0, cols, values.as_ptr()) };
        self.check(code, "GRBsetdblattrarray")
    }

    /// Sets the values of some columns in the start point.
    pub(super) fn set_start(&mut self, columns: &[c_int], values: &[f64]) -> Result<(), GurobiError> {
        let within = columns.iter().all(|&col| usize::try_from(col).is_ok_and(|col| col < self.cols));
        if columns.len() != values.len() || !within {
            return Err(wrong_length("a start with columns that do not exist"));
        }
        let amount = count(columns.len())?;
        // SAFETY: both arrays have the given length, and the columns exist.
        let code = unsafe {
            (self.library.functions.set_double_list)(
                self.ptr(),
                c"Start".as_ptr(),
                amount,
                columns.as_ptr(),
                values.as_ptr(),
            )
        };
        self.check(code, "GRBsetdblattrlist")
    }

    /// Makes every later run check `flag` and stop when it is set.
    pub(super) fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> Result<(), GurobiError> {
        let interrupt = Arc::new(CallbackData { flag, terminate: self.library.functions.terminate });
        let address = Arc::as_ptr(&interrupt).cast_mut().cast::<c_void>();
        // SAFETY: `address` stays valid: the data is stored in self until the model is freed or gets another one.
        let code = unsafe { (self.library.functions.set_callback)(self.ptr(), Some(on_callback), address) };
        self.check(code, "GRBsetcallbackfunc")?;
        self.interrupt = Some(interrupt);
        Ok(())
    }

    /// Discards the solution, and keeps start point and parameters.
    pub(super) fn reset(&mut self) -> Result<(), GurobiError> {
        // SAFETY: plain call.
        let code = unsafe { (self.library.functions.reset)(self.ptr(), 0) };
        self.check(code, "GRBreset")
    }

    pub(super) fn optimize(&mut self) -> Result<(), GurobiError> {
        // SAFETY: plain call; the data of the callback lives as long as self.
        let code = unsafe { (self.library.functions.optimize)(self.ptr()) };
        self.check(code, "GRBoptimize")
    }

    pub(super) fn int(&self, name: &CStr) -> Result<c_int, GurobiError> {
        let mut value = 0;
        // SAFETY: the name is NUL-terminated, `value` is a valid location.
        let code = unsafe { (self.library.functions.int_attribute)(self.ptr(), name.as_ptr(), &mut value) };
        self.check(code, "GRBgetintattr").map(|()| value)
    }

    pub(super) fn double(&self, name: &CStr) -> Result<f64, GurobiError> {
        let mut value = 0.0;
        // SAFETY: as above.
        let code = unsafe { (self.library.functions.double_attribute)(self.ptr(), name.as_ptr(), &mut value) };
        self.check(code, "GRBgetdblattr").map(|()| value)
    }

    /// The best point.
    pub(super) fn point(&self) -> Result<Vec<f64>, GurobiError> {
        let (mut point, cols) = (vec![0.0; self.cols], count(self.cols)?);
        // SAFETY: one entry per column.
        let code =
            unsafe { (self.library.functions.double_array)(self.ptr(), c"X".as_ptr(), 0, cols, point.as_mut_ptr()) };
        self.check(code, "GRBgetdblattrarray").map(|()| point)
    }

    /// Frees the model, and returns the environment that it was made in.
    pub(super) fn free(&mut self) -> Option<Env> {
        self.env.take().inspect(|_| {
            // SAFETY: made by `new`, freed once: the environment is there only before.
            unsafe { (self.library.functions.free_model)(self.ptr()) };
        })
    }
}

impl Drop for RawModel {
    fn drop(&mut self) {
        drop(self.free());
    }
}
