//! What the compiler makes of small functions, as text: `filetests/*.wat` with the expected CLIF or assembly in trailing comments.
//!
//! A file begins with directives, one a line: `;;! tier = optimizing`, `;;! show = clif | optimized | assembly`, and where wanted
//! `;;! function = 1` (default 0), `;;! loop = 0` (entrance at the function's nth loop), `;;! plan = 0 -> 2` (inline function 2 at the
//! nth call_indirect), `;;! decision = {"select-to-branch": {"offset": "Select#0", "likely": true}}` (any decision; the nth operator of that name
//! stands for its offset, `Body#1` for the body of function 1), `;;! sites = true`, `;;! countdowns = true`, `;;! intel = true` (what suits those), `;;! contains = TEXT` or `;;! lacks = TEXT` (checked besides the
//! whole text, so that a blessing cannot lose the point). `BLESS=1` rewrites the expectations.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use jit::{CraneliftCompiler, Options};
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{Decision, InlineDecision, InlineTarget, Plan};
use vm::code::{CompileRequest, Compiler, Entrance, Tier};
use vm::module::Module;
use wasmparser::Operator;

#[derive(Default)]
struct Directives {
    tier: Option<Tier>,
    show: String,
    function: u32,
    entry_loop: Option<usize>,
    plan: Vec<(usize, u32)>,
    decisions: Vec<serde_json::Value>,
    sites: bool,
    countdowns: bool,
    intel: bool,
    /// Whether what the plan inlines leaves where its guard fails.
    exits: bool,
    contains: Vec<String>,
    lacks: Vec<String>,
}

fn directives(text: &str) -> Result<Directives> {
    let mut result = Directives::default();
    for line in text.lines().filter_map(|line| line.strip_prefix(";;!")) {
        let (key, value) = line.split_once('=').with_context(|| format!("directive {line}"))?;
        let value = value.trim();
        match key.trim() {
            "tier" if value == "baseline" => result.tier = Some(Tier::Baseline),
            "tier" if value == "instrumented" => result.tier = Some(Tier::Instrumented),
            "tier" if value == "optimizing" => result.tier = Some(Tier::Optimizing),
            "show" => result.show = value.into(),
            "function" => result.function = value.parse()?,
            "loop" => result.entry_loop = Some(value.parse()?),
            "plan" => {
                let (site, callee) = value.split_once("->").context("plan = SITE -> CALLEE")?;
                result.plan.push((site.trim().parse()?, callee.trim().parse()?));
            }
            "decision" => result.decisions.push(serde_json::from_str(value).context("decision = JSON of a policy::Decision")?),
            "sites" => result.sites = value.parse()?,
            "exits" => result.exits = value.parse()?,
            "countdowns" => result.countdowns = value.parse()?,
            "intel" => result.intel = value.parse()?,
            "contains" => result.contains.push(value.into()),
            "lacks" => result.lacks.push(value.into()),
            other => bail!("directive {other} = {value}"),
        }
    }
    Ok(result)
}

/// Byte offsets of the operators of a function that `wanted` picks.
fn offsets(module: &Module, function: u32, wanted: impl Fn(&Operator<'_>) -> bool) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    let mut reader = module.body(function).get_operators_reader()?;
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset()?;
        if wanted(&operator) {
            found.push(offset as u32);
        }
    }
    Ok(found)
}

