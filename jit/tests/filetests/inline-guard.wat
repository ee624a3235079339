;;! tier = optimizing
;;! show = optimized
;;! function = 1
;;! plan = 0 -> 0
;;! contains = inline-guarded in function 1: done

;; 200M indirect calls in small: the callee the plan names stands in the loop behind a guard on the entry's identity, the generic call
;; is out of line.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 8 funcref)
  (global $index (export "index") (mut i32) (i32.const 0))
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (global.get $index)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;> function u0:1(i32) -> i32 tail {
;;>     ss0 = explicit_slot 8, align = 8
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     region3 = 301989888 "global 0"
;;>     region4 = 285212672 "table 0"
;;>     region5 = 150994944 "frame"
;;>     region6 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i64 user66 aligned region0 v3+32
;;> @0000                               v5 = icmp ult v3, v4
;;> @0000                               brif v5, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v9 = get_pinned_reg.i64
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+56
;;> @0000                               v11 = load.i64 notrap aligned readonly region1 v10+96
;;> @0000                               v6 = iconst.i32 1
;;> @0000                               v7 = iconst.i32 -1
;;> @0000                               v8 = iconst.i32 7
;;> @0000                               v12 = call_indirect sig0, v11(v9, v6, v7, v8)  ; v6 = 1, v7 = -1, v8 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0000                               v2 = iconst.i32 0
;;> @0003                               v49 = iconst.i32 8
;;> @0003                               v51 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v52 = iconst.i64 4
;;> @0003                               v57 = iconst.i64 112
;;> @0003                               v58 = iadd.i64 v1, v57  ; v57 = 112
;;>                                     v107 = iconst.i32 1
;;> @0003                               v73 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v74 = load.i32 notrap aligned readonly can_move region1 v73
;;> @0003                               v75 = uextend.i64 v74
;;> @0003                               v82 = stack_addr.i64 ss0
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v32: i32, v35: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region0 v14+184
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i32 notrap aligned region0 v17+188
;;> @0001                               v20 = ireduce.i16 v18
;;> @0001                               brif v20, block8, block7
;;>
;;>                                 block7 cold:
;;> @0001                               v19 = iconst.i32 0x004d_0000
;;> @0001                               v21 = bxor.i32 v18, v19  ; v19 = 0x004d_0000
;;> @0001                               brif v21, block9, block8
;;>
;;>                                 block9 cold:
;;> @0001                               v22 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v22, v17+190  ; v22 = 0
;;> @0001                               jump block4(v32, v35)
;;>
;;>                                 block8 cold:
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region1 v23+8
;;> @0001                               v25 = load.i64 notrap aligned readonly region1 v24+40
;;> @0001                               v26 = iconst.i64 0x004c_0000_0001
;;> @0001                               store notrap aligned region2 v26, v25  ; v26 = 0x004c_0000_0001
;;> @0001                               v27 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v27, v25+8  ; v27 = 7
;;> @0001                               v30 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v30, v25+16
;;> @0001                               v33 = uextend.i64 v32
;;> @0001                               store notrap aligned region2 v33, v25+24
;;> @0001                               v36 = uextend.i64 v35
;;> @0001                               store notrap aligned region2 v36, v25+32
;;> @0001                               v37 = load.i32 notrap aligned region2 v25
;;> @0001                               v38 = load.i32 notrap aligned region2 v25+4
;;> @0001                               v39 = load.i32 notrap aligned region2 v25+8
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region1 v40+56
;;> @0001                               v42 = load.i64 notrap aligned readonly region1 v41+96
;;> @0001                               v43 = call_indirect sig0, v42(v40, v37, v38, v39)
;;> @0001                               v44 = get_pinned_reg.i64
;;> @0001                               v45 = load.i64 notrap aligned readonly region1 v44+8
;;> @0001                               v46 = load.i64 notrap aligned readonly region1 v45+40
;;> @0001                               return_call_indirect sig1, v43(v46)
;;>
;;>                                 block6:
;;> @0002                               v47 = load.i32 notrap aligned region3 v1+96
;;>                                     v101 = iconst.i32 8
;;>                                     v102 = icmp uge v47, v101  ; v101 = 8
;;> @0003                               brif v102, block11, block12
;;>
;;>                                 block12:
;;>                                     v103 = iconst.i64 4
;;>                                     v104 = ishl.i32 v47, v103  ; v103 = 4
;;> @0003                               v54 = uextend.i64 v104
;;> @0003                               v55 = iadd.i64 v51, v54
;;> @0003                               v56 = load.i64 notrap aligned region4 v55+8
;;>                                     v105 = iadd.i64 v1, v57  ; v57 = 112
;;>                                     v106 = icmp ne v56, v105
;;> @0003                               brif v106, block11, block13
;;>
;;>                                 block13:
;;> @0004                               v62 = iadd.i32 v32, v107  ; v107 = 1
;;> @0005                               jump block10(v62)
;;>
;;>                                 block11 cold:
;;> @0003                               trapnz.i8 v102, user4
;;>                                     v108 = iconst.i64 4
;;>                                     v109 = ishl.i32 v47, v108  ; v108 = 4
;;>                                     v110 = uextend.i64 v109
;;>                                     v111 = iadd.i64 v51, v110
;;> @0003                               v71 = select_spectre_guard.i64 v102, v51, v111
;;> @0003                               v72 = load.i64 notrap aligned region4 v71
;;> @0003                               v76 = icmp ne v72, v75
;;> @0003                               brif v76, block15, block16
;;>
;;>                                 block15 cold:
;;> @0003                               v77 = load.i64 notrap aligned region4 v71+8
;;> @0003                               trapz v77, user5
;;> @0003                               trap user6
;;>
;;>                                 block16 cold:
;;> @0003                               v78 = load.i64 notrap aligned region4 v71+8
;;> @0003                               v79 = load.i64 notrap aligned readonly region1 v78+8
;;> @0003                               v80 = icmp ne v79, v1
;;> @0003                               brif v80, block17, block18
;;>
;;>                                 block17 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v79+16
;;> @0003                               store.i64 notrap aligned region5 v1, v82
;;> @0003                               v83 = load.i64 notrap aligned region6 v78
;;> @0003                               set_pinned_reg.i64 v79
;;> @0003                               v84 = call_indirect sig2, v83(v32)
;;> @0003                               v85 = load.i64 notrap aligned region5 v82
;;> @0003                               set_pinned_reg v85
;;> @0003                               jump block19(v84)
;;>
;;>                                 block18 cold:
;;> @0003                               v86 = load.i64 notrap aligned region6 v78
;;> @0003                               v87 = call_indirect sig2, v86(v32)
;;> @0003                               jump block19(v87)
;;>
;;>                                 block19(v81: i32) cold:
;;> @0003                               jump block10(v81)
;;>
;;>                                 block10(v48: i32):
;;> @0006                               v92 = iadd.i32 v35, v107  ; v107 = 1
;;> @0007                               v96 = icmp ult v92, v0
;;> @0008                               brif v96, block4(v48, v92), block20
;;>
;;>                                 block20:
;;> @000a                               return v48
;;> }
;;> inline-guarded in function 1: done
