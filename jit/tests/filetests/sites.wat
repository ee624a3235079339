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
;;>     sig1 = (i64, i32, i32) -> i64 system_v
;;>     sig2 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v29 -> v0
;;>                                     v30 -> v0
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
;;> @0000                               v24 = get_pinned_reg.i64
;;> @0000                               v25 = load.i64 notrap aligned readonly region0 v24+56
;;> @0000                               v26 = load.i64 notrap aligned readonly region0 v25+184
;;> @0000                               v27 = call_indirect sig1, v26(v24, v22, v23)  ; v22 = 0, v23 = -1
;;> @0000                               jump block4
;;>
;;>                                 block4:
;;> @0001                               v31 = iconst.i32 8
;;> @0001                               v32 = icmp.i32 uge v29, v31  ; v31 = 8
;;> @0001                               trapnz v32, user4
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly can_move region0 v33+72
;;> @0001                               v35 = load.i64 notrap aligned readonly can_move region0 v33+72
;;> @0001                               v36 = iconst.i64 4
;;> @0001                               v37 = ishl.i32 v29, v36  ; v36 = 4
;;> @0001                               v38 = uextend.i64 v37
;;> @0001                               v39 = iadd v35, v38
;;> @0001                               v40 = select_spectre_guard v32, v34, v39
;;> @0001                               v41 = load.i64 notrap aligned region3 v40
;;> @0001                               v42 = load.i64 notrap aligned readonly can_move region0 v33+64
;;> @0001                               v43 = load.i32 notrap aligned readonly can_move region0 v42
;;> @0001                               v44 = uextend.i64 v43
;;> @0001                               v45 = icmp ne v41, v44
;;> @0001                               brif v45, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v46 = load.i64 notrap aligned region3 v40+8
;;> @0001                               trapz v46, user5
;;> @0001                               trap user6
;;>
;;>                                 block7:
;;> @0001                               v47 = load.i64 notrap aligned region3 v40+8
;;> @0001                               v48 = get_pinned_reg.i64
;;> @0001                               v49 = load.i64 notrap aligned readonly region0 v48+8
;;> @0001                               v50 = load.i64 notrap aligned region1 v49+32
;;> @0001                               v51 = load.i32 notrap aligned region1 v50+132
;;> @0001                               v52 = iconst.i32 1
;;> @0001                               v53 = isub v51, v52  ; v52 = 1
;;> @0001                               store notrap aligned region1 v53, v50+132
;;> @0001                               v54 = iconst.i32 0x0200_0000
;;> @0001                               v55 = band v53, v54  ; v54 = 0x0200_0000
;;> @0001                               brif v55, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v56 = iconst.i32 1
;;> @0001                               v57 = iconst.i32 47
;;> @0001                               v58 = get_pinned_reg.i64
;;> @0001                               v59 = load.i64 notrap aligned readonly region0 v47+8
;;> @0001                               v60 = load.i32 notrap aligned readonly region0 v47+16
;;> @0001                               v61 = uextend.i64 v60
;;> @0001                               v62 = iconst.i64 -1
;;> @0001                               v63 = icmp eq v59, v58
;;> @0001                               v64 = select v63, v61, v62  ; v62 = -1
;;> @0001                               v65 = get_pinned_reg.i64
;;> @0001                               v66 = load.i64 notrap aligned readonly region0 v65+56
;;> @0001                               v67 = load.i64 notrap aligned readonly region0 v66+192
;;> @0001                               call_indirect sig0, v67(v65, v56, v57, v64)  ; v56 = 1, v57 = 47
;;> @0001                               jump block9
;;>
;;>                                 block9:
;;> @0001                               v68 = get_pinned_reg.i64
;;> @0001                               v69 = load.i64 notrap aligned readonly region0 v47+8
;;> @0001                               v70 = icmp ne v69, v68
;;> @0001                               brif v70, block10, block11
;;>
;;>                                 block10 cold:
;;> @0001                               v72 = get_pinned_reg.i64
;;> @0001                               store notrap aligned region0 v72, v69+16
;;> @0001                               v73 = stack_addr.i64 ss0
;;> @0001                               store notrap aligned region4 v72, v73
;;> @0001                               v74 = load.i64 notrap aligned region5 v47
;;> @0001                               set_pinned_reg.i64 v69
;;> @0001                               v75 = call_indirect sig2, v74(v0)
;;> @0001                               v76 = load.i64 notrap aligned region4 v73
;;> @0001                               set_pinned_reg v76
;;> @0001                               jump block12(v75)
;;>
;;>                                 block11:
;;> @0001                               v77 = load.i64 notrap aligned region5 v47
;;> @0001                               v78 = call_indirect sig2, v77(v0)
;;> @0001                               jump block12(v78)
;;>
;;>                                 block12(v71: i32):
;;> @0002                               return v71
;;> }
