//! What a call was refused for, and its errno.

use libc::c_int;

/// An argument that does not fit: EINVAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The set is not bound.
    #[error("the set is not bound")]
    Unbound,
    /// The set is bound already, so it cannot change or be bound again.
    #[error("the set is bound")]
    Bound,
    /// The set was made with another handle.
    #[error("the set was created with another handle")]
    ForeignSet,
    /// The buffer was made with another handle or for another set, or before a request was added.
    #[error("the buffer was not created for this set")]
    ForeignBuffer,
    /// Another thread bound the set.
    #[error("only the thread that bound the set may sample it")]
    OtherThread,
    /// No request has this index.
    #[error("the set has no request {0}")]
    NoRequest(usize),
    /// A counter was asked for and the request samples.
    #[error("request {0} is a sampling request")]
    NotCounting(usize),
    /// Records were asked for and the request counts.
    #[error("request {0} is a counting request")]
    NotSampling(usize),
    /// The handle was not opened for sampling.
    #[error("the handle was not opened for sampling")]
    NotOpenedForSampling,
    /// No record has this index.
    #[error("the buffer has no record {0} of that request")]
    NoRecord(usize),
    /// No item has this index.
    #[error("records have no item {0}")]
    NoItem(usize),
    /// The source has no such generic item, or this record lacks it.
    #[error("the source cannot supply the item")]
    ItemNotSupplied,
    /// The source has no such event.
    #[error("the source has no such event")]
    NoEvent,
    /// A raw event of a family that this machine's processor is not of.
    #[error("the event is of another family of processors than this machine's")]
    OtherFamily,
    /// The set has no request.
    #[error("the set is empty")]
    EmptySet,
    /// There is no such CPU.
    #[error("CPU {0} cannot be bound to")]
    NoCpu(usize),
}

/// What a call was refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpcError {
    /// EINVAL.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// EAGAIN: the thread may run elsewhere than on the CPU that the set measures.
    #[error("the thread has left the CPU that the set is bound to")]
    LeftCpu,
    /// ENOMEM.
    #[error("no memory for the buffer's records")]
    NoMemory,
    /// ENOTSUP: the source or processor cannot do it.
    #[error("not supported by the source or processor")]
    NotSupported,
    /// The operating system refused; its errno.
    #[error("the system refused, errno {0}")]
    System(c_int),
}

impl CpcError {
    /// The number for C.
    pub fn errno(self) -> c_int {
        match self {
            Self::Invalid(_) => libc::EINVAL,
            Self::LeftCpu => libc::EAGAIN,
            Self::NoMemory => libc::ENOMEM,
            Self::NotSupported => libc::ENOTSUP,
            Self::System(errno) => errno,
        }
    }
}
