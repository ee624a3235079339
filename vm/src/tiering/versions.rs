//! Versions of a function's code: compiled, placed, linked so that calls and loops lead to them.
//!
//! Order of publication: bytes, trap table and address map ([`ModuleCode::build`]), then the entry pointers (Release, [`ModuleCode::link`]).

use super::planning::code_hash;
use super::retire::Place;
use super::thresholds::expected_compile_time;
use super::{CompileFailure, LoopCode, ModuleCode};
use crate::code::{Applied, BackEdge, CompileError, CompileRequest, CompiledCode, Entrance, Padding, Tier};
use crate::engine::TierPolicy;
use crate::gate::Gate;
use crate::profiling::{piece, version_name};
use crate::registry::{Front, PlacedCode, Role};
use crate::timeline::What;
use lwp_feedback::codemap::{CodeEntry, FunctionId, InlinedRange, Later, Offsets, Tier as CodeTier};
use lwp_feedback::layout::EventId;
use lwp_feedback::policy::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A published version of a function's code.
pub struct CodeVersion {
    /// Unique in the module, from 1.
    pub number: u32,
    /// The function.
    pub function: u32,
    /// Body or loop.
    pub entrance: Entrance,
    /// Pipeline.
    pub tier: Tier,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Hash of the machine code before it was placed: the same for the same code.
    pub code_hash: u64,
    /// Time the compile took.
    pub compile_time: Duration,
    /// When it was published, since the engine began.
    pub published: Duration,
    /// Whether it counts calls and back edges.
    pub counted: bool,
    /// Whether it counts where it is inlined in itself: an arm that is no code to stay.
    pub counts_inlined: bool,
    /// What it was compiled to.
    pub plan: Option<Arc<Plan>>,
    /// What the compiler did and refused.
    pub applied: Vec<Applied>,
    /// LWPVAL sites in the code.
    pub value_sites: usize,
    /// LWPINS sites in the code.
    pub hot_sites: usize,
    /// Of a trial's candidate, while its trial lasts: what would be kept of it.
    candidate: Mutex<Option<Box<(CompileRequest, CompiledCode)>>>,
    /// See [`CodeVersion::is_arm`].
    arm: AtomicBool,
    /// Jumps to loop headers that may pass the poll, by its word.
    pub(super) back_edges: Box<[BackEdge]>,
    address: usize,
    entry: usize,
    placed: Place,
}

impl CodeVersion {
    /// What code is placed beside that is compared with this; `None` where it is gone.
    pub(super) fn block_address(&self) -> Option<usize> {
        Some(self.placed.lock().unwrap_or_else(|error| error.into_inner()).as_ref()?.block_address())
    }

    /// Where its code starts, or started.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Where calls enter it: at its detour, if it is a body.
    pub(super) fn entry(&self) -> usize {
        self.entry
    }

    /// Lets calls of it go to an address in code memory, or enter it again.
    pub(super) fn lead_calls(&self, to: Option<usize>) {
        if let Some(placed) = self.placed().as_ref() {
            placed.lead_calls(to);
        }
    }

    /// Addresses its code takes, while it has any.
    pub(crate) fn code_range(&self) -> Option<std::ops::Range<u64>> {
        self.placed().as_ref().map(|placed| placed.range())
    }

    /// Its machine code as it stands in its place, the table from offsets in it to positions, and these; none once its code is given up.
    #[expect(clippy::type_complexity, reason = "three tables, named above")]
    pub fn code(&self) -> Option<(Vec<u8>, Vec<(u32, u32)>, Vec<crate::code::SourcePosition>)> {
        let placed = self.placed();
        let placed = placed.as_ref()?;
        let (locations, positions) = placed.tables();
        Some((placed.bytes(self.code_bytes), locations.to_vec(), positions.to_vec()))
    }

    /// An arm of a trial that nothing else leads to: a loop's for good, a body's until it wins.
    pub fn is_arm(&self) -> bool {
        self.arm.load(Ordering::Relaxed)
    }

    /// What would be kept of it, if it is a trial's candidate; once.
    pub(super) fn take_candidate(&self) -> Option<Box<(CompileRequest, CompiledCode)>> {
        self.candidate.lock().unwrap_or_else(|error| error.into_inner()).take()
    }

