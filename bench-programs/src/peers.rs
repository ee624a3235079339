//! The engines that are compared: where they are, how each is started, what it is in the words of the results.
//!
//! Adding one is adding an arm to [`find`]. Every peer is asked in one of two ways, which `peers/rust/src/protocol.rs` describes: *steady* (a process that
//! calls exports again and again and prints one line of JSON) and *once* (a process that runs a command as anyone would).

use crate::machine;
use crate::measure::complaint;
use crate::process::{self, End, Invocation};
use crate::results::Peer;
use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// How long an engine may take to say its version.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// How long a program may take to compile.
const COMPILES_WITHIN: Duration = Duration::from_secs(300);

/// What is asked for where `--peers` does not say.
pub const USUAL: &[&str] = &["backedge", "backedge-nf", "wasmtime", "v8", "jsc", "wasmi", "native"];

/// Every peer there is, in words for `--help` and for a mistake.
pub const KNOWN: &[(&str, &str)] = &[
    ("backedge", "this engine as it is"),
    ("backedge-nf", "with --no-feedback"),
    ("backedge-interp", "with --tier interp"),
    ("backedge-cached", "with its cache of machine code, which holds the program already (one-shot rows)"),
    ("wasmtime", "the newest from PyPI"),
    ("wasmtime-inline", "the newest crate this Rust builds, with its inliner"),
    ("wasmtime-cached", "wasmtime with its cache, which holds the program already (one-shot rows)"),
    ("v8", "the newest node: as shipped in one-shot rows, warm in steady ones"),
    ("v8-noliftoff", "node --no-liftoff: optimized code at once (one-shot rows)"),
    ("jsc", "the newest bun"),
    ("wasmi", "the interpreter, fat LTO"),
    ("native", "the same C by clang -O2 for this machine"),
];

/// A peer that may be run.
#[derive(Clone, Debug)]
pub struct Engine {
    /// What results say of it.
    pub peer: Peer,
    /// How it runs.
    pub how: How,
    /// Variables of its processes.
    pub env: Vec<(String, OsString)>,
    /// Runs each program once before it counts (caches).
    pub primed: bool,
    /// Words before FILE of a process that completes the cache after that run: what a run would leave to one in the background.
    pub fill: Option<Vec<OsString>>,
}

/// How a peer is started.
#[derive(Clone, Debug)]
pub enum How {
    /// `program steady… FILE MODE SIZE ROUNDS SECONDS` and `program once… [--dir H::G]… FILE ARGS`; without words it cannot.
    Wasm {
        /// Words before FILE of a steady process.
        steady: Option<Vec<OsString>>,
        /// Words before FILE of a process that runs once.
        once: Option<Vec<OsString>>,
    },
    /// Each program is compiled by this compiler (a command line) and run itself.
    Native(NativeBuild),
}

/// With what a native program is compiled.
#[derive(Clone, Debug)]
pub struct NativeBuild {
    /// The compiler (a command line).
    pub compiler: Vec<OsString>,
    /// Its version.
    pub version: String,
    /// Where executables are kept.
    pub folder: PathBuf,
}

/// Where things are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The `bench-programs` folder.
    pub folder: PathBuf,
    /// The `backedge` executable that is the subject.
    pub backedge: PathBuf,
    /// A folder of ours for caches and compiled programs.
    pub scratch: PathBuf,
}

