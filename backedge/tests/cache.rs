//! Machine code that outlives its process: the cache and precompiled modules. Two engines stand for two processes.

use backedge::{CacheDirectory, Config, Engine, FeedbackPolicy, Instance, Module, Precompiled, Store, TierPolicy, TypedFunc, WarmFunction};
use lwp_feedback::policy::{Because, Decision, LikelyDecision, SpecializeDecision};
use lwp_feedback::profile::Snapshot;
use lwp_feedback::profilefile::{RecordValues, SavedProfile, SavedVersion};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vm::code::Tier;

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

/// The program, ready to run, in an engine of the usual settings.
fn load(directory: &Path) -> (Engine, Module, Store<()>, TypedFunc<i32, i32>) {
    let mut config = Config::new();
    config.cache(Some(CacheDirectory::new(directory)));
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, PROGRAM).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    (engine, module, store, run)
}

/// Functions to keep in tier 1.
fn warm(functions: &[u32]) -> Vec<WarmFunction> {
    functions.iter().map(|&function| WarmFunction { function, optimized: false }).collect()
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
    // The loop came nearer to the price of its function's compiling than the calls to that of theirs.
    assert_eq!(module.interpreted_functions(), warm(&[1, 0]));
    assert_eq!(module.keep(&warm(&[0, 1, 2, u32::MAX])), 2, "and what is no function is left out");
    first.save_cache();
    let second = engine_of();
    let (module, again) = call(&second);
    assert_eq!((again, module.interpreted_functions()), (result, vec![]));
    let tiers = |module: &Module| module.loaded().code.versions().iter().map(|version| version.tier).collect::<Vec<_>>();
    assert_eq!(tiers(&module), [Tier::Baseline; 2]);
    assert_eq!(Module::new(&Engine::default(), PROGRAM).unwrap().keep(&warm(&[0])), 0, "an engine without a cache");
}

/// What ran for long, though not long enough to be compiled, starts in tier 2.
#[test]
fn what_was_nearly_compiled_is_kept_optimized() {
    let directory = tempfile::tempdir().unwrap();
    let call = |rounds: i32| {
        let (engine, module, mut store, run) = load(directory.path());
        let result = run.call(&mut store, rounds).unwrap();
        (engine, module, result)
    };
    let (engine, module, result) = call(3000);
    let found = module.interpreted_functions();
    assert!(found.contains(&WarmFunction { function: 1, optimized: true }), "{found:?}");
    assert_eq!(module.keep(&found), found.len());
    engine.save_cache();
    let (_engine, module, again) = call(3000);
    assert_eq!(again, result);
    let versions = module.loaded().code.versions();
    assert!(versions.iter().any(|version| version.function == 1 && version.tier == Tier::Optimizing));
}

/// Kept code counts nothing, so no record says what is hot in it; a run that is long enough finds out all the same. A short one is left alone.
#[test]
fn what_is_hot_in_kept_code_gets_bursts() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, module, mut store, run) = load(directory.path());
    run.call(&mut store, 3000).unwrap();
    assert_eq!(module.keep(&[WarmFunction { function: 1, optimized: true }]), 1);
    engine.save_cache();
    // Whether it has instrumented code after so long at most.
    let is_watched = |most: Duration| {
        let (_engine, module, mut store, run) = load(directory.path());
        let began = Instant::now();
        let has = |tier| module.loaded().code.versions().iter().any(|version| version.function == 1 && version.tier == tier);
        let expected = run.call(&mut store, 100_000).unwrap();
        assert!(has(Tier::Optimizing), "kept code runs");
        while began.elapsed() < most && !has(Tier::Instrumented) {
            assert_eq!(run.call(&mut store, 100_000).unwrap(), expected);
        }
        has(Tier::Instrumented)
    };
    let began = Instant::now();
    assert!(!is_watched(Duration::from_millis(100)) || began.elapsed() > Duration::from_millis(250), "and not this machine");
    assert!(is_watched(Duration::from_secs(30)));
}

