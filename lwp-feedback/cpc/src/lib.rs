//! libcpc's functions under their own names, over [`lwp_feedback::cpc`]. `include/libcpc.h` is their C side.
//!
//! Every function takes pointers that these functions made and that were not destroyed, or NULL, which is EINVAL. Errors are -1 or NULL, with errno.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lwp_feedback::cpc::feed::LWP_ITEMS;
use lwp_feedback::cpc::{
    CounterBuf, CounterSet, Cpc, CpcError, Feed, FeedEvent, Invalid, Item, PerfSource, Request, RequestKind, SampleRecord,
};

/// `cpc_t`.
pub struct Handle {
    cpc: Cpc,
    feed: Option<Feed>,
    /// Item names for the walkers.
    names: Vec<CString>,
}

/// `cpc_set_t`.
pub struct Set(CounterSet);

/// `cpc_buf_t`.
pub struct Buf(Mutex<CounterBuf>);

/// `cpc_attr_t`.
#[repr(C)]
pub struct Attribute {
    /// Name.
    pub ca_name: *const c_char,
    /// Value.
    pub ca_val: u64,
}

type Action = Option<unsafe extern "C" fn(*mut c_void, *const c_char, c_int)>;
type ErrorHandler = unsafe extern "C" fn(*const c_char, c_int, *const c_char);

const VERSION_COUNTERS: c_int = 2;
const VERSION_SAMPLES: c_int = 3;
const COUNT_USER: c_uint = 2;
const COUNT_SYSTEM: c_uint = 4;
const HW_SMPL: c_uint = 8;
const DEFAULT_RECORDS: usize = 64;

fn lock(buf: &Buf) -> MutexGuard<'_, CounterBuf> {
    buf.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The buffer's counts; its lock is given back.
fn counts(buf: &Buf) -> CounterBuf {
    lock(buf).counts_only()
}

fn fail(error: CpcError) {
    // SAFETY: the calling thread's errno.
    unsafe { *libc::__errno_location() = error.errno() };
}

const NULL_POINTER: CpcError = CpcError::System(libc::EINVAL);

/// 0, or -1 with errno.
fn code(result: Result<(), CpcError>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            fail(error);
            -1
        }
    }
}

fn index(index: c_int) -> Result<usize, CpcError> {
    usize::try_from(index).map_err(|_| Invalid::NoRequest(usize::MAX).into())
}

/// # Safety
/// NULL, or a live object of this type.
unsafe fn live<'a, T>(pointer: *const T) -> Result<&'a T, CpcError> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or(NULL_POINTER)
}

/// # Safety
/// NULL, or a terminated string.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, CpcError> {
    if pointer.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: the caller's contract.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| Invalid::NoEvent.into())
}

/// # Safety
/// NULL, or writable.
unsafe fn store<T>(into: *mut T, value: T) -> Result<(), CpcError> {
    if into.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: the caller's contract.
    unsafe { into.write(value) };
    Ok(())
}

/// # Safety
/// Both NULL or live.
unsafe fn own<'a>(cpc: *const Handle, buf: *const Buf) -> Result<MutexGuard<'a, CounterBuf>, CpcError> {
    // SAFETY: the caller's contract.
    let (cpc, buf) = unsafe { (live(cpc)?, live(buf)?) };
    let buf = lock(buf);
    if cpc.cpc.owns(&buf) { Ok(buf) } else { Err(Invalid::ForeignBuffer.into()) }
}

fn handle(cpc: Result<Cpc, CpcError>, feed: Option<Feed>) -> *mut Handle {
    match cpc {
        Ok(cpc) => {
            let names = cpc.items().names.iter().filter_map(|name| CString::new(*name).ok()).collect();
            Box::into_raw(Box::new(Handle { cpc, feed, names }))
        }
        Err(error) => {
            fail(error);
            std::ptr::null_mut()
        }
    }
}

fn samples(version: c_int) -> Result<bool, CpcError> {
    match version {
        VERSION_COUNTERS => Ok(false),
        VERSION_SAMPLES => Ok(true),
        _ => Err(NULL_POINTER),
    }
}

/// Opens the perf source.
#[unsafe(no_mangle)]
pub extern "C" fn cpc_open(version: c_int) -> *mut Handle {
    let open = || Cpc::open(Arc::new(PerfSource::new()?), samples(version)?);
    handle(open(), None)
}

