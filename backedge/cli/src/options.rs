//! The command line: options spelled as wasmtime spells them where it has them.

use crate::policyoptions::{KeepOptions, PolicyOptions};
use crate::watch::WatchOptions;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use lwp_feedback::eventset::{self, EventSet};
use lwp_feedback::layout::EventId;
use lwp_feedback::sim::Generation;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

/// A WebAssembly virtual machine that watches itself run.
#[derive(Parser)]
#[command(
    name = "backedge",
    version = env!("BACKEDGE_VERSION"),
    arg_required_else_help = true,
    after_help = "`backedge FILE [ARGS]…` is short for `backedge run FILE [ARGS]…`.\n\n\
    Examples:\n  \
      backedge prog.wasm --its-own-flag            run a program\n  \
      backedge run --dir . prog.wasm input.txt     let it see this directory\n  \
      backedge run --invoke add math.wasm 1 2      call an exported function\n  \
      backedge run --report prog.wasm              and say what the engine saw and did\n  \
      backedge top prog.wasm                       watch it while it runs\n  \
      backedge inspect prog.wasm                   imports, exports, functions by size\n\n\
    Exit codes: the program's own; 134 trap or deadline; 1 a file that does not load; 2 wrong usage.\n\
    BACKEDGE_LOG=vm=debug prints what the engine does, with its usual filters."
)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a program, or call one of its functions
    Run(Run),
    /// Run a program and watch it: rings, hot functions and their tiers, plans, trials, the monitor's cost
    Top(Top),
    /// Run a program, then say what was seen of it and why what was done about it
    Explain(Explain),
    /// Run a program twice, fully instrumented and sampled, and say how much of the truth its records hold
    Accuracy(crate::accuracy::Accuracy),
    /// Profiles that runs left: what they say, and putting them into a module
    #[command(subcommand)]
    Profile(Profile),
    /// Show imports, exports, memories and functions by size
    Inspect(Inspect),
    /// Compile a module ahead of time
    Compile(Compile),
    /// The cache of machine code: what is in it, empty it, or fill it
    #[command(subcommand)]
    Cache(Cache),
    /// Draw a saved benchmark run: a page, plots for papers
    BenchReport(crate::benchreport::BenchReport),
    /// Print a function as bytecode, Cranelift IR or machine code
    Dump(Dump),
    /// Run spec scripts (.wast)
    Wast(Wast),
    /// Lightweight profiling itself: this machine, traces, saved records, LWP programs
    #[command(subcommand)]
    Lwp(Lwp),
    /// Named processor events (libpfm): tables, unit masks, register values
    #[command(subcommand)]
    Events(crate::events::Events),
    /// Precise sampling (PEBS): the document's experiments on the software unit
    #[command(subcommand)]
    Pebs(crate::pebs::Pebs),
    /// Run benchmark programs under this engine and its peers, side by side
    Bench(Box<crate::bench::Bench>),
    /// One run as LWP, PEBS, performance interrupts and counter sets would have shown it, and what the optimizer makes of each
    CompareFeedback(crate::compare::CompareFeedback),
}

/// Which tiers run.
#[derive(Clone, Copy, ValueEnum)]
pub enum Tier {
    /// The interpreter alone
    Interp,
    /// The interpreter alone, each function's bytecode as machine code from its first call on
    Templates,
    /// Everything by the quick compiler at its first call
    Baseline,
    /// Everything by the optimizing compiler at its first call
    Optimizing,
    /// The interpreter first, compiled as it becomes hot
    Auto,
}

/// What becomes of functions that a module imports and nobody has.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnknownImports {
    /// The module is refused
    Error,
    /// A call of one traps
    Trap,
    /// A call of one returns zeros and nulls
    Zero,
}

/// Whether records change the code.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Feedback {
    /// LWP records are drained and acted on
    Lwp,
    /// As precise sampling (PEBS, BTS) would have delivered the same records; modelled
    Pebs,
    /// As performance interrupts would have; modelled
    Pmi,
    /// As counter sets (libcpc) would have; modelled
    Cpc,
    /// No plan is made from them
    Off,
}