/// Two processes begin with the same file, and each writes it: what one made is not lost by the other, and the better version of a function stays.
#[test]
fn processes_at_the_same_time_keep_what_each_made() {
    let program = PROGRAM.replace("(func $step", "(func $step (export \"step\")");
    let made = |save_first: &str| {
        let directory = tempfile::tempdir().unwrap();
        let [runs, fills] = [engine(Some(directory.path())), engine(Some(directory.path()))];
        let [running, filling] = [&runs, &fills].map(|engine| Module::new(engine, &program).unwrap());
        run(&runs, &running);
        assert_eq!(filling.keep(&warm(&[0, 1])), 2);
        if save_first == "run" {
            runs.save_cache();
            fills.save_cache();
        } else {
            fills.save_cache();
            runs.save_cache();
        }
        let third = engine(Some(directory.path()));
        let module = Module::new(&third, &program).unwrap();
        let mut store = Store::new(&third, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        for name in ["run", "step"] {
            instance.get_typed_func::<i32, i32>(&mut store, name).unwrap().call(&mut store, 3).unwrap();
        }
        let mut kept: Vec<(u32, String)> =
            module.loaded().code.versions().iter().map(|version| (version.function, format!("{:?}", version.tier))).collect();
        kept.sort();
        kept
    };
    for save_first in ["fill", "run"] {
        let kept = made(save_first);
        let functions: Vec<u32> = kept.iter().map(|version| version.0).collect();
        assert_eq!(functions, [0, 1], "{save_first} first: {kept:?}");
        // Of two versions the one of the higher tier. What tier the run had reached in function 0, whose loop it is in, is the run's chance.
        assert_eq!(kept[1].1, "Optimizing", "{save_first} first: {kept:?}");
    }
}

/// A process saves before its compile threads are done, and once more at its end: what the first save wrote stays.
#[test]
fn a_second_save_keeps_what_the_first_one_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let engine_here = || engine(Some(directory.path()));
    let module_of = |engine: &Engine| Module::new(engine, PROGRAM).unwrap();
    let first = engine_here();
    let module = module_of(&first);
    assert_eq!(module.keep(&warm(&[0])), 1);
    first.save_cache();
    assert_eq!(module.keep(&warm(&[1])), 1);
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

/// A process that makes little more than what is there appends that; what others wrote meanwhile stays, and what was cut off is not used.
#[test]
fn what_a_later_process_makes_is_appended() {
    let directory = tempfile::tempdir().unwrap();
    let program = r#"(module (func (export "a") (result i32) (i32.const 1)) (func (export "b") (result i32) (i32.const 2))
        (func (export "c") (result i32) (i32.const 3)) (func (export "d") (result i32) (i32.const 4)))"#;
    // The engine, to be saved, and the module.
    let process = |kept: &[u32]| {
        let engine = engine(Some(directory.path()));
        let module = Module::new(&engine, program).unwrap();
        assert_eq!(module.keep(&warm(kept)), kept.len());
        (engine, module)
    };
    let held = || {
        let engine = engine(Some(directory.path()));
        let module = Module::new(&engine, program).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        for (name, expected) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            assert_eq!(instance.get_typed_func::<(), i32>(&mut store, name).unwrap().call(&mut store, ()).unwrap(), expected);
        }
        let mut functions: Vec<u32> = module.loaded().code.versions().iter().map(|version| version.function).collect();
        functions.sort();
        functions
    };
    process(&[0]).0.save_cache();
    let file = only_file(directory.path());
    let first = fs::read(&file).unwrap();
    process(&[1]).0.save_cache();
    let second = fs::read(&file).unwrap();
    assert_eq!(second[..first.len()], first, "nothing was written anew");
    assert_eq!(held(), [0, 1]);
    // Both begin with the same file, so that their versions have the same numbers.
    let [one, other] = [process(&[2]), process(&[3])];
    one.0.save_cache();
    other.0.save_cache();
    assert_eq!(held(), [0, 1, 3], "a number is of one version");
    process(&[2]).0.save_cache();
    assert_eq!(held(), [0, 1, 2, 3]);
    // Cut off, or with something else behind it: the parts before that count, and the next save writes a whole file again.
    for length in [second.len() - 1, first.len() + 20, first.len() + 3] {
        fs::write(&file, &second[..length]).unwrap();
        assert_eq!(held(), [0]);
        process(&[2]).0.save_cache();
        assert!(held().contains(&0) && held().contains(&2));
        process(&[1, 3]).0.save_cache();
        assert_eq!(held(), [0, 1, 2, 3]);
    }
    // Each process adds a part, until there are so many that the file is written anew.
    fs::write(&file, &first).unwrap();
    let mut longest = 0;
    for _ in 0..40 {
        let engine = engine(Some(directory.path()));
        let module = Module::new(&engine, program).unwrap();
        module.loaded().code.keep(warm(&[1])[0]).unwrap();
        engine.save_cache();
        longest = longest.max(fs::metadata(&file).unwrap().len());
    }
    let last = fs::metadata(&file).unwrap().len();
    assert!(last < longest && longest < 20 * second.len() as u64, "{last} of {longest} bytes");
    assert_eq!(held(), [0, 1]);
}