/// Opens a feed.
#[unsafe(no_mangle)]
pub extern "C" fn backedge_cpc_open_feed(version: c_int, overflow_detected: c_int) -> *mut Handle {
    let feed = Feed::new(LWP_ITEMS, overflow_detected != 0);
    handle(samples(version).and_then(|samples| Cpc::open(Arc::new(feed.clone()), samples)), Some(feed))
}

/// Closes a handle.
///
/// # Safety
/// See the crate's description; its sets and buffers may outlive it and are then useless.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_close(cpc: *mut Handle) -> c_int {
    if cpc.is_null() {
        return code(Err(NULL_POINTER));
    }
    // SAFETY: made by `handle`, and the caller gives it up.
    drop(unsafe { Box::from_raw(cpc) });
    0
}

/// What the source can do.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_caps(cpc: *mut Handle) -> c_uint {
    // SAFETY: the caller's contract.
    unsafe { live(cpc) }.map_or(0, |cpc| cpc.cpc.caps().bits())
}

/// Sets the error handler, or none.
///
/// # Safety
/// See the crate's description; the handler stays callable, from any thread, until it is replaced or the handle closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_seterrhndlr(cpc: *mut Handle, handler: Option<ErrorHandler>) -> c_int {
    // SAFETY: the caller's contract.
    let cpc = match unsafe { live(cpc) } {
        Ok(cpc) => cpc,
        Err(error) => return code(Err(error)),
    };
    let call = handler.map(|handler| {
        let call = move |function: &str, error: CpcError| {
            let (Ok(function), Ok(message)) = (CString::new(function), CString::new(error.to_string())) else { return };
            // SAFETY: the caller's contract keeps the handler callable; both strings live through the call.
            unsafe { handler(function.as_ptr(), error.errno(), message.as_ptr()) };
        };
        Arc::new(call) as Arc<dyn Fn(&str, CpcError) + Send + Sync>
    });
    cpc.cpc.set_error_handler(call);
    0
}

/// An empty set.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_set_create(cpc: *mut Handle) -> *mut Set {
    // SAFETY: the caller's contract.
    match unsafe { live(cpc) } {
        Ok(cpc) => Box::into_raw(Box::new(Set(cpc.cpc.create_set()))),
        Err(error) => {
            fail(error);
            std::ptr::null_mut()
        }
    }
}

/// Ends a set; a bound one is unbound.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_set_destroy(cpc: *mut Handle, set: *mut Set) -> c_int {
    // SAFETY: the caller's contract.
    let unbound = match unsafe { (live(cpc), live(set)) } {
        (Ok(cpc), Ok(set)) => cpc.cpc.unbind(&set.0),
        _ => Err(NULL_POINTER),
    };
    match unbound {
        Ok(()) | Err(CpcError::Invalid(Invalid::Unbound)) => {
            // SAFETY: made by `cpc_set_create`, and the caller gives it up.
            drop(unsafe { Box::from_raw(set) });
            0
        }
        Err(error) => code(Err(error)),
    }
}

/// Adds a request and returns its index.
///
/// # Safety
/// See the crate's description; `attrs` has `nattrs` elements with terminated names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_set_add_request(
    cpc: *mut Handle,
    set: *mut Set,
    event: *const c_char,
    preset: u64,
    flags: c_uint,
    nattrs: c_uint,
    attrs: *const Attribute,
) -> c_int {
    // SAFETY: the caller's contract.
    let (cpc, set) = match unsafe { (live(cpc), live(set)) } {
        (Ok(cpc), Ok(set)) => (cpc, set),
        _ => return code(Err(NULL_POINTER)),
    };
    let add = || {
        if flags & !(COUNT_USER | COUNT_SYSTEM | HW_SMPL) != 0 || (nattrs > 0 && attrs.is_null()) {
            return Err(NULL_POINTER);
        }
        let mut max_records = DEFAULT_RECORDS;
        for attribute in 0..nattrs as usize {
            // SAFETY: the caller's array has `nattrs` elements.
            let attribute = unsafe { &*attrs.add(attribute) };
            // SAFETY: the caller's contract.
            match unsafe { text(attribute.ca_name)? } {
                "smpl_nrecs" if flags & HW_SMPL != 0 => max_records = usize::try_from(attribute.ca_val).map_err(|_| CpcError::NoMemory)?,
                _ => return Err(CpcError::NotSupported),
            }
        }
        // SAFETY: the caller's contract.
        let event = unsafe { text(event)? }.to_owned();
        let kind = if flags & HW_SMPL != 0 { RequestKind::Sampling { max_records } } else { RequestKind::Counting };
        let request = Request { event, preset, user: flags & COUNT_USER != 0, system: flags & COUNT_SYSTEM != 0, kind };
        cpc.cpc.add_request(&set.0, request)
    };
    match add() {
        Ok(index) => index as c_int,
        Err(error) => {
            cpc.cpc.report("cpc_set_add_request", error);
            code(Err(error))
        }
    }
}

