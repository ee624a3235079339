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
;;>     region3 = 33554432 "poll"
;;>     region4 = 285212672 "table 0"
;;>     region5 = 150994944 "frame"
;;>     region6 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i64) preserve_all
;;>     sig1 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig2 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig3 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v40 -> v0
;;>                                     v41 -> v0
;;>                                     v42 -> v0
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
;;> @0000                               v14 = load.i64 notrap aligned readonly region0 v13+176
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
;;> @0000                               v27 = load.i64 notrap aligned readonly region0 v26+168
;;> @0000                               v28 = call_indirect sig1, v27(v25, v22, v23, v24)  ; v22 = 0, v23 = -1, v24 = 7
;;> @0000                               jump block4
;;>
;;>                                 block4:
;;> @0000                               v29 = get_pinned_reg.i64
;;> @0000                               v30 = load.i64 user66 aligned region3 v29+32
;;> @0000                               v31 = icmp ult v29, v30
;;> @0000                               brif v31, block5, block6
;;>
;;>                                 block5 cold:
;;> @0000                               v32 = iconst.i32 0
;;> @0000                               v33 = iconst.i32 -1
;;> @0000                               v34 = iconst.i32 7
;;> @0000                               v35 = get_pinned_reg.i64
;;> @0000                               v36 = load.i64 notrap aligned readonly region0 v35+56
;;> @0000                               v37 = load.i64 notrap aligned readonly region0 v36+96
;;> @0000                               v38 = call_indirect sig2, v37(v35, v32, v33, v34)  ; v32 = 0, v33 = -1, v34 = 7
;;> @0000                               jump block6
;;>
;;>                                 block6:
;;> @0001                               v43 = iconst.i32 8
;;> @0001                               v44 = icmp.i32 uge v40, v43  ; v43 = 8
;;> @0001                               trapnz v44, user4
;;> @0001                               v45 = get_pinned_reg.i64
;;> @0001                               v46 = load.i64 notrap aligned readonly can_move region0 v45+72
;;> @0001                               v47 = load.i64 notrap aligned readonly can_move region0 v45+72
;;> @0001                               v48 = iconst.i64 4
;;> @0001                               v49 = ishl.i32 v40, v48  ; v48 = 4
;;> @0001                               v50 = uextend.i64 v49
;;> @0001                               v51 = iadd v47, v50
;;> @0001                               v52 = select_spectre_guard v44, v46, v51
;;> @0001                               v53 = load.i64 notrap aligned region4 v52
;;> @0001                               v54 = load.i64 notrap aligned readonly can_move region0 v45+64
;;> @0001                               v55 = load.i32 notrap aligned readonly can_move region0 v54
;;> @0001                               v56 = uextend.i64 v55
;;> @0001                               v57 = icmp ne v53, v56
;;> @0001                               brif v57, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v58 = load.i64 notrap aligned region4 v52+8
;;> @0001                               trapz v58, user5
;;> @0001                               trap user6
;;>
;;>                                 block9:
;;> @0001                               v59 = load.i64 notrap aligned region4 v52+8
;;> @0001                               v60 = get_pinned_reg.i64
;;> @0001                               v61 = load.i64 notrap aligned readonly region0 v60+8
;;> @0001                               v62 = load.i64 notrap aligned region1 v61+32
;;> @0001                               v63 = load.i32 notrap aligned region1 v62+132
;;> @0001                               v64 = iconst.i32 1
;;> @0001                               v65 = isub v63, v64  ; v64 = 1
;;> @0001                               store notrap aligned region1 v65, v62+132
;;> @0001                               v66 = iconst.i32 0x0200_0000
;;> @0001                               v67 = band v65, v66  ; v66 = 0x0200_0000
;;> @0001                               brif v67, block10, block11
;;>
;;>                                 block10 cold:
;;> @0001                               v68 = iconst.i32 1
;;> @0001                               v69 = iconst.i32 47
;;> @0001                               v70 = get_pinned_reg.i64
;;> @0001                               v71 = load.i64 notrap aligned readonly region0 v59+8
;;> @0001                               v72 = load.i32 notrap aligned readonly region0 v59+16
;;> @0001                               v73 = uextend.i64 v72
;;> @0001                               v74 = iconst.i64 -1
;;> @0001                               v75 = icmp eq v71, v70
;;> @0001                               v76 = select v75, v73, v74  ; v74 = -1
;;> @0001                               v77 = get_pinned_reg.i64
;;> @0001                               v78 = load.i64 notrap aligned readonly region0 v77+56
;;> @0001                               v79 = load.i64 notrap aligned readonly region0 v78+176
;;> @0001                               call_indirect sig0, v79(v77, v68, v69, v76)  ; v68 = 1, v69 = 47
;;> @0001                               jump block11
;;>
;;>                                 block11:
;;> @0001                               v80 = get_pinned_reg.i64
;;> @0001                               v81 = load.i64 notrap aligned readonly region0 v59+8
;;> @0001                               v82 = icmp ne v81, v80
;;> @0001                               brif v82, block12, block13
;;>
;;>                                 block12 cold:
;;> @0001                               v84 = get_pinned_reg.i64
;;> @0001                               store notrap aligned region0 v84, v81+16
;;> @0001                               v85 = stack_addr.i64 ss0
;;> @0001                               store notrap aligned region5 v84, v85
;;> @0001                               v86 = load.i64 notrap aligned region6 v59
;;> @0001                               set_pinned_reg.i64 v81
;;> @0001                               v87 = call_indirect sig3, v86(v0)
;;> @0001                               v88 = load.i64 notrap aligned region5 v85
;;> @0001                               set_pinned_reg v88
;;> @0001                               jump block14(v87)
;;>
;;>                                 block13:
;;> @0001                               v89 = load.i64 notrap aligned region6 v59
;;> @0001                               v90 = call_indirect sig3, v89(v0)
;;> @0001                               jump block14(v90)
;;>
;;>                                 block14(v83: i32):
;;> @0002                               return v83
;;> }
