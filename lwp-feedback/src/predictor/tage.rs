//! Conditional branches: TAGE, in the configuration of L-TAGE without its loop predictor.
//!
//! Sources: Seznec and Michaud, "A case for (partially) tagged geometric history length branch prediction", JILP 8, 2006 (the scheme); Seznec,
//! "A 256 Kbits L-TAGE branch predictor", CBP-2, 2007 (history lengths, table sizes, tag widths, aging of the useful bits, the choice between
//! a new entry and the alternative). Its base table has 2^14 2-bit counters, twelve tagged tables have 2^9 to 2^11 entries of a 3-bit counter.
//!
//! How it works: each tagged table is indexed by the address and a hash of the last L(i) outcomes, L(i) growing geometrically. The hit with the
//! longest history predicts; a misprediction takes an entry in a table with a longer one.
//!
//! A branch that is random with a bias is TAGE's known weakness (Seznec, "A new case for the TAGE branch predictor", MICRO 2011, section 6):
//! entries for single histories that went the rare way win over the bias. That paper's *statistical corrector* is here in its smallest form: a
//! counter by address of how often tagged tables were right where they spoke against the bias; while they mostly were not, the bias predicts.
//!
//! A `select`'s condition is predicted as if it were a branch and is none, so the history of branches knows nothing of it. What it would add is kept by address (as the first
//! level of Yeh and Patt's per-address schemes, "Alternative implementations of two-level adaptive branch prediction", ISCA 1992) and takes part in its own index and tag.

/// Outcomes that index each tagged table, shortest first.
pub const HISTORY_LENGTHS: [usize; TABLES] = [4, 6, 10, 16, 25, 40, 64, 101, 160, 254, 403, 640];
/// log2 of the entries of each tagged table.
pub const TABLE_BITS: [u32; TABLES] = [10, 10, 11, 11, 11, 11, 10, 10, 10, 10, 9, 9];
/// Bits of the tags.
pub const TAG_BITS: [u32; TABLES] = [7, 7, 8, 8, 9, 10, 11, 12, 12, 13, 14, 15];

const TABLES: usize = 12;
const BASE_BITS: u32 = 14;
/// Outcomes kept: a power of two above the longest history.
const HISTORY: usize = 1024;
/// The useful bits are halved every this many branches.
const AGING: u32 = 1 << 18;
/// log2 of the corrector's counters.
const CORRECTOR_BITS: u32 = 12;
/// The corrector's counters stay within plus and minus this.
const CORRECTOR_TOP: i8 = 31;
/// log2 of the own histories of conditions. A guess: selects of the code that a burst sees.
const OWN_BITS: u32 = 10;

#[derive(Clone, Copy, Default)]
struct Entry {
    /// -4 to 3; not negative: taken.
    counter: i8,
    useful: u8,
    tag: u16,
}

/// A history of `length` outcomes folded to `width` bits, kept up to date in constant time.
#[derive(Clone, Copy)]
struct Folded {
    value: u32,
    length: usize,
    width: u32,
    out: u32,
}

impl Folded {
    fn new(length: usize, width: u32) -> Folded {
        Folded { value: 0, length, width, out: length as u32 % width }
    }

    fn push(&mut self, newest: u32, oldest: u32) {
        let mask = (1 << self.width) - 1;
        self.value = self.value << 1 | newest;
        self.value ^= oldest << self.out;
        self.value ^= self.value >> self.width;
        self.value &= mask;
    }
}

struct Table {
    entries: Box<[Entry]>,
    index: Folded,
    tag: [Folded; 2],
}

/// The predictor of conditional branches of one thread.
pub(super) struct Tage {
    /// 0 to 3; above 1: taken.
    base: Box<[u8]>,
    tables: Vec<Table>,
    corrector: Box<[i8]>,
    /// The bias of each address, -31 to 31, for the corrector.
    bias: Box<[i8]>,
    history: Box<[u8]>,
    newest: usize,
    path: u64,
    /// The latest 64 outcomes of conditions that are no part of the history, by address.
    own: Box<[u64]>,
    /// Positive: where a new entry disagrees with the alternative, the alternative is taken.
    prefer_alternative: i8,
    branches: u32,
    random: u32,
}

