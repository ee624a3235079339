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
;;> @0003                               v38 = iconst.i32 8
;;> @0003                               v40 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v41 = iconst.i64 4
;;> @0003                               v46 = iconst.i64 96
;;> @0003                               v47 = iadd.i64 v1, v46  ; v46 = 96
;;>                                     v94 = iconst.i32 1
;;> @0003                               v62 = iconst.i64 1
;;> @0003                               v69 = stack_addr.i64 ss0
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v22: i32, v24: i32):
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+164
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region1 v16+40
;;> @0001                               v18 = iconst.i64 0x004c_0000_0001
;;> @0001                               store notrap aligned region2 v18, v17  ; v18 = 0x004c_0000_0001
;;> @0001                               v19 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v19, v17+8  ; v19 = 7
;;> @0001                               v21 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v21, v17+16
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v23, v17+24
;;> @0001                               v25 = uextend.i64 v24
;;> @0001                               store notrap aligned region2 v25, v17+32
;;> @0001                               v26 = load.i32 notrap aligned region2 v17
;;> @0001                               v27 = load.i32 notrap aligned region2 v17+4
;;> @0001                               v28 = load.i32 notrap aligned region2 v17+8
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+48
;;> @0001                               v31 = load.i64 notrap aligned readonly region1 v30+96
;;> @0001                               v32 = call_indirect sig0, v31(v29, v26, v27, v28)
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly region1 v33+8
;;> @0001                               v35 = load.i64 notrap aligned readonly region1 v34+40
;;> @0001                               return_call_indirect sig1, v32(v35)
;;>
;;>                                 block6:
;;> @0002                               v36 = load.i32 notrap aligned region3 v1+80
;;>                                     v88 = iconst.i32 8
;;>                                     v89 = icmp uge v36, v88  ; v88 = 8
;;> @0003                               brif v89, block8, block9
;;>
;;>                                 block9:
;;>                                     v90 = iconst.i64 4
;;>                                     v91 = ishl.i32 v36, v90  ; v90 = 4
;;> @0003                               v43 = uextend.i64 v91
;;> @0003                               v44 = iadd.i64 v40, v43
;;> @0003                               v45 = load.i64 notrap aligned region4 v44+8
;;>                                     v92 = iadd.i64 v1, v46  ; v46 = 96
;;>                                     v93 = icmp ne v45, v92
;;> @0003                               brif v93, block8, block10
;;>
;;>                                 block10:
;;> @0004                               v51 = iadd.i32 v22, v94  ; v94 = 1
;;> @0005                               jump block7(v51)
;;>
;;>                                 block8 cold:
;;> @0003                               trapnz.i8 v89, user4
;;>                                     v95 = iconst.i64 4
;;>                                     v96 = ishl.i32 v36, v95  ; v95 = 4
;;>                                     v97 = uextend.i64 v96
;;>                                     v98 = iadd.i64 v40, v97
;;> @0003                               v60 = select_spectre_guard.i64 v89, v40, v98
;;> @0003                               v61 = load.i64 notrap aligned region4 v60
;;>                                     v99 = iconst.i64 1
;;>                                     v100 = icmp ne v61, v99  ; v99 = 1
;;> @0003                               brif v100, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v64 = load.i64 notrap aligned region4 v60+8
;;> @0003                               trapz v64, user5
;;> @0003                               trap user6
;;>
;;>                                 block13 cold:
;;> @0003                               v65 = load.i64 notrap aligned region4 v60+8
;;> @0003                               v66 = load.i64 notrap aligned readonly region1 v65+8
;;> @0003                               v67 = icmp ne v66, v1
;;> @0003                               brif v67, block14, block15
;;>
;;>                                 block14 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v66+16
;;> @0003                               store.i64 notrap aligned region5 v1, v69
;;> @0003                               v70 = load.i64 notrap aligned region6 v65
;;> @0003                               set_pinned_reg.i64 v66
;;> @0003                               v71 = call_indirect sig2, v70(v22)
;;> @0003                               v72 = load.i64 notrap aligned region5 v69
;;> @0003                               set_pinned_reg v72
;;> @0003                               jump block16(v71)
;;>
;;>                                 block15 cold:
;;> @0003                               v73 = load.i64 notrap aligned region6 v65
;;> @0003                               v74 = call_indirect sig2, v73(v22)
;;> @0003                               jump block16(v74)
;;>
;;>                                 block16(v68: i32) cold:
;;> @0003                               jump block7(v68)
;;>
;;>                                 block7(v37: i32):
;;> @0006                               v79 = iadd.i32 v24, v94  ; v94 = 1
;;> @0007                               v83 = icmp ult v79, v0
;;> @0008                               brif v83, block4(v37, v79), block17
;;>
;;>                                 block17:
;;> @000a                               return v37
;;> }
;;> inline-guarded in function 1: done
