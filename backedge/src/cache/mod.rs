//! Machine code kept from one process to the next: the cache, and precompiled modules.
//!
//! Both are an [`archive::Archive`] per module. [`KeepingCompiler`] stands in front of the compiler: what it compiles it also keeps, and what was kept it
//! hands out at a function's first call. Kept code is native code that runs unchecked, so a cache file is used only from a directory and a file that belong
//! to this user and that nobody else can write; its checksums guard against damage, not against malice.
//!
//! Best effort: whatever fails here costs a debug line, never the run.

pub(crate) mod archive;
mod directory;

use archive::{Archive, Entry, Maker, Source};
use directory::FileState;
use lwp_feedback::profile::NotInlinable;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, BufWriter};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};
use vm::code::{Adapter, AdapterSignature, CompileError, CompileRequest, CompiledCode, Compiler, Entrance, Tier};
use vm::module::Module;

pub use directory::{CacheDirectory, CacheFile};

/// What writing a file takes, ns per byte: 30 ms for the 5.7 MB that a start of CPython fills (Xeon, ext4).
const WRITE_NS_PER_BYTE: u128 = 5;
/// So many runs that compile the same again would take as long as writing the file does, and no more.
const REPAID_AFTER_RUNS: u128 = 8;

/// A compiler that keeps what it made, and knows what was kept.
pub(crate) struct KeepingCompiler {
    inner: Arc<dyn Compiler>,
    maker: Maker,
    /// `None`: only precompiled modules are served.
    directory: Option<CacheDirectory>,
    /// Distinguishes engines whose settings make other code: part of a file's name.
    kind: &'static str,
    modules: Mutex<HashMap<[u8; 32], Arc<Kept>>>,
}

/// What is kept of one module.
struct Kept {
    archive: Option<Archive>,
    /// Whether the archive is a precompiled module's: then nothing is saved.
    precompiled: bool,
    /// The modules that are served from it. It goes when they have gone: an archive is an open file, and what is fresh is as large as the code.
    users: Mutex<Vec<Weak<Module>>>,
    fresh: Mutex<Fresh>,
}

impl Kept {
    fn new(archive: Option<Archive>, precompiled: bool) -> Kept {
        let file = archive.as_ref().filter(|archive| !precompiled && archive.can_grow()).and_then(FileState::as_read);
        Kept { archive, precompiled, users: Mutex::default(), fresh: Fresh { file, ..Fresh::default() }.into() }
    }

    fn is_used(&self) -> bool {
        let mut users = lock(&self.users);
        // (its first user is on the way, if the bytes are a module's: some were)
        let new = users.is_empty() && self.archive.is_some();
        users.retain(|user| user.strong_count() > 0);
        new || !users.is_empty()
    }

    fn used_by(&self, module: &Arc<Module>) {
        let mut users = lock(&self.users);
        users.retain(|user| user.strong_count() > 0);
        if users.iter().all(|user| user.as_ptr() != Arc::as_ptr(module)) {
            users.push(Arc::downgrade(module));
        }
    }
}

/// Made in this process.
#[derive(Default)]
struct Fresh {
    /// By function; the last one counts. They stay after a save: another may have to write the file anew.
    versions: BTreeMap<u32, Version>,
    /// Whose function's each version number is, of these and of what other processes wrote: a guard's exits are counted by it. Several instances of a module's code in one process
    /// number their versions alike.
    numbers: HashMap<u32, u32>,
    /// Functions whose version was made since the last save.
    unsaved: BTreeSet<u32>,
    /// What compiling these took.
    unsaved_time: Duration,
    /// The file as this process has read or written it, if more can be appended.
    file: Option<FileState>,
    /// The module's, once something was made.
    loops: Arc<[u32]>,
}

