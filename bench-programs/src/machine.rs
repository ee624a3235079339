//! What there is to know about this machine, from `/proc` and `/sys`. What a kernel does not show stays empty.

use crate::results::Machine;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// This machine.
pub fn here() -> Machine {
    let cpuinfo = read("/proc/cpuinfo");
    let field = |name: &str| {
        cpuinfo.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    let memory_kb: u64 =
        read("/proc/meminfo").lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or_default();
    let os = read("/etc/os-release");
    let pretty = os.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or_default();
    Machine {
        name: read("/proc/sys/kernel/hostname"),
        cpu: field("model name").unwrap_or_default(),
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: memory_kb << 10,
        last_cache_bytes: last_cache_bytes(),
        kernel: read("/proc/sys/kernel/osrelease"),
        os: pretty.trim_matches('"').to_owned(),
        governor: Some(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")).filter(|text| !text.is_empty()),
        virtualized: field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        mitigations: mitigations(),
    }
}

/// The processor's model and what it can do, as the kernel names both: what code compiled for this machine depends on.
pub fn processor() -> String {
    let cpuinfo = read("/proc/cpuinfo");
    let first = |name: &str| cpuinfo.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    ["vendor_id", "cpu family", "model", "model name", "flags"].map(first).join("\n")
}

/// Seconds since 1970 as `2026-01-31T12:00:00Z`.
pub fn utc(unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Days to a date (Hinnant, "chrono-compatible low-level date algorithms"): eras of 400 years that begin on 1 March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Now, as [`utc`].
pub fn now() -> String {
    utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Time that a hypervisor gave to others, and idle time, in clock ticks since boot: what is in `/proc/stat`.
pub fn stolen_ticks() -> u64 {
    read("/proc/stat").lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse().ok()).unwrap_or_default()
}

/// Runnable threads over the last minute.
pub fn load() -> f64 {
    read("/proc/loadavg").split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn last_cache_bytes() -> u64 {
    (0..8)
        .filter_map(|index| {
            let size = read(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"));
            Some(size.strip_suffix('K')?.parse::<u64>().ok()? << 10)
        })
        .max()
        .unwrap_or_default()
}

fn mitigations() -> BTreeMap<String, String> {
    let folder = Path::new("/sys/devices/system/cpu/vulnerabilities");
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .flatten()
        .map(|entry| {
            let state = std::fs::read_to_string(entry.path()).unwrap_or_default();
            (entry.file_name().to_string_lossy().into_owned(), state.trim().to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_769_860_799), "2026-01-31T11:59:59Z");
    }

    #[test]
    fn this_machine_is_known() {
        let machine = here();
        assert!(machine.cpus >= 1 && machine.memory_bytes > 1 << 20 && !machine.kernel.is_empty());
    }
}