    /// The gate that was placed with it, if it has one.
    pub(super) fn gate(&self) -> Option<usize> {
        Some(self.placed().as_ref()?.gate()?.address())
    }

    /// Lets its gate lead to an address in code memory.
    pub(super) fn lead_gate(&self, to: usize) {
        if let Some(gate) = self.placed().as_ref().and_then(|placed| placed.gate()) {
            gate.lead(to);
        }
    }

    /// How often a speculative load of it has faulted: each costs microseconds. 0 once its code is given up.
    pub fn speculative_faults(&self) -> u64 {
        self.placed().as_ref().map_or(0, |placed| placed.speculative_faults())
    }

    /// Whether its code was given up: no frame was in it any more.
    pub fn is_gone(&self) -> bool {
        self.placed().is_none()
    }

    /// Lets the back edges of the polls of one word lead behind them, or to them.
    pub(super) fn steer(&self, word: i32, passes: bool) {
        if let Some(placed) = self.placed().as_ref() {
            self.back_edges_of(word).iter().for_each(|edge| placed.steer(edge, passes));
        }
    }

    /// The back edges of the polls of one word.
    pub(super) fn back_edges_of(&self, word: i32) -> &[BackEdge] {
        let from = self.back_edges.partition_point(|edge| edge.word < word);
        let to = self.back_edges.partition_point(|edge| edge.word <= word);
        &self.back_edges[from..to]
    }

    /// Its code, to be given up.
    pub(super) fn take_code(&self) -> Option<Box<PlacedCode>> {
        self.placed().take()
    }

    fn placed(&self) -> MutexGuard<'_, Option<Box<PlacedCode>>> {
        self.placed.lock().unwrap_or_else(|error| error.into_inner())
    }
}

/// As [`CodeVersion::back_edges`] has them.
fn by_word(mut back_edges: Vec<BackEdge>) -> Box<[BackEdge]> {
    back_edges.sort_unstable_by_key(|edge| (edge.word, edge.at));
    back_edges.into()
}

