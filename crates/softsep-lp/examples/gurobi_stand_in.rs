//! A stand-in for the Gurobi library, for tests: the functions that softsep calls, with programs solved by HiGHS. It
//! takes 2,000 columns and rows, as small licences do, and some seeds make it return faults.
//!
//! Built as a library by `cargo test` and `cargo build --example gurobi_stand_in`.
#![allow(clippy::missing_safety_doc, clippy::unwrap_used, clippy::not_unsafe_ptr_arg_deref, missing_docs)]
#![allow(non_snake_case, unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::slice::from_raw_parts;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use softsep_lp::{Lp, Model, Status, Toggle};

/// Seeds that make `GRBoptimize` return a fault.
const UNKNOWN_STATUS: c_int = 99;
const WRONG_POINT: c_int = 98;
const WRONG_BOUND: c_int = 97;
const NUMERIC_ERROR: c_int = 96;

const MOST_LINES: usize = 2000;

#[derive(Clone, Default)]
pub struct Env {
    ints: HashMap<String, c_int>,
    doubles: HashMap<String, f64>,
    message: CString,
    started: bool,
}

type Callback = unsafe extern "C" fn(*mut Program, *mut c_void, c_int, *mut c_void) -> c_int;

/// Sense, side and terms.
type Row = (u8, f64, Vec<(usize, f64)>);

pub struct Program {
    env: Env,
    cost: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    integer: Vec<bool>,
    rows: Vec<Row>,
    offset: f64,
    start: Vec<(usize, f64)>,
    callback: Option<(Callback, *mut c_void)>,
    terminated: Arc<AtomicBool>,
    status: c_int,
    point: Option<Vec<f64>>,
    objective: f64,
    bound: f64,
}

fn text(name: *const c_char) -> String {
    // SAFETY: names are NUL-terminated.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned()
}

