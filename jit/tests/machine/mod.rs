//! A machine just large enough to run compiled functions of one instance: contexts, one memory, one table, a poll. No traps (a fault ends
//! the process), no stack of its own, no interpreter. The engine's tests do the rest.

#![allow(dead_code)]

use std::arch::naked_asm;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use jit::{CraneliftCompiler, Options};
use lwp_feedback::policy::Plan;
use vm::builtin::Builtin;
use vm::code::{Adapter, AdapterSignature, CompileRequest, CompiledCode, Compiler, Entrance, RelocTarget, Tier};
use vm::layout::*;
use vm::module::{ElementItems, ExportItem, Module, SegmentMode};

/// Where the poll word lies in the eight bytes that `VmOffsets::poll` gives the place of.
const POLL_WORD: isize = 4;
const RESERVED: usize = (6 << 30) + (64 << 10);

/// One instance of a module whose memory, table and globals are its own.
pub struct Machine {
    pub module: Arc<Module>,
    pub compiler: CraneliftCompiler,
    context: *mut u8,
    store: Box<VmStoreContext>,
    switch: Vec<u64>,
    builtins: Vec<usize>,
    pub counters: Vec<u32>,
    adapters: HashMap<u32, *const u8>,
    versions: u32,
    /// What the poll does: the loops it was asked at, and how the code to go on with is made.
    pub polls: Vec<SwitchHeader>,
    /// Entrances compiled so far, by function and loop.
    pub entrances: HashMap<(u32, u32), *const u8>,
    pub tier: Tier,
    /// LWPVAL samples: (imm16, data1, value).
    pub samples: Vec<(u32, u32, u64)>,
    pub hot: Vec<(u32, u32)>,
    /// Bytes of all that was compiled.
    pub code_bytes: usize,
}

