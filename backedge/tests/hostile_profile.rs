//! A profile that lies: a guest's own host function fills its thread's ring with garbage while the guest runs, and results stay right.
//!
//! The garbage is aimed: real addresses of bytecode and machine code beside random ones, real site offsets, every class, values that name functions of
//! other types, imported ones and none at all. The ring is as small as it may be, so it is full most of the time.

use backedge::{Caller, Config, Engine, FeedbackPolicy, Linker, Module, Store, TierPolicy, Trap};
use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::{EventId, Record};
use lwp_feedback::ring::{MIN_BUFFER_BYTES, RingProducer};
use std::sync::{Arc, Mutex, OnceLock};

const GUEST: &str = r#"(module
    (import "host" "noise" (func $noise (param i32)))
    (type $unary (func (param i32) (result i32)))
    (type $binary (func (param i32 i32) (result i32)))
    (table 8 funcref)
    (elem (i32.const 0) $inc $double $square $negate $xor $noise)
    (memory 1)
    (func $inc (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
    (func $double (param i32) (result i32) (i32.shl (local.get 0) (i32.const 1)))
    (func $square (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))
    (func $negate (param i32) (result i32) (i32.sub (i32.const 0) (local.get 0)))
    (func $xor (param i32 i32) (result i32) (i32.xor (local.get 0) (local.get 1)))
    (func $step (param $x i32) (param $i i32) (result i32)
        (call_indirect (type $binary)
            (call_indirect (type $unary) (local.get $x) (i32.and (local.get $i) (i32.const 3)))
            (local.get $i)
            (i32.const 4)))
    (func $wrong (export "wrong") (param i32) (result i32)
        (call_indirect (type $unary) (i32.const 1) (local.get 0)))
    (func (export "run") (param $n i32) (result i32) (local $x i32) (local $i i32) (local $a i32)
        (loop $next
            (local.set $a (i32.and (i32.shl (local.get $i) (i32.const 2)) (i32.const 0xfffc)))
            (local.set $x (i32.add (call $step (local.get $x) (local.get $i)) (i32.load (local.get $a))))
            (i32.store (local.get $a) (local.get $x))
            (if (i32.eqz (i32.and (local.get $i) (i32.const 63))) (then (call $noise (local.get $i))))
            (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $x)))"#;

/// xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next() as usize % choices.len()]
    }
}

/// What the noise function needs.
struct Noise {
    random: Random,
    producer: Option<RingProducer>,
    module: Arc<OnceLock<Module>>,
}

impl Noise {
    fn write(&mut self, engine: &Engine) {
        if self.producer.is_none() {
            self.producer = engine.vm().thread_ring().and_then(|ring| ring.producer());
        }
        let (Some(producer), Some(module)) = (&mut self.producer, self.module.get()) else {
            return;
        };
        let code = &module.loaded().code;
        let inner = &module.loaded().module;
        let random = &mut self.random;
        for _ in 0..48 {
            let own = (random.next() % inner.bodies.len() as u64) as u32;
            let function = own + inner.imported_functions;
            let body = inner.bodies[own as usize].clone();
            let compiled = code.compiled(function) as u64;
            let bytecode = code.bytecode(function).address_range().start;
            let ip = match random.next() % 6 {
                0 => random.next(),
                1 | 2 if compiled != 0 => compiled + random.next() % 64,
                _ => bytecode,
            };
            let class = random.of(SiteClass::ALL).imm16((random.next() % 3) as u8);
            let class = if random.next().is_multiple_of(8) { random.next() as u16 } else { class };
            let offset = match random.next() % 4 {
                0 => random.next() as u32,
                _ => body.start as u32 + (random.next() % body.len() as u64) as u32,
            };
            let value = match random.next() % 3 {
                0 => random.next(),
                _ => random.next() % 9,
            };
            let event = random.of(&[EventId::VALUE, EventId::VALUE, EventId::PROGRAMMED, EventId::BRANCHES, EventId::DCACHE, EventId(77)]);
            let record = Record::new(event, 0, class, offset, ip, value, random.next());
            // Often the same one: garbage that no site left but that looks dominant.
            for _ in 0..1 + random.next() % 8 {
                producer.store(&record);
            }
        }
    }
}

fn engine(change: impl FnOnce(&mut Config)) -> Engine {
    let mut config = Config::new();
    change(&mut config);
    Engine::new(&config).unwrap()
}

/// The result of `run`, then of calls that must trap; and the module.
fn run(engine: &Engine, seed: Option<u64>, rounds: i32) -> (i32, Module) {
    let slot = Arc::new(OnceLock::new());
    let noise = Mutex::new(Noise { random: Random(seed.unwrap_or(1)), producer: None, module: slot.clone() });
    let mut linker = Linker::new(engine);
    linker
        .func_wrap("host", "noise", move |caller: Caller<'_, ()>, _: i32| {
            if seed.is_some() {
                noise.lock().unwrap().write(caller.engine());
            }
        })
        .unwrap();
    let module = Module::new(engine, GUEST).unwrap();
    slot.set(module.clone()).ok();
    let mut store = Store::new(engine, ());
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    let result = run.call(&mut store, rounds).unwrap();
    let wrong = instance.get_typed_func::<i32, i32>(&mut store, "wrong").unwrap();
    for _ in 0..4 {
        assert_eq!(wrong.call(&mut store, 0).unwrap(), 2);
        for (index, trap) in [(4, Trap::BadSignature), (5, Trap::BadSignature), (6, Trap::IndirectCallToNull), (8, Trap::TableOutOfBounds)]
        {
            let error = wrong.call(&mut store, index).unwrap_err();
            assert_eq!(error.downcast_ref::<Trap>(), Some(&trap));
        }
    }
    (result, module)
}

const ROUNDS: i32 = 50_000;

#[test]
fn garbage_in_the_ring_changes_no_result() {
    let (expected, _) = run(
        &engine(|config| {
            config.tier(TierPolicy::Interpreter);
        }),
        None,
        ROUNDS,
    );
    let (mut decisions, mut missed, mut versions) = (0, 0, 0);
    for seed in 1..=48 {
        let engine = engine(|config| {
            config.tier(TierPolicy::Auto).feedback(FeedbackPolicy::Lwp).hot_threshold(40);
            // Half of them on the spot, half with the monitor and the compiler on their own threads.
            config.deterministic(seed % 2 == 0);
            let machine = config.machine();
            machine.ring.buffer_bytes = MIN_BUFFER_BYTES;
            machine.ring.interval1 = 3;
            machine.budgets.min_samples = 1;
            machine.budgets.min_share = 0.1;
            // Whatever it costs.
            machine.budgets.min_gain = 0.0;
            machine.budgets.min_saves_us = 0.0;
            machine.budgets.min_exit_samples = 1;
            machine.budgets.min_exit_share = 0.3;
            machine.budgets.max_targets = 4;
            machine.stress.leave_to_interpreter = seed % 3 == 0;
        });
        let (result, module) = run(&engine, Some(seed * 0x9e37_79b9), ROUNDS);
        assert_eq!(result, expected, "seed {seed}");
        engine.settle();
        let report = module.report();
        missed += report.monitor.missed;
        for version in report.functions.iter().flat_map(|function| &function.versions) {
            versions += 1;
            decisions += version.decisions.len();
        }
    }
    // Otherwise nothing was tried.
    assert!(missed > 0 && decisions > 0 && versions > 48, "missed {missed}, decisions {decisions}, versions {versions}");
}
