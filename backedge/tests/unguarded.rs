//! Memories without guards: where a process may not have 6 GiB of address space for each, compiled code checks every access.

use backedge::{Config, Engine, Instance, MemoryType, Module, SharedMemory, Store, TierPolicy, Trap};

/// Loads and stores of each width at an address, behind offsets on both sides of 2 GiB.
const ACCESSES: &str = r#"(module (memory (export "memory") 1 3)
    (func (export "load8") (param i32) (result i32) (i32.load8_u (local.get 0)))
    (func (export "load64") (param i32) (result i32) (i32.wrap_i64 (i64.load (local.get 0))))
    (func (export "vector") (param i32) (result i32) (i32x4.extract_lane 0 (v128.load (local.get 0))))
    (func (export "small") (param i32) (result i32) (i32.load offset=100 (local.get 0)))
    (func (export "large") (param i32) (result i32) (i32.load offset=0x90000000 (local.get 0)))
    (func (export "largest") (param i32) (result i32) (i32.load offset=0xffffffff (local.get 0)))
    (func (export "store8") (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 1)) (i32.const 1))
    (func (export "store64") (param i32) (result i32) (i64.store (local.get 0) (i64.const 1)) (i32.const 1))
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))"#;

/// Export, bytes it accesses, offset.
const REACH: [(&str, u64, u64); 8] = [
    ("load8", 1, 0),
    ("load64", 8, 0),
    ("vector", 16, 0),
    ("small", 4, 100),
    ("large", 4, 0x9000_0000),
    ("largest", 4, 0xffff_ffff),
    ("store8", 1, 0),
    ("store64", 8, 0),
];

fn config(tier: TierPolicy, guarded: bool) -> Config {
    let mut config = Config::new();
    config.tier(tier).hot_threshold(1).guarded_memories(guarded);
    config
}

#[test]
fn every_access_is_checked_against_the_length() {
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing, TierPolicy::Auto] {
        let engine = Engine::new(&config(tier, false)).unwrap();
        let module = Module::new(&engine, ACCESSES).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let grow = instance.get_typed_func::<i32, i32>(&mut store, "grow").unwrap();
        for length in [65536u64, 2 * 65536] {
            for (name, bytes, offset) in REACH {
                let access = instance.get_typed_func::<i32, i32>(&mut store, name).unwrap();
                // The last that is inside, the first that is not, and far ones: where other mappings lie, or the address would wrap around.
                let last = (length - bytes).checked_sub(offset);
                let addresses = [last, last.map(|last| last + 1), Some(0), Some(0x7fff_ffff), Some(0xffff_ffff)];
                for address in addresses.into_iter().flatten() {
                    let inside = address + offset + bytes <= length;
                    let result = access.call(&mut store, address as u32 as i32);
                    let trap = result.as_ref().err().map(|error| error.downcast_ref::<Trap>().copied());
                    let expected = (!inside).then_some(Some(Trap::MemoryOutOfBounds));
                    assert_eq!(trap, expected, "{tier:?} {name} at {address:#x} of {length:#x}");
                }
            }
            if length == 65536 {
                assert_eq!(grow.call(&mut store, 1).unwrap(), 1);
            }
        }
    }
}

/// The checks are really there, and only there.
#[test]
fn code_for_guarded_memories_has_no_checks() {
    let bytes = [true, false].map(|guarded| {
        let engine = Engine::new(&config(TierPolicy::Optimizing, guarded)).unwrap();
        let module = Module::new(&engine, ACCESSES).unwrap();
        assert_eq!(module.loaded().module.checks_accesses, !guarded);
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let load = instance.get_typed_func::<i32, i32>(&mut store, "load64").unwrap();
        load.call(&mut store, 0).unwrap();
        module.report().functions.iter().find(|function| function.function == 1).unwrap().versions[0].code_bytes
    });
    assert!(bytes[0] < bytes[1], "{bytes:?}");
}