/// Finds a peer by its id, or by `NAME=BACKEDGE [OPTIONS…]`: another build of backedge, or the same one with other options of `run`. Errors: no such id.
/// A peer that is not installed is found, with the reason in [`Peer::missing`].
pub fn find(id: &str, places: &Places) -> Result<Engine> {
    if let Some((name, command)) = id.split_once('=') {
        if name.is_empty() {
            bail!("peer `{id}` has no name in front of its `=`");
        }
        // It is part of the names of files, and stands in tables.
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)) {
            bail!("the name of peer `{id}` is made of letters, digits and - _ . +");
        }
        let mut words = command.split_whitespace();
        let program = words.next().map_or_else(|| places.backedge.clone(), PathBuf::from);
        let options: Vec<&str> = words.collect();
        return Ok(backedge(name, &format!("{name}: {command}"), &program, &options));
    }
    let bin = places.folder.join("peers/bin");
    Ok(match id {
        "backedge" => backedge(id, "backedge", &places.backedge, &[]),
        "backedge-nf" => backedge(id, "backedge --no-feedback", &places.backedge, &["--no-feedback"]),
        "backedge-interp" => backedge(id, "backedge --tier interp", &places.backedge, &["--tier", "interp"]),
        // The measure of the harness itself: 5 % more work in every call. For tests, and in no list.
        "backedge-slowed" => {
            let mut engine = backedge(id, "backedge, 5 % of each call added", &places.backedge, &[]);
            if let How::Wasm { steady: Some(words), .. } = &mut engine.how {
                words.extend(["--slowed-percent".into(), "5".into()]);
            }
            engine
        }
        "backedge-cached" => {
            let mut engine = backedge(id, "backedge, program in its cache", &places.backedge, &[]);
            // (a process in the background would be measured with the next ones)
            engine.how = How::Wasm { steady: None, once: Some(["run", "-C", "fill=n"].map(OsString::from).into()) };
            engine.fill = Some(["cache", "fill"].map(OsString::from).into());
            cached(engine, places)
        }
        "wasmtime" => wasmtime(id, "wasmtime", &bin.join("peer-wasmtime"), &[]),
        "wasmtime-inline" => wasmtime(id, "wasmtime with its inliner", &bin.join("peer-wasmtime-inline"), &["--inline"]),
        "wasmtime-cached" => {
            let mut engine = wasmtime(id, "wasmtime, program in its cache", &bin.join("peer-wasmtime"), &["--cache"]);
            if let How::Wasm { steady, .. } = &mut engine.how {
                *steady = None;
            }
            cached(engine, places)
        }
        "v8" => v8(id, "V8 (node)", &[], places),
        "v8-noliftoff" => {
            let mut engine = v8(id, "V8 (node --no-liftoff)", &["--no-liftoff"], places);
            if let How::Wasm { steady, .. } = &mut engine.how {
                *steady = None;
            }
            engine
        }
        "jsc" => jsc(places),
        "wasmi" => {
            let mut peer = described(id, "wasmi", &bin.join("peer-wasmi"), &[], "fetch-peers.sh wasmi");
            peer.version = first_line(&ask(&mut peer, &["version"]));
            (peer.trap_handler, peer.spectre) = (Some(false), "does not apply: an interpreter".into());
            plain(peer, Some(vec!["steady".into()]), Some(vec!["once".into()]))
        }
        "native" => native(places),
        other => {
            let known: Vec<String> = KNOWN.iter().map(|(id, what)| format!("  {id:<17}{what}")).collect();
            bail!(
                "no peer `{other}`. There are:\n{}\n  NAME=BACKEDGE [OPTIONS]  another backedge, or other options of `run`",
                known.join("\n")
            )
        }
    })
}

fn plain(peer: Peer, steady: Option<Vec<OsString>>, once: Option<Vec<OsString>>) -> Engine {
    Engine { peer, how: How::Wasm { steady, once }, env: Vec::new(), primed: false, fill: None }
}

fn described(id: &str, title: &str, path: &Path, flags: &[&str], fetch: &str) -> Peer {
    let missing = (!path.is_file()).then(|| format!("{id} is not installed: `bash bench-programs/{fetch}` fetches it"));
    Peer {
        id: id.into(),
        title: title.into(),
        path: path.display().to_string(),
        flags: flags.iter().map(|flag| (*flag).into()).collect(),
        missing,
        ..Peer::default()
    }
}

fn backedge(id: &str, title: &str, program: &Path, options: &[&str]) -> Engine {
    let mut peer = described(id, title, program, options, "…");
    if peer.missing.is_some() {
        peer.missing = Some(format!("no such executable: {}", program.display()));
    }
    let said = first_line(&ask(&mut peer, &["--version"]));
    // `backedge VERSION (COMMIT)`, without the commit where it was not built in a checkout.
    let (version, commit) = said.split_once(" (").map_or((&*said, None), |(version, commit)| (version, commit.strip_suffix(')')));
    (peer.version, peer.commit) = (version.trim_start_matches("backedge ").to_owned(), commit.map(str::to_owned));
    peer.executable = sha256(program);
    // Where there is little virtual memory, guard regions may not fit, and accesses are checked.
    peer.trap_handler = process::has_all_memory().then_some(true);
    peer.spectre = "as wasmtime's default: table and heap accesses masked where they are checked".into();
    let words = |first: &[&str]| first.iter().chain(options).map(OsString::from).collect::<Vec<OsString>>();
    plain(peer, Some(words(&["bench", "steady"])), Some(words(&["run", "-C", "cache=n"])))
}