/// Where the LWP records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The code itself, by the rules of LWP
    Inline,
    /// Real LWP instructions, executed by the SIGILL handler: microseconds each, for conformance
    Trap,
    /// Real LWP instructions, executed by the processor
    Native,
    /// Branches and misses from the kernel's performance events
    Perf,
    /// A record file: its records make the plans, nothing else is recorded
    Replay(PathBuf),
}

impl Source {
    pub fn parse(text: &str) -> Result<Source, String> {
        Ok(match text {
            "inline" => Source::Inline,
            "trap" => Source::Trap,
            "native" => Source::Native,
            "perf" => Source::Perf,
            "replay" => return Err("replay needs a record file: replay=FILE (saved with --lwp-record)".into()),
            _ => match text.strip_prefix("replay=") {
                Some(file) if !file.is_empty() => Source::Replay(file.into()),
                _ => {
                    return Err(format!(
                        "no source `{text}`; known: inline, trap, native, perf, replay=FILE (one of your own is started by --event-source)"
                    ));
                }
            },
        })
    }
}

impl From<&Source> for backedge::RecordSource {
    fn from(source: &Source) -> backedge::RecordSource {
        match source {
            Source::Inline | Source::Replay(_) => backedge::RecordSource::Inline,
            Source::Trap => backedge::RecordSource::Trap,
            Source::Native => backedge::RecordSource::Native,
            Source::Perf => backedge::RecordSource::Perf,
        }
    }
}

/// How an engine works: shared by `run` and `wast`.
#[derive(Args, Clone)]
pub struct EngineOptions {
    /// Which tiers run
    #[arg(long, value_enum, default_value = "auto")]
    pub tier: Tier,
    /// Whether LWP records change the code
    #[arg(long, value_enum, default_value = "lwp")]
    pub feedback: Feedback,
    /// Record every branch and miss that bursts see, and the polls behind events: what --feedback=pebs, pmi and cpc and compare-feedback work from
    #[arg(long, conflicts_with = "no_feedback")]
    pub every_event: bool,
    /// Short for --feedback=off
    #[arg(long, conflicts_with = "feedback")]
    pub no_feedback: bool,
    /// Where LWP records come from: inline, trap, native, perf, replay=FILE
    #[arg(long, value_name = "SOURCE", default_value = "inline", value_parser = Source::parse)]
    pub source: Source,
    /// Events that may be recorded, by number or name: 1 lwpval, 2 instructions, 3 branch, 4 dcache-miss, 5 core-clocks, 6 ref-clocks, 255 lwpins
    #[arg(long, value_name = "LIST", default_value_t = EventSet::USUAL)]
    pub events: EventSet,
    /// CPU time between two records of a clock (events 5 and 6), e.g. 4ms
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = duration)]
    pub clock_interval: Duration,
    /// Count everything (`backedge accuracy`)
    #[arg(skip)]
    pub exact: bool,
    /// Carry out the plans of FILE (JSON) in place of those made from records
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Carry plans out at once, without timing them against the code before
    #[arg(long)]
    pub no_trial: bool,
    /// For tests of trials: try every optimized function against itself
    #[arg(long, hide = true)]
    pub try_same: bool,
    /// With --try-same: once more, slowed by so much, percent
    #[arg(long, value_name = "PCT", hide = true, default_value = "0", value_parser = percent)]
    pub try_slowed: f64,
    /// Seed of what is random: the order of trials' blocks
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Share of run time that watching may cost, percent: bursts of instrumented code, their model, the monitor. At 0 nothing is recorded but that code is hot
    #[arg(long, value_name = "PCT", default_value = "1", value_parser = percent, allow_negative_numbers = true)]
    pub feedback_budget: f64,
    /// Calls and loop rounds after which a function is hot
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i32::MAX as i64), allow_negative_numbers = true)]
    pub hot_threshold: Option<u32>,
}