/// Filling the cache leaves alone what a run has made better.
#[test]
fn filling_does_not_replace_what_a_run_has_made() {
    let directory = tempfile::tempdir().unwrap();
    in_process(directory.path());
    let tiers = || {
        let engine = engine(Some(directory.path()));
        let module = Module::new(&engine, PROGRAM).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap().call(&mut store, 3).unwrap();
        let versions = module.loaded().code.versions();
        let mut tiers: Vec<_> = versions.iter().map(|version| (version.function, format!("{:?}", version.tier))).collect();
        tiers.sort();
        (tiers, module, engine)
    };
    let (before, ..) = tiers();
    assert!(before.iter().any(|(_, tier)| tier == "Optimizing"), "{before:?}");
    let engine = engine(Some(directory.path()));
    assert_eq!(Module::new(&engine, PROGRAM).unwrap().keep(&warm(&[0, 1])), 2);
    engine.save_cache();
    let (after, ..) = tiers();
    assert!(before.iter().all(|version| after.contains(version)), "{before:?}, then {after:?}");
}

/// A function whose caller is interpreted finds its kept code at its first call all the same.
#[test]
fn the_interpreter_calls_kept_code() {
    let directory = tempfile::tempdir().unwrap();
    let first = engine(Some(directory.path()));
    // `$step` is function 0; `run`, which calls it, is not kept.
    assert_eq!(Module::new(&first, PROGRAM).unwrap().keep(&warm(&[0])), 1);
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

/// A profile's plan is what `run`'s code is made to where the code that is there lacks much of it; that serves until then. Otherwise what is there does.
#[test]
fn a_profile_takes_what_is_kept_and_replaces_what_lacks_its_plan() {
    let directory = tempfile::tempdir().unwrap();
    let (expected, _) = in_process(directory.path());
    let first = engine(Some(directory.path()));
    let module = Module::new(&first, PROGRAM).unwrap();
    let module = &module.loaded().module;
    let offset = module.bodies[1].start as u32;
    let small = Decision::Layout(LikelyDecision { offset: offset + 1, likely: true, because: Because::default() });
    let large = Decision::Specialize(SpecializeDecision { offset, parameter: 0, value: 1000, because: Because::default() });
    for (decisions, is_made) in [(vec![], false), (vec![small], false), (vec![large], true)] {
        let snapshot = Snapshot { module: module.hash, ..Snapshot::default() };
        let compiled = vec![SavedVersion { func: 1, loop_offset: None, decisions: decisions.clone() }];
        let profile = SavedProfile::new(snapshot, compiled, Vec::new(), RecordValues::All);
        let mut config = Config::new();
        // (nothing is asked of the policy, so what is new is of the profile)
        config.cache(Some(CacheDirectory::new(directory.path()))).hot_threshold(1_000_000);
        config.machine().profiles.push(Arc::new(profile));
        let second = Engine::new(&config).unwrap();
        let module = Module::new(&second, PROGRAM).unwrap();
        assert_eq!(run(&second, &module).0, expected, "with {decisions:?}");
        let versions = module.loaded().code.versions();
        let plans = |made: bool| -> Vec<bool> {
            let of_run =
                versions.iter().filter(|it| it.function == 1 && it.tier == Tier::Optimizing && (it.compile_time > Duration::ZERO) == made);
            of_run.map(|it| it.plan.as_ref().is_some_and(|plan| plan.decisions == decisions)).collect()
        };
        assert_eq!(plans(false).len(), 1, "what is kept serves first");
        assert_eq!(plans(true), vec![true; usize::from(is_made)], "with {decisions:?}");
        // (an engine that ends saves what it made)
        std::mem::forget((second, module));
    }
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
    for missing in [1, 50] {
        // SAFETY: a prefix of what `serialize` made, which says how long it is.
        let error =
            unsafe { Module::deserialize(&here, &bytes[..bytes.len() - missing]) }.map(|_| ()).expect_err("code is missing").to_string();
        assert!(error.contains("ends early"), "{error}");
    }
    let mut foreign = bytes.clone();
    foreign[20] ^= 1;
    // SAFETY: the index's checksum is wrong, which is checked before anything is run.
    let error = unsafe { Module::deserialize(&here, &foreign) }.map(|_| ()).expect_err("the checksum is wrong").to_string();
    assert!(error.contains("checksum"), "{error}");
}

/// Programs that use more than version 1.0: what their code refers to beside itself (constants, landings, several memories) must come back with it. Each
/// has an export `run`, and the functions that it calls stay calls.
const NEWER: &[(&str, &str)] = &[
    (
        "vectors with constants",
        r#"(module (memory 1)
            (func $mix (param v128) (result v128)
                (i32x4.mul (v128.xor (local.get 0) (v128.const i32x4 0x9e3779b9 0x85ebca6b 0xc2b2ae35 0x27d4eb2f))
                    (i8x16.shuffle 3 2 1 0 7 6 5 4 11 10 9 8 15 14 13 31 (local.get 0) (v128.const i64x2 -1 0x0123456789abcdef))))
            (func (export "run") (param $n i32) (result i32) (local $v v128) (local $f v128)
                (local.set $f (v128.const f32x4 1.5 -2.25 1e10 0.1))
                (loop $again
                    (local.set $v (i32x4.add (call $mix (local.get $v)) (i32x4.splat (local.get $n))))
                    (local.set $f (f32x4.sqrt (f32x4.abs (f32x4.add (local.get $f) (f32x4.convert_i32x4_s (local.get $v))))))
                    (v128.store offset=32 (i32.const 0) (local.get $v))
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (local.set $v (v128.xor (local.get $f) (v128.load offset=32 (i32.const 0))))
                (i32.xor (i32x4.extract_lane 0 (local.get $v)) (i32x4.extract_lane 3 (local.get $v)))))"#,
    ),
    (
        "tail calls",
        r#"(module (type $t (func (param i32 i32) (result i32))) (table funcref (elem $even $odd $third))
            (func $even (param i32 i32) (result i32)
                (if (i32.eqz (local.get 0)) (then (return (local.get 1))))
                (return_call $odd (i32.sub (local.get 0) (i32.const 1)) (i32.mul (local.get 1) (i32.const 1664525))))
            (func $odd (param i32 i32) (result i32)
                (if (i32.eqz (local.get 0)) (then (return (i32.add (local.get 1) (i32.const 1)))))
                (return_call_indirect (type $t) (i32.sub (local.get 0) (i32.const 1)) (i32.add (local.get 1) (i32.const 1013904223))
                    (i32.and (local.get 1) (i32.const 2))))
            (func $third (param i32 i32) (result i32)
                (return_call $even (local.get 0) (i32.rotl (local.get 1) (i32.const 5))))
            (func (export "run") (param i32) (result i32) (call $even (local.get 0) (i32.const 77))))"#,
    ),
    (
        "exceptions",
        r#"(module (tag $number (param i32 i64)) (tag $empty)
            (func $throw (param i32)
                (if (i32.eqz (i32.rem_u (local.get 0) (i32.const 3)))
                    (then (throw $number (local.get 0) (i64.extend_i32_u (i32.mul (local.get 0) (local.get 0))))))
                (if (i32.eqz (i32.rem_u (local.get 0) (i32.const 5))) (then (throw $empty))))
            (func $through (param i32)
                (block $caught (result exnref)
                    (try_table (catch_all_ref $caught) (call $throw (local.get 0)) (return))
                    (unreachable))
                (throw_ref))
            (func (export "run") (param $n i32) (result i32) (local $sum i64)
                (loop $again
                    (block $next
                        (block $empty
                            (block $number (result i32 i64)
                                (try_table (catch $number $number) (catch $empty $empty) (call $through (local.get $n)))
                                (br $next))
                            (local.set $sum (i64.xor (local.get $sum)))
                            (local.set $sum (i64.mul (i64.add (i64.extend_i32_u) (local.get $sum)) (i64.const 31)))
                            (br $next))
                        (local.set $sum (i64.rotl (local.get $sum) (i64.const 7))))
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (i32.wrap_i64 (i64.xor (local.get $sum) (i64.shr_u (local.get $sum) (i64.const 32))))))"#,
    ),
    (
        "the older exceptions",
        r#"(module (tag $number (param i32))
            (func $throw (param i32) (if (i32.and (local.get 0) (i32.const 2)) (then (throw $number (local.get 0)))))
            (func (export "run") (param $n i32) (result i32) (local $sum i32)
                (loop $again
                    try (result i32)
                        local.get $n call $throw
                        i32.const 7
                    catch $number
                    catch_all
                        i32.const 1000
                    end
                    local.get $sum i32.const 31 i32.mul i32.add local.set $sum
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (local.get $sum)))"#,
    ),
    (
        "a 64-bit memory and table",
        r#"(module (memory i64 1) (table $t i64 4 funcref) (elem (table $t) (offset (i64.const 1)) func $step)
            (type $step (func (param i32) (result i32)))
            (func $step (param i32) (result i32) (i32.add (i32.mul (local.get 0) (i32.const 1664525)) (i32.const 1013904223)))
            (func (export "run") (param $n i32) (result i32) (local $x i32) (local $at i64)
                (loop $again
                    (local.set $x (call_indirect $t (type $step) (local.get $x) (i64.const 1)))
                    (local.set $at (i64.extend_i32_u (i32.and (local.get $x) (i32.const 0xfff0))))
                    (i64.store offset=4 (local.get $at) (i64.add (i64.load (local.get $at)) (i64.extend_i32_u (local.get $x))))
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (i32.xor (local.get $x) (i32.load (i64.const 64)))))"#,
    ),
    (
        "several memories",
        r#"(module (memory $a 1) (memory $b 1) (memory $c i64 1) (data $d "0123456789abcdef")
            (func $step (param i32) (result i32) (i32.add (i32.mul (local.get 0) (i32.const 1664525)) (i32.const 1013904223)))
            (func (export "run") (param $n i32) (result i32) (local $x i32)
                (memory.init $b $d (i32.const 4) (i32.const 1) (i32.const 12))
                (loop $again
                    (local.set $x (call $step (i32.add (local.get $x) (i32.load $b (i32.const 8)))))
                    (i32.store $a (i32.and (local.get $x) (i32.const 0xfffc)) (local.get $x))
                    (i32.store $b (i32.const 8) (i32.add (i32.load $a (i32.const 128)) (i32.load $c (i64.const 16))))
                    (i32.store $c (i64.const 16) (local.get $n))
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (memory.copy $a $b (i32.const 0) (i32.const 0) (i32.const 64))
                (i32.xor (local.get $x) (i32.load $a (i32.const 8)))))"#,
    ),
    (
        "atomics",
        r#"(module (memory 1 1 shared)
            (func $step (param i32) (result i32) (i32.add (i32.mul (local.get 0) (i32.const 1664525)) (i32.const 1013904223)))
            (func (export "run") (param $n i32) (result i32) (local $x i32)
                (loop $again
                    (local.set $x (call $step (i32.xor (local.get $x) (i32.atomic.rmw.add (i32.const 8) (local.get $n)))))
                    (drop (i64.atomic.rmw16.cmpxchg_u (i32.const 24) (i64.const 0) (i64.extend_i32_u (i32.and (local.get $x) (i32.const 0xff)))))
                    (i32.atomic.store (i32.const 16) (local.get $x))
                    (atomic.fence)
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (i32.atomic.store (i32.const 8) (i32.const 0))
                (i32.add (i32.atomic.rmw.xchg (i32.const 16) (i32.const 0)) (memory.atomic.notify (i32.const 16) (i32.const 1)))))"#,
    ),
    (
        "typed references and extended constants",
        r#"(module (type $f (func (param i32) (result i32)))
            (global $base i32 (i32.add (i32.const 40) (i32.mul (i32.const 2) (i32.const 3))))
            (global $g (mut (ref null $f)) (ref.func $step))
            (func $step (type $f) (i32.add (i32.mul (local.get 0) (i32.const 1664525)) (global.get $base)))
            (func (export "run") (param $n i32) (result i32) (local $x i32)
                (loop $again
                    (local.set $x (call_ref $f (local.get $x) (ref.as_non_null (global.get $g))))
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (local.get $x)))"#,
    ),
];