fn cached(mut engine: Engine, places: &Places) -> Engine {
    engine.env.push(("XDG_CACHE_HOME".into(), places.scratch.join(&engine.peer.id).into()));
    engine.primed = true;
    engine
}

fn wasmtime(id: &str, title: &str, program: &Path, options: &[&str]) -> Engine {
    let mut peer = described(id, title, program, options, &format!("fetch-peers.sh {}", id.trim_end_matches("-cached")));
    peer.version = first_line(&ask(&mut peer, &["version"]));
    peer.trap_handler = Some(true);
    peer.spectre = "wasmtime's default: on".into();
    let words = |last: &str| options.iter().copied().chain([last]).map(OsString::from).collect::<Vec<OsString>>();
    plain(peer, Some(words("steady")), Some(words("once")))
}

fn v8(id: &str, title: &str, options: &[&str], places: &Places) -> Engine {
    let program = newest("node", places);
    let mut peer = described(id, title, &program, options, "fetch-peers.sh v8");
    if peer.missing.is_none() {
        let about = "console.log(`node ${process.versions.node}, V8 ${process.versions.v8}`); console.log(%IsWasmTrapHandlerEnabled())";
        let answer = ask(&mut peer, &["--allow-natives-syntax", "-e", about]);
        let mut lines = answer.lines();
        peer.version = lines.next().unwrap_or_default().to_owned();
        peer.trap_handler = lines.next().map(|word| word == "true");
        // Without them every access is checked: not the engine that is shipped.
        if peer.missing.is_none() && peer.trap_handler != Some(true) {
            peer.missing =
                Some("this V8 runs without trap handlers for memory accesses (a limit on virtual memory?), so it is refused".into());
        }
    }
    peer.spectre = "V8's default for node: --no-untrusted-code-mitigations".into();
    let words = |script: &str| {
        let options = options.iter().copied().chain(["--no-warnings"]).map(OsString::from);
        options.chain([places.folder.join(script).into_os_string()]).collect::<Vec<OsString>>()
    };
    plain(peer, Some(words("peers/steady.mjs")), Some(words("run-node.mjs")))
}

fn jsc(places: &Places) -> Engine {
    let program = newest("bun", places);
    let mut peer = described("jsc", "JavaScriptCore (bun)", &program, &[], "fetch-peers.sh jsc");
    if peer.missing.is_none() {
        peer.version = format!("bun {}", first_line(&ask(&mut peer, &["--version"])));
    }
    peer.spectre = "JavaScriptCore's default".into();
    let words = |script: &str| vec![places.folder.join(script).into_os_string()];
    plain(peer, Some(words("peers/steady.mjs")), Some(words("run-node.mjs")))
}

/// The one that `fetch-peers.sh` fetched, or else the one that is installed.
fn newest(name: &str, places: &Places) -> PathBuf {
    let fetched = places.folder.join("peers/bin").join(name);
    let installed = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    if fetched.is_file() { fetched } else { installed().unwrap_or(fetched) }
}

fn native(places: &Places) -> Engine {
    let python = places.folder.join(".venv/bin/python");
    let mut peer =
        described("native", "native (clang -O2)", &python, &["-O2", "-fno-vectorize", "-fno-slp-vectorize"], "fetch-peers.sh native");
    if peer.missing.is_none() {
        peer.version = format!("clang of zig {}", first_line(&ask(&mut peer, &["-m", "ziglang", "version"])));
    }
    peer.spectre = "none".into();
    let compiler = [python.as_os_str()].into_iter().map(OsString::from).chain(["-m", "ziglang", "cc"].map(OsString::from)).collect();
    let how = How::Native(NativeBuild { compiler, version: peer.version.clone(), folder: places.scratch.join("native") });
    Engine { peer, how, env: Vec::new(), primed: false, fill: None }
}