/// `backedge run`.
#[derive(Args, Clone)]
pub struct Run {
    /// Give the guest a directory of the host, under its own name or another one
    #[arg(long = "dir", value_name = "HOST[::GUEST]", value_parser = guest_text())]
    pub dirs: Vec<String>,
    /// The same, to read alone: what would change it or anything in it fails with EROFS
    #[arg(long = "read-only-dir", value_name = "HOST[::GUEST]", value_parser = guest_text())]
    pub read_only_dirs: Vec<String>,
    /// Give the guest an environment variable; NAME alone passes the host's value on, if it has one. Of several of one name the last counts
    #[arg(long = "env", value_name = "NAME[=VAL]", value_parser = guest_text().try_map(variable))]
    pub env: Vec<String>,
    /// Functions that the module imports and nobody has: refuse the module, trap when one is called, or return zeros
    #[arg(long, value_name = "WHAT", value_enum, default_value = "error")]
    pub unknown_imports: UnknownImports,
    /// Call this export with ARGS as its arguments and print its results
    #[arg(long, value_name = "FUNCTION", value_parser = guest_text())]
    pub invoke: Option<String>,
    /// The program's name as it sees it (argument 0)
    #[arg(long, value_name = "NAME", value_parser = guest_text())]
    pub argv0: Option<String>,
    /// WebAssembly options: timeout=DURATION, max-memory-size=BYTES, max-wasm-stack=BYTES, trap-on-grow-failure[=y|n],
    /// max-table-elements=N, max-instances=N, max-function-body=BYTES, max-compile-time=DURATION (a function's, as expected from its size)
    #[arg(short = 'W', long = "wasm", value_name = "KEY[=VAL[,..]]", value_parser = WasmOptions::parse)]
    pub wasm: Vec<WasmOptions>,
    /// WASI options: inherit-env[=y|n]
    #[arg(short = 'S', long = "wasi", value_name = "KEY[=VAL[,..]]", value_parser = WasiOptions::parse)]
    pub wasi: Vec<WasiOptions>,
    /// Say what the engine saw, decided and did: `text`, `json` or `json+code`, to standard error or to FILE; `html` to FILE (backedge-report.html)
    #[arg(long, value_name = "FORMAT[,FILE]", num_args = 0..=1, require_equals = true, default_missing_value = "text", value_parser = OsStringValueParser::new().try_map(|text| ReportTo::parse(&text)))]
    pub report: Option<ReportTo>,
    /// Code generation options: cache[=y|n] (machine code is kept for the next run; default y), fill[=y|n] (after the run a process in the background compiles more of it into the cache; default y), templates[=y|n] (what the interpreter runs more than a few times is strung together as machine code; default y)
    #[arg(short = 'C', long = "codegen", value_name = "KEY[=VAL[,..]]", value_parser = CodegenOptions::parse)]
    pub codegen: Vec<CodegenOptions>,
    /// Run FILE though it is precompiled: native code, as trusted as any program
    #[arg(long)]
    pub allow_precompiled: bool,
    /// Save every LWP record in FILE, for `backedge lwp decode` and `replay`; only with --tier auto
    #[arg(long, value_name = "FILE")]
    pub lwp_record: Option<PathBuf>,
    #[command(flatten)]
    pub keep: KeepOptions,
    #[command(flatten)]
    pub watch: WatchOptions,
    #[command(flatten)]
    pub engine: EngineOptions,
    /// The program (.wasm or .wat) and its arguments; what follows FILE is passed on untouched
    #[arg(value_name = "FILE [ARGS]", required = true, trailing_var_arg = true)]
    pub file_and_args: Vec<OsString>,
}

/// `backedge top`.
#[derive(Args)]
pub struct Top {
    /// Stay when the program has ended, until q is pressed
    #[arg(long)]
    pub stay: bool,
    #[command(flatten)]
    pub run: Run,
}