/// The second process takes the newer features' code from the cache, the third too; a precompiled module has it as well. All give what the interpreter does.
#[test]
fn code_of_the_newer_features_is_kept_right() {
    for (name, text) in NEWER {
        let interpreted = {
            let mut config = Config::new();
            config.tier(TierPolicy::Interpreter);
            let engine = Engine::new(&config).unwrap();
            run(&engine, &Module::new(&engine, text).unwrap()).0
        };
        let directory = tempfile::tempdir().unwrap();
        for process in 0..3 {
            let engine = engine(Some(directory.path()));
            let module = Module::new(&engine, text).unwrap();
            let (result, kept) = run(&engine, &module);
            assert_eq!(result, interpreted, "{name}, process {process}");
            assert!(module.loaded().code.failures().is_empty(), "{name}: {:?}", module.loaded().code.failures());
            if process == 0 {
                assert_eq!(kept, 0, "{name}");
            } else {
                let bodies = module.loaded().module.bodies.len() as u32;
                let of = |function| {
                    module.loaded().code.versions().iter().any(|it| it.function == function && it.compile_time == Duration::ZERO)
                };
                let from_cache: Vec<u32> = (0..bodies).filter(|&function| of(function)).collect();
                assert!(
                    from_cache.contains(&(bodies - 1)),
                    "{name}, process {process}: `run` was compiled again, kept {from_cache:?} ({kept})"
                );
            }
            engine.save_cache();
        }
        let engine = Engine::default();
        let bytes = Module::new(&engine, text).unwrap().serialize().unwrap();
        // SAFETY: the bytes come from the line above.
        let module = unsafe { Module::deserialize(&engine, &bytes) }.unwrap();
        assert_eq!(run(&engine, &module).0, interpreted, "{name}, precompiled");
    }
}