/// A version and its code as it is written.
type Version = (Entry, Vec<u8>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

impl KeepingCompiler {
    /// `guarded`: whether the engine's memories have guards, so that its code needs no bounds checks.
    pub(crate) fn new(inner: Arc<dyn Compiler>, directory: Option<CacheDirectory>, kind: &'static str, guarded: bool) -> KeepingCompiler {
        KeepingCompiler { inner, maker: Maker::here(guarded), directory, kind, modules: Mutex::default() }
    }

    pub(crate) fn directory(&self) -> Option<&CacheDirectory> {
        self.directory.as_ref()
    }

    pub(crate) fn maker(&self) -> &Maker {
        &self.maker
    }

    /// Serves a module from its precompiled code: from what is there already, where it was loaded before, for code that runs keeps the file it came from.
    pub(crate) fn adopt(&self, archive: Archive) {
        let digest = archive.digest();
        let unused = self.without_unused(|modules| {
            if modules.get(&digest).is_none_or(|kept| !kept.precompiled) {
                modules.insert(digest, Arc::new(Kept::new(Some(archive), true)));
            }
        });
        // (what went wrong is a debug line)
        let _ = self.save_all(unused);
    }

    /// What is kept of a module; `None` where nothing can be.
    fn known(&self, digest: &[u8; 32]) -> Option<Arc<Kept>> {
        let nowhere = self.directory.is_none() && !lock(&self.modules).contains_key(digest);
        (!nowhere).then(|| self.kept(digest))
    }

    fn kept(&self, digest: &[u8; 32]) -> Arc<Kept> {
        if let Some(kept) = lock(&self.modules).get(digest) {
            return kept.clone();
        }
        let archive = self.directory.as_ref().and_then(|directory| self.open(directory, digest));
        let new = Arc::new(Kept::new(archive, false));
        let mut kept = None;
        let unused = self.without_unused(|modules| kept = Some(modules.entry(*digest).or_insert(new).clone()));
        // (what went wrong is a debug line)
        let _ = self.save_all(unused);
        kept.expect("it was there or is now")
    }

    /// Changes which modules are known, without those that nobody uses any more; these come back, for what they have to save.
    fn without_unused(&self, change: impl FnOnce(&mut HashMap<[u8; 32], Arc<Kept>>)) -> Vec<([u8; 32], Arc<Kept>)> {
        let mut modules = lock(&self.modules);
        let unused = modules.extract_if(|_, kept| !kept.is_used()).collect();
        change(&mut modules);
        unused
    }

    /// The file of a module, as it is now.
    fn open(&self, directory: &CacheDirectory, digest: &[u8; 32]) -> Option<Archive> {
        let file = directory.open(&self.name(digest))?;
        match Archive::open(Source::File(file), &self.maker, Some(digest)) {
            Ok(archive) => Some(archive),
            Err(error) => {
                tracing::debug!(%error, "a cache file is not used");
                None
            }
        }
    }

    fn name(&self, digest: &[u8; 32]) -> String {
        let digest: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{digest}-{}", self.kind)
    }

    /// Whether a version of that function is in the cache, or was made for it.
    pub(crate) fn holds(&self, digest: &[u8; 32], function: u32) -> bool {
        self.known(digest).is_some_and(|kept| {
            let saved = kept.archive.as_ref().is_some_and(|archive| archive.entry(function).is_some());
            saved || lock(&kept.fresh).versions.contains_key(&function)
        })
    }

    /// Writes what was made since into the cache, as far as that can be; the first error otherwise.
    pub(crate) fn save(&self) -> io::Result<()> {
        let modules: Vec<_> = lock(&self.modules).iter().map(|(digest, kept)| (*digest, kept.clone())).collect();
        self.save_all(modules)
    }

    fn save_all(&self, modules: Vec<([u8; 32], Arc<Kept>)>) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let mut outcome = Ok(());
        for (digest, kept) in modules {
            let saved =
                self.save_module(directory, &digest, &kept).inspect_err(|error| tracing::debug!(%error, "the cache was not written"));
            outcome = outcome.and(saved);
        }
        outcome
    }

    fn save_module(&self, directory: &CacheDirectory, digest: &[u8; 32], kept: &Kept) -> io::Result<()> {
        let name = self.name(digest);
        // Held to the end: what a compile thread makes meanwhile waits a moment to be noted.
        let mut fresh = lock(&kept.fresh);
        let fresh = &mut *fresh;
        if kept.precompiled || fresh.unsaved.is_empty() {
            return Ok(());
        }
        if let Some(state) = fresh.file {
            let new: Vec<Version> = fresh.unsaved.iter().filter_map(|function| fresh.versions.get(function)).cloned().collect();
            let mut part = Vec::new();
            archive::write(&mut part, &self.maker, digest, &[], &[], &new)?;
            if !worth_writing(fresh.unsaved_time, part.len() as u64) {
                return Ok(());
            }
            fresh.file = directory.append(&name, state, &part)?;
            if fresh.file.is_some() {
                tracing::debug!(functions = new.len(), compile_time = ?fresh.unsaved_time, bytes = part.len(), "more is written into the cache");
                fresh.saved();
                return Ok(());
            }
        }
        if !worth_writing(fresh.unsaved_time, kept.archive.as_ref().map_or(0, Archive::length)) {
            return Ok(());
        }
        let versions = fresh.joined_with(kept.archive.as_ref(), self.open(directory, digest).as_ref());
        let write = |out: &mut BufWriter<_>| archive::write(out, &self.maker, digest, &fresh.loops, &[], &versions);
        fresh.file = Some(directory.write(&name, write)?);
        fresh.numbers.extend(versions.iter().map(|(entry, _)| (entry.version, entry.function)));
        tracing::debug!(functions = fresh.versions.len(), compile_time = ?fresh.unsaved_time, "the cache is written");
        fresh.saved();
        Ok(())
    }
}