/// `backedge explain`.
#[derive(Args)]
pub struct Explain {
    /// One function, by name, export or index; all that have records without it
    #[arg(long, value_name = "FUNCTION")]
    pub func: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Do not run FILE: explain from records that an earlier run of it saved with --lwp-record
    #[arg(long, value_name = "RECORDS")]
    pub replay: Option<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

/// `backedge profile`.
#[derive(Subcommand)]
pub enum Profile {
    /// Put what a profile says into a copy of the module, as the sections that other engines read
    Export(ProfileExport),
    /// Print what a profile holds
    Show {
        /// The profile
        file: PathBuf,
    },
}

/// `backedge profile export`.
#[derive(Args)]
pub struct ProfileExport {
    /// The module (.wasm or .wat)
    pub file: PathBuf,
    /// The profile of a run of it (--profile-save)
    pub profile: PathBuf,
    /// Where the module with its hints goes
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Also write hints and profile as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// `backedge compile`.
#[derive(Args)]
pub struct Compile {
    /// The module (.wasm or .wat)
    pub file: PathBuf,
    /// Where the compiled module goes; by custom it ends in .bec
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// `backedge cache`.
#[derive(Subcommand)]
pub enum Cache {
    /// List its files, most recently used first
    List,
    /// Remove its files
    Clean,
    /// Compile a module's functions into it, so that its first run starts with them
    Fill(CacheFill),
}

/// `backedge cache fill`.
#[derive(Args)]
pub struct CacheFill {
    /// For runs with --no-feedback
    #[arg(long)]
    pub no_feedback: bool,
    /// Giving way to others, quietly, and the functions that standard input lists: what a run starts at its end
    #[arg(long, hide = true)]
    pub background: bool,
    /// The module (.wasm or .wat)
    pub file: PathBuf,
}

/// One `-C`.
#[derive(Clone, Default)]
pub struct CodegenOptions {
    pub cache: Option<bool>,
    pub fill: Option<bool>,
    pub templates: Option<bool>,
}

impl CodegenOptions {
    /// Several `-C` as one; later ones win.
    pub fn merged(all: &[CodegenOptions]) -> CodegenOptions {
        all.iter().fold(CodegenOptions::default(), |merged, one| CodegenOptions {
            cache: one.cache.or(merged.cache),
            fill: one.fill.or(merged.fill),
            templates: one.templates.or(merged.templates),
        })
    }

