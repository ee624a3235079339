//! The unit against the independent model in `model/lwp_model.rs`: random operations in random configurations, for both generations.
//! `LWP_MODEL_OPS` and `LWP_MODEL_SEED` change the number and the seed.

#[path = "model/lwp_model.rs"]
mod lwp_model;

use lwp_feedback::capabilities::{Capabilities, Capabilities2007};
use lwp_feedback::unit::memory::{FlatMemory, UserMemory};
use lwp_feedback::unit::trace::{Branch, BranchKind, Load, Retired};
use lwp_feedback::unit::{Architecture, Operand, Switches, TimeSource, Unit, Winner};
use lwp_model::{Counter, Model};

const CB: u64 = 0x1_0000;
const RING: u64 = 0x1_1000;
const OPERAND: u64 = 0x1_0800;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

struct Rig {
    random: Random,
    unit: Unit<FlatMemory>,
    model: Model,
    proposal: bool,
    deferred: bool,
    tail: u32,
    tail_at: u64,
}

impl Rig {
    fn new(seed: u64, proposal: bool) -> Self {
        let memory = FlatMemory::new(CB, 0x4000);
        let architecture = if proposal { Architecture::Proposal(Capabilities2007::UNIT) } else { Architecture::Final(Capabilities::UNIT) };
        let unit = Unit::new(memory, architecture, Switches::default());
        let mut rig = Self {
            random: Random(seed),
            unit,
            model: Model::default(),
            proposal,
            deferred: false,
            tail: 0,
            tail_at: CB + if proposal { 20 } else { 64 },
        };
        rig.configure();
        rig
    }

    fn poke32(&mut self, at: u64, value: u32) {
        self.unit.memory().store_u32(at, value).unwrap();
    }

    fn peek32(&mut self, at: u64) -> u32 {
        self.unit.memory().load_u32(at).unwrap()
    }

    /// Stops, writes a random LWPCB, starts; the model gets the same.
    fn configure(&mut self) {
        let random = &mut self.random;
        let deferred = random.chance(2);
        let one_per_event = random.chance(2);
        let winner = if one_per_event { Winner::OnePerEvent } else { Winner::LowestId };
        let architecture = self.unit.architecture();
        let mut memory = FlatMemory::new(CB, 0x4000);
        let slots = 32 + random.below(40) as u32;
        let size = slots * 32 + random.below(32) as u32;
        let head = random.below(u64::from(slots)) as u32 * 32;
        let threshold = if random.chance(3) { 0 } else { random.below(u64::from(slots) + 4) as u32 * 32 };
        let interrupt = random.chance(2);
        let continuous = !self.proposal && random.chance(4);
        let ip_filter = if random.chance(3) { random.below(4) as u32 } else { 0 };
        let latency = if random.chance(2) { random.below(256) as u32 } else { 0 };
        let filters = if self.proposal {
            latency | (random.below(32) as u32) << 8 | (random.below(2) as u32) << 31
        } else {
            latency | (random.below(32) as u32) << 8 | (random.below(32) as u32) << 25 | ip_filter << 30
        };
        let (base_ip, limit_ip) = (random.below(4096), random.below(4096));
        let mut counters = Vec::new();
        let mut flags = 0u32;
        let mut poke = |at: u64, value: u32| memory.store_u32(at, value).unwrap();
        let counter = |random: &mut Random| {
            if random.chance(4) { 0 } else { random.below(300) as i64 }
        };
        if self.proposal {
            let mut seen = 0u32;
            for index in 0..4u64 {
                let id = random.below(6) as u32;
                let (interval, value) = (random.below(200) as u32, counter(random));
                poke(CB + 40 + 8 * index, interval | id << 26);
                poke(CB + 44 + 8 * index, value as u32);
                if (1..=3).contains(&id) && seen & 1 << id == 0 {
                    seen |= 1 << id;
                    counters.push(Counter { event: id as u8 + 1, interval: interval.into(), value });
                }
            }
        } else {
            flags = (random.below(128) as u32 & !1)
                | u32::from(continuous) << 29
                | u32::from(random.chance(2)) << 30
                | u32::from(interrupt) << 31;
            for event in 1..=6u64 {
                let negative = random.chance(8);
                let interval = random.below(200) as i64;
                let value = if negative { -(random.below(50) as i64) } else { counter(random) };
                poke(CB + 128 + 8 * (event - 1), interval as u32);
                poke(CB + 132 + 8 * (event - 1), value as u32 & 0x03FF_FFFF);
                if flags & 1 << event != 0 {
                    counters.push(Counter { event: event as u8, interval, value });
                }
            }
        }
        let selected = !counters.is_empty();
        poke(CB, flags);
        poke(CB + 4, size);
        poke(CB + 8, RING as u32 | if self.proposal { 0x1F } else { 0 });
        poke(CB + 16, head);
        poke(self.tail_at, head);
        poke(CB + 32, threshold);
        poke(CB + 36, filters);
        if !self.proposal {
            poke(CB + 40, base_ip as u32);
            poke(CB + 48, limit_ip as u32);
        }
        self.deferred = deferred;
        self.tail = head;
        let time = random.next();
        let core = random.next() as u8;
        self.unit = Unit::new(memory, architecture, Switches { winner, deferred, ..Switches::default() });
        self.unit.core_id = core;
        self.unit.time = TimeSource::Fixed(time);
        assert_eq!(self.unit.llwpcb(CB), Ok(0));
        let on = selected || !self.proposal;
        assert_eq!(self.unit.slwpcb(), Ok(if on { CB } else { 0 }));
        self.model = Model {
            proposal: self.proposal,
            on,
            slots: slots as usize,
            continuous,
            interrupt: if self.proposal { true } else { interrupt },
            one_per_event,
            threshold: if threshold > slots * 32 { 0 } else { threshold as usize / 32 },
            filters,
            base_ip,
            limit_ip,
            core,
            time: if flags & 1 << 30 != 0 { time } else { 0 },
            counters,
            ..Model::default()
        };
        if on {
            self.model.start();
        }
    }

