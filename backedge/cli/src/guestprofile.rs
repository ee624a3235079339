//! `--profile=guest`: samples of the guest's stack as a file that <https://profiler.firefox.com> opens ("processed profile", JSON).
//!
//! A frame is a function, named from the name section, under the category of the code that ran: compiled, or not (interpreter and host). A sample's
//! weight is how many ticks of the timer it stands for.

use fxprof_processed_profile::{
    CategoryColor, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, ReferenceTimestamp, SamplingInterval, Timestamp,
};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::time::SystemTime;
use vm::profiling::{SampledFrame, Samples};

/// Writes the profile of a program.
pub fn write(file: File, samples: &Samples, name: &str) -> io::Result<()> {
    let span_ns = samples.samples.last().map_or(0, |last| last.at_ns);
    let began = SystemTime::now() - std::time::Duration::from_nanos(span_ns);
    let interval = SamplingInterval::from_nanos(samples.interval_ns.max(1));
    let mut profile = Profile::new("backedge", ReferenceTimestamp::from(began), interval);
    profile.set_symbolicated(true);
    let start = Timestamp::from_nanos_since_reference(0);
    let process = profile.add_process(name, std::process::id(), start);
    let thread = profile.add_thread(process, std::process::id(), start, true);
    profile.set_thread_name(thread, "guest");
    let compiled = profile.add_category("Compiled code", CategoryColor::Blue);
    let other = profile.add_category("Interpreter and host", CategoryColor::Yellow);
    let frames: Vec<FrameInfo> = samples
        .frames
        .iter()
        .map(|frame| {
            let label = profile.intern_string(&label(frame));
            let category = if frame.compiled { compiled } else { other };
            FrameInfo { frame: Frame::Label(label), category_pair: category.into(), flags: FrameFlags::empty() }
        })
        .collect();
    for sample in &samples.samples {
        let stack = sample.stack.iter().rev().filter_map(|&index| frames.get(index as usize).cloned());
        let stack = profile.intern_stack_frames(thread, stack);
        let cpu = CpuDelta::from_nanos(samples.interval_ns.saturating_mul(sample.weight.into()));
        let weight = i32::try_from(sample.weight).unwrap_or(i32::MAX);
        profile.add_sample(thread, Timestamp::from_nanos_since_reference(sample.at_ns), stack, cpu, weight);
    }
    let mut out = BufWriter::new(file);
    serde_json::to_writer(&mut out, &profile).map_err(io::Error::from)?;
    out.flush()
}

/// A frame's name.
pub fn label(frame: &SampledFrame) -> String {
    match &frame.name {
        Some(name) => name.clone(),
        None => format!("wasm[{}]", frame.function),
    }
}
