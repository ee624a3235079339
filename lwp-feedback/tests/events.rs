//! Selectors against perf's format description, and the PEBS document's constants.

use lwp_feedback::events::constants::DOCUMENT_EVENTS;
use lwp_feedback::events::{EventSelect, Host, Privileges, Request, dispatch};
use proptest::prelude::*;

/// `/sys/bus/event_source/devices/cpu/format` of an AMD processor, with Intel's `any`.
const FORMAT: [(&str, &str); 6] = [
    ("event", "config:0-7,32-35"),
    ("umask", "config:8-15"),
    ("edge", "config:18"),
    ("any", "config:21"),
    ("inv", "config:23"),
    ("cmask", "config:24-31"),
];

/// Packs a value into the bits that a format names, lowest first: what the `perf` command does.
fn pack(format: &str, mut value: u64) -> u64 {
    let mut config = 0;
    for range in format.strip_prefix("config:").unwrap().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        for bit in first.parse::<u32>().unwrap()..=last.parse().unwrap() {
            config |= (value & 1) << bit;
            value >>= 1;
        }
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn selectors_encode_as_perf_expects(
        event in 0u16..0x1000, unit_mask: u8, flags in any::<[bool; 8]>(), cmask: u8,
    ) {
        let [usr, os, edge, pc, int, any, en, inv] = flags;
        let select = EventSelect { event, unit_mask, usr, os, edge, pc, int, any, en, inv, cmask };
        let fields = [u64::from(event), unit_mask.into(), edge.into(), any.into(), inv.into(), cmask.into()];
        let expected = FORMAT.iter().zip(fields).fold(0, |config, ((_, format), value)| config | pack(format, value));
        let raw = select.perf_raw();
        prop_assert_eq!(raw.config, expected);
        prop_assert_eq!((raw.exclude_user, raw.exclude_kernel), (!usr, !os));
        prop_assert_eq!(EventSelect::from_bits(select.bits()), Ok(select));
    }
}

#[test]
fn document_constants_decode_and_encode() {
    for (name, family, event, value) in DOCUMENT_EVENTS {
        let select = EventSelect::from_bits(value).unwrap();
        assert!(select.usr && select.os && select.int && select.en && select.is_plain(), "{name}");
        assert_eq!(select.bits(), value, "{name}");
        let host = Host::new(family, None).unwrap();
        let request = Request { privileges: Some(Privileges::PLM0 | Privileges::PLM3), ..Request::new(event) };
        let input = lwp_feedback::events::Input { requests: &[request], default_privileges: Privileges::PLM3, unavailable: 0 };
        let assigned = dispatch(&host, &input).unwrap();
        assert_eq!(assigned[0].select.bits(), value, "{name} is {event}");
        assert_eq!((assigned[0].control_msr, assigned[0].counter_msr), (0x186, 0xC1));
    }
    assert_eq!(DOCUMENT_EVENTS.len(), 10);
}