    fn retired(&mut self) -> Retired {
        let random = &mut self.random;
        let kinds = [BranchKind::Jcc, BranchKind::Jmp, BranchKind::Call, BranchKind::Ret, BranchKind::Loop, BranchKind::Far];
        let branch = random.chance(2).then(|| {
            let kind = kinds[random.below(6) as usize];
            let conditional = matches!(kind, BranchKind::Jcc | BranchKind::Loop);
            Branch {
                kind,
                direct: conditional || (kind != BranchKind::Ret && random.chance(2)),
                taken: random.chance(2),
                predicted: random.chance(2),
                prediction_valid: random.chance(2),
                target: random.next(),
            }
        });
        let loads = (0..if random.chance(3) { random.below(4) } else { 0 })
            .map(|index| Load {
                address: random.below(1 << 20),
                latency: random.below([100_000, 1000, 1000, 1000][random.0 as usize % 4]) as u32,
                source: random.below(8) as u8,
                misaligned_second_miss: index % 2 == 1 && random.chance(2),
            })
            .collect();
        Retired {
            ip: random.below(4096),
            len: 1 + random.below(15) as u8,
            branch,
            loads,
            core_clocks: random.below(8) as u32,
            ref_clocks: if random.chance(2) { 0 } else { random.below(500) as u32 },
            cpl: if random.chance(20) { random.below(3) as u8 } else { 3 },
        }
    }

