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
;;> @0003                               v40 = iconst.i32 8
;;> @0003                               v42 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v43 = iconst.i64 4
;;> @0003                               v48 = iconst.i64 112
;;> @0003                               v49 = iadd.i64 v1, v48  ; v48 = 112
;;>                                     v98 = iconst.i32 1
;;> @0003                               v64 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v65 = load.i32 notrap aligned readonly can_move region1 v64
;;> @0003                               v66 = uextend.i64 v65
;;> @0003                               v73 = stack_addr.i64 ss0
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v24: i32, v26: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region0 v14+192
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region1 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region1 v18+40
;;> @0001                               v20 = iconst.i64 0x004c_0000_0001
;;> @0001                               store notrap aligned region2 v20, v19  ; v20 = 0x004c_0000_0001
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v21, v19+8  ; v21 = 7
;;> @0001                               v23 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v23, v19+16
;;> @0001                               v25 = uextend.i64 v24
;;> @0001                               store notrap aligned region2 v25, v19+24
;;> @0001                               v27 = uextend.i64 v26
;;> @0001                               store notrap aligned region2 v27, v19+32
;;> @0001                               v28 = load.i32 notrap aligned region2 v19
;;> @0001                               v29 = load.i32 notrap aligned region2 v19+4
;;> @0001                               v30 = load.i32 notrap aligned region2 v19+8
;;> @0001                               v31 = get_pinned_reg.i64
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+56
;;> @0001                               v33 = load.i64 notrap aligned readonly region1 v32+96
;;> @0001                               v34 = call_indirect sig0, v33(v31, v28, v29, v30)
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region1 v35+8
;;> @0001                               v37 = load.i64 notrap aligned readonly region1 v36+40
;;> @0001                               return_call_indirect sig1, v34(v37)
;;>
;;>                                 block6:
;;> @0002                               v38 = load.i32 notrap aligned region3 v1+96
;;>                                     v92 = iconst.i32 8
;;>                                     v93 = icmp uge v38, v92  ; v92 = 8
;;> @0003                               brif v93, block8, block9
;;>
;;>                                 block9:
;;>                                     v94 = iconst.i64 4
;;>                                     v95 = ishl.i32 v38, v94  ; v94 = 4
;;> @0003                               v45 = uextend.i64 v95
;;> @0003                               v46 = iadd.i64 v42, v45
;;> @0003                               v47 = load.i64 notrap aligned region4 v46+8
;;>                                     v96 = iadd.i64 v1, v48  ; v48 = 112
;;>                                     v97 = icmp ne v47, v96
;;> @0003                               brif v97, block8, block10
;;>
;;>                                 block10:
;;> @0004                               v53 = iadd.i32 v24, v98  ; v98 = 1
;;> @0005                               jump block7(v53)
;;>
;;>                                 block8 cold:
;;> @0003                               trapnz.i8 v93, user4
;;>                                     v99 = iconst.i64 4
;;>                                     v100 = ishl.i32 v38, v99  ; v99 = 4
;;>                                     v101 = uextend.i64 v100
;;>                                     v102 = iadd.i64 v42, v101
;;> @0003                               v62 = select_spectre_guard.i64 v93, v42, v102
;;> @0003                               v63 = load.i64 notrap aligned region4 v62
;;> @0003                               v67 = icmp ne v63, v66
;;> @0003                               brif v67, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v68 = load.i64 notrap aligned region4 v62+8
;;> @0003                               trapz v68, user5
;;> @0003                               trap user6
;;>
;;>                                 block13 cold:
;;> @0003                               v69 = load.i64 notrap aligned region4 v62+8
;;> @0003                               v70 = load.i64 notrap aligned readonly region1 v69+8
;;> @0003                               v71 = icmp ne v70, v1
;;> @0003                               brif v71, block14, block15
;;>
;;>                                 block14 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v70+16
;;> @0003                               store.i64 notrap aligned region5 v1, v73
;;> @0003                               v74 = load.i64 notrap aligned region6 v69
;;> @0003                               set_pinned_reg.i64 v70
;;> @0003                               v75 = call_indirect sig2, v74(v24)
;;> @0003                               v76 = load.i64 notrap aligned region5 v73
;;> @0003                               set_pinned_reg v76
;;> @0003                               jump block16(v75)
;;>
;;>                                 block15 cold:
;;> @0003                               v77 = load.i64 notrap aligned region6 v69
;;> @0003                               v78 = call_indirect sig2, v77(v24)
;;> @0003                               jump block16(v78)
;;>
;;>                                 block16(v72: i32) cold:
;;> @0003                               jump block7(v72)
;;>
;;>                                 block7(v39: i32):
;;> @0006                               v83 = iadd.i32 v26, v98  ; v98 = 1
;;> @0007                               v87 = icmp ult v83, v0
;;> @0008                               brif v87, block4(v39, v83), block17
;;>
;;>                                 block17:
;;> @000a                               return v39
;;> }
;;> inline-guarded in function 1: done
