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
;;> @0000                               v4 = load.i32 notrap aligned region0 v3+28
;;> @0000                               brif v4, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v8 = get_pinned_reg.i64
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+48
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+96
;;> @0000                               v5 = iconst.i32 1
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v11 = call_indirect sig0, v10(v8, v5, v6, v7)  ; v5 = 1, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0000                               v2 = iconst.i32 0
;;> @0003                               v47 = iconst.i32 8
;;> @0003                               v49 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v50 = iconst.i64 4
;;> @0003                               v55 = iconst.i64 96
;;> @0003                               v56 = iadd.i64 v1, v55  ; v55 = 96
;;>                                     v105 = iconst.i32 1
;;> @0003                               v71 = load.i64 notrap aligned readonly can_move region1 v1+56
;;> @0003                               v72 = load.i32 notrap aligned readonly can_move region1 v71
;;> @0003                               v73 = uextend.i64 v72
;;> @0003                               v80 = stack_addr.i64 ss0
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v30: i32, v33: i32):
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+164
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i32 notrap aligned region0 v15+164
;;> @0001                               v18 = ireduce.i16 v16
;;> @0001                               brif v18, block8, block7
;;>
;;>                                 block7 cold:
;;> @0001                               v17 = iconst.i32 0x004d_0000
;;> @0001                               v19 = bxor.i32 v16, v17  ; v17 = 0x004d_0000
;;> @0001                               brif v19, block9, block8
;;>
;;>                                 block9 cold:
;;> @0001                               v20 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v20, v15+166  ; v20 = 0
;;> @0001                               jump block4(v30, v33)
;;>
;;>                                 block8 cold:
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 notrap aligned readonly region1 v21+8
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22+40
;;> @0001                               v24 = iconst.i64 0x004c_0000_0001
;;> @0001                               store notrap aligned region2 v24, v23  ; v24 = 0x004c_0000_0001
;;> @0001                               v25 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v25, v23+8  ; v25 = 7
;;> @0001                               v28 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v28, v23+16
;;> @0001                               v31 = uextend.i64 v30
;;> @0001                               store notrap aligned region2 v31, v23+24
;;> @0001                               v34 = uextend.i64 v33
;;> @0001                               store notrap aligned region2 v34, v23+32
;;> @0001                               v35 = load.i32 notrap aligned region2 v23
;;> @0001                               v36 = load.i32 notrap aligned region2 v23+4
;;> @0001                               v37 = load.i32 notrap aligned region2 v23+8
;;> @0001                               v38 = get_pinned_reg.i64
;;> @0001                               v39 = load.i64 notrap aligned readonly region1 v38+48
;;> @0001                               v40 = load.i64 notrap aligned readonly region1 v39+96
;;> @0001                               v41 = call_indirect sig0, v40(v38, v35, v36, v37)
;;> @0001                               v42 = get_pinned_reg.i64
;;> @0001                               v43 = load.i64 notrap aligned readonly region1 v42+8
;;> @0001                               v44 = load.i64 notrap aligned readonly region1 v43+40
;;> @0001                               return_call_indirect sig1, v41(v44)
;;>
;;>                                 block6:
;;> @0002                               v45 = load.i32 notrap aligned region3 v1+80
;;>                                     v99 = iconst.i32 8
;;>                                     v100 = icmp uge v45, v99  ; v99 = 8
;;> @0003                               brif v100, block11, block12
;;>
;;>                                 block12:
;;>                                     v101 = iconst.i64 4
;;>                                     v102 = ishl.i32 v45, v101  ; v101 = 4
;;> @0003                               v52 = uextend.i64 v102
;;> @0003                               v53 = iadd.i64 v49, v52
;;> @0003                               v54 = load.i64 notrap aligned region4 v53+8
;;>                                     v103 = iadd.i64 v1, v55  ; v55 = 96
;;>                                     v104 = icmp ne v54, v103
;;> @0003                               brif v104, block11, block13
;;>
;;>                                 block13:
;;> @0004                               v60 = iadd.i32 v30, v105  ; v105 = 1
;;> @0005                               jump block10(v60)
;;>
;;>                                 block11 cold:
;;> @0003                               trapnz.i8 v100, user4
;;>                                     v106 = iconst.i64 4
;;>                                     v107 = ishl.i32 v45, v106  ; v106 = 4
;;>                                     v108 = uextend.i64 v107
;;>                                     v109 = iadd.i64 v49, v108
;;> @0003                               v69 = select_spectre_guard.i64 v100, v49, v109
;;> @0003                               v70 = load.i64 notrap aligned region4 v69
;;> @0003                               v74 = icmp ne v70, v73
;;> @0003                               brif v74, block15, block16
;;>
;;>                                 block15 cold:
;;> @0003                               v75 = load.i64 notrap aligned region4 v69+8
;;> @0003                               trapz v75, user5
;;> @0003                               trap user6
;;>
;;>                                 block16 cold:
;;> @0003                               v76 = load.i64 notrap aligned region4 v69+8
;;> @0003                               v77 = load.i64 notrap aligned readonly region1 v76+8
;;> @0003                               v78 = icmp ne v77, v1
;;> @0003                               brif v78, block17, block18
;;>
;;>                                 block17 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v77+16
;;> @0003                               store.i64 notrap aligned region5 v1, v80
;;> @0003                               v81 = load.i64 notrap aligned region6 v76
;;> @0003                               set_pinned_reg.i64 v77
;;> @0003                               v82 = call_indirect sig2, v81(v30)
;;> @0003                               v83 = load.i64 notrap aligned region5 v80
;;> @0003                               set_pinned_reg v83
;;> @0003                               jump block19(v82)
;;>
;;>                                 block18 cold:
;;> @0003                               v84 = load.i64 notrap aligned region6 v76
;;> @0003                               v85 = call_indirect sig2, v84(v30)
;;> @0003                               jump block19(v85)
;;>
;;>                                 block19(v79: i32) cold:
;;> @0003                               jump block10(v79)
;;>
;;>                                 block10(v46: i32):
;;> @0006                               v90 = iadd.i32 v33, v105  ; v105 = 1
;;> @0007                               v94 = icmp ult v90, v0
;;> @0008                               brif v94, block4(v46, v90), block20
;;>
;;>                                 block20:
;;> @000a                               return v46
;;> }
;;> inline-guarded in function 1: done