    /// Reads what is visible, compares with the model, frees some of it.
    fn drain(&mut self) {
        self.unit.slwpcb().unwrap();
        let size = self.model.slots as u32 * 32;
        let head = self.peek32(CB + 16);
        let used = (head + size - self.tail) % size / 32;
        if self.model.on {
            assert_eq!(used as usize, self.model.visible.len());
        }
        let take = self.random.below(u64::from(used) + 1);
        for _ in 0..take {
            let mut words = [0; 4];
            for (index, word) in words.iter_mut().enumerate() {
                *word = self.unit.memory().load_u64(RING + u64::from(self.tail) + 8 * index as u64).unwrap();
            }
            assert_eq!(Some(words), self.model.visible.pop_front());
            self.tail = (self.tail + 32) % size;
        }
        self.model.taken(take as usize);
        let tail = self.tail;
        self.poke32(self.tail_at, tail);
        assert_eq!(self.unit.memory().load_u64(CB + 24), Ok(self.model.missed));
        let first = if self.proposal { CB + 44 } else { CB + 132 };
        for counter in self.model.counters.clone() {
            let index = if self.proposal {
                (0..4).find(|index| u64::from(self.peek32(CB + 40 + 8 * index) >> 26) == u64::from(counter.event) - 1).unwrap()
            } else {
                u64::from(counter.event) - 1
            };
            assert_eq!(self.peek32(first + 8 * index), counter.value as u32 & 0x03FF_FFFF, "counter {counter:?}");
        }
    }

    fn step(&mut self) {
        match self.random.below(1000) {
            0..2 => self.configure(),
            2..30 => self.drain(),
            30..34 => {
                if self.proposal {
                    let saved = self.unit.suspend_2007().unwrap();
                    assert!(!self.unit.is_on());
                    self.unit.resume_2007(&saved).unwrap();
                } else {
                    let image = self.unit.suspend().unwrap();
                    let bytes = image.to_bytes();
                    let image = lwp_feedback::unit::suspend::XsaveImage::from_bytes(&bytes);
                    self.unit.resume(&image).unwrap();
                }
                if self.model.on {
                    self.model.resume();
                }
            }
            34..250 if !self.proposal => {
                let (ip, data2, imm) = (self.random.next(), self.random.next(), self.random.next() as u32);
                let data1 = self.random.next() as u32;
                let operand = if self.random.chance(4) {
                    self.poke32(OPERAND, data1);
                    Operand::Memory(OPERAND)
                } else {
                    Operand::Value(data1)
                };
                if self.random.chance(8) {
                    assert_eq!(self.unit.lwpins(ip, data2, operand, imm), Ok(self.model.lwpins(ip, data2, data1, imm)));
                } else {
                    assert_eq!(self.unit.lwpval(ip, data2, operand, imm), Ok(self.model.lwpval(ip, data2, data1, imm)));
                }
            }
            _ => {
                let retired = self.retired();
                assert_eq!(self.unit.retire(&retired), Ok(self.model.retire(&retired)), "{retired:?}");
            }
        }
        assert_eq!(self.unit.take_interrupts(), std::mem::take(&mut self.model.interrupts));
    }
}

/// A number, decimal or, as a failed run prints it, hexadecimal.
fn parse(name: &str, text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
    number.map_err(|_| format!("{name}=`{text}`: a number was expected, decimal or 0x…"))
}

fn number(name: &str, default: u64) -> u64 {
    let Some(text) = std::env::var_os(name) else { return default };
    parse(name, &text.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_seed_that_is_no_number_is_refused() {
    assert_eq!((parse("S", "24301"), parse("S", "0x5eed")), (Ok(0x5EED), Ok(0x5EED)));
    for text in ["", "seed", "-1", "0x", "12 ", "99999999999999999999"] {
        assert_eq!(parse("LWP_MODEL_SEED", text), Err(format!("LWP_MODEL_SEED=`{text}`: a number was expected, decimal or 0x…")));
    }
}

fn run(proposal: bool) {
    let operations = number("LWP_MODEL_OPS", 1_000_000);
    let seed = number("LWP_MODEL_SEED", 0x5EED);
    let mut rig = Rig::new(seed, proposal);
    for operation in 0..operations {
        let step = std::panic::AssertUnwindSafe(|| rig.step());
        if let Err(panic) = std::panic::catch_unwind(step) {
            println!("failed at operation {operation}, seed {seed:#x}, proposal {proposal}, deferred {}", rig.deferred);
            std::panic::resume_unwind(panic);
        }
    }
    println!("{} generation: {operations} operations, seed {seed:#x}", if proposal { "2007" } else { "final" });
}

#[test]
fn final_generation() {
    run(false);
}

#[test]
fn proposal_2007() {
    run(true);
}
