//! Polls that cost running code nothing while nobody asks.
//!
//! A jump to a loop's header ([`BackEdge`](crate::code::BackEdge); who falls into it jumps too, where the poll stands in front of the body) leads to the header's poll, or *passes* it. Code is placed with all of them polling. Once it is linked they pass,
//! until someone asks: the words that polls look at say what is asked of whom, as if there were no back edges, and here the jumps are led so that the words are looked at.
//!
//! Who asks writes the word of one instance or of several, then takes the lock and lets the word's back edges poll, in all versions of the code. Who answers clears the word,
//! then takes the lock, and lets them pass if no instance's word asks. Both look at the words with the lock held: of an asker and an answerer at once, whoever has the lock later finds
//! the word as it is. Code is shared by all instances and the words are not: who is not asked and polls nevertheless goes on, as it would where nobody passes.
//!
//! Where everybody is asked again and again, by a deadline every few milliseconds, leading all jumps to and fro costs more than the polls: then they poll
//! for [`QUIET`].

use super::{ModuleCode, Published};
use crate::engine::try_lock;
use crate::layout::{LOOP_ASKED, VmContext};
use crate::store::poll_word;
use crate::tiering::CodeVersion;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// If everybody is asked a second time within this, the back edges poll for as long. A guess: to lead some thousand jumps to and fro takes less than a thousandth of it.
const QUIET: Duration = Duration::from_millis(100);

/// The back edges of a module's linked code.
#[derive(Default)]
pub(super) struct BackEdges {
    words: Mutex<Words>,
    /// Whether some word's edges poll, or are about to.
    poll: AtomicBool,
    /// Whether a running thread asked some word without waiting for the lock: its edges poll from the monitor's next tick on.
    late: AtomicBool,
}

#[derive(Default)]
struct Words {
    /// Versions with back edges to polls of a word.
    versions: HashMap<i32, Vec<Arc<CodeVersion>>>,
    /// Words whose edges poll; those of the others pass.
    polling: HashSet<i32>,
    everybody_asked: Option<Instant>,
    asked_often: bool,
}

impl Words {
    fn steer(&mut self, word: i32, passes: bool) {
        let Some(versions) = self.versions.get_mut(&word) else { return };
        versions.retain(|version| !version.is_gone());
        versions.iter().for_each(|version| version.steer(word, passes));
        if passes {
            self.polling.remove(&word);
        } else {
            self.polling.insert(word);
        }
    }

    fn poll(&mut self, word: i32, asked: impl Fn(i32) -> bool) {
        if !self.polling.contains(&word) && asked(word) {
            self.steer(word, false);
        }
    }

    /// Words whose edges pass.
    fn passing(&self) -> Vec<i32> {
        self.versions.keys().copied().filter(|word| !self.polling.contains(word)).collect()
    }

    /// Lets what nobody asks pass; first, where words may have been asked `late`, whichever they were, these poll.
    fn settle(&mut self, late: bool, asked: impl Fn(i32) -> bool) {
        if late {
            self.passing().into_iter().for_each(|word| self.poll(word, &asked));
        }
        let polling: Vec<i32> = self.polling.iter().copied().collect();
        self.pass(&polling, asked);
    }

    fn pass(&mut self, words: &[i32], asked: impl Fn(i32) -> bool) {
        if self.asked_often && self.everybody_asked.is_some_and(|asked| asked.elapsed() < QUIET) {
            return;
        }
        self.asked_often = false;
        for &word in words {
            if self.polling.contains(&word) && !asked(word) {
                self.steer(word, true);
            }
        }
    }
}

impl BackEdges {
    fn words(&self) -> MutexGuard<'_, Words> {
        self.words.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Changes what polls, and notes whether something does.
    fn change(&self, change: impl FnOnce(&mut Words)) {
        self.change_locked(self.words(), change);
    }

    fn change_locked(&self, mut words: MutexGuard<'_, Words>, change: impl FnOnce(&mut Words)) {
        // Before any word is looked at: who clears one and then finds this unset has cleared it before it is looked at.
        self.poll.store(true, Ordering::SeqCst);
        change(&mut words);
        self.poll.store(!words.polling.is_empty(), Ordering::SeqCst);
    }

    /// Lets the loops of these words poll. They were asked, and still are, unless they were answered meanwhile.
    pub(super) fn poll(&self, words: impl IntoIterator<Item = i32>, asked: impl Fn(i32) -> bool) {
        self.change(|all| words.into_iter().for_each(|word| all.poll(word, &asked)));
    }

    /// The same for one loop, by the thread that runs it, which does not wait.
    pub(super) fn poll_now(&self, word: i32, asked: impl Fn(i32) -> bool) {
        match try_lock(&self.words) {
            Some(words) => self.change_locked(words, |all| all.poll(word, asked)),
            None => self.late.store(true, Ordering::SeqCst),
        }
    }