    fn parse(text: &str) -> Result<CodegenOptions, String> {
        let mut options = CodegenOptions::default();
        for (key, value) in pairs(text) {
            match key {
                "cache" => options.cache = Some(flag(key, value)?),
                "fill" => options.fill = Some(flag(key, value)?),
                "templates" => options.templates = Some(flag(key, value)?),
                _ => return Err(format!("unknown option `{key}`; known: cache, fill, templates")),
            }
        }
        Ok(options)
    }
}

/// `backedge inspect`.
#[derive(Args)]
pub struct Inspect {
    /// The module (.wasm or .wat)
    pub file: PathBuf,
    /// Functions to list, largest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub functions: usize,
}

/// What `dump` shows.
#[derive(Clone, Copy, ValueEnum)]
pub enum Stage {
    /// The operators with their byte offsets in the module
    Wasm,
    /// The interpreter's bytecode
    Bytecode,
    /// Cranelift IR, as translated and as optimized
    Clif,
    /// Cranelift IR as translated
    ClifTranslated,
    /// Cranelift IR as optimized
    ClifOptimized,
    /// Machine code
    Asm,
    /// What goes with the machine code: positions, traps, sites, guards, probes, optimizations
    Tables,
}

/// `backedge dump`.
#[derive(Args)]
pub struct Dump {
    /// What to show
    #[arg(long, value_enum)]
    pub stage: Stage,
    /// One function, by name, export or index; all without it
    #[arg(long, value_name = "FUNCTION")]
    pub func: Option<String>,
    /// Compile to the plans of FILE (JSON)
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// What writes the LWP records of the code: inline, trap
    #[arg(long, value_name = "SOURCE", default_value = "inline", value_parser = source_of_code)]
    pub source: Source,
    /// The compiler to ask
    #[arg(long, value_enum, default_value = "optimizing")]
    pub tier: DumpTier,
    /// Of the code that is entered at the loop with this byte offset (as `--stage wasm` prints it)
    #[arg(long, value_name = "OFFSET", value_parser = offset)]
    pub entrance: Option<u32>,
    /// As a trial runs it: counting the rounds of its entrance (of a body calls are counted in front of it, and where it is inlined in itself)
    #[arg(long)]
    pub arm: bool,
    /// The module (.wasm or .wat)
    pub file: PathBuf,
}

/// A compiler.
#[derive(Clone, Copy, ValueEnum)]
pub enum DumpTier {
    /// Tier 1
    Baseline,
    /// Tier 1 with the probes of bursts
    Instrumented,
    /// Tier 2
    Optimizing,
}

/// `backedge wast`.
#[derive(Args)]
pub struct Wast {
    #[command(flatten)]
    pub engine: EngineOptions,
    /// The scripts
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// `backedge lwp`.
#[derive(Subcommand)]
pub enum Lwp {
    /// Say what this processor, system and build can do, per event source, and why not
    Info {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a trace through the software unit; print the LWPCB afterwards and the records
    Sim {
        /// The trace (JSON)
        #[arg(value_name = "TRACE")]
        trace: PathBuf,
        /// Generation of the architecture: 2007 or final
        #[arg(long, default_value = "final")]
        generation: Generation,
    },
    /// Measure what the software costs here; takes some seconds
    Bench {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what fences do to the loads that bursts time: their latency beside what such loads cost a program; takes some seconds
    Bias {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a record file, one line a record
    Decode {
        /// The record file
        file: PathBuf,
        /// Leave out records of this event, by number or name; may be given several times
        #[arg(long, value_name = "EVENT", value_parser = event)]
        drop: Vec<EventId>,
        /// Write a record file in place of text
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Drive monitor, profile and policy from a record file; print plans and refusals
    Replay(LwpReplay),
    /// Run a program with its LWP instructions executed in software
    Exec(LwpExec),
}

/// `backedge lwp replay`.
#[derive(Args)]
pub struct LwpReplay {
    /// The record file
    pub file: PathBuf,
    /// The module that was recorded (.wasm or .wat): without it the policy knows no callee
    #[arg(long, value_name = "FILE")]
    pub module: Option<PathBuf>,
    #[command(flatten)]
    pub policy: PolicyOptions,
}

/// `backedge lwp exec`.
#[derive(Args)]
pub struct LwpExec {
    /// What CPUID says: all, none, cpu-only, no-val, fx8150, or leaf 8000_001C as EAX:EBX:ECX:EDX in hexadecimal
    #[arg(long, default_value = "all")]
    pub features: String,
    /// The program, looked up in PATH, and its arguments, which are passed on untouched
    #[arg(value_name = "PROGRAM [ARGS]", required = true, trailing_var_arg = true)]
    pub program_and_args: Vec<OsString>,
}

/// One `-W`.
#[derive(Clone, Default)]
pub struct WasmOptions {
    pub timeout: Option<Duration>,
    pub max_memory_size: Option<usize>,
    pub max_wasm_stack: Option<usize>,
    pub trap_on_grow_failure: Option<bool>,
    pub max_table_elements: Option<usize>,
    pub max_instances: Option<usize>,
    pub max_function_body: Option<usize>,
    pub max_compile_time: Option<Duration>,
}

impl WasmOptions {
    const KEYS: [&str; 8] = [
        "timeout",
        "max-memory-size",
        "max-wasm-stack",
        "trap-on-grow-failure",
        "max-table-elements",
        "max-instances",
        "max-function-body",
        "max-compile-time",
    ];

    fn parse(text: &str) -> Result<WasmOptions, String> {
        let mut options = WasmOptions::default();
        for (key, value) in pairs(text) {
            match key {
                "timeout" => options.timeout = Some(duration(needed(key, value)?)?),
                "max-memory-size" => options.max_memory_size = Some(bytes(needed(key, value)?)?),
                "max-wasm-stack" => options.max_wasm_stack = Some(bytes(needed(key, value)?)?),
                "trap-on-grow-failure" => options.trap_on_grow_failure = Some(flag(key, value)?),
                "max-table-elements" => options.max_table_elements = Some(number(key, needed(key, value)?)?),
                "max-instances" => options.max_instances = Some(number(key, needed(key, value)?)?),
                "max-function-body" => options.max_function_body = Some(bytes(needed(key, value)?)?),
                "max-compile-time" => options.max_compile_time = Some(duration(needed(key, value)?)?),
                _ => return Err(format!("unknown option `{key}`; known: {}", WasmOptions::KEYS.join(", "))),
            }
        }
        Ok(options)
    }

    /// Whether anything is to be asked when memories, tables or instances grow.
    pub fn limits_growth(&self) -> bool {
        self.max_memory_size.is_some()
            || self.trap_on_grow_failure.is_some()
            || self.max_table_elements.is_some()
            || self.max_instances.is_some()
    }

    /// Several `-W` as one; later ones win.
    pub fn merged(all: &[WasmOptions]) -> WasmOptions {
        all.iter().fold(WasmOptions::default(), |merged, one| WasmOptions {
            timeout: one.timeout.or(merged.timeout),
            max_memory_size: one.max_memory_size.or(merged.max_memory_size),
            max_wasm_stack: one.max_wasm_stack.or(merged.max_wasm_stack),
            trap_on_grow_failure: one.trap_on_grow_failure.or(merged.trap_on_grow_failure),
            max_table_elements: one.max_table_elements.or(merged.max_table_elements),
            max_instances: one.max_instances.or(merged.max_instances),
            max_function_body: one.max_function_body.or(merged.max_function_body),
            max_compile_time: one.max_compile_time.or(merged.max_compile_time),
        })
    }
}

/// One `-S`.
#[derive(Clone, Default)]
pub struct WasiOptions {
    pub inherit_env: Option<bool>,
}

impl WasiOptions {
    fn parse(text: &str) -> Result<WasiOptions, String> {
        let mut options = WasiOptions::default();
        for (key, value) in pairs(text) {
            match key {
                "inherit-env" => options.inherit_env = Some(flag(key, value)?),
                _ => return Err(format!("unknown option `{key}`; known: inherit-env")),
            }
        }
        Ok(options)
    }
}

/// Where a report goes.
#[derive(Clone)]
pub struct ReportTo {
    pub format: ReportFormat,
    pub file: Option<PathBuf>,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For a terminal.
    Text,
    /// For tools.
    Json,
    /// For tools, with samples of the guest's stack and the code of what was hottest: what a page of a benchmark shows of a run.
    JsonWithCode,
    /// For a browser.
    Html,
}

impl ReportFormat {
    /// Whether the guest's stack is sampled for it.
    pub fn samples(self) -> bool {
        matches!(self, ReportFormat::Html | ReportFormat::JsonWithCode)
    }
}

impl ReportTo {
    // (a file's name need not be UTF-8)
    fn parse(text: &OsStr) -> Result<ReportTo, String> {
        let text = text.as_bytes();
        let (format, file) = match text.iter().position(|byte| matches!(byte, b',' | b'=')) {
            Some(at) => (&text[..at], Some(PathBuf::from(OsStr::from_bytes(&text[at + 1..])))),
            None => (text, None),
        };
        let format = match format {
            b"text" => ReportFormat::Text,
            b"json" => ReportFormat::Json,
            b"json+code" => ReportFormat::JsonWithCode,
            b"html" => ReportFormat::Html,
            _ => {
                let found = String::from_utf8_lossy(format);
                return Err(format!("expected `text`, `json`, `json+code` or `html`, found `{found}`"));
            }
        };
        let file = file.or_else(|| (format == ReportFormat::Html).then(|| "backedge-report.html".into()));
        Ok(ReportTo { format, file })
    }
}

fn pairs(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    text.split(',').map(|pair| match pair.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (pair, None),
    })
}

fn needed<'a>(key: &str, value: Option<&'a str>) -> Result<&'a str, String> {
    value.ok_or_else(|| format!("`{key}` needs a value: {key}=…"))
}

fn flag(key: &str, value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("y" | "yes" | "true") => Ok(true),
        Some("n" | "no" | "false") => Ok(false),
        Some(other) => Err(format!("expected y or n for `{key}`, found `{other}`")),
    }
}

/// Text that the guest gets to see. (What clap says of other text than UTF-8 does not name the option.)
fn guest_text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|text| text.into_string().map_err(|_| "not UTF-8, which WebAssembly needs"))
}

/// A variable of the guest's environment: a name, with or without a value.
fn variable(text: String) -> Result<String, &'static str> {
    let named = text.split('=').next().is_some_and(|name| !name.is_empty());
    if named { Ok(text) } else { Err("expected NAME or NAME=VALUE") }
}

/// A source that is the code itself: the others are of a run.
fn source_of_code(text: &str) -> Result<Source, String> {
    match Source::parse(text)? {
        source @ (Source::Inline | Source::Trap) => Ok(source),
        _ => Err("expected inline or trap: the others are of a run, and nothing is run".into()),
    }
}

/// An event by its name, or by its number: a record file may hold those that nobody defined.
fn event(text: &str) -> Result<EventId, String> {
    text.parse().map(EventId).or_else(|_| eventset::event(text).map_err(|error| error.to_string()))
}

/// A share from 0 to 100 percent.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(share) if (0.0..=100.0).contains(&share) => Ok(share),
        _ => Err(format!("expected a percentage from 0 to 100, found `{text}`")),
    }
}