/// What a native program is compiled from, besides its own file: sources that any may include. Sorted.
fn native_sources(bench_programs: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![bench_programs.join("peers/native.c")];
    let mut folders = vec![bench_programs.join("programs")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read the folder `{}`", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "h" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Compiles a program for this machine, if that is not done yet. The executable's name has the hash of all that it is made of and for (sources, flags, compiler, processor), so that a
/// change is compiled again, and a folder that machines share serves each of them. `None`: the user stopped it.
pub fn compile_native(build: &NativeBuild, bench_programs: &Path, source: &Path, simd: bool) -> Result<Option<PathBuf>> {
    use sha2::{Digest, Sha256};
    let NativeBuild { compiler, version, folder } = build;
    // As `build.sh` compiles for wasm; the SIMD programs' vectors are SSE's.
    let flags = ["-O2", "-std=gnu11", "-fno-sanitize=undefined", "-fno-vectorize", "-fno-slp-vectorize", "-lm"];
    let flags: Vec<OsString> = flags.into_iter().chain(simd.then_some("-msse4.1")).map(OsString::from).collect();
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    for file in native_sources(bench_programs)?.iter().map(PathBuf::as_path).chain([source]) {
        add(&std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?);
    }
    compiler.iter().chain(&flags).for_each(|word| add(word.as_encoded_bytes()));
    add(version.as_bytes());
    add(machine::processor().as_bytes());
    let hash = hex(&hash.finalize()[..8]);
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let out = folder.join(format!("{name}-{hash}"));
    if out.is_file() {
        return Ok(Some(out));
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let partial = folder.join(format!("{name}-{hash}.{}", std::process::id()));
    let mut define = OsString::from("-DPROGRAM=\"");
    define.push(source);
    define.push("\"");
    let [program, words @ ..] = &compiler[..] else { bail!("no compiler") };
    let mut args = words.to_vec();
    args.extend(flags);
    args.extend([define, "-o".into(), partial.clone().into(), bench_programs.join("peers/native.c").into()]);
    // As what is measured: in a group of its own, which Ctrl-C ends.
    let done = process::run(&Invocation { program: program.into(), args, limit: COMPILES_WITHIN, ..Invocation::default() })?;
    let end = match done.end {
        End::Exited(0) => std::fs::rename(&partial, &out).map(|()| Some(out)).map_err(Into::into),
        End::Interrupted => Ok(None),
        End::TimedOut => Err(anyhow!("{name} is not compiled for this machine within {} s", COMPILES_WITHIN.as_secs())),
        End::Exited(_) | End::Signalled(_) => {
            Err(anyhow!("{name} does not compile for this machine{}", complaint(&String::from_utf8_lossy(&done.stderr))))
        }
    };
    if !matches!(end, Ok(Some(_))) {
        let _ = std::fs::remove_file(&partial);
    }
    end
}

/// What a peer's executable prints, asked for its version or the like. One that does not answer in time is not measured.
fn ask(peer: &mut Peer, args: &[&str]) -> String {
    if peer.missing.is_some() {
        return String::new();
    }
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let invocation = Invocation { program: PathBuf::from(&peer.path), args, limit: ANSWERS_WITHIN, ..Invocation::default() };
    match process::run(&invocation) {
        Ok(outcome) if outcome.end == End::TimedOut => {
            peer.missing = Some(format!("`{}` did not say its version within {} s", peer.path, ANSWERS_WITHIN.as_secs()));
            String::new()
        }
        // For people and for a file: no escapes of a terminal.
        Ok(outcome) => String::from_utf8_lossy(&outcome.stdout).trim().replace(|c: char| c.is_control() && c != '\n', ""),
        Err(error) => {
            peer.missing = Some(format!("`{}` does not start: {error}", peer.path));
            String::new()
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The first twelve digits of an executable's SHA-256; none where it cannot be read. Several peers are one executable of a hundred megabytes, which is read once.
fn sha256(file: &Path) -> Option<String> {
    use sha2::{Digest, Sha256};
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(|error| error.into_inner());
    if let Some(digits) = known.get(file) {
        return Some(digits.clone());
    }
    let mut hash = Sha256::new();
    std::io::copy(&mut std::fs::File::open(file).ok()?, &mut hash).ok()?;
    let digits = hex(&hash.finalize()[..6]);
    known.insert(file.to_owned(), digits.clone());
    Some(digits)
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
