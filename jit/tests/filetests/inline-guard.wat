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
;;> @0003                               v39 = iconst.i32 8
;;> @0003                               v41 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v42 = iconst.i64 4
;;> @0003                               v47 = iconst.i64 96
;;> @0003                               v48 = iadd.i64 v1, v47  ; v47 = 96
;;>                                     v109 = iconst.i32 1
;;> @0003                               v63 = iconst.i64 1
;;> @0003                               v70 = stack_addr.i64 ss0
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v20: i32, v22: i32):
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+164
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region1 v16+40
;;> @0001                               v19 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v19, v17+16
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v17+24
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v23, v17+32
;;> @0001                               store.i32 notrap aligned region2 v109, v17  ; v109 = 1
;;> @0001                               v25 = iconst.i32 76
;;> @0001                               store notrap aligned region2 v25, v17+4  ; v25 = 76
;;>                                     v116 = iconst.i32 7
;;> @0001                               store notrap aligned region2 v116, v17+8  ; v116 = 7
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region1 v30+48
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v109, v25, v116)  ; v109 = 1, v25 = 76, v116 = 7
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region1 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region1 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block6:
;;> @0002                               v37 = load.i32 notrap aligned region3 v1+80
;;>                                     v103 = iconst.i32 8
;;>                                     v104 = icmp uge v37, v103  ; v103 = 8
;;> @0003                               brif v104, block8, block9
;;>
;;>                                 block9:
;;>                                     v105 = iconst.i64 4
;;>                                     v106 = ishl.i32 v37, v105  ; v105 = 4
;;> @0003                               v44 = uextend.i64 v106
;;> @0003                               v45 = iadd.i64 v41, v44
;;> @0003                               v46 = load.i64 notrap aligned region4 v45+8
;;>                                     v107 = iadd.i64 v1, v47  ; v47 = 96
;;>                                     v108 = icmp ne v46, v107
;;> @0003                               brif v108, block8, block10
;;>
;;>                                 block10:
;;> @0004                               v52 = iadd.i32 v20, v109  ; v109 = 1
;;> @0005                               jump block7(v52)
;;>
;;>                                 block8 cold:
;;> @0003                               trapnz.i8 v104, user4
;;>                                     v110 = iconst.i64 4
;;>                                     v111 = ishl.i32 v37, v110  ; v110 = 4
;;>                                     v112 = uextend.i64 v111
;;>                                     v113 = iadd.i64 v41, v112
;;> @0003                               v61 = select_spectre_guard.i64 v104, v41, v113
;;> @0003                               v62 = load.i64 notrap aligned region4 v61
;;>                                     v114 = iconst.i64 1
;;>                                     v115 = icmp ne v62, v114  ; v114 = 1
;;> @0003                               brif v115, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v65 = load.i64 notrap aligned region4 v61+8
;;> @0003                               trapz v65, user5
;;> @0003                               trap user6
;;>
;;>                                 block13 cold:
;;> @0003                               v66 = load.i64 notrap aligned region4 v61+8
;;> @0003                               v67 = load.i64 notrap aligned readonly region1 v66+8
;;> @0003                               v68 = icmp ne v67, v1
;;> @0003                               brif v68, block14, block15
;;>
;;>                                 block14 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v67+16
;;> @0003                               store.i64 notrap aligned region5 v1, v70
;;> @0003                               v71 = load.i64 notrap aligned region6 v66
;;> @0003                               set_pinned_reg.i64 v67
;;> @0003                               v72 = call_indirect sig2, v71(v20)
;;> @0003                               v73 = load.i64 notrap aligned region5 v70
;;> @0003                               set_pinned_reg v73
;;> @0003                               jump block16(v72)
;;>
;;>                                 block15 cold:
;;> @0003                               v74 = load.i64 notrap aligned region6 v66
;;> @0003                               v75 = call_indirect sig2, v74(v20)
;;> @0003                               jump block16(v75)
;;>
;;>                                 block16(v69: i32) cold:
;;> @0003                               jump block7(v69)
;;>
;;>                                 block7(v38: i32):
;;> @0006                               v80 = iadd.i32 v22, v109  ; v109 = 1
;;> @0007                               v84 = icmp ult v80, v0
;;> @0008                               brif v84, block4(v38, v80), block17
;;>
;;>                                 block17:
;;> @000a                               return v38
;;> }
;;> inline-guarded in function 1: done