/// CPU time of this thread: a compile costs what it took, not what others had meanwhile.
pub(super) fn cpu_time() -> Duration {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: writes a whole timespec; all-zero is one as well.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

impl ModuleCode {
    /// Compiles and links; failures are kept for the report.
    pub(super) fn compile(self: &Arc<Self>, function: u32, entrance: Entrance, tier: Tier, counted: bool) -> bool {
        let automatic = self.shared.config.tier == TierPolicy::Auto;
        let plan = match tier {
            Tier::Baseline | Tier::Instrumented => None,
            Tier::Optimizing if self.tries() => self.adopted(function).inspect(|_| self.forget_early(function)).or_else(|| {
                // It won its trials then.
                let plan = self.saved_plan(function).or_else(|| self.first_plan(function));
                self.adopt(function, plan.clone());
                plan
            }),
            Tier::Optimizing => self.composed(function, self.planned(function)),
        };
        let plan = plan.and_then(|plan| self.exits.amend(plan));
        let probe_base = match tier {
            Tier::Instrumented => match self.reserve_probes(function) {
                Some(base) => base,
                None => {
                    self.instrumented_compiled(function, entrance, Duration::ZERO, false);
                    return false;
                }
            },
            Tier::Baseline | Tier::Optimizing => 0,
        };
        let events = self.shared.config.events;
        let request = CompileRequest {
            module: self.module.clone(),
            function,
            entrance,
            tier,
            version: self.next_version.fetch_add(1, Ordering::Relaxed),
            plan,
            sites: tier != Tier::Optimizing
                && (automatic || self.shared.config.exact)
                && self.shared.budget.allows_any()
                && events.contains(EventId::VALUE),
            countdowns: (tier == Tier::Baseline && automatic || counted) && events.contains(EventId::PROGRAMMED),
            // Entered for two rounds, of which the first header takes one: see `leave`.
            rounds: self.shared.config.stress.leave_always && tier != Tier::Instrumented && matches!(entrance, Entrance::Loop(_)),
            arm: false,
            gated: false,
            counts_inlined: false,
            beside: None,
            padding: Padding::default(),
            fail_guards: self.shared.config.stress.fail_guards,
            events,
            probe_base,
            listing: false,
        };
        let began = cpu_time();
        let built = self.build(&request, counted);
        if tier == Tier::Instrumented {
            self.instrumented_compiled(function, entrance, cpu_time().saturating_sub(began), built.is_ok());
        }
        match built {
            // Known to bursts, and nowhere else.
            Ok(_) if tier == Tier::Instrumented && !self.shared.config.exact => {}
            Ok(version) => self.link(version, request.countdowns),
            Err(_) => return false,
        }
        true
    }

    /// Compiles and places a version; nothing leads to it yet. Failures are kept for the report.
    pub(super) fn build(&self, request: &CompileRequest, counted: bool) -> Result<Arc<CodeVersion>, CompileError> {
        let result = self.build_unnoted(request, counted);
        if let Err(error) = &result {
            let (function, tier) = (request.function, request.tier);
            if matches!(error, CompileError::Internal { .. }) {
                tracing::error!(function, ?tier, %error, "compile failed");
            } else {
                tracing::debug!(function, ?tier, %error, "not compiled");
            }
            let reason = error.to_string();
            self.note(function, request.entrance, || What::Failed { tier, reason: reason.clone() });
            self.published().failures.push(CompileFailure { function, tier, reason });
        }
        result
    }

    fn build_unnoted(&self, request: &CompileRequest, counted: bool) -> Result<Arc<CodeVersion>, CompileError> {
        let function = request.function;
        let compiler = self.shared.compiler.as_ref().ok_or_else(|| CompileError::Unsupported { function, reason: "no compiler".into() })?;
        if let Some(limit) = self.shared.config.max_compile_time {
            let expected = expected_compile_time(request.tier, self.body_bytes(function));
            if expected > limit {
                return Err(CompileError::Limit {
                    function,
                    reason: format!("compiling it is expected to take {expected:?}, limit {limit:?}"),
                });
            }
        }
        let began = Instant::now();
        let code = {
            let _spoils_measures = self.shared.compile_begins();
            compiler.compile(request)?
        };
        let took = began.elapsed();
        self.shared.compile_costs.took(request.tier, self.body_bytes(function), took);
        self.place(request, code, took, counted)
    }

    /// Puts code in its place, with its tables; nothing leads to it yet.
    pub(super) fn place(
        &self,
        request: &CompileRequest,
        code: CompiledCode,
        compile_time: Duration,
        counted: bool,
    ) -> Result<Arc<CodeVersion>, CompileError> {
        let function = request.function;
        let keeps = request.gated && self.shared.compiler.as_ref().is_some_and(|compiler| compiler.keeps());
        let candidate = keeps.then(|| Box::new((request.clone(), code.clone())));
        let gate = request.gated.then(|| self.module.defined(function)).flatten().map(|own| Gate { own, used_up: self.lazy_stub(own) });
        let front = Front { detour: request.entrance == Entrance::Body, gate };
        let placed = PlacedCode::beside(&code, Some(self.module.clone()), Role::Plain, request.beside, front)
            .map_err(|reason| CompileError::Limit { function, reason })?;
        let id = FunctionId { module: self.key, func: function };
        let tier = match request.tier {
            Tier::Baseline => CodeTier::Baseline,
            Tier::Optimizing => CodeTier::Optimizing,
            Tier::Instrumented => CodeTier::Instrumented,
        };
        if self.shared.watched() {
            let source = code.source.clone();
            let detour = (placed.address() - placed.entry()) as u32;
            let offsets = Offsets::made_by(move || source.outermost().iter().map(|&(at, offset)| (at + detour, offset)).collect());
            let source = code.source.clone();
            let inlined = Later::made_by(move || {
                let moved =
                    |(start, end, func): (u32, u32, u32)| InlinedRange { start: start + detour, end: end.saturating_add(detour), func };
                source.inlined().into_iter().map(moved).collect()
            });
            let entry = CodeEntry::new(id, request.version, tier, Arc::from([]));
            let entry = entry.with_offsets(offsets).with_inlined(inlined).with_return_addresses();
            self.shared
                .code_map
                .insert(placed.range(), entry)
                .map_err(|error| CompileError::Internal { function, reason: error.to_string() })?;
        }
        self.exits.add(request.version, function, &code.guards);
        if request.tier == Tier::Instrumented {
            self.publish_instrumented(request, &code, placed.address());
        }
        if !self.shared.config.observers.is_empty() {
            let name = version_name(&self.module, function, request.tier, request.entrance, request.version);
            let bytes = placed.bytes(code.bytes.len());
            let piece = piece(&name, placed.address(), &bytes, &self.module, (function, request.version), &code);
            self.shared.config.observers.iter().for_each(|observer| observer.placed(&piece));
            if placed.entry() != placed.address() {
                self.shared.observe_nameless("backedge detour", placed.entry(), &placed.detour_bytes());
            }
            if let Some(gate) = placed.gate() {
                self.shared.observe_nameless("backedge trial gate", gate.address(), &gate.bytes());
            }
        }
        let version = Arc::new(CodeVersion {
            number: request.version,
            function,
            entrance: request.entrance,
            tier: request.tier,
            code_bytes: code.bytes.len(),
            code_hash: code_hash(&code.bytes),
            compile_time,
            published: self.shared.started.elapsed(),
            counted,
            counts_inlined: code.counts_inlined,
            plan: request.plan.clone(),
            value_sites: code.sites.len(),
            hot_sites: code.hot_sites as usize,
            applied: code.applied,
            candidate: Mutex::new(candidate),
            arm: AtomicBool::new(request.arm),
            back_edges: by_word(code.back_edges),
            address: placed.address(),
            entry: placed.entry(),
            placed: Mutex::new(Some(placed)),
        });
        self.published().versions.push(version.clone());
        tracing::debug!(function, version = version.number, tier = ?version.tier, entrance = ?version.entrance, bytes = version.code_bytes, ?compile_time, "compiled");
        self.note(function, request.entrance, || What::Compiled {
            version: version.number,
            tier: version.tier,
            took_ns: compile_time.as_nanos() as u64,
            code_bytes: version.code_bytes,
            arm: version.is_arm(),
            interpreted: false,
        });
        Ok(version)
    }

    /// Lets calls, or the rounds of its loop, lead to a version; what they led to before is retired.
    pub(super) fn link(self: &Arc<Self>, version: Arc<CodeVersion>, countdowns: bool) {
        let (function, tier) = (version.function, version.tier);
        let own = self.module.defined(function).expect("only defined functions are compiled");
        if countdowns {
            let after = self.hot_after(own, tier);
            self.functions[own].hot_records.store(0, Ordering::Relaxed);
            self.functions[own].uncounted.fetch_add(self.came(own).into(), Ordering::Relaxed);
            self.count_to(own, after);
        }
        let mut published = self.published();
        version.arm.store(false, Ordering::Relaxed);
        published.linked_bytes += version.code_bytes;
        let before = published.current.insert((function, version.entrance), version.clone());
        published.linked_bytes -= before.as_ref().map_or(0, |before| before.code_bytes);
        self.add_back_edges(&published, &version);
        match version.entrance {
            Entrance::Body => {
                self.lead_back(function);
                self.functions[own].body.store(version.address() as *mut u8, Ordering::Release);
                self.targets[own].compiled.store(version.entry() as *mut u8, Ordering::Release);
                self.set_entry(&published, function, version.entry());
            }
            Entrance::Loop(offset) => {
                let code = LoopCode { address: version.address(), tier };
                self.loops.write().unwrap_or_else(|error| error.into_inner()).insert((function, offset), code);
                if countdowns && self.skips_baseline() {
                    self.look_for_loops(function);
                }
                if tier == Tier::Optimizing {
                    self.ask_to_leave(&published, function);
                }
            }
        }
        drop(published);
        tracing::debug!(function, version = version.number, "entered");
        self.note(function, version.entrance, || What::Entered { version: version.number, tier });
        if let Some(before) = before {
            self.retire(before);
        }
        self.keep_under_cap(&version);
    }
}
