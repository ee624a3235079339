//! The ways to run the engine that are compared. One line of [`TABLE`] each; nothing else lists them.

use crate::random::Random;
use backedge::{Config, FeedbackPolicy, TierPolicy};
use lwp_feedback::ring::MIN_BUFFER_BYTES;

/// A way to run the engine.
pub struct Configuration {
    /// Its name on the command line and in failures.
    pub name: &'static str,
    /// What it forces, in a line.
    pub what: &'static str,
    /// Fills in the settings; draws what may vary from case to case.
    pub setup: fn(&mut Setup, &mut Random),
}

/// Settings of one run of one case.
#[derive(Debug)]
pub struct Setup {
    /// The engine's.
    pub config: Config,
    /// Tier 2 gets plans that nothing led to, in place of the policy's.
    pub random_plans: bool,
    /// The same, and the plans decide at every place where there is something to decide.
    pub all_decisions: bool,
    /// False records written between calls and in host calls; 0 for none.
    pub lies: usize,
    /// Once in so many calls and host calls all code is asked to leave at its next loop header; 0 for never.
    pub leave_once_in: u64,
    /// A deadline passes at every call and host call; its callback calls another module in the same store.
    pub interrupts: bool,
}

/// The first is the reference that all others, the oracle included, are compared with.
pub const TABLE: &[Configuration] = &[
    Configuration {
        name: "interpreter",
        what: "the interpreter alone: the reference",
        setup: |setup, _| {
            setup.config.tier(TierPolicy::Interpreter);
        },
    },
    Configuration {
        name: "templates",
        what: "the interpreter with all functions' ops strung together",
        setup: |setup, _| {
            setup.config.tier(TierPolicy::Templates);
        },
    },
    Configuration {
        name: "tier1",
        what: "everything compiled by tier 1",
        setup: |setup, _| {
            setup.config.tier(TierPolicy::Baseline);
        },
    },
    Configuration {
        name: "tier2",
        what: "everything compiled by tier 2",
        setup: |setup, _| {
            setup.config.tier(TierPolicy::Optimizing);
        },
    },
    Configuration {
        name: "tier2-plans",
        what: "everything compiled by tier 2, to random plans",
        setup: |setup, _| {
            setup.config.tier(TierPolicy::Optimizing);
            setup.random_plans = true;
        },
    },
    Configuration {
        name: "tier2-all",
        what: "everything compiled by tier 2, to plans that force every transformation wherever it may go",
        setup: |setup, _| {
            setup.config.tier(TierPolicy::Optimizing);
            setup.all_decisions = true;
        },
    },
    Configuration {
        name: "tier2-guards",
        what: "everything compiled by tier 2, to random plans, with guards at every call, loop header and block that fail in turn",
        setup: |setup, random| {
            setup.config.tier(TierPolicy::Optimizing);
            setup.random_plans = true;
            setup.config.machine().stress.fail_guards = 1 + random.below(6) as u32;
        },
    },
    Configuration {
        name: "auto",
        what: "all tiers in turn on the spot, with feedback that decides after one sample",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true);
        },
    },
    Configuration {
        name: "auto-threads",
        what: "all tiers in turn, with the monitor and the compiler on their own threads (not the same in every run)",
        setup: |setup, random| {
            eager(setup, random);
        },
    },
    Configuration {
        name: "auto-lies",
        what: "all tiers in turn on the spot, a ring that overflows, and false records in it",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true);
            tiny_ring(setup);
            setup.lies = 20;
        },
    },
    Configuration {
        name: "auto-plans",
        what: "all tiers in turn on the spot, tier 2 to random plans",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true);
            setup.random_plans = true;
        },
    },
    Configuration {
        name: "auto-all",
        what: "all tiers in turn on the spot, tier 2 to plans that force every transformation, guards that fail now and then, loops entered at random",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true);
            setup.all_decisions = true;
            setup.leave_once_in = 1 + random.below(3);
            setup.config.machine().stress.leave_again = random.below(250) as u8;
            if random.once_in(2) {
                setup.config.machine().stress.fail_guards = 1 + random.below(20) as u32;
            }
        },
    },
    Configuration {
        name: "auto-off",
        what: "all tiers in turn on the spot, feedback off",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true).feedback(FeedbackPolicy::Off);
        },
    },
    Configuration {
        name: "osr",
        what: "all tiers in turn, and code that leaves at random loop headers for other code",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true);
            setup.leave_once_in = 1 + random.below(3);
            setup.config.machine().stress.leave_again = random.below(250) as u8;
        },
    },
    Configuration {
        name: "osr-interpreter",
        what: "all tiers in turn, and code that leaves at random loop headers for the interpreter, to false records",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(true);
            setup.leave_once_in = 1 + random.below(3);
            setup.lies = 5;
            setup.config.machine().stress.leave_again = random.below(250) as u8;
            setup.config.machine().stress.leave_to_interpreter = true;
        },
    },
    Configuration {
        name: "osr-tier2",
        what: "tier 2 alone, to random plans, leaving at random loop headers",
        setup: |setup, random| {
            setup.config.tier(TierPolicy::Optimizing);
            setup.random_plans = true;
            setup.leave_once_in = 1;
            setup.config.machine().stress.leave_again = random.below(250) as u8;
            setup.config.machine().stress.leave_to_interpreter = random.once_in(2);
            setup.config.machine().stress.watch_all = random.once_in(2);
            setup.config.machine().stress.follow_calls = random.once_in(2);
        },
    },
    Configuration {
        name: "interrupted",
        what: "all tiers in turn, and a deadline's callback at loop headers that calls a guest, which throws, loops and calls in every way",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(random.once_in(2)).epoch_interruption(true);
            setup.interrupts = true;
            setup.random_plans = random.once_in(2);
            setup.config.machine().stress.leave_again = random.below(250) as u8;
        },
    },
    Configuration {
        name: "retire",
        what: "all tiers, every second to fourth version retired as soon as it is linked",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(random.once_in(2));
            setup.config.machine().stress.retire_every = 2 + random.below(3) as u32;
        },
    },
    Configuration {
        name: "cap",
        what: "all tiers, room for 512 bytes to 64 KiB of code",
        setup: |setup, random| {
            eager(setup, random);
            setup.config.deterministic(random.once_in(2));
            setup.config.machine().code_cap = 512 << random.below(8);
        },
    },
];