fn mapping(bytes: usize, protection: i32) -> *mut u8 {
    // SAFETY: a fresh anonymous mapping.
    let at =
        unsafe { libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at.cast()
}

/// Copies code into memory of its own and makes it executable. It is never freed: tests are short.
pub fn publish(code: &CompiledCode) -> *const u8 {
    let at = mapping(code.bytes.len(), libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: the mapping is that long and ours alone.
    unsafe { ptr::copy_nonoverlapping(code.bytes.as_ptr(), at, code.bytes.len()) };
    for reloc in &code.relocs {
        let RelocTarget::Own(target) = reloc.target;
        let value = i64::from(target) + reloc.addend - i64::from(reloc.offset);
        // SAFETY: relocations lie within the code.
        unsafe { at.add(reloc.offset as usize).cast::<i32>().write_unaligned(value as i32) };
    }
    // SAFETY: our own mapping.
    let result = unsafe { libc::mprotect(at.cast(), code.bytes.len(), libc::PROT_READ | libc::PROT_EXEC) };
    assert_eq!(result, 0);
    at
}

/// Sets the pinned register and calls an `Enter` adapter.
#[unsafe(naked)]
extern "sysv64" fn enter(adapter: *const u8, context: *mut u8, code: *const u8, slots: *mut u64) {
    naked_asm!("push r15", "mov r15, rsi", "mov rax, rdi", "mov rdi, rdx", "mov rsi, rcx", "call rax", "pop r15", "ret",)
}

/// Keeps every register a System V function may not, as the contract of `ValueSample` wants it.
#[unsafe(naked)]
extern "sysv64" fn value_sample_thunk() {
    naked_asm!(
        "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10", "push r11",
        "sub rsp, 256",
        "movups [rsp], xmm0", "movups [rsp+16], xmm1", "movups [rsp+32], xmm2", "movups [rsp+48], xmm3",
        "movups [rsp+64], xmm4", "movups [rsp+80], xmm5", "movups [rsp+96], xmm6", "movups [rsp+112], xmm7",
        "movups [rsp+128], xmm8", "movups [rsp+144], xmm9", "movups [rsp+160], xmm10", "movups [rsp+176], xmm11",
        "movups [rsp+192], xmm12", "movups [rsp+208], xmm13", "movups [rsp+224], xmm14", "movups [rsp+240], xmm15",
        "mov rdx, rsi", "mov rsi, rdi", "mov rdi, r15",
        "call {sample}",
        "movups xmm0, [rsp]", "movups xmm1, [rsp+16]", "movups xmm2, [rsp+32]", "movups xmm3, [rsp+48]",
        "movups xmm4, [rsp+64]", "movups xmm5, [rsp+80]", "movups xmm6, [rsp+96]", "movups xmm7, [rsp+112]",
        "movups xmm8, [rsp+128]", "movups xmm9, [rsp+144]", "movups xmm10, [rsp+160]", "movups xmm11, [rsp+176]",
        "movups xmm12, [rsp+192]", "movups xmm13, [rsp+208]", "movups xmm14, [rsp+224]", "movups xmm15, [rsp+240]",
        "add rsp, 256",
        "pop r11", "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
        "ret",
        sample = sym value_sample,
    )
}

fn machine<'a>(context: *mut VmContext) -> &'a mut Machine {
    // SAFETY: `Machine::new` stores its own address there, and one thread runs it.
    unsafe { &mut *(*head(context)).instance.cast::<Machine>() }
}

extern "sysv64" fn value_sample(context: *mut VmContext, site: u64, value: u64) {
    let machine = machine(context);
    machine.samples.push((site as u32, (site >> 32) as u32, value));
    machine.store.values_left = 10;
}

extern "sysv64" fn hot(context: *mut VmContext, function: u32, offset: u32, _version: u32) {
    let machine = machine(context);
    machine.hot.push((function, offset));
    let index = machine.module.defined(function).expect("defined");
    machine.counters[index] = 1000;
}

extern "sysv64" fn poll(context: *mut VmContext, function: u32, offset: u32, version: u32) -> *const u8 {
    let machine = machine(context);
    machine.set_poll(0);
    machine.polls.push(SwitchHeader { function, offset, version, callees: 0 });
    if offset == u32::MAX {
        return ptr::null();
    }
    // SAFETY: the switch buffer begins with the header the poll wrote.
    let header = unsafe { &*machine.switch.as_ptr().cast::<SwitchHeader>() };
    assert_eq!((header.function, header.offset, header.version), (function, offset, version));
    if let Some(&code) = machine.entrances.get(&(function, offset)) {
        return code;
    }
    let code = machine.compile(function, Entrance::Loop(offset), None);
    machine.entrances.insert((function, offset), code);
    code
}

impl Machine {
    /// Instantiates; every function is compiled in `tier`.
    pub fn new(wat: &str, tier: Tier) -> Box<Machine> {
        let module = Arc::new(Module::new(wat.as_bytes()).unwrap());
        let offsets = module.offsets();
        // The first memory may have to follow it.
        let room = offsets.before().next_multiple_of(4096);
        let start = mapping(room + RESERVED, libc::PROT_NONE);
        // SAFETY: the mapping's beginning, and a place in it.
        let context = unsafe {
            assert_eq!(libc::mprotect(start.cast(), room, libc::PROT_READ | libc::PROT_WRITE), 0);
            start.add(room)
        };
        let mut switch = vec![0u64; 1 << 16];
        // SAFETY: all fields are integers or nullable pointers.
        let mut store: Box<VmStoreContext> = Box::new(unsafe { std::mem::zeroed() });
        store.switch_buffer = switch.as_mut_ptr();
        store.values_left = 10;
        let mut builtins = vec![0usize; Builtin::ALL.len()];
        builtins[Builtin::Poll as usize] = poll as *const () as usize;
        builtins[Builtin::Hot as usize] = hot as *const () as usize;
        builtins[Builtin::ValueSample as usize] = value_sample_thunk as *const () as usize;
        let mut machine = Box::new(Machine {
            compiler: CraneliftCompiler::new(Options { verify: true, ..Options::default() }).unwrap(),
            context,
            store,
            switch,
            builtins,
            counters: vec![1000; module.bodies.len()],
            adapters: HashMap::new(),
            versions: 0,
            polls: Vec::new(),
            entrances: HashMap::new(),
            tier,
            samples: Vec::new(),
            hot: Vec::new(),
            code_bytes: 0,
            module: module.clone(),
        });
        let own: *mut Machine = &mut *machine;
        // SAFETY: the mapping is as large as the context's layout says.
        unsafe {
            let head = &mut *head(context.cast());
            head.kind = KIND_WASM;
            head.store = &mut *machine.store;
            head.builtins = machine.builtins.as_ptr();
            head.counters = machine.counters.as_mut_ptr().cast();
            head.instance = own.cast();
            head.signatures = module.signatures.as_ptr();
        }
        for index in 0..module.functions.len() as u32 {
            let code = machine.compile(index, Entrance::Body, None);
            let signature = vm::signature::id(module.function_type(index));
            // SAFETY: as above.
            unsafe {
                let func = &mut *machine.func(index);
                func.entry.store(code.cast_mut(), Ordering::Release);
                func.context = context.cast();
                func.index = index;
                func.signature = signature;
            }
        }
        machine.instantiate();
        machine
    }

    fn instantiate(&mut self) {
        let module = self.module.clone();
        let offsets = module.offsets();
        for index in 0..module.memories.len() as u32 {
            // As much is reserved behind the context.
            let base = if index == 0 && module.context_is_memory() { self.context } else { mapping(RESERVED, libc::PROT_NONE) };
            let length = module.memories[index as usize].initial as usize * 65536;
            // SAFETY: the mapping's beginning.
            assert_eq!(unsafe { libc::mprotect(base.cast(), length, libc::PROT_READ | libc::PROT_WRITE) }, 0);
            let memory = Box::leak(Box::new(VmMemory { base, length: length.into(), reserved: RESERVED, maximum_pages: 1 << 16 }));
            // SAFETY: within the context.
            unsafe { self.context.offset(offsets.memory(index) as isize).cast::<VmMemoryRef>().write(VmMemoryRef { base, memory }) };
        }
        for index in 0..module.tables.len() as u32 {
            let length = module.tables[index as usize].initial as usize;
            let entries = vec![VmTableEntry { signature: 0, reference: 0 }; length.max(1)].leak();
            let base = entries.as_mut_ptr();
            let table = Box::leak(Box::new(VmTable { base, length: length.into(), capacity: length, maximum: length as u64 }));
            // SAFETY: within the context.
            unsafe { self.context.offset(offsets.table(index) as isize).cast::<VmTableRef>().write(VmTableRef { base, table }) };
        }
        for segment in &module.elements {
            let (SegmentMode::Active { index, .. }, ElementItems::Functions(functions)) = (&segment.mode, &segment.items) else { continue };
            for (at, &function) in functions.iter().enumerate() {
                self.set_table(*index, at, Some(function));
            }
        }
    }

    /// Sets a table's entry.
    pub fn set_table(&mut self, table: u32, at: usize, function: Option<u32>) {
        let entry = match function {
            None => VmTableEntry { signature: 0, reference: 0 },
            Some(function) => VmTableEntry {
                signature: u64::from(vm::signature::id(self.module.function_type(function))),
                reference: self.func(function) as u64,
            },
        };
        // SAFETY: tests stay within the table.
        unsafe {
            let reference = &*self.context.offset(self.module.offsets().table(table) as isize).cast::<VmTableRef>();
            reference.base.add(at).write(entry);
        }
    }

    fn func(&self, index: u32) -> *mut VmFunc {
        let FunctionPlace::Inline(offset) = self.module.offsets().function(index) else { panic!("imports are not run here") };
        // SAFETY: within the context.
        unsafe { self.context.offset(offset as isize).cast() }
    }

    /// Compiles one entrance and publishes it.
    pub fn compile(&mut self, function: u32, entrance: Entrance, plan: Option<Arc<Plan>>) -> *const u8 {
        self.versions += 1;
        let request = CompileRequest {
            plan,
            sites: true,
            countdowns: true,
            listing: std::env::var_os("LIST").is_some(),
            ..CompileRequest::new(self.module.clone(), function, entrance, self.tier, self.versions)
        };
        let code = self.compiler.compile(&request).unwrap();
        self.code_bytes += code.bytes.len();
        publish(&code)
    }

    /// Replaces a function's code by tier 2 code to a plan.
    pub fn replace(&mut self, function: u32, plan: Arc<Plan>) {
        self.tier = Tier::Optimizing;
        let code = self.compile(function, Entrance::Body, Some(plan));
        // SAFETY: the function's own cell.
        unsafe { (*self.func(function)).entry.store(code.cast_mut(), Ordering::Release) };
    }

    /// Sets ([`ASKED`]) or clears the poll words, the context's and every function's.
    pub fn set_poll(&mut self, flag: u32) {
        // SAFETY: the context lives as long as the machine.
        unsafe { (*head(self.context.cast::<VmContext>())).poll.store(flag, Ordering::Relaxed) };
        for index in 0..self.module.offsets().poll_count() {
            // SAFETY: within the context.
            unsafe { self.context.offset(self.module.offsets().poll(index) as isize + POLL_WORD).cast::<u32>().write(flag) };
        }
    }

    /// Sets an i32 global the module defines.
    pub fn set_global(&mut self, index: u32, value: u32) {
        let GlobalPlace::Inline(offset) = self.module.offsets().global(index) else { panic!("imports are not run here") };
        // SAFETY: within the context.
        unsafe { self.context.offset(offset as isize).cast::<u64>().write(u64::from(value)) };
    }

    /// Calls an export with slots, yields its result slots.
    pub fn call(&mut self, name: &str, arguments: &[u64]) -> Vec<u64> {
        let index = self.module.exports.iter().find_map(|(export, item)| match item {
            ExportItem::Func(index) if export == name => Some(*index),
            _ => None,
        });
        let index = index.expect("an exported function");
        for global in 0..self.module.imported_globals {
            let GlobalPlace::Pointer(offset) = self.module.offsets().global(global) else { panic!("an imported global is a pointer") };
            // The n-th imported global is the n-th loop's.
            let at = self.module.loops[global as usize];
            let own = self.module.bodies.iter().position(|body| body.contains(&(at as usize))).expect("a loop is in a body");
            let poll = self.module.loop_poll(own, at).expect("a loop has a word");
            // SAFETY: within the context.
            unsafe {
                let poll = self.context.offset(poll as isize + POLL_WORD);
                self.context.offset(offset as isize).cast::<*mut u8>().write(poll);
            }
        }
        let ty = self.module.function_type(index).clone();
        let signature = AdapterSignature { params: ty.params().to_vec(), results: ty.results().to_vec() };
        let id = vm::signature::id(&ty);
        let adapter = match self.adapters.get(&id) {
            Some(&adapter) => adapter,
            None => publish(&self.compiler.adapter(Adapter::Enter, &signature).unwrap()),
        };
        self.adapters.insert(id, adapter);
        let mut slots = arguments.to_vec();
        slots.resize(ty.params().len().max(ty.results().len()).max(1), 0);
        // SAFETY: the function's own cell.
        let code = unsafe { (*self.func(index)).entry.load(Ordering::Acquire) };
        enter(adapter, self.context, code, slots.as_mut_ptr());
        slots.truncate(ty.results().len());
        slots
    }
}