impl Fresh {
    fn saved(&mut self) {
        self.unsaved.clear();
        self.unsaved_time = Duration::ZERO;
    }

    /// All versions for a file that is written anew: these, and what another process may have written meanwhile. `read` is what this process began with, `newest` what is there.
    fn joined_with(&self, read: Option<&Archive>, newest: Option<&Archive>) -> Vec<Version> {
        let there = newest.or(read);
        let known = read.map_or(0, Archive::last_version);
        let ours: HashSet<u32> = self.versions.values().map(|(entry, _)| entry.version).collect();
        let mut joined = self.versions.clone();
        for entry in there.iter().flat_map(|archive| archive.entries()) {
            // A number is of one version. And what another process found to be worth the better compiler stays; what this one knew before, it has replaced.
            let replaced = |mine: &Version| entry.version <= known || entry.tier <= mine.0.tier;
            if ours.contains(&entry.version) || self.versions.get(&entry.function).is_some_and(replaced) {
                continue;
            }
            if let Some(Ok(bytes)) = there.map(|archive| archive.encoded(entry)) {
                joined.insert(entry.function, (entry.clone(), bytes));
            }
        }
        joined.into_values().collect()
    }
}

impl Compiler for KeepingCompiler {
    fn compile(&self, request: &CompileRequest) -> Result<CompiledCode, CompileError> {
        let began = Instant::now();
        let code = self.inner.compile(request)?;
        let took = began.elapsed();
        if request.lasting() {
            self.keep(request, &code, took);
        }
        Ok(code)
    }

    fn keeps(&self) -> bool {
        self.directory.is_some()
    }

    fn keep(&self, request: &CompileRequest, code: &CompiledCode, took: Duration) {
        if !self.keeps() || !request.lasts_if_it_wins() {
            return;
        }
        let kept = self.kept(&request.module.digest);
        kept.used_by(&request.module);
        if kept.precompiled {
            return;
        }
        let version = (Entry::of(request), archive::encode(code));
        let mut fresh = lock(&kept.fresh);
        if *fresh.numbers.entry(request.version).or_insert(request.function) != request.function {
            return;
        }
        fresh.unsaved_time += took;
        fresh.unsaved.insert(request.function);
        fresh.loops = request.module.loops.clone();
        fresh.versions.insert(request.function, version);
    }