#[test]
fn code_that_relies_on_guards_is_refused_by_name() {
    let engine = |guarded| Engine::new(&config(TierPolicy::Auto, guarded)).unwrap();
    let bytes = engine(true).precompile_module(&wat::parse_str(ACCESSES).unwrap()).unwrap();
    // SAFETY: the bytes come from `precompile_module`, just now.
    let error = unsafe { Module::deserialize(&engine(false), &bytes) }.map(|_| ()).expect_err("it has no checks").to_string();
    assert!(error.contains("with bounds checks"), "{error}");
    // SAFETY: as above.
    unsafe { Module::deserialize(&engine(true), &bytes) }.unwrap();
}

#[test]
fn a_shared_memory_without_guards_does_not_reach_code_without_checks() {
    let text = r#"(module (import "" "" (memory 1 2 shared)) (func (export "f") (result i32) (i32.load (i32.const 0))))"#;
    let link = |made_by: bool, used_by: bool| {
        let memory = SharedMemory::new(&Engine::new(&config(TierPolicy::Auto, made_by)).unwrap(), MemoryType::shared(1, 2)).unwrap();
        let engine = Engine::new(&config(TierPolicy::Auto, used_by)).unwrap();
        let mut store = Store::new(&engine, ());
        let module = Module::new(&engine, text).unwrap();
        Instance::new(&mut store, &module, &[memory.into()]).map(|_| ())
    };
    let error = link(false, true).unwrap_err().to_string();
    assert!(error.contains("without guarded memories"), "{error}");
    for (made_by, used_by) in [(true, true), (true, false), (false, false)] {
        link(made_by, used_by).unwrap();
    }
}

/// One whose type allows more than there is starts small and may not grow for ever.
#[test]
fn a_memory_grows_as_far_as_its_type_says() {
    let engine = Engine::new(&config(TierPolicy::Auto, false)).unwrap();
    let module = Module::new(&engine, ACCESSES).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let grow = instance.get_typed_func::<i32, i32>(&mut store, "grow").unwrap();
    assert_eq!([3, 1, 1, 1].map(|pages| grow.call(&mut store, pages).unwrap()), [-1, 1, 2, -1]);
}

/// Words that change places by a rotated double word, up to the memory's end and over it: then nothing is written. (Tier 2 makes two accesses of each; not where they are compared with the length.)
#[test]
fn words_change_places_or_trap_as_a_whole() {
    let text = r#"(module (memory 1)
        (func (export "set") (param $p i32) (param $x i64) (i64.store (local.get $p) (local.get $x)))
        (func (export "get") (param $p i32) (result i64) (i64.load (local.get $p)))
        (func (export "swap") (param $p i32)
            (i64.store offset=8 (local.get $p) (i64.rotl (i64.load offset=8 (local.get $p)) (i64.const 32)))))"#;
    for (tier, guarded) in [(TierPolicy::Optimizing, true), (TierPolicy::Optimizing, false), (TierPolicy::Baseline, true)] {
        let mut config = Config::new();
        config.tier(tier);
        config.machine().guarded_memories = Some(guarded);
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, text).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let set = instance.get_typed_func::<(u32, i64), ()>(&mut store, "set").unwrap();
        let get = instance.get_typed_func::<u32, i64>(&mut store, "get").unwrap();
        let swap = instance.get_typed_func::<u32, ()>(&mut store, "swap").unwrap();
        let (before, after) = (0x0123_4567_89ab_cdef_u64 as i64, 0x89ab_cdef_0123_4567_u64 as i64);
        for p in [0, 3, 65520] {
            set.call(&mut store, (p + 8, before)).unwrap();
            swap.call(&mut store, p).unwrap();
            assert_eq!(get.call(&mut store, p + 8).unwrap(), after);
        }
        for p in [65521, 65524, 65527, 65528, 0xffff_fff0] {
            let error = swap.call(&mut store, p).unwrap_err();
            assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::MemoryOutOfBounds), "{p}");
            assert_eq!(get.call(&mut store, 65528).unwrap(), after, "{p}");
        }
    }
}
