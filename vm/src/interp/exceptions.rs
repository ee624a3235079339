//! Who catches an exception among the interpreter's frames: those of one activation, innermost first.

use super::machine::Exec;
use super::stack::FrameRecord;
use crate::bytecode::frame::slots_of_all;
use crate::bytecode::{Bytecode, CaughtReference, Clause, Inst};
use crate::exception::{Tag, keep, tag_of, values_of};
use crate::signature;
use crate::trap::Unwind;

impl Exec {
    /// Where the activation goes on, if it ended with an exception that one of its frames catches: that frame is the running one then.
    ///
    /// # Safety
    /// The activation has stopped; the `ip` of its frames is current.
    pub(super) unsafe fn catch(&mut self) -> Option<*const Inst> {
        // SAFETY: frames from `first_frame` to `frame` are this activation's, their code is live, and a thrown object is until the next throw.
        unsafe {
            let Err(unwind) = &self.outcome else { return None };
            let Unwind::Exception(object) = **unwind else { return None };
            let mut frame = self.frame;
            if std::mem::take(&mut self.frame_left) {
                // Compiled code ran it on from where its `ip` is, and has looked already.
                if frame == self.first_frame {
                    return None;
                }
                frame = frame.sub(1);
            }
            loop {
                let FrameRecord { ip, sp, code } = *frame;
                let pc = ip.offset_from((*code).ops.as_ptr()) as u32;
                if let Some(clause) = self.clause(&*code, pc, tag_of(object)) {
                    deliver(object, sp, clause);
                    self.frame = frame;
                    self.outcome = Ok(());
                    return Some((*code).ops.as_ptr().add(clause.pc as usize));
                }
                if frame == self.first_frame {
                    return None;
                }
                frame = frame.sub(1);
            }
        }
    }

    /// The clause that catches a tag thrown by an op.
    unsafe fn clause(&self, code: &Bytecode, pc: u32, tag: *const Tag) -> Option<Clause> {
        // SAFETY: the instance is the activation's, its tags' pointers lie in the context.
        unsafe {
            let offsets = crate::runtime::instance(self.context).module.offsets();
            let is = |index: u32| self.context.byte_offset(offsets.tag(index) as isize).cast::<*const Tag>().read() == tag;
            let mut delegated: Option<u32> = None;
            for handler in &code.handlers {
                if !handler.body.contains(&pc) || delegated.is_some_and(|to| to != handler.id) {
                    continue;
                }
                match handler.delegate {
                    Some(None) => return None,
                    Some(Some(to)) => delegated = Some(to),
                    None => {
                        delegated = None;
                        let found = handler.clauses.iter().find(|clause| clause.tag.is_none_or(is));
                        if let Some(clause) = found {
                            return Some(*clause);
                        }
                    }
                }
            }
            None
        }
    }
}

/// Puts what is caught where the clause wants it.
unsafe fn deliver(object: u64, sp: *mut u64, clause: Clause) {
    // SAFETY: the frame has the slots (invariant 1 of `crate::bytecode`); the object has as many values as its tag's type says.
    unsafe {
        let mut to = sp.add(clause.to.0 as usize);
        if clause.reference == CaughtReference::First {
            to.write(object);
            to = to.add(1);
        }
        if clause.tag.is_some() {
            let count = slots_of_all(signature::of((*tag_of(object)).signature).params()) as usize;
            std::ptr::copy_nonoverlapping(values_of(object), to, count);
            to = to.add(count);
        }
        if clause.reference == CaughtReference::Last {
            to.write(object);
        }
        if clause.kept {
            keep(object);
        }
    }
}
