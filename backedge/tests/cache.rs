//! Machine code that outlives its process: the cache and precompiled modules. Two engines stand for two processes.

use backedge::{CacheDirectory, Config, Engine, FeedbackPolicy, Instance, Module, Precompiled, Store};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

const PROGRAM: &str = r#"(module
    (memory 1)
    (func $step (param i32) (result i32) (i32.xor (i32.mul (local.get 0) (i32.const 1664525)) (i32.const 1013904223)))
    (func (export "run") (param $n i32) (result i32) (local $x i32)
        (loop $again
            (local.set $x (call $step (local.get $x)))
            (i32.store (i32.const 16) (local.get $x))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (i32.add (local.get $x) (i32.load (i32.const 16)))))"#;

fn engine(directory: Option<&Path>) -> Engine {
    let mut config = Config::new();
    config.cache(directory.map(CacheDirectory::new)).hot_threshold(10);
    Engine::new(&config).unwrap()
}

/// The program's result, and how many of its versions were not compiled here.
fn run(engine: &Engine, module: &Module) -> (i32, usize) {
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, module, &[]).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    let mut result = 0;
    for _ in 0..50 {
        result = run.call(&mut store, 1000).unwrap();
        engine.settle();
    }
    let kept = module.loaded().code.versions().iter().filter(|version| version.compile_time == Duration::ZERO).count();
    (result, kept)
}

fn in_process(directory: &Path) -> (i32, usize) {
    let engine = engine(Some(directory));
    let module = Module::new(&engine, PROGRAM).unwrap();
    let result = run(&engine, &module);
    engine.save_cache();
    result
}

/// What the program interprets is compiled afterwards, and the next process has it from the start.
#[test]
fn what_was_interpreted_can_be_kept() {
    let directory = tempfile::tempdir().unwrap();
    let engine_of = || {
        let mut config = Config::new();
        config.cache(Some(CacheDirectory::new(directory.path().join("cache"))));
        Engine::new(&config).unwrap()
    };
    let call = |engine: &Engine| {
        let module = Module::new(engine, PROGRAM).unwrap();
        let mut store = Store::new(engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let result = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap().call(&mut store, 9).unwrap();
        (module, result)
    };
    let first = engine_of();
    let (module, result) = call(&first);
    assert_eq!(module.interpreted_functions(), [0, 1]);
    assert_eq!(module.keep(&[0, 1, 2, u32::MAX]), 2, "and what is no function is left out");
    first.save_cache();
    let second = engine_of();
    let (module, again) = call(&second);
    assert_eq!((again, module.interpreted_functions()), (result, vec![]));
    assert_eq!(module.loaded().code.versions().len(), 2);
    assert_eq!(Module::new(&Engine::default(), PROGRAM).unwrap().keep(&[0]), 0, "an engine without a cache");
}

/// A process saves before its compile threads are done, and once more at its end: what the first save wrote stays.
#[test]
fn a_second_save_keeps_what_the_first_one_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let engine_here = || engine(Some(directory.path()));
    let module_of = |engine: &Engine| Module::new(engine, PROGRAM).unwrap();
    let first = engine_here();
    let module = module_of(&first);
    assert_eq!(module.keep(&[0]), 1);
    first.save_cache();
    assert_eq!(module.keep(&[1]), 1);
    first.save_cache();
    let file = only_file(directory.path());
    let written = fs::read(&file).unwrap();
    // Nothing new: nothing is written.
    fs::remove_file(&file).unwrap();
    first.save_cache();
    assert!(!file.exists());
    fs::write(&file, &written).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let second = engine_here();
    let module = module_of(&second);
    let mut store = Store::new(&second, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap().call(&mut store, 3).unwrap();
    assert_eq!(module.loaded().code.versions().len(), 2, "both functions' code was there");
}

/// A function whose caller is interpreted finds its kept code at its first call all the same.
#[test]
fn the_interpreter_calls_kept_code() {
    let directory = tempfile::tempdir().unwrap();
    let first = engine(Some(directory.path()));
    // `$step` is function 0; `run`, which calls it, is not kept.
    assert_eq!(Module::new(&first, PROGRAM).unwrap().keep(&[0]), 1);
    first.save_cache();
    let second = engine(Some(directory.path()));
    let module = Module::new(&second, PROGRAM).unwrap();
    let mut store = Store::new(&second, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap().call(&mut store, 3).unwrap();
    let kept: Vec<u32> = module.loaded().code.versions().iter().map(|version| version.function).collect();
    assert_eq!(kept, [0]);
}

fn only_file(directory: &Path) -> std::path::PathBuf {
    let files = CacheDirectory::new(directory).files().unwrap();
    assert_eq!(files.len(), 1);
    files[0].path.clone()
}

#[test]
fn the_second_process_starts_with_the_code_of_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("new/backedge");
    let (first, kept) = in_process(&place);
    assert_eq!(kept, 0);
    let (second, kept) = in_process(&place);
    assert_eq!(first, second);
    assert!(kept >= 1, "nothing came from the cache");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place), mode(&only_file(&place))), (0o700, 0o600));
    // Without feedback other code is made: nothing of a plan may come from there.
    let mut config = Config::new();
    config.cache(Some(CacheDirectory::new(&place))).feedback(FeedbackPolicy::Off);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, PROGRAM).unwrap();
    assert_eq!(run(&engine, &module), (first, 0));
}