/// Binds the set to the calling thread.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_bind_curlwp(cpc: *mut Handle, set: *mut Set, flags: c_uint) -> c_int {
    // SAFETY: the caller's contract.
    let bind = || unsafe { if flags == 0 { live(cpc)?.cpc.bind_thread(&live(set)?.0) } else { Err(CpcError::NotSupported) } };
    code(bind())
}

/// Binds the set, and the calling thread, to a CPU.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_bind_cpu(cpc: *mut Handle, id: c_int, set: *mut Set, flags: c_uint) -> c_int {
    let bind = || {
        let cpu = usize::try_from(id).map_err(|_| Invalid::NoCpu(usize::MAX))?;
        // SAFETY: the caller's contract.
        unsafe { if flags == 0 { live(cpc)?.cpc.bind_cpu(&live(set)?.0, cpu) } else { Err(CpcError::NotSupported) } }
    };
    code(bind())
}

/// Unbinds the set.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_unbind(cpc: *mut Handle, set: *mut Set) -> c_int {
    // SAFETY: the caller's contract.
    let unbind = || unsafe { live(cpc)?.cpc.unbind(&live(set)?.0) };
    code(unbind())
}

/// A buffer for the set.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_create(cpc: *mut Handle, set: *mut Set) -> *mut Buf {
    // SAFETY: the caller's contract.
    let create = || unsafe { live(cpc)?.cpc.create_buf(&live(set)?.0) };
    match create() {
        Ok(buf) => Box::into_raw(Box::new(Buf(Mutex::new(buf)))),
        Err(error) => {
            fail(error);
            std::ptr::null_mut()
        }
    }
}

/// Ends a buffer and its records.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_destroy(cpc: *mut Handle, buf: *mut Buf) -> c_int {
    // SAFETY: the caller's contract.
    if let Err(error) = unsafe { own(cpc, buf) }.map(drop) {
        return code(Err(error));
    }
    // SAFETY: made by `cpc_buf_create`, and the caller gives it up.
    drop(unsafe { Box::from_raw(buf) });
    0
}

/// Samples the set into the buffer.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_set_sample(cpc: *mut Handle, set: *mut Set, buf: *mut Buf) -> c_int {
    // SAFETY: the caller's contract.
    let sample = || unsafe { live(cpc)?.cpc.sample(&live(set)?.0, &mut lock(live(buf)?)) };
    code(sample())
}

/// The value of a counting request.
///
/// # Safety
/// See the crate's description; `val` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_get(cpc: *mut Handle, buf: *mut Buf, request: c_int, val: *mut u64) -> c_int {
    // SAFETY: the caller's contract.
    let get = || unsafe { store(val, own(cpc, buf)?.get(index(request)?)?) };
    code(get())
}

/// Stores a value in the buffer.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_set(cpc: *mut Handle, buf: *mut Buf, request: c_int, val: u64) -> c_int {
    // SAFETY: the caller's contract.
    let set = || unsafe { own(cpc, buf)?.store(index(request)?, val) };
    code(set())
}

/// When the set was last sampled into the buffer; 0 for a foreign buffer.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_hrtime(cpc: *mut Handle, buf: *mut Buf) -> i64 {
    // SAFETY: the caller's contract.
    unsafe { own(cpc, buf) }.map_or(0, |buf| buf.hrtime() as i64)
}

/// Core clocks since the set was bound; 0 for a foreign buffer.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_tick(cpc: *mut Handle, buf: *mut Buf) -> u64 {
    // SAFETY: the caller's contract.
    unsafe { own(cpc, buf) }.map_or(0, |buf| buf.tick())
}