/// Addresses of sites differ in few bits: spread them.
fn spread(address: u64) -> u64 {
    address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24
}

/// The latest `length` of a condition's own outcomes, spread over all bits; 0 where all were false.
fn fold_own(own: u64, length: usize) -> u64 {
    let latest = if length < 64 { own & ((1 << length) - 1) } else { own };
    (latest ^ latest >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8
}

fn shift(counter: &mut i8, up: bool, low: i8, high: i8) {
    *counter = if up { (*counter + 1).min(high) } else { (*counter - 1).max(low) };
}

impl Tage {
    pub(super) fn new(seed: u32) -> Tage {
        let tables = (0..TABLES).map(|nth| Table {
            entries: vec![Entry::default(); 1 << TABLE_BITS[nth]].into(),
            index: Folded::new(HISTORY_LENGTHS[nth], TABLE_BITS[nth]),
            tag: [Folded::new(HISTORY_LENGTHS[nth], TAG_BITS[nth]), Folded::new(HISTORY_LENGTHS[nth], TAG_BITS[nth] - 1)],
        });
        Tage {
            base: vec![1; 1 << BASE_BITS].into(),
            tables: tables.collect(),
            corrector: vec![0; 1 << CORRECTOR_BITS].into(),
            bias: vec![0; 1 << CORRECTOR_BITS].into(),
            history: vec![0; HISTORY].into(),
            newest: 0,
            path: 0,
            own: vec![0; 1 << OWN_BITS].into(),
            prefer_alternative: 0,
            branches: 0,
            random: seed.max(1),
        }
    }

    /// What indexes predictions of indirect targets: the latest outcomes and where they were.
    pub(super) fn path(&self) -> u64 {
        self.path
    }

    /// The history takes an outcome.
    pub(super) fn push(&mut self, address: u64, taken: bool) {
        let newest = u32::from(taken);
        self.newest = (self.newest + 1) % HISTORY;
        self.history[self.newest] = newest as u8;
        self.path = self.path << 1 ^ u64::from(newest) ^ (address >> 2 & 1) << 1;
        for table in &mut self.tables {
            let oldest = u32::from(self.history[(self.newest + HISTORY - table.index.length) % HISTORY]);
            table.index.push(newest, oldest);
            table.tag.iter_mut().for_each(|folded| folded.push(newest, oldest));
        }
    }

    fn next_random(&mut self) -> u32 {
        // xorshift32 (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// The prediction of a branch, before `taken` is learned.
    pub(super) fn predict_and_train(&mut self, address: u64, taken: bool) -> bool {
        self.with_own(address, 0, taken)
    }

    /// The same of a condition that is no part of the history: of a branch in its place it would be, so its own latest outcomes are looked at beside the branches'.
    pub(super) fn predict_and_train_condition(&mut self, address: u64, value: bool) -> bool {
        let at = (spread(address) & ((1 << OWN_BITS) - 1)) as usize;
        let own = self.own[at];
        self.own[at] = own << 1 | u64::from(value);
        self.with_own(address, own, value)
    }

    fn with_own(&mut self, address: u64, own: u64, taken: bool) -> bool {
        let hashed = spread(address);
        let base = (hashed & ((1 << BASE_BITS) - 1)) as usize;
        let bias = (hashed >> 8) as usize & ((1 << CORRECTOR_BITS) - 1);
        let mut at = [0usize; TABLES];
        let mut tags = [0u16; TABLES];
        let (mut provider, mut alternative) = (None, None);
        for nth in 0..TABLES {
            let table = &self.tables[nth];
            let bits = TABLE_BITS[nth];
            let own = if own == 0 { 0 } else { fold_own(own, HISTORY_LENGTHS[nth]) };
            let mixed = hashed as u32 ^ (hashed >> (nth as u32 + 3)) as u32 ^ table.index.value ^ own as u32;
            at[nth] = (mixed & ((1 << bits) - 1)) as usize;
            let tag = hashed as u32 ^ (hashed >> 11) as u32 ^ table.tag[0].value ^ table.tag[1].value << 1 ^ (own >> 32) as u32;
            tags[nth] = (tag & ((1 << TAG_BITS[nth]) - 1)) as u16;
            if table.entries[at[nth]].tag == tags[nth] {
                alternative = provider;
                provider = Some(nth);
            }
        }
        let base_says = self.base[base] > 1;
        let says = |tables: &[Table], nth: Option<usize>| nth.map_or(base_says, |nth| tables[nth].entries[at[nth]].counter >= 0);
        let alternative_says = says(&self.tables, alternative);
        let provider_says = says(&self.tables, provider);
        let fresh = provider.is_some_and(|nth| {
            let entry = self.tables[nth].entries[at[nth]];
            entry.useful == 0 && (entry.counter == 0 || entry.counter == -1)
        });
        let tagged = if fresh && self.prefer_alternative >= 0 { alternative_says } else { provider_says };
        let bias_says = self.bias[bias] >= 0;
        let against_bias = provider.is_some() && tagged != bias_says;
        let prediction = if against_bias && self.corrector[bias] < 0 { bias_says } else { tagged };

        // The corrector and the bias learn.
        if against_bias {
            shift(&mut self.corrector[bias], tagged == taken, -CORRECTOR_TOP, CORRECTOR_TOP);
        }
        shift(&mut self.bias[bias], taken, -CORRECTOR_TOP, CORRECTOR_TOP);

        // The useful bits age.
        self.branches += 1;
        if self.branches >= AGING {
            self.branches = 0;
            self.tables.iter_mut().for_each(|table| table.entries.iter_mut().for_each(|entry| entry.useful >>= 1));
        }
        if fresh && provider_says != alternative_says {
            shift(&mut self.prefer_alternative, alternative_says == taken, -8, 7);
        }

        // A longer history takes a new entry where the provider was wrong; a fresh provider that was right all the same needs none.
        let first = provider.map_or(0, |nth| nth + 1);
        if tagged != taken && first < TABLES && !(fresh && provider_says == taken) {
            self.allocate(first, &at, &tags, taken);
        }
        match provider {
            Some(nth) => {
                if fresh {
                    match alternative {
                        Some(other) => shift(&mut self.tables[other].entries[at[other]].counter, taken, -4, 3),
                        None => self.train_base(base, taken),
                    }
                }
                let entry = &mut self.tables[nth].entries[at[nth]];
                shift(&mut entry.counter, taken, -4, 3);
                if provider_says != alternative_says {
                    entry.useful = if provider_says == taken { (entry.useful + 1).min(3) } else { entry.useful.saturating_sub(1) };
                }
            }
            None => self.train_base(base, taken),
        }
        prediction
    }

    fn train_base(&mut self, at: usize, taken: bool) {
        let counter = &mut self.base[at];
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    }

    /// One new entry in a table from `first` on: each next one with half the chance, of those that hold nothing useful.
    fn allocate(&mut self, first: usize, at: &[usize; TABLES], tags: &[u16; TABLES], taken: bool) {
        let random = self.next_random();
        let mut from = first;
        if random & 1 != 0 && from + 1 < TABLES {
            from += 1;
            if random & 2 != 0 && from + 1 < TABLES {
                from += 1;
            }
        }
        for nth in from..TABLES {
            let entry = &mut self.tables[nth].entries[at[nth]];
            if entry.useful == 0 {
                *entry = Entry { counter: if taken { 0 } else { -1 }, useful: 0, tag: tags[nth] };
                return;
            }
        }
        for (table, &at) in self.tables.iter_mut().zip(at).skip(first) {
            let entry = &mut table.entries[at];
            entry.useful = entry.useful.saturating_sub(1);
        }
    }
}
