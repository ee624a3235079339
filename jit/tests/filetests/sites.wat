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
;;>     region1 = 67108864 "counters"
;;>     region2 = 50331648 "lwp"
;;>     region3 = 285212672 "table 0"
;;>     region4 = 150994944 "frame"
;;>     region5 = 100663296 "code"
;;>     sig0 = (i64, i32, i32) -> i64 system_v
;;>     sig1 = (i64, i64) preserve_all
;;>     sig2 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v23 -> v0
;;>                                     v29 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly region0 v1-32
;;> @0000                               v3 = load.i32 notrap aligned region1 v2
;;> @0000                               v4 = iconst.i32 1
;;> @0000                               v5 = isub v3, v4  ; v4 = 1
;;> @0000                               store notrap aligned region1 v5, v2
;;> @0000                               v6 = iconst.i32 0
;;> @0000                               v7 = icmp sle v3, v6  ; v6 = 0
;;> @0000                               brif v7, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v8 = iconst.i32 0
;;> @0000                               v9 = iconst.i32 -1
;;> @0000                               v10 = get_pinned_reg.i64
;;> @0000                               v11 = load.i64 notrap aligned readonly region0 v10-16
;;> @0000                               v12 = load.i64 notrap aligned readonly region0 v11+184
;;> @0000                               v13 = call_indirect sig0, v12(v10, v8, v9)  ; v8 = 0, v9 = -1
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0000                               v14 = get_pinned_reg.i64
;;> @0000                               v15 = load.i64 notrap aligned readonly region0 v14-64
;;> @0000                               v16 = load.i32 notrap aligned region2 v15+80
;;> @0000                               v17 = iconst.i32 -1
;;> @0000                               v18 = iadd v16, v17  ; v17 = -1
;;> @0000                               store notrap aligned region2 v18, v15+80
;;> @0000                               v19 = load.i32 notrap aligned region2 v15+80
;;> @0000                               v20 = iconst.i32 0
;;> @0000                               v21 = icmp slt v19, v20  ; v20 = 0
;;> @0000                               brif v21, block3, block4
;;>
;;>                                 block3 cold:
;;> @0000                               v22 = iconst.i64 0x002a_0000_0002
;;> @0000                               v24 = uextend.i64 v0
;;> @0000                               v25 = get_pinned_reg.i64
;;> @0000                               v26 = load.i64 notrap aligned readonly region0 v25-16
;;> @0000                               v27 = load.i64 notrap aligned readonly region0 v26+192
;;> @0000                               call_indirect sig1, v27(v22, v24)  ; v22 = 0x002a_0000_0002
;;> @0000                               jump block4
;;>
;;>                                 block4:
;;> @0001                               v30 = iconst.i32 8
;;> @0001                               v31 = icmp.i32 uge v29, v30  ; v30 = 8
;;> @0001                               trapnz v31, user4
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly can_move region0 v32-96
;;> @0001                               v34 = load.i64 notrap aligned readonly can_move region0 v32-96
;;> @0001                               v35 = iconst.i64 4
;;> @0001                               v36 = ishl.i32 v29, v35  ; v35 = 4
;;> @0001                               v37 = uextend.i64 v36
;;> @0001                               v38 = iadd v34, v37
;;> @0001                               v39 = select_spectre_guard v31, v33, v38
;;> @0001                               v40 = load.i64 notrap aligned region3 v39
;;> @0001                               v41 = load.i64 notrap aligned readonly can_move region0 v32-8
;;> @0001                               v42 = load.i32 notrap aligned readonly can_move region0 v41
;;> @0001                               v43 = uextend.i64 v42
;;> @0001                               v44 = icmp ne v40, v43
;;> @0001                               brif v44, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v45 = load.i64 notrap aligned region3 v39+8
;;> @0001                               trapz v45, user5
;;> @0001                               trap user6
;;>
;;>                                 block7:
;;> @0001                               v46 = load.i64 notrap aligned region3 v39+8
;;> @0001                               v47 = get_pinned_reg.i64
;;> @0001                               v48 = load.i64 notrap aligned readonly region0 v47-64
;;> @0001                               v49 = load.i32 notrap aligned region2 v48+80
;;> @0001                               v50 = iconst.i32 -1
;;> @0001                               v51 = iadd v49, v50  ; v50 = -1
;;> @0001                               store notrap aligned region2 v51, v48+80
;;> @0001                               v52 = load.i32 notrap aligned region2 v48+80
;;> @0001                               v53 = iconst.i32 0
;;> @0001                               v54 = icmp slt v52, v53  ; v53 = 0
;;> @0001                               brif v54, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v55 = iconst.i64 0x002f_0000_0001
;;> @0001                               v56 = get_pinned_reg.i64
;;> @0001                               v57 = load.i64 notrap aligned readonly region0 v46+8
;;> @0001                               v58 = load.i32 notrap aligned readonly region0 v46+16
;;> @0001                               v59 = uextend.i64 v58
;;> @0001                               v60 = iconst.i64 -1
;;> @0001                               v61 = icmp eq v57, v56
;;> @0001                               v62 = select v61, v59, v60  ; v60 = -1
;;> @0001                               v63 = get_pinned_reg.i64
;;> @0001                               v64 = load.i64 notrap aligned readonly region0 v63-16
;;> @0001                               v65 = load.i64 notrap aligned readonly region0 v64+192
;;> @0001                               call_indirect sig1, v65(v55, v62)  ; v55 = 0x002f_0000_0001
;;> @0001                               jump block9
;;>
;;>                                 block9:
;;> @0001                               v66 = get_pinned_reg.i64
;;> @0001                               v67 = load.i64 notrap aligned readonly region0 v46+8
;;> @0001                               v68 = icmp ne v67, v66
;;> @0001                               brif v68, block10, block11
;;>
;;>                                 block10 cold:
;;> @0001                               v70 = get_pinned_reg.i64
;;> @0001                               store notrap aligned region0 v70, v67-56
;;> @0001                               v71 = stack_addr.i64 ss0
;;> @0001                               store notrap aligned region4 v70, v71
;;> @0001                               v72 = load.i64 notrap aligned region5 v46
;;> @0001                               set_pinned_reg.i64 v67
;;> @0001                               v73 = call_indirect sig2, v72(v0)
;;> @0001                               v74 = load.i64 notrap aligned region4 v71
;;> @0001                               set_pinned_reg v74
;;> @0001                               jump block12(v73)
;;>
;;>                                 block11:
;;> @0001                               v75 = load.i64 notrap aligned region5 v46
;;> @0001                               v76 = call_indirect sig2, v75(v0)
;;> @0001                               jump block12(v76)
;;>
;;>                                 block12(v69: i32):
;;> @0002                               return v69
;;> }