/// # Safety
/// See the crate's description.
unsafe fn combine(function: &str, cpc: *mut Handle, [ds, a, b]: [*mut Buf; 3], run: fn(&Cpc, &mut CounterBuf, &CounterBuf, &CounterBuf)) {
    // SAFETY: the caller's contract.
    let Ok(handle) = (unsafe { live(cpc) }) else { return };
    // One buffer may be operand and result, so the operands are copied first, each under its own lock.
    // SAFETY: the caller's contract.
    let operands = || unsafe {
        let a = counts(live(a)?);
        let b = counts(live(b)?);
        Ok((a, b, lock(live(ds)?)))
    };
    match operands() {
        Ok((a, b, mut ds)) => run(&handle.cpc, &mut ds, &a, &b),
        Err(error) => handle.cpc.report(function, error),
    }
}

/// `ds = a - b`, counting requests only.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_sub(cpc: *mut Handle, ds: *mut Buf, a: *mut Buf, b: *mut Buf) {
    // SAFETY: the caller's contract.
    unsafe { combine("cpc_buf_sub", cpc, [ds, a, b], Cpc::sub) };
}

/// `ds = a + b`, counting requests only.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_add(cpc: *mut Handle, ds: *mut Buf, a: *mut Buf, b: *mut Buf) {
    // SAFETY: the caller's contract.
    unsafe { combine("cpc_buf_add", cpc, [ds, a, b], Cpc::add) };
}

/// Copies a buffer of the same set.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_copy(cpc: *mut Handle, ds: *mut Buf, src: *mut Buf) {
    if ds == src {
        return;
    }
    // SAFETY: the caller's contract.
    let Ok(handle) = (unsafe { live(cpc) }) else { return };
    // SAFETY: the caller's contract. The lower address is locked first, so that two copies in opposite directions cannot wait for each other.
    let locked = || unsafe {
        let (first, second) = (live(ds.min(src))?, live(ds.max(src))?);
        Ok((lock(first), lock(second)))
    };
    match locked() {
        Ok((mut first, mut second)) => {
            let (ds, src) = if ds < src { (&mut *first, &mut *second) } else { (&mut *second, &mut *first) };
            handle.cpc.copy(ds, src);
        }
        Err(error) => handle.cpc.report("cpc_buf_copy", error),
    }
}

/// Sets everything in the buffer to zero.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_zero(cpc: *mut Handle, buf: *mut Buf) {
    // SAFETY: the caller's contract.
    let Ok(handle) = (unsafe { live(cpc) }) else { return };
    // SAFETY: the caller's contract.
    match unsafe { live(buf) } {
        Ok(buf) => handle.cpc.zero(&mut lock(buf)),
        Err(error) => handle.cpc.report("cpc_buf_zero", error),
    }
}

/// Records of a sampling request.
///
/// # Safety
/// See the crate's description; `rec_count` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_smpl_rec_count(cpc: *mut Handle, buf: *mut Buf, request: c_int, rec_count: *mut c_uint) -> c_int {
    // SAFETY: the caller's contract.
    let count = || unsafe { store(rec_count, own(cpc, buf)?.record_count(index(request)?)? as c_uint) };
    code(count())
}

/// One item of a record.
///
/// # Safety
/// See the crate's description; `val` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_smpl_get_item(
    cpc: *mut Handle,
    buf: *mut Buf,
    request: c_int,
    record: c_int,
    record_item: c_int,
    val: *mut u64,
) -> c_int {
    let item = match record_item {
        -1 => Item::Pc,
        -2 => Item::Dlina,
        -3 => Item::Lat,
        -4 => Item::Dsrc,
        other => Item::Index(usize::try_from(other).unwrap_or(usize::MAX)),
    };
    // SAFETY: the caller's contract.
    let get = || unsafe { store(val, own(cpc, buf)?.item(index(request)?, index(record)?, item)?) };
    code(get())
}

/// A record, as an array by item index.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_buf_smpl_get_record(cpc: *mut Handle, buf: *mut Buf, request: c_int, record: c_int) -> *mut u64 {
    // SAFETY: the caller's contract.
    let get = || unsafe { Ok(own(cpc, buf)?.record(index(request)?, index(record)?)?.as_ptr().cast_mut()) };
    get().unwrap_or_else(|error| {
        fail(error);
        std::ptr::null_mut()
    })
}