fn number(key: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("expected a number for `{key}`, found `{text}`"))
}

/// A byte offset, decimal or with 0x.
fn offset(text: &str) -> Result<u32, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| format!("expected a byte offset, found `{text}`"))
}

fn bytes(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("expected a number of bytes, found `{text}`"))
}

/// A duration: a number of seconds, or with a unit ns, us, ms, s, m or h.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a duration such as 10s, 500ms or 2m, found `{text}`");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let seconds = match &text[digits..] {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("soon").is_err());
        assert!(duration("").is_err());
    }

    #[test]
    fn guest_arguments_are_not_ours() {
        let parsed = Options::parse_from(["backedge", "run", "--dir", ".", "a.wasm", "--dir", "-x"]);
        let Command::Run(run) = parsed.command else { panic!("run") };
        assert_eq!(run.dirs, ["."]);
        assert_eq!(run.file_and_args, ["a.wasm", "--dir", "-x"]);
    }

    #[test]
    fn report_forms() {
        let report = |args: &[&str]| {
            let parsed = Options::try_parse_from(args).ok()?;
            let Command::Run(run) = parsed.command else { panic!("run") };
            Some((run.report.map(|to| (to.format, to.file)), run.file_and_args))
        };
        let (to, file) = report(&["backedge", "run", "--report", "a.wasm"]).unwrap();
        assert_eq!((to, file), (Some((ReportFormat::Text, None)), vec!["a.wasm".into()]));
        let (to, _) = report(&["backedge", "run", "--report=json,r.json", "a.wasm"]).unwrap();
        assert_eq!(to, Some((ReportFormat::Json, Some("r.json".into()))));
        let (to, _) = report(&["backedge", "run", "--report=json+code,r.json", "a.wasm"]).unwrap();
        assert_eq!(to, Some((ReportFormat::JsonWithCode, Some("r.json".into()))));
        for (option, file) in
            [("--report=html", "backedge-report.html"), ("--report=html=r.html", "r.html"), ("--report=html,r.html", "r.html")]
        {
            let (to, _) = report(&["backedge", "run", option, "a.wasm"]).unwrap();
            assert_eq!(to, Some((ReportFormat::Html, Some(file.into()))));
        }
        assert!(report(&["backedge", "run", "--report=xml", "a.wasm"]).is_none());
    }
}