/// A decision from its JSON form, `{"KIND": {"offset": "I32Load#1", …}}`: an offset given as text is the nth operator of that name.
fn decision(module: &Module, function: u32, mut json: serde_json::Value) -> Result<Decision> {
    let fields = json.as_object_mut().and_then(|object| object.values_mut().next()).context("a decision is an object of one key")?;
    if let Some(text) = fields["offset"].as_str() {
        let (name, nth) = text.split_once('#').context("offset = OPERATOR#N")?;
        if name == "Body" {
            fields["offset"] = module.body(nth.parse()?).range().start.into();
            return Ok(serde_json::from_value(json)?);
        }
        let named = |operator: &Operator<'_>| format!("{operator:?}").split([' ', '{', '(']).next() == Some(name);
        let found = offsets(module, function, named)?;
        let offset = *found.get(nth.parse::<usize>()?).with_context(|| format!("no {text}"))?;
        fields["offset"] = offset.into();
    }
    Ok(serde_json::from_value(json)?)
}

fn plan(module: &Module, directives: &Directives) -> Result<Option<Arc<Plan>>> {
    if directives.plan.is_empty() && directives.decisions.is_empty() {
        return Ok(None);
    }
    let calls = offsets(module, directives.function, |operator| matches!(operator, Operator::CallIndirect { .. }))?;
    let mut decisions: Vec<Decision> = Vec::new();
    for &(site, callee) in &directives.plan {
        let target = InlineTarget { callee, share: 1.0, samples: 100, body_bytes: 10 };
        let offset = *calls.get(site).context("no such call_indirect")?;
        if let Some(Decision::Inline(last)) = decisions.last_mut()
            && last.offset == offset
        {
            last.targets.push(target);
            continue;
        }
        decisions.push(Decision::Inline(InlineDecision {
            offset,
            targets: vec![target],
            samples: 100,
            share: 1.0,
            side_exit: directives.exits,
            ..InlineDecision::default()
        }));
    }
    for json in &directives.decisions {
        decisions.push(decision(module, directives.function, json.clone())?);
    }
    let function = FunctionId { module: module.hash, func: directives.function };
    Ok(Some(Arc::new(Plan { function, decisions })))
}

fn output(compilers: &[CraneliftCompiler; 2], text: &str) -> Result<String> {
    let directives = directives(text)?;
    let compiler = &compilers[usize::from(directives.intel)];
    let module = Arc::new(Module::new(text.as_bytes())?);
    let entrance = match directives.entry_loop {
        None => Entrance::Body,
        Some(nth) => {
            let loops = offsets(&module, directives.function, |operator| matches!(operator, Operator::Loop { .. }))?;
            Entrance::Loop(*loops.get(nth).context("no such loop")?)
        }
    };
    let request = CompileRequest {
        plan: plan(&module, &directives)?,
        sites: directives.sites,
        countdowns: directives.countdowns,
        listing: true,
        ..CompileRequest::new(module, directives.function, entrance, directives.tier.context("no tier")?, 7)
    };
    let code = compiler.compile(&request)?;
    let listing = code.listing.context("a listing was asked for")?;
    let mut shown = match directives.show.as_str() {
        "clif" => listing.clif,
        "optimized" => listing.optimized,
        "assembly" => listing.assembly,
        other => bail!("show = {other}"),
    };
    for applied in &code.applied {
        let outcome = applied.refused.as_deref().unwrap_or("done");
        shown.push_str(&format!("{} in function {}: {outcome}\n", applied.name, applied.function));
    }
    for text in &directives.contains {
        ensure!(shown.contains(text), "lacks {text:?}:\n{shown}");
    }
    for text in &directives.lacks {
        ensure!(!shown.contains(text), "contains {text:?}:\n{shown}");
    }
    Ok(shown)
}

/// The file without its expectations, and those.
fn split(text: &str) -> (String, String) {
    let (mut source, mut expected) = (String::new(), String::new());
    for line in text.lines() {
        match line.strip_prefix(";;>") {
            Some(rest) => expected.push_str(&format!("{}\n", rest.strip_prefix(' ').unwrap_or(rest))),
            None => source.push_str(&format!("{line}\n")),
        }
    }
    (source.trim_end().to_owned() + "\n", expected)
}

fn check(compilers: &[CraneliftCompiler; 2], path: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path)?;
    let (source, expected) = split(&text);
    let got: String = output(compilers, &source)?.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if std::env::var_os("BLESS").is_some() {
        let lines: String = got.lines().map(|line| format!(";;> {line}").trim_end().to_owned() + "\n").collect();
        std::fs::write(path, format!("{source}\n{lines}"))?;
        return Ok(());
    }
    ensure!(got == expected, "expected:\n{expected}\ngot:\n{got}\n(BLESS=1 rewrites)");
    Ok(())
}

#[test]
fn files() {
    let compilers = [false, true]
        .map(|intel| CraneliftCompiler::new(Options { verify: true, intel, ..Options::default() }).expect("a compiler for this machine"));
    let mut paths: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/filetests"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wat"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let failures: Vec<String> =
        paths.iter().filter_map(|path| check(&compilers, path).err().map(|error| format!("{}: {error:#}", path.display()))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