/// Most records that a sampling request keeps between two samples.
///
/// # Safety
/// See the crate's description; `max_rec_count` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_get_smpl_max_rec_count(cpc: *mut Handle, set: *mut Set, request: c_int, max_rec_count: *mut c_uint) -> c_int {
    // SAFETY: the caller's contract.
    let count = || unsafe { store(max_rec_count, live(cpc)?.cpc.max_record_count(&live(set)?.0, index(request)?)? as c_uint) };
    code(count())
}

/// Calls `action` for each item of a record.
///
/// # Safety
/// See the crate's description; `action` may be called with `arg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_walk_smpl_recitems(cpc: *mut Handle, arg: *mut c_void, action: Action) -> c_int {
    // SAFETY: the caller's contract.
    let (Ok(handle), Some(action)) = (unsafe { live(cpc) }, action) else { return code(Err(NULL_POINTER)) };
    if !handle.cpc.is_sampling() {
        return code(Err(Invalid::NotOpenedForSampling.into()));
    }
    for (index, name) in handle.names.iter().enumerate() {
        // SAFETY: the caller's contract; the name lives as long as the handle.
        unsafe { action(arg, name.as_ptr(), index as c_int) };
    }
    0
}

/// Calls `action` for each item of a request's records.
///
/// # Safety
/// As [`cpc_walk_smpl_recitems`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cpc_walk_smpl_recitems_req(
    cpc: *mut Handle,
    set: *mut Set,
    request: c_int,
    arg: *mut c_void,
    action: Action,
) -> c_int {
    // SAFETY: the caller's contract.
    let check = || unsafe { live(cpc)?.cpc.max_record_count(&live(set)?.0, index(request)?).map(|_| ()) };
    match check() {
        // SAFETY: the caller's contract.
        Ok(()) => unsafe { cpc_walk_smpl_recitems(cpc, arg, action) },
        Err(error) => code(Err(error)),
    }
}

/// # Safety
/// See the crate's description.
unsafe fn with_feed(cpc: *const Handle, run: impl FnOnce(&Feed) -> Result<bool, CpcError>) -> c_int {
    // SAFETY: the caller's contract.
    let feed = unsafe { live(cpc) }.and_then(|handle| handle.feed.as_ref().ok_or(CpcError::NotSupported));
    code(feed.and_then(run).and_then(|known| if known { Ok(()) } else { Err(Invalid::NoEvent.into()) }))
}

/// Defines an event of a feed.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backedge_cpc_feed_define(cpc: *mut Handle, event: *const c_char, width: c_uint, samples: c_int) -> c_int {
    let define = |feed: &Feed| {
        if !(1..=64).contains(&width) {
            return Err(NULL_POINTER);
        }
        // SAFETY: the caller's contract.
        feed.define(FeedEvent { name: unsafe { text(event)? }.to_owned(), width, samples: samples != 0 });
        Ok(true)
    };
    // SAFETY: the caller's contract.
    unsafe { with_feed(cpc, define) }
}

/// An event occurred.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backedge_cpc_feed_count(cpc: *mut Handle, event: *const c_char, occurrences: u64) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { with_feed(cpc, |feed| Ok(feed.count(text(event)?, occurrences))) }
}

/// Core clocks passed.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backedge_cpc_feed_clocks(cpc: *mut Handle, clocks: u64) -> c_int {
    let pass = |feed: &Feed| {
        feed.clocks(clocks);
        Ok(true)
    };
    // SAFETY: the caller's contract.
    unsafe { with_feed(cpc, pass) }
}

/// A sample of an event.
///
/// # Safety
/// See the crate's description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backedge_cpc_feed_sample(
    cpc: *mut Handle,
    event: *const c_char,
    present: c_uint,
    pc: u64,
    dlina: u64,
    lat: u64,
    dsrc: u64,
) -> c_int {
    let mut items = vec![None; LWP_ITEMS.names.len()];
    for (bit, value) in [pc, dlina, lat, dsrc].into_iter().enumerate() {
        items[bit] = (present >> bit & 1 != 0).then_some(value);
    }
    // SAFETY: the caller's contract.
    unsafe { with_feed(cpc, |feed| Ok(feed.sample(text(event)?, &SampleRecord::new(&items)))) }
}
