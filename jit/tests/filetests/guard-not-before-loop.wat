;;! tier = optimizing
;;! show = clif
;;! function = 2
;;! plan = 0 -> 0
;;! exits = true
;;! contains = side-exit in function 2: done
;;! lacks = guard-before-loop

;; The control of guard-before-loop: the loop calls a function that may write the exported global, so the test stays at the call.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 8 funcref)
  (global $index (export "index") (mut i32) (i32.const 0))
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func $other (loop $l (br_if $l (global.get $index))))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (global.get $index)))
      (call $other)
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;> function u0:2(i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     region3 = 301989888 "global 0"
;;>     region4 = 285212672 "table 0"
;;>     region5 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i64, i64, i64) -> i64 system_v
;;>     sig3 = () tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v22 -> v0
;;>                                     v81 -> v0
;;>                                     v60 -> v22
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v82 -> v2
;;>                                     v83 -> v2
;;> @0000                               v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i64 user66 aligned region0 v3+32
;;> @0000                               v5 = icmp ult v3, v4
;;> @0000                               brif v5, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v6 = iconst.i32 2
;;> @0000                               v7 = iconst.i32 -1
;;> @0000                               v8 = iconst.i32 7
;;> @0000                               v9 = get_pinned_reg.i64
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+56
;;> @0000                               v11 = load.i64 notrap aligned readonly region1 v10+96
;;> @0000                               v12 = call_indirect sig0, v11(v9, v6, v7, v8)  ; v6 = 2, v7 = -1, v8 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v24: i32, v26: i32):
;;>                                     v62 -> v26
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region0 v14+240
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region1 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region1 v18+40
;;> @0001                               v20 = iconst.i64 0x005a_0000_0002
;;> @0001                               store notrap aligned region2 v20, v19  ; v20 = 0x005a_0000_0002
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v21, v19+8  ; v21 = 7
;;> @0001                               v23 = uextend.i64 v22
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
;;> @0002                               v38 = get_pinned_reg.i64
;;> @0002                               v39 = load.i32 notrap aligned region3 v38+96
;;> @0003                               v41 = iconst.i32 8
;;> @0003                               v42 = icmp uge v39, v41  ; v41 = 8
;;> @0003                               brif v42, block8, block9
;;>
;;>                                 block9:
;;> @0003                               v43 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v44 = iconst.i64 4
;;> @0003                               v45 = ishl.i32 v39, v44  ; v44 = 4
;;> @0003                               v46 = uextend.i64 v45
;;> @0003                               v47 = iadd v43, v46
;;> @0003                               v48 = load.i64 notrap aligned region4 v47+8
;;> @0003                               v49 = iconst.i64 112
;;> @0003                               v50 = iadd.i64 v1, v49  ; v49 = 112
;;> @0003                               v51 = icmp ne v48, v50
;;> @0003                               brif v51, block8, block10
;;>
;;>                                 block10:
;;> @0003                               v53 = iconst.i32 1
;;> @0004                               v54 = iadd.i32 v24, v53  ; v53 = 1
;;> @0005                               jump block7(v54)
;;>
;;>                                 block8 cold:
;;> @0003                               v55 = get_pinned_reg.i64
;;> @0003                               v56 = load.i64 notrap aligned readonly region1 v55+8
;;> @0003                               v57 = load.i64 notrap aligned readonly region1 v56+40
;;> @0003                               v58 = iconst.i64 0x0060_0000_0002
;;> @0003                               store notrap aligned region2 v58, v57  ; v58 = 0x0060_0000_0002
;;> @0003                               v59 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v59, v57+8  ; v59 = 7
;;> @0003                               v61 = uextend.i64 v22
;;> @0003                               store notrap aligned region2 v61, v57+16
;;> @0003                               v63 = uextend.i64 v26
;;> @0003                               store notrap aligned region2 v63, v57+32
;;> @0003                               v64 = uextend.i64 v24
;;> @0003                               store notrap aligned region2 v64, v57+40
;;> @0003                               v65 = uextend.i64 v39
;;> @0003                               store notrap aligned region2 v65, v57+48
;;> @0003                               v66 = uextend.i64 v39
;;> @0003                               v67 = iconst.i64 0x0001_0000_0007
;;> @0003                               v68 = get_pinned_reg.i64
;;> @0003                               v69 = load.i64 notrap aligned readonly region1 v68+56
;;> @0003                               v70 = load.i64 notrap aligned readonly region1 v69+160
;;> @0003                               v71 = call_indirect sig2, v70(v68, v67, v66)  ; v67 = 0x0001_0000_0007
;;> @0003                               v72 = get_pinned_reg.i64
;;> @0003                               v73 = load.i64 notrap aligned readonly region1 v72+8
;;> @0003                               v74 = load.i64 notrap aligned readonly region1 v73+40
;;> @0003                               return_call_indirect sig1, v71(v74)
;;>
;;>                                 block7(v40: i32):
;;> @0006                               v75 = get_pinned_reg.i64
;;> @0006                               v76 = load.i64 notrap aligned region5 v75+144
;;> @0006                               call_indirect sig3, v76()
;;> @0006                               v77 = iconst.i32 1
;;> @0007                               v78 = iadd.i32 v26, v77  ; v77 = 1
;;> @0008                               v79 = icmp ult v78, v22
;;> @0008                               v80 = uextend.i32 v79
;;> @0009                               brif v80, block4(v40, v78), block12
;;>
;;>                                 block12:
;;> @000b                               return v40
;;> }
;;> inline-guarded in function 2: done
;;> side-exit in function 2: done