    /// The same for all loops.
    pub(super) fn poll_everywhere(&self, asked: impl Fn(i32) -> bool) {
        self.change(|all| {
            let passing = all.passing();
            if passing.is_empty() {
                return;
            }
            let now = Instant::now();
            all.asked_often = all.everybody_asked.is_some_and(|before| now.duration_since(before) < QUIET);
            all.everybody_asked = Some(now);
            passing.into_iter().for_each(|word| all.poll(word, &asked));
        });
    }
}

impl ModuleCode {
    /// A version that calls or loops lead to now: its back edges pass where nobody asks.
    pub(super) fn add_back_edges(&self, published: &Published, version: &Arc<CodeVersion>) {
        let mut words: Vec<i32> = version.back_edges.iter().map(|edge| edge.word).collect();
        words.dedup();
        self.edges.change(|all| {
            for &word in &words {
                let versions = all.versions.entry(word).or_default();
                if !versions.iter().any(|known| known.number == version.number) {
                    versions.push(version.clone());
                }
                // Its own poll, as it was compiled, and so they do all.
                all.steer(word, false);
            }
            all.pass(&words, |word| published.ask(word));
        });
    }

    /// Lets all loops pass their polls where nobody asks any more.
    pub(super) fn let_pass(&self) {
        let late = self.edges.late.swap(false, Ordering::SeqCst);
        if !late && !self.edges.poll.load(Ordering::SeqCst) {
            return;
        }
        let published = self.published();
        self.edges.change(|all| {
            all.settle(late, |word| published.ask(word));
        });
    }

    /// The same for the loops of one function, by the thread that runs it: where it would wait, they poll until the monitor's next tick. Without a monitor it waits.
    pub(super) fn let_pass_now(&self, own: usize) {
        if !self.shared.ticks {
            return self.let_pass();
        }
        if self.edges.poll.load(Ordering::SeqCst)
            && let Some(published) = try_lock(&self.published)
            && let Some(words) = try_lock(&self.edges.words)
        {
            let of_function: Vec<i32> = self.module.polls(own).collect();
            self.edges.change_locked(words, |all| all.pass(&of_function, |word| published.ask(word)));
        }
    }

    /// Back edges that pass their polls now, and those that poll: of linked code.
    pub fn back_edges(&self) -> (usize, usize) {
        let words = self.edges.words();
        let mut counts = (0, 0);
        for (word, versions) in &words.versions {
            let count: usize = versions.iter().filter(|version| !version.is_gone()).map(|version| version.back_edges_of(*word).len()).sum();
            if words.polling.contains(word) {
                counts.1 += count;
            } else {
                counts.0 += count;
            }
        }
        counts
    }
}

impl Published {
    /// Whether a word asks in some instance.
    pub(super) fn ask(&self, word: i32) -> bool {
        // SAFETY: in the list, so live (see `ContextPointer`), and the word is the module's.
        self.instances.iter().any(|context| unsafe { asks(context.0, word) })
    }
}

/// Whether a word asks in an instance.
///
/// # Safety
/// `context` is a live context of the module whose word it is.
pub(super) unsafe fn asks(context: *mut VmContext, word: i32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { poll_word(context, word) }.load(Ordering::SeqCst) != 0
}

/// Writes a word for its loop's sake, unless it asks already: what asks everybody goes before.
///
/// # Safety
/// As [`asks`].
pub(super) unsafe fn ask_loop(context: *mut VmContext, word: i32) {
    // SAFETY: the caller's promise.
    let _ = unsafe { poll_word(context, word) }.compare_exchange(0, LOOP_ASKED, Ordering::SeqCst, Ordering::Acquire);
}

/// Takes that back, where nothing else asks by the word.
///
/// # Safety
/// As [`asks`].
pub(super) unsafe fn stop_asking_loop(context: *mut VmContext, word: i32) {
    // SAFETY: the caller's promise.
    let _ = unsafe { poll_word(context, word) }.compare_exchange(LOOP_ASKED, 0, Ordering::SeqCst, Ordering::Acquire);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_asked_while_another_thread_had_the_lock_polls_later() {
        let edges = BackEdges::default();
        edges.change(|all| all.versions.extend([8, 16, 24].map(|word| (word, Vec::new()))));
        let polling = || {
            let mut words: Vec<i32> = edges.words().polling.iter().copied().collect();
            words.sort_unstable();
            words
        };
        let asks = |word| word != 24;
        edges.poll_now(8, asks);
        assert_eq!((polling(), edges.late.load(Ordering::SeqCst)), (vec![8], false), "at once where nobody has it");
        edges.change(|all| all.settle(false, |_| false));
        assert!(polling().is_empty());
        let held = edges.words();
        [8, 16].into_iter().for_each(|word| edges.poll_now(word, asks));
        drop(held);
        assert!(polling().is_empty() && edges.late.swap(false, Ordering::SeqCst));
        edges.change(|all| all.settle(true, asks));
        assert_eq!(polling(), [8, 16]);
    }
}
