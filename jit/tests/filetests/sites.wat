;;! tier = baseline
;;! show = clif
;;! sites = true
;;! countdowns = true
;;! contains = preserve_all

;; LWPVAL sites at a parameter and at an indirect call, and the countdown: each a load, a decrement, a store and a cold branch.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 8 funcref)
  (func (type $unary) (call_indirect (type $unary) (local.get 0) (local.get 0))))

;;> function u0:0(i32) -> i32 tail {
;;>     ss0 = explicit_slot 8, align = 8
;;>     region0 = 16777216 "context"
;;>     region1 = 50331648 "lwp"
;;>     region2 = 67108864 "counters"
;;>     region3 = 285212672 "table 0"
;;>     region4 = 150994944 "frame"
;;>     region5 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i64) preserve_all
;;>     sig1 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig2 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v30 -> v0
;;>                                     v31 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly region0 v1+8
;;> @0000                               v3 = load.i64 notrap aligned region1 v2+32
;;> @0000                               v4 = load.i32 notrap aligned region1 v3+132
;;> @0000                               v5 = iconst.i32 1
;;> @0000                               v6 = isub v4, v5  ; v5 = 1
;;> @0000                               store notrap aligned region1 v6, v3+132
;;> @0000                               v7 = iconst.i32 0x0200_0000
;;> @0000                               v8 = band v6, v7  ; v7 = 0x0200_0000
;;> @0000                               brif v8, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v9 = iconst.i32 2
;;> @0000                               v10 = iconst.i32 42
;;> @0000                               v11 = uextend.i64 v0
;;> @0000                               v12 = get_pinned_reg.i64
;;> @0000                               v13 = load.i64 notrap aligned readonly region0 v12+56
;;> @0000                               v14 = load.i64 notrap aligned readonly region0 v13+192
;;> @0000                               call_indirect sig0, v14(v12, v9, v10, v11)  ; v9 = 2, v10 = 42
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0000                               v15 = get_pinned_reg.i64
;;> @0000                               v16 = load.i64 notrap aligned readonly region0 v15+40
;;> @0000                               v17 = load.i32 notrap aligned region2 v16
;;> @0000                               v18 = iconst.i32 1
;;> @0000                               v19 = isub v17, v18  ; v18 = 1
;;> @0000                               store notrap aligned region2 v19, v16
;;> @0000                               v20 = iconst.i32 0
;;> @0000                               v21 = icmp eq v17, v20  ; v20 = 0
;;> @0000                               brif v21, block3, block4
;;>
;;>                                 block3 cold:
;;> @0000                               v22 = iconst.i32 0
;;> @0000                               v23 = iconst.i32 -1
;;> @0000                               v24 = iconst.i32 7
;;> @0000                               v25 = get_pinned_reg.i64
;;> @0000                               v26 = load.i64 notrap aligned readonly region0 v25+56
;;> @0000                               v27 = load.i64 notrap aligned readonly region0 v26+184
;;> @0000                               v28 = call_indirect sig1, v27(v25, v22, v23, v24)  ; v22 = 0, v23 = -1, v24 = 7
;;> @0000                               jump block4
;;>
;;>                                 block4:
;;> @0001                               v32 = iconst.i32 8
;;> @0001                               v33 = icmp.i32 uge v30, v32  ; v32 = 8
;;> @0001                               trapnz v33, user4
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly can_move region0 v34+72
;;> @0001                               v36 = load.i64 notrap aligned readonly can_move region0 v34+72
;;> @0001                               v37 = iconst.i64 4
;;> @0001                               v38 = ishl.i32 v30, v37  ; v37 = 4
;;> @0001                               v39 = uextend.i64 v38
;;> @0001                               v40 = iadd v36, v39
;;> @0001                               v41 = select_spectre_guard v33, v35, v40
;;> @0001                               v42 = load.i64 notrap aligned region3 v41
;;> @0001                               v43 = load.i64 notrap aligned readonly can_move region0 v34+64
;;> @0001                               v44 = load.i32 notrap aligned readonly can_move region0 v43
;;> @0001                               v45 = uextend.i64 v44
;;> @0001                               v46 = icmp ne v42, v45
;;> @0001                               brif v46, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v47 = load.i64 notrap aligned region3 v41+8
;;> @0001                               trapz v47, user5
;;> @0001                               trap user6
;;>
;;>                                 block7:
;;> @0001                               v48 = load.i64 notrap aligned region3 v41+8
;;> @0001                               v49 = get_pinned_reg.i64
;;> @0001                               v50 = load.i64 notrap aligned readonly region0 v49+8
;;> @0001                               v51 = load.i64 notrap aligned region1 v50+32
;;> @0001                               v52 = load.i32 notrap aligned region1 v51+132
;;> @0001                               v53 = iconst.i32 1
;;> @0001                               v54 = isub v52, v53  ; v53 = 1
;;> @0001                               store notrap aligned region1 v54, v51+132
;;> @0001                               v55 = iconst.i32 0x0200_0000
;;> @0001                               v56 = band v54, v55  ; v55 = 0x0200_0000
;;> @0001                               brif v56, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v57 = iconst.i32 1
;;> @0001                               v58 = iconst.i32 47
;;> @0001                               v59 = get_pinned_reg.i64
;;> @0001                               v60 = load.i64 notrap aligned readonly region0 v48+8
;;> @0001                               v61 = load.i32 notrap aligned readonly region0 v48+16
;;> @0001                               v62 = uextend.i64 v61
;;> @0001                               v63 = iconst.i64 -1
;;> @0001                               v64 = icmp eq v60, v59
;;> @0001                               v65 = select v64, v62, v63  ; v63 = -1
;;> @0001                               v66 = get_pinned_reg.i64
;;> @0001                               v67 = load.i64 notrap aligned readonly region0 v66+56
;;> @0001                               v68 = load.i64 notrap aligned readonly region0 v67+192
;;> @0001                               call_indirect sig0, v68(v66, v57, v58, v65)  ; v57 = 1, v58 = 47
;;> @0001                               jump block9
;;>
;;>                                 block9:
;;> @0001                               v69 = get_pinned_reg.i64
;;> @0001                               v70 = load.i64 notrap aligned readonly region0 v48+8
;;> @0001                               v71 = icmp ne v70, v69
;;> @0001                               brif v71, block10, block11
;;>
;;>                                 block10 cold:
;;> @0001                               v73 = get_pinned_reg.i64
;;> @0001                               store notrap aligned region0 v73, v70+16
;;> @0001                               v74 = stack_addr.i64 ss0
;;> @0001                               store notrap aligned region4 v73, v74
;;> @0001                               v75 = load.i64 notrap aligned region5 v48
;;> @0001                               set_pinned_reg.i64 v70
;;> @0001                               v76 = call_indirect sig2, v75(v0)
;;> @0001                               v77 = load.i64 notrap aligned region4 v74
;;> @0001                               set_pinned_reg v77
;;> @0001                               jump block12(v76)
;;>
;;>                                 block11:
;;> @0001                               v78 = load.i64 notrap aligned region5 v48
;;> @0001                               v79 = call_indirect sig2, v78(v0)
;;> @0001                               jump block12(v79)
;;>
;;>                                 block12(v72: i32):
;;> @0002                               return v72
;;> }