    fn adapter(&self, adapter: Adapter, signature: &AdapterSignature) -> Result<CompiledCode, CompileError> {
        self.inner.adapter(adapter, signature)
    }

    fn inlinable(&self, module: &Module, function: u32) -> Result<(), NotInlinable> {
        self.inner.inlinable(module, function)
    }

    fn inlines_anyway(&self, module: &Module, function: u32) -> bool {
        self.inner.inlines_anyway(module, function)
    }

    fn last_kept(&self, module: &Arc<Module>) -> Option<u32> {
        let kept = self.known(&module.digest)?;
        kept.used_by(module);
        kept.archive.as_ref().map(Archive::last_version)
    }

    fn kept_loops(&self, digest: &[u8; 32]) -> Option<Arc<[u32]>> {
        self.known(digest)?.archive.as_ref().map(|archive| archive.loops().clone())
    }

    fn kept_request(&self, module: &Arc<Module>, function: u32) -> Option<CompileRequest> {
        let kept = self.known(&module.digest)?;
        Some(kept.archive.as_ref()?.entry(function)?.request(module))
    }

    fn kept(&self, module: &Arc<Module>, function: u32) -> Option<(CompileRequest, CompiledCode)> {
        let kept = self.known(&module.digest)?;
        let archive = kept.archive.as_ref()?;
        let entry = archive.entry(function)?;
        match archive.code(entry) {
            Ok(code) => Some((entry.request(module), code)),
            Err(error) => {
                tracing::debug!(function, %error, "a kept version is not used");
                None
            }
        }
    }
}

impl Drop for KeepingCompiler {
    fn drop(&mut self) {
        // (what went wrong is a debug line)
        let _ = self.save();
    }
}

/// Whether a file of so many bytes is written anew for what took that long to compile, and would take as long in each later run.
fn worth_writing(compile: Duration, file_bytes: u64) -> bool {
    !compile.is_zero() && compile.as_nanos() * REPAID_AFTER_RUNS >= u128::from(file_bytes) * WRITE_NS_PER_BYTE
}