#[test]
fn an_engine_without_a_cache_writes_and_reads_nothing() {
    let directory = tempfile::tempdir().unwrap();
    in_process(directory.path());
    let before = fs::read(only_file(directory.path())).unwrap();
    let engine = engine(None);
    let module = Module::new(&engine, PROGRAM).unwrap();
    assert_eq!(run(&engine, &module).1, 0);
    engine.save_cache();
    assert_eq!(fs::read(only_file(directory.path())).unwrap(), before);
}

#[test]
fn a_damaged_file_costs_nothing_but_its_code() {
    let directory = tempfile::tempdir().unwrap();
    let (expected, _) = in_process(directory.path());
    let path = only_file(directory.path());
    let sound = fs::read(&path).unwrap();
    let mut state = 1u64;
    for round in 0..40 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mut bytes = sound.clone();
        let at = (state >> 33) as usize % bytes.len();
        match round % 4 {
            0 => bytes.truncate(at),
            _ => bytes[at] ^= 1 << (state % 8),
        }
        fs::write(&path, &bytes).unwrap();
        assert_eq!(in_process(directory.path()).0, expected);
    }
}

#[test]
fn a_place_that_others_may_write_to_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("cache");
    in_process(&place);
    let file = only_file(&place);
    for (path, mode, usual) in [(file.as_path(), 0o622, 0o600), (place.as_path(), 0o722, 0o700)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let engine = engine(Some(&place));
        let module = Module::new(&engine, PROGRAM).unwrap();
        assert_eq!(run(&engine, &module).1, 0, "{}", path.display());
        fs::set_permissions(path, fs::Permissions::from_mode(usual)).unwrap();
    }
}

#[test]
fn where_nothing_can_be_written_the_run_goes_on() {
    // A file stands where the directory should be: works for root too, who may write to read-only directories.
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("file");
    fs::write(&place, "not a directory").unwrap();
    let engine = engine(Some(&place));
    let module = Module::new(&engine, PROGRAM).unwrap();
    assert_eq!(run(&engine, &module).1, 0);
    engine.save_cache();
}

#[test]
fn the_directory_stays_below_its_limit() {
    let directory = tempfile::tempdir().unwrap();
    in_process(directory.path());
    let bytes = fs::metadata(only_file(directory.path())).unwrap().len();
    let mut config = Config::new();
    config.cache(Some(CacheDirectory::new(directory.path()).with_limit(bytes + bytes / 2))).hot_threshold(10);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, PROGRAM.replace("1664525", "22695477")).unwrap();
    run(&engine, &module);
    engine.save_cache();
    assert_eq!(CacheDirectory::new(directory.path()).files().unwrap().len(), 1);
    assert_eq!(CacheDirectory::new(directory.path()).clean().unwrap(), 1);
}

#[test]
fn a_precompiled_module_gives_the_same_results() {
    let here = engine(None);
    let module = Module::new(&here, PROGRAM).unwrap();
    let (expected, _) = run(&here, &module);
    let bytes = module.serialize().unwrap();
    assert_eq!(Engine::detect_precompiled(&bytes), Some(Precompiled::Module));
    assert_eq!(Engine::detect_precompiled(b"\0asm\x01\0\0\0"), None);
    let there = engine(None);
    // SAFETY: the bytes come from `serialize`, just now.
    let module = unsafe { Module::deserialize(&there, &bytes) }.unwrap();
    let (result, kept) = run(&there, &module);
    assert_eq!(result, expected);
    assert!(kept >= 1);
}

#[test]
fn a_damaged_precompiled_module_is_an_error_or_works() {
    let here = engine(None);
    let module = Module::new(&here, PROGRAM).unwrap();
    let bytes = module.serialize().unwrap();
    for length in 0..bytes.len().min(64) {
        // SAFETY: a prefix of what `serialize` made: its index is incomplete, which is checked before anything is run.
        let error = unsafe { Module::deserialize(&here, &bytes[..length]) }.map(|_| ()).expect_err("an index is missing").to_string();
        assert!(error.contains("byte offset"), "{error}");
    }
    let mut foreign = bytes.clone();
    foreign[20] ^= 1;
    // SAFETY: the index's checksum is wrong, which is checked before anything is run.
    let error = unsafe { Module::deserialize(&here, &foreign) }.map(|_| ()).expect_err("the checksum is wrong").to_string();
    assert!(error.contains("checksum"), "{error}");
}