/// # Safety
/// `data` has `length` entries.
unsafe fn slice<'a, T>(data: *const T, length: c_int) -> &'a [T] {
    if length == 0 { &[] } else { unsafe { from_raw_parts(data, length as usize) } }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBversion(major: *mut c_int, minor: *mut c_int, technical: *mut c_int) {
    unsafe { (*major, *minor, *technical) = (13, 0, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBemptyenvinternal(env: *mut *mut Env, major: c_int, _minor: c_int, _tech: c_int) -> c_int {
    assert_eq!(major, 13);
    unsafe { *env = Box::into_raw(Box::default()) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBstartenv(env: *mut Env) -> c_int {
    let env = unsafe { &mut *env };
    assert_eq!(env.ints.get("OutputFlag"), Some(&0), "silent before it starts");
    if std::env::var_os("STAND_IN_WITHOUT_LICENCE").is_some() {
        env.message = c"License expired 2020-01-01".into();
        return 10_009;
    }
    env.started = true;
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBfreeenv(env: *mut Env) {
    drop(unsafe { Box::from_raw(env) });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBgeterrormsg(env: *mut Env) -> *const c_char {
    unsafe { (*env).message.as_ptr() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBsetintparam(env: *mut Env, name: *const c_char, value: c_int) -> c_int {
    unsafe { &mut *env }.ints.insert(text(name), value);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBsetdblparam(env: *mut Env, name: *const c_char, value: f64) -> c_int {
    unsafe { &mut *env }.doubles.insert(text(name), value);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBnewmodel(
    env: *mut Env,
    model: *mut *mut Program,
    _name: *const c_char,
    cols: c_int,
    cost: *const f64,
    lower: *const f64,
    upper: *const f64,
    kind: *const c_char,
    _names: *const *const c_char,
) -> c_int {
    unsafe {
        assert!((*env).started);
        let bounds = slice(lower, cols).iter().copied().zip(slice(upper, cols).iter().copied()).collect();
        *model = Box::into_raw(Box::new(Program {
            env: (*env).clone(),
            cost: slice(cost, cols).to_vec(),
            bounds,
            integer: slice(kind, cols).iter().map(|&kind| kind as u8 == b'I').collect(),
            rows: Vec::new(),
            offset: 0.0,
            start: Vec::new(),
            callback: None,
            terminated: Arc::default(),
            status: 1,
            point: None,
            objective: 0.0,
            bound: 0.0,
        }));
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBfreemodel(model: *mut Program) -> c_int {
    drop(unsafe { Box::from_raw(model) });
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBgetenv(model: *mut Program) -> *mut Env {
    unsafe { &raw mut (*model).env }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBaddconstrs(
    model: *mut Program,
    rows: c_int,
    nonzeros: c_int,
    start: *const c_int,
    index: *const c_int,
    value: *const f64,
    sense: *const c_char,
    side: *const f64,
    _names: *const *const c_char,
) -> c_int {
    let model = unsafe { &mut *model };
    let (start, index, value) = unsafe { (slice(start, rows), slice(index, nonzeros), slice(value, nonzeros)) };
    let (sense, side) = unsafe { (slice(sense, rows), slice(side, rows)) };
    for row in 0..rows as usize {
        let from = start[row] as usize;
        let end = start.get(row + 1).map_or(nonzeros as usize, |&end| end as usize);
        let terms = (from..end).map(|entry| (index[entry] as usize, value[entry])).collect();
        model.rows.push((sense[row] as u8, side[row], terms));
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBsetdblattr(model: *mut Program, name: *const c_char, value: f64) -> c_int {
    assert_eq!(text(name), "ObjCon");
    unsafe { (*model).offset = value };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBsetdblattrarray(
    model: *mut Program,
    name: *const c_char,
    first: c_int,
    length: c_int,
    values: *const f64,
) -> c_int {
    let model = unsafe { &mut *model };
    assert_eq!((text(name).as_str(), first, length as usize), ("Obj", 0, model.cost.len()));
    model.cost = unsafe { slice(values, length) }.to_vec();
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBsetdblattrlist(
    model: *mut Program,
    name: *const c_char,
    length: c_int,
    index: *const c_int,
    values: *const f64,
) -> c_int {
    assert_eq!(text(name), "Start");
    let (index, values) = unsafe { (slice(index, length), slice(values, length)) };
    unsafe { (*model).start = index.iter().map(|&col| col as usize).zip(values.iter().copied()).collect() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBgetdblattrarray(
    model: *mut Program,
    name: *const c_char,
    first: c_int,
    length: c_int,
    values: *mut f64,
) -> c_int {
    let model = unsafe { &mut *model };
    assert_eq!((text(name).as_str(), first), ("X", 0));
    let Some(point) = &model.point else { return 10_005 };
    assert_eq!(length as usize, point.len());
    unsafe { std::slice::from_raw_parts_mut(values, length as usize) }.copy_from_slice(point);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBgetintattr(model: *mut Program, name: *const c_char, value: *mut c_int) -> c_int {
    let model = unsafe { &*model };
    let found = match text(name).as_str() {
        "Status" => model.status,
        "SolCount" => c_int::from(model.point.is_some()),
        _ => return 10_004,
    };
    unsafe { *value = found };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBgetdblattr(model: *mut Program, name: *const c_char, value: *mut f64) -> c_int {
    let model = unsafe { &*model };
    let found = match text(name).as_str() {
        "ObjBound" => model.bound,
        "ObjVal" => model.objective,
        "NodeCount" => 1.0,
        _ => return 10_004,
    };
    unsafe { *value = found };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBsetcallbackfunc(
    model: *mut Program,
    callback: Option<Callback>,
    user: *mut c_void,
) -> c_int {
    unsafe { (*model).callback = callback.map(|callback| (callback, user)) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBterminate(model: *mut Program) {
    unsafe { (*model).terminated.store(true, Ordering::Relaxed) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBreset(model: *mut Program, _all: c_int) -> c_int {
    unsafe { (*model).point = None };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn GRBoptimize(model: *mut Program) -> c_int {
    let address = model as usize;
    let (program, terminated) = unsafe { (&mut *model, Arc::clone(&(*model).terminated)) };
    program.point = None;
    terminated.store(false, Ordering::Relaxed);
    let seed = program.env.ints.get("Seed").copied().unwrap_or(0);
    if program.cost.len() > MOST_LINES || program.rows.len() > MOST_LINES {
        return 10_010;
    }
    if seed == NUMERIC_ERROR {
        program.env.message = c"Numerical trouble encountered".into();
        return 10_014;
    }
    assert_eq!(program.env.ints.get("Threads"), Some(&1));
    let mut lp = Lp::new(&program.model()).unwrap();
    lp.set_interrupt(Arc::clone(&terminated)).unwrap();
    let parameter = |name: &str, default: f64| program.env.doubles.get(name).copied().unwrap_or(default);
    lp.set_mip_gap(parameter("MIPGap", 1e-4)).unwrap();
    lp.set_integrality(parameter("IntFeasTol", 1e-5)).unwrap();
    let limit = parameter("TimeLimit", 1e100);
    lp.set_time_limit((limit < 1e9).then(|| Duration::from_secs_f64(limit))).unwrap();
    if program.env.ints.get("Presolve") == Some(&0) {
        lp.set_presolve(Toggle::Off).unwrap();
    }
    if !program.start.is_empty() {
        lp.set_partial_start(&program.start).unwrap();
    }
    let callback = program.callback.map(|(callback, user)| (callback, user as usize));
    let (is_done, mut status) = (AtomicBool::new(false), Status::Failed);
    std::thread::scope(|scope| {
        if let Some((callback, user)) = callback {
            let is_done = &is_done;
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    unsafe { callback(address as *mut Program, std::ptr::null_mut(), 0, user as *mut c_void) };
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        status = lp.solve().unwrap();
        is_done.store(true, Ordering::Relaxed);
    });
    program.status = match status {
        Status::Optimal => 2,
        Status::Infeasible => 3,
        Status::InfeasibleOrUnbounded => 4,
        Status::Unbounded => 5,
        Status::TimeLimit => 9,
        Status::Interrupted => 11,
        Status::OtherLimit => 8,
        Status::Failed => 12,
    };
    if lp.has_feasible_point() && !matches!(program.status, 3..=5) {
        let mut point = vec![0.0; program.cost.len()];
        lp.primal(&mut point).unwrap();
        program.point = Some(point);
    }
    program.objective = lp.objective();
    program.bound = lp.mip_dual_bound().unwrap_or(-1e100);
    match seed {
        UNKNOWN_STATUS => program.status = 77,
        WRONG_POINT => program.point.iter_mut().flatten().for_each(|value| *value += 0.25),
        WRONG_BOUND => program.bound = program.objective + 1.0,
        _ => {}
    }
    0
}

impl Program {
    fn model(&self) -> Model {
        let infinite = |bound: f64| if bound.abs() >= 1e20 { bound.signum() * f64::INFINITY } else { bound };
        let mut model = Model::new();
        for ((&cost, &(lower, upper)), &integer) in self.cost.iter().zip(&self.bounds).zip(&self.integer) {
            let (lower, upper) = (infinite(lower), infinite(upper));
            match integer {
                true => model.add_integer(cost, lower, upper),
                false => model.add_col(cost, lower, upper),
            };
        }
        for (sense, side, terms) in &self.rows {
            let (lower, upper) = match sense {
                b'<' => (f64::NEG_INFINITY, *side),
                b'>' => (*side, f64::INFINITY),
                b'=' => (*side, *side),
                other => unreachable!("no sense {other}"),
            };
            model.add_row(lower, upper, terms);
        }
        model.set_offset(self.offset);
        model
    }
}