/// All of a module's functions, compiled by tier 2 without a plan: the bytes of a precompiled module.
pub(crate) fn precompile(compiler: &KeepingCompiler, module: &Arc<Module>) -> Result<Vec<u8>, CompileError> {
    let first = module.imported_functions;
    let compile = |function| {
        let request = CompileRequest::new(module.clone(), function, Entrance::Body, Tier::Optimizing, function - first + 1);
        match compiler.inner.compile(&request) {
            Ok(code) => Some(Ok((Entry::of(&request), archive::encode(&code)))),
            // Such a function is interpreted.
            Err(CompileError::Unsupported { .. } | CompileError::Limit { .. }) => None,
            Err(error) => Some(Err(error)),
        }
    };
    let compiled = vm::pool::map((first..module.functions.len() as u32).collect(), compile);
    let versions = compiled.into_iter().flatten().collect::<Result<Vec<_>, _>>()?;
    let mut bytes = Vec::new();
    archive::write(&mut bytes, &compiler.maker, &module.digest, &module.loops, module.bytes(), &versions)
        .expect("memory takes what is written");
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_kept_if_it_wins() {
        let folder = tempfile::tempdir().unwrap();
        let inner = Arc::new(jit::CraneliftCompiler::new(Default::default()).unwrap());
        let compiler = KeepingCompiler::new(inner, Some(CacheDirectory::new(folder.path())), "test", true);
        let bytes = wat::parse_str("(module (func (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))))").unwrap();
        let module = Arc::new(Module::new(&bytes).unwrap());
        let compile = |version, arm| {
            let request = CompileRequest::new(module.clone(), 0, Entrance::Body, Tier::Optimizing, version);
            let request = CompileRequest { arm, gated: arm, ..request };
            let code = compiler.compile(&request).unwrap();
            (request, code)
        };
        let kept = || lock(&compiler.kept(&module.digest).fresh).versions.get(&0).map(|version| version.0.version);
        compile(1, false);
        assert_eq!(kept(), Some(1));
        let (request, code) = compile(2, true);
        assert_eq!(kept(), Some(1));
        compiler.keep(&request, &code, Duration::from_millis(1));
        assert_eq!(kept(), Some(2));
    }

    #[test]
    fn a_number_is_of_one_functions_version() {
        let folder = tempfile::tempdir().unwrap();
        let inner = Arc::new(jit::CraneliftCompiler::new(Default::default()).unwrap());
        let compiler = KeepingCompiler::new(inner, Some(CacheDirectory::new(folder.path())), "test", true);
        let module = Arc::new(Module::new(&wat::parse_str("(module (func) (func))").unwrap()).unwrap());
        let compile = |function, version| {
            let request = CompileRequest::new(module.clone(), function, Entrance::Body, Tier::Optimizing, version);
            compiler.compile(&request).unwrap();
        };
        // Two stores with code of their own, say.
        compile(0, 1);
        compile(1, 1);
        let kept = || lock(&compiler.kept(&module.digest).fresh).versions.keys().copied().collect::<Vec<u32>>();
        assert_eq!(kept(), [0]);
        compile(1, 2);
        assert_eq!(kept(), [0, 1]);
    }

    #[test]
    fn what_is_kept_goes_with_its_modules_and_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let keeping = || {
            let inner = Arc::new(jit::CraneliftCompiler::new(Default::default()).unwrap());
            KeepingCompiler::new(inner, Some(CacheDirectory::new(folder.path())), "test", true)
        };
        let compiler = keeping();
        let compile = |number: i32| {
            let bytes = wat::parse_str(format!("(module (func (result i32) (i32.const {number})))")).unwrap();
            let module = Arc::new(Module::new(&bytes).unwrap());
            compiler.last_kept(&module);
            compiler.compile(&CompileRequest::new(module.clone(), 0, Entrance::Body, Tier::Optimizing, 1)).unwrap();
            module
        };
        let held = || lock(&compiler.modules).len();
        let first = compile(1);
        let digests: Vec<_> = (2..20).map(|number| compile(number).digest).collect();
        assert_eq!(held(), 2, "one that lives, and the last");
        assert!(compiler.holds(&first.digest, 0));
        let later = keeping();
        assert!(digests[..17].iter().all(|digest| later.holds(digest, 0)), "what is gone from memory is in the files");
        drop(later);
        assert_eq!(compile(2).digest, digests[0]);
        assert_eq!(held(), 2);
    }

    #[test]
    fn what_was_precompiled_goes_with_its_modules() {
        let engine = crate::Engine::default();
        let held = || lock(&engine.keeper().unwrap().modules).len();
        let load = |number: u32| {
            let text = format!("(module (func (export \"f\") (result i32) (i32.const {number})))");
            let bytes = crate::Module::new(&engine, text).unwrap().serialize().unwrap();
            // SAFETY: made just now.
            unsafe { crate::Module::deserialize(&engine, bytes) }.unwrap()
        };
        let [first, again] = [1, 1].map(load);
        assert_eq!(held(), 1);
        drop(first);
        let others: Vec<_> = (2..10).map(load).collect();
        assert_eq!(held(), 9, "one of the first two is there");
        drop((again, others));
        let _last = load(10);
        assert_eq!(held(), 1);
    }

    #[test]
    fn a_file_is_written_for_what_each_run_would_compile_again() {
        let cpython = 5_700_000;
        // 55 functions in tier 2, 13 ms: a hundredth of the file, and a tenth of each run that has to make them.
        assert!(worth_writing(Duration::from_millis(13), cpython));
        assert!(!worth_writing(Duration::from_millis(1), cpython), "one function is not worth the whole file");
        assert!(worth_writing(Duration::from_micros(100), 10_000));
        assert!(worth_writing(Duration::from_nanos(1), 0) && !worth_writing(Duration::ZERO, 0), "nothing new, nothing to write");
    }
}
