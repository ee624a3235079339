//! Every shipped program gives the same right answer in every tier, and feedback does to the indirect-call kernel what it should.
//!
//! In: `programs/modes.txt` (programs, their modes, a small size) and the checked-in modules.

use std::path::{Path, PathBuf};

use backedge::wasi::{self, OutputBuffer, WasiCtx, WasiCtxBuilder};
use backedge::{Config, Engine, FeedbackPolicy, I32Exit, Linker, Module, Result, Store, TierPolicy};
use libtest_mimic::{Arguments, Trial};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Runs a program to its end: exit code, stdout, stderr.
fn run(module: &Module, args: &[&str]) -> Result<(i32, String, String)> {
    let mut linker = Linker::new(module.engine());
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
    let (out, error) = (OutputBuffer::new(1 << 16), OutputBuffer::new(1 << 16));
    let context = WasiCtxBuilder::new().arg("program")?.args(args)?.stdout(out.clone()).stderr(error.clone()).build();
    let mut store = Store::new(module.engine(), context);
    let instance = linker.instantiate(&mut store, module)?;
    let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
    let code = match start.call(&mut store, ()) {
        Ok(()) => 0,
        Err(error) => error.downcast::<I32Exit>()?.0,
    };
    let text = |buffer: &OutputBuffer| String::from_utf8_lossy(&buffer.contents()).into_owned();
    Ok((code, text(&out), text(&error)))
}

/// The configurations that must agree.
fn configurations() -> Vec<(&'static str, Config)> {
    let tier = |tier| {
        let mut config = Config::new();
        config.tier(tier);
        config
    };
    let mut at_once = Config::new();
    at_once.tier(TierPolicy::Auto).feedback(FeedbackPolicy::Lwp).hot_threshold(1).deterministic(true);
    vec![
        ("interpreter", tier(TierPolicy::Interpreter)),
        ("templates", tier(TierPolicy::Templates)),
        ("baseline", tier(TierPolicy::Baseline)),
        ("optimizing", tier(TierPolicy::Optimizing)),
        ("auto, hot after 1", at_once),
        ("auto", tier(TierPolicy::Auto)),
    ]
}

fn agree(name: &str, mode: u32, size: &[String]) -> Result<()> {
    let mode = mode.to_string();
    let args: Vec<&str> = std::iter::once(mode.as_str()).chain(size.iter().map(String::as_str)).collect();
    let file = programs().join(name).join(format!("{name}.wasm"));
    let mut first: Option<String> = None;
    for (configuration, config) in configurations() {
        let module = Module::from_file(&Engine::new(&config)?, &file)?;
        let (code, out, error) = run(&module, &args)?;
        assert_eq!(code, 0, "{name} {args:?}, {configuration}: {error}");
        let number = out.strip_prefix("ok ").and_then(|rest| rest.strip_suffix('\n')).and_then(|rest| rest.parse::<u64>().ok());
        assert!(number.is_some(), "{name} {args:?}, {configuration}: printed {out:?}");
        match &first {
            None => first = Some(out),
            Some(first) => assert_eq!(&out, first, "{name} {args:?}, {configuration}"),
        }
    }
    Ok(())
}

/// What feedback did to the call in the loop of `indirect_call`: how often guarded inlining fired, and the policy's refusals by name.
fn call_site(mode: &str) -> Result<(usize, Vec<&'static str>)> {
    let mut config = Config::new();
    config.feedback(FeedbackPolicy::Lwp).deterministic(true);
    let engine = Engine::new(&config)?;
    let module = Module::from_file(&engine, programs().join("indirect_call/indirect_call.wasm"))?;
    let (code, _, error) = run(&module, &[mode, "1000000"])?;
    assert_eq!(code, 0, "{error}");
    let report = module.report();
    let fired = report
        .functions
        .iter()
        .flat_map(|function| &function.versions)
        .flat_map(|version| &version.applied)
        .filter(|applied| applied.name == "inline-guarded" && applied.refused.is_none())
        .count();
    let refused = report.functions.iter().flat_map(|function| &function.refusals).map(|refusal| refusal.reason.name()).collect();
    Ok((fired, refused))
}

fn one_target_is_inlined() -> Result<()> {
    let (fired, _) = call_site("0")?;
    assert!(fired >= 1, "the one target was not inlined");
    Ok(())
}

fn random_targets_are_refused() -> Result<()> {
    let (fired, refused) = call_site("2")?;
    assert_eq!(fired, 0, "one of eight random targets was inlined");
    assert!(refused.contains(&"no-dominant-target"), "refusals: {refused:?}");
    Ok(())
}

fn arguments_are_checked_by_the_guest() -> Result<()> {
    let module = Module::from_file(&Engine::default(), programs().join("sort/sort.wasm"))?;
    let (code, out, error) = run(&module, &["nonsense"])?;
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.starts_with("usage: sort "), "{error:?}");
    Ok(())
}

fn main() -> Result<()> {
    fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
        Trial::test(name, move || test().map_err(|error| format!("{error:?}").into()))
    }
    let mut trials = vec![
        trial("indirect_call: one target is inlined", one_target_is_inlined),
        trial("indirect_call: eight random targets are refused", random_targets_are_refused),
        trial("sort: arguments are checked by the guest", arguments_are_checked_by_the_guest),
    ];
    let list = std::fs::read_to_string(programs().join("modes.txt"))?;
    let mut listed = 0;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let [name, modes, size @ ..] = words.as_slice() else { continue };
        listed += 1;
        for mode in 0..modes.parse::<u32>().expect("modes.txt: the second word is a number") {
            let (name, size) = (name.clone(), size.to_vec());
            trials.push(trial(format!("{name} {mode}"), move || agree(&name, mode, &size)));
        }
    }
    trials.push(trial("modes.txt lists every program", move || {
        let folders = std::fs::read_dir(programs())?.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir())).count();
        assert_eq!(listed, folders);
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}
