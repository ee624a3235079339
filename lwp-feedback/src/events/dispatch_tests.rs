use super::*;

fn one(host: &Host, event: &str) -> Result<EventSelect, DispatchError> {
    select(host, &Request::new(event), Privileges::PLM3)
}

fn input<'a>(requests: &'a [Request<'a>]) -> Input<'a> {
    Input { requests, default_privileges: Privileges::PLM3, unavailable: 0 }
}

fn host(name: &str, revision: Option<&str>) -> Host {
    Host::new(name, revision).unwrap()
}

#[test]
fn events_become_register_values() {
    let k8 = host("k8", Some("f"));
    assert_eq!(one(&k8, "CPU_CLK_UNHALTED").unwrap().bits(), 0x51_0076);
    assert_eq!(one(&k8, "k8::locked_ops:executed:cycles_speculative_phase").unwrap().bits(), 0x51_0324);
    assert_eq!(one(&k8, "LOCKED_OPS").unwrap().bits(), 0x51_0724, "the default mask");
    let zen4 = host("zen4", None);
    assert_eq!(one(&zen4, "TAGGED_IBS_OPS:IBS_TAGGED_OPS").unwrap().bits(), 0x1_0051_01CF);
    let kernel = Request { privileges: Some(Privileges::PLM0), ..Request::new("RETIRED_INSTRUCTIONS") };
    assert_eq!(select(&zen4, &kernel, Privileges::PLM3).unwrap().bits(), 0x52_00C0);
    let both = GenX8664Counter { cnt_mask: 3, flags: PFMLIB_GEN_X86_64_SEL_INV | PFMLIB_GEN_X86_64_SEL_EDGE };
    let request = Request { counter: both, ..Request::new("RETIRED_INSTRUCTIONS") };
    assert_eq!(select(&k8, &request, Privileges::PLM0 | Privileges::PLM3).unwrap().bits(), 0x3D7_00C0);
    let shared = host("10h", Some("istanbul"));
    assert_eq!(
        one(&shared, "NON_CANCELLED_L3_READ_REQUESTS:READ_BLOCK_SHARED").unwrap().bits(),
        0x4_0051_F2ED,
        "the default of the other group"
    );
}

#[test]
fn counters_are_assigned() {
    let k8 = host("k8", Some("b"));
    let four = ["CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS", "LOCKED_OPS", "DATA_CACHE_ACCESSES"].map(Request::new);
    let assigned = dispatch(&k8, &input(&four)).unwrap();
    assert_eq!(assigned.iter().map(|one| one.counter).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((assigned[3].control_msr, assigned[3].counter_msr), (0xC001_0003, 0xC001_0007));
    let held = Input { unavailable: 0b0101, ..input(&four[..2]) };
    assert_eq!(dispatch(&k8, &held).unwrap().iter().map(|one| one.counter).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn family_15h_has_six_counters_and_restrictions() {
    let host = host("15h", None);
    // The second event must have counter 3, so the first, which took it, moves.
    let events = ["DISPATCHED_FPU_OPS:OPS_PIPE0", "DISPATCHED_FPU_OPS:ALL", "RETIRED_INSTRUCTIONS", "CPU_CLK_UNHALTED"].map(Request::new);
    let assigned = dispatch(&host, &input(&events)).unwrap();
    assert_eq!(assigned.iter().map(|one| one.counter).collect::<Vec<_>>(), [4, 3, 0, 1]);
    assert_eq!((assigned[0].control_msr, assigned[0].counter_msr), (0xC001_0208, 0xC001_0209));
    let floating = [Request::new("DISPATCHED_FPU_OPS:OPS_PIPE0"); 4];
    assert_eq!(dispatch(&host, &input(&floating)), Err(DispatchError::NoAssign { event: "DISPATCHED_FPU_OPS:OPS_PIPE0".into() }));
    assert_eq!(dispatch(&host, &input(&[Request::new("RETIRED_INSTRUCTIONS"); 6])).unwrap().len(), 6);
}

#[test]
fn too_many() {
    let requests = [Request::new("CPU_CLK_UNHALTED"); 7];
    assert_eq!(dispatch(&host("k8", None), &input(&requests[..5])), Err(DispatchError::TooMany { events: 5, counters: 4 }));
    assert_eq!(dispatch(&host("15h", None), &input(&requests)), Err(DispatchError::TooMany { events: 7, counters: 6 }));
    assert!(dispatch(&host("k8", None), &input(&requests[..4])).is_ok());
}

#[test]
fn no_assign() {
    let requests = [Request::new("CPU_CLK_UNHALTED"); 2];
    let held = Input { unavailable: 0b0111, ..input(&requests) };
    assert_eq!(dispatch(&host("k8", None), &held), Err(DispatchError::NoAssign { event: "CPU_CLK_UNHALTED".into() }));
}

#[test]
fn inval() {
    let k8 = host("k8", None);
    let with = |counter, privileges| select(&k8, &Request { event: "CPU_CLK_UNHALTED", privileges, counter }, Privileges::PLM3);
    let invalid = |what| Err(DispatchError::Inval { event: "CPU_CLK_UNHALTED".into(), what });
    assert_eq!(with(GenX8664Counter { cnt_mask: 4, flags: 0 }, None), invalid(InvalidField::CntMask(4)));
    assert_eq!(with(GenX8664Counter { cnt_mask: 0, flags: 4 }, None), invalid(InvalidField::Flags(4)));
    let none = GenX8664Counter::default();
    assert_eq!(with(none, Some(Privileges::PLM1)), invalid(InvalidField::Privileges(2)));
    assert_eq!(with(none, Some(Privileges::PLM2 | Privileges::PLM3)), invalid(InvalidField::Privileges(12)));
    assert_eq!(with(none, Some(Privileges::empty())), invalid(InvalidField::Privileges(0)));
}

#[test]
fn feat_comb() {
    let k8 = host("k8", None);
    assert_eq!(one(&k8, "LOCKED_OPS:EXECUTED:ALL"), Err(DispatchError::FeatComb { event: "LOCKED_OPS".into(), mask: "ALL" }));
    let core2 = host("core2", None);
    assert_eq!(
        one(&core2, "MEM_LOAD_RETIRED:L1D_MISS:L2_MISS"),
        Err(DispatchError::FeatComb { event: "MEM_LOAD_RETIRED".into(), mask: "L1D_MISS" })
    );
}

#[test]
fn umask() {
    let zen1 = host("zen1", None);
    let event = "RETIRED_MMX_FP_INSTRUCTIONS";
    assert_eq!(one(&zen1, event), Err(DispatchError::Umask { event: event.into(), mask: None }));
    let unknown = one(&zen1, "RETIRED_MMX_FP_INSTRUCTIONS:MMX");
    assert_eq!(unknown, Err(DispatchError::Umask { event: event.into(), mask: Some("MMX".into()) }));
}

#[test]
fn bad_host() {
    let bad = |event: &str, host: &str| Err(DispatchError::BadHost { event: event.into(), host: host.into() });
    assert_eq!(one(&host("10h", Some("barcelona")), "LFENCE_INST_RETIRED"), bad("LFENCE_INST_RETIRED", "10h barcelona"));
    assert!(one(&host("10h", Some("shanghai")), "LFENCE_INST_RETIRED").is_ok());
    assert_eq!(one(&host("k8", Some("b")), "zen4::RETIRED_OPS"), bad("zen4::RETIRED_OPS", "k8 b"));
}

#[test]
fn not_supp() {
    let k8 = host("k8", None);
    let error = |event: &str| Err(DispatchError::NotSupp { event: event.into() });
    assert_eq!(one(&k8, "core2::INST_RETIRED:ANY_P"), error("core2::INST_RETIRED:ANY_P"));
    assert_eq!(one(&k8, "SSEX_UOPS_RETIRED:PACKED_SINGLE"), error("SSEX_UOPS_RETIRED:PACKED_SINGLE"));
}

#[test]
fn not_found() {
    let error = |event: &str| Err(DispatchError::NotFound { event: event.into() });
    assert_eq!(one(&host("k8", None), "WIDGETS_TURNED"), error("WIDGETS_TURNED"));
    assert_eq!(one(&host("k8", None), "k9::CPU_CLK_UNHALTED"), error("k9::CPU_CLK_UNHALTED"));
}

#[test]
fn processors_by_cpuid() {
    let name = |family, model, stepping| {
        Host::from_cpuid("AuthenticAMD", family, model, stepping).map(|host| (host.family().name, host.revision()))
    };
    assert_eq!(name(0xF, 5, 1), Some(("k8", Some("b"))));
    assert_eq!(name(0xF, 0x41, 2), Some(("k8", Some("f"))));
    assert_eq!(name(0x10, 4, 0), Some(("10h", Some("shanghai"))));
    assert_eq!(name(0x15, 1, 2), Some(("15h", None)));
    assert_eq!(name(0x17, 0x31, 0), Some(("zen2", None)));
    assert_eq!(name(0x19, 0x11, 0), Some(("zen4", None)));
    assert_eq!(name(0x55, 0, 0), None);
    assert!(Host::from_cpuid("GenuineIntel", 6, 0x2C, 0).is_none());
}