/// Name of the outside oracle, which is compared like a configuration.
pub const ORACLE: &str = "wasmi";

/// The configuration of a name.
pub fn named(name: &str) -> Option<&'static Configuration> {
    TABLE.iter().find(|configuration| configuration.name == name)
}

impl Configuration {
    /// Its settings for a case, from the case's seed.
    pub fn settings(&self, random: &mut Random) -> Setup {
        let mut config = Config::new();
        // Deep enough that depth seldom decides: the generator's fuel bounds the number of frames.
        config.max_wasm_stack(4 << 20);
        let mut setup = Setup { config, random_plans: false, all_decisions: false, lies: 0, leave_once_in: 0, interrupts: false };
        (self.setup)(&mut setup, random);
        if self.name != TABLE[0].name {
            setup.config.machine().stress.collect_exceptions = random.once_in(2);
        }
        setup
    }
}

/// Everything moves up after a few rounds, and feedback decides after one sample.
fn eager(setup: &mut Setup, random: &mut Random) {
    setup.config.tier(TierPolicy::Auto);
    let machine = setup.config.machine();
    machine.hot_interpreter = 1 + random.below(4) as u32;
    machine.hot_baseline = 1 + random.below(8) as u32;
    machine.ring.interval1 = random.below(3) as u32;
    machine.ring.random_bits = 1;
    // Mostly watch all the time.
    machine.feedback_budget = *random.of(&[1.0, 100.0, 100.0]);
    machine.stress.watch_all = random.once_in(2);
    machine.stress.follow_calls = random.once_in(2);
    machine.measure = random.once_in(4);
    machine.budgets.min_samples = 1;
    machine.budgets.min_share = 0.1;
    machine.budgets.min_target_share = 0.1;
    machine.budgets.max_targets = 1 + random.below(4) as usize;
}

/// The smallest ring there is: it overflows all the time.
fn tiny_ring(setup: &mut Setup) {
    let ring = &mut setup.config.machine().ring;
    ring.buffer_bytes = MIN_BUFFER_BYTES;
    ring.interval1 = 3;
}
