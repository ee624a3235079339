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
;;> @0000                               v2 = iconst.i32 0
;;> @0003                               v30 = iconst.i32 8
;;> @0003                               v32 = load.i64 notrap aligned readonly can_move region1 v1-112
;;> @0003                               v33 = iconst.i64 4
;;> @0003                               v38 = iconst.i64 -176
;;> @0003                               v39 = iadd v1, v38  ; v38 = -176
;;> @0003                               v42 = iconst.i32 1
;;> @0003                               v54 = load.i64 notrap aligned readonly can_move region1 v1-8
;;> @0003                               v55 = load.i32 notrap aligned readonly can_move region1 v54
;;> @0003                               v56 = uextend.i64 v55
;;> @0003                               v63 = stack_addr.i64 ss0
;;> @0001                               jump block2(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block2(v13: i32, v14: i32):
;;> @0001                               v4 = get_pinned_reg.i64
;;> @0001                               v5 = load.i64 user66 aligned region0 v4-184
;;> @0001                               v6 = icmp ult v4, v5
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly region1 v7-64
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8+40
;;> @0001                               v10 = iconst.i64 0x004c_0000_0001
;;> @0001                               store notrap aligned region2 v10, v9  ; v10 = 0x004c_0000_0001
;;> @0001                               v11 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v11, v9+8  ; v11 = 7
;;> @0001                               v15 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v15, v9+32
;;> @0001                               v16 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v16, v9+24
;;> @0001                               v17 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v17, v9+16
;;> @0001                               v18 = load.i32 notrap aligned region2 v9
;;> @0001                               v19 = load.i32 notrap aligned region2 v9+4
;;> @0001                               v20 = load.i32 notrap aligned region2 v9+8
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 notrap aligned readonly region1 v21-16
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22+112
;;> @0001                               v24 = call_indirect sig0, v23(v21, v18, v19, v20)
;;> @0001                               v25 = get_pinned_reg.i64
;;> @0001                               v26 = load.i64 notrap aligned readonly region1 v25-64
;;> @0001                               v27 = load.i64 notrap aligned readonly region1 v26+40
;;> @0001                               return_call_indirect sig1, v24(v27)
;;>
;;>                                 block4:
;;> @0002                               v28 = load.i32 notrap aligned region3 v1-96
;;>                                     v79 = iconst.i32 8
;;>                                     v80 = icmp uge v28, v79  ; v79 = 8
;;> @0003                               brif v80, block6, block7
;;>
;;>                                 block7:
;;>                                     v81 = iconst.i64 4
;;>                                     v82 = ishl.i32 v28, v81  ; v81 = 4
;;> @0003                               v35 = uextend.i64 v82
;;> @0003                               v36 = iadd.i64 v32, v35
;;> @0003                               v37 = load.i64 notrap aligned region4 v36+8
;;>                                     v83 = iadd.i64 v1, v38  ; v38 = -176
;;>                                     v84 = icmp ne v37, v83
;;> @0003                               brif v84, block6, block8
;;>
;;>                                 block8:
;;>                                     v85 = iconst.i32 1
;;>                                     v86 = iadd.i32 v13, v85  ; v85 = 1
;;> @0005                               jump block5(v86)
;;>
;;>                                 block6 cold:
;;> @0003                               trapnz.i8 v80, user4
;;>                                     v87 = iconst.i64 4
;;>                                     v88 = ishl.i32 v28, v87  ; v87 = 4
;;>                                     v89 = uextend.i64 v88
;;>                                     v90 = iadd.i64 v32, v89
;;> @0003                               v52 = select_spectre_guard.i64 v80, v32, v90
;;> @0003                               v53 = load.i64 notrap aligned region4 v52
;;> @0003                               v57 = icmp ne v53, v56
;;> @0003                               brif v57, block10, block11
;;>
;;>                                 block10 cold:
;;> @0003                               v58 = load.i64 notrap aligned region4 v52+8
;;> @0003                               trapz v58, user5
;;> @0003                               trap user6
;;>
;;>                                 block11 cold:
;;> @0003                               v59 = load.i64 notrap aligned region4 v52+8
;;> @0003                               v60 = load.i64 notrap aligned readonly region1 v59+8
;;> @0003                               v61 = icmp ne v60, v1
;;> @0003                               brif v61, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v60-56
;;> @0003                               store.i64 notrap aligned region5 v1, v63
;;> @0003                               v64 = load.i64 notrap aligned region6 v59
;;> @0003                               set_pinned_reg.i64 v60
;;> @0003                               v65 = call_indirect sig2, v64(v13)
;;> @0003                               v66 = load.i64 notrap aligned region5 v63
;;> @0003                               set_pinned_reg v66
;;> @0003                               jump block14(v65)
;;>
;;>                                 block13 cold:
;;> @0003                               v67 = load.i64 notrap aligned region6 v59
;;> @0003                               v68 = call_indirect sig2, v67(v13)
;;> @0003                               jump block14(v68)
;;>
;;>                                 block14(v62: i32) cold:
;;> @0003                               jump block5(v62)
;;>
;;>                                 block5(v29: i32):
;;>                                     v91 = iconst.i32 1
;;>                                     v92 = iadd.i32 v14, v91  ; v91 = 1
;;> @0007                               v77 = icmp ult v92, v0
;;> @0008                               brif v77, block2(v29, v92), block15
;;>
;;>                                 block15:
;;> @000a                               return v29
;;> }
;;> inline-guarded in function 1: done
