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
;;>                                     v12 -> v0
;;>                                     v50 -> v12
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;> @0001                               jump block2(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block2(v13: i32, v14: i32):
;;>                                     v51 -> v14
;;> @0001                               v4 = get_pinned_reg.i64
;;> @0001                               v5 = load.i64 user66 aligned region0 v4-216
;;> @0001                               v6 = icmp ult v4, v5
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly region1 v7-64
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8+40
;;> @0001                               v10 = iconst.i64 0x005a_0000_0002
;;> @0001                               store notrap aligned region2 v10, v9  ; v10 = 0x005a_0000_0002
;;> @0001                               v11 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v11, v9+8  ; v11 = 7
;;> @0001                               v15 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v15, v9+32
;;> @0001                               v16 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v16, v9+24
;;> @0001                               v17 = uextend.i64 v12
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
;;> @0002                               v28 = get_pinned_reg.i64
;;> @0002                               v29 = load.i32 notrap aligned region3 v28-96
;;> @0003                               v31 = iconst.i32 8
;;> @0003                               v32 = icmp uge v29, v31  ; v31 = 8
;;> @0003                               brif v32, block6, block7
;;>
;;>                                 block7:
;;> @0003                               v33 = load.i64 notrap aligned readonly can_move region1 v1-112
;;> @0003                               v34 = iconst.i64 4
;;> @0003                               v35 = ishl.i32 v29, v34  ; v34 = 4
;;> @0003                               v36 = uextend.i64 v35
;;> @0003                               v37 = iadd v33, v36
;;> @0003                               v38 = load.i64 notrap aligned region4 v37+8
;;> @0003                               v39 = iconst.i64 -208
;;> @0003                               v40 = iadd.i64 v1, v39  ; v39 = -208
;;> @0003                               v41 = icmp ne v38, v40
;;> @0003                               brif v41, block6, block8
;;>
;;>                                 block8:
;;> @0003                               v43 = iconst.i32 1
;;> @0004                               v44 = iadd.i32 v13, v43  ; v43 = 1
;;> @0005                               jump block5(v44)
;;>
;;>                                 block6 cold:
;;> @0003                               v45 = get_pinned_reg.i64
;;> @0003                               v46 = load.i64 notrap aligned readonly region1 v45-64
;;> @0003                               v47 = load.i64 notrap aligned readonly region1 v46+40
;;> @0003                               v48 = iconst.i64 0x0060_0000_0002
;;> @0003                               store notrap aligned region2 v48, v47  ; v48 = 0x0060_0000_0002
;;> @0003                               v49 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v49, v47+8  ; v49 = 7
;;> @0003                               v52 = uextend.i64 v29
;;> @0003                               store notrap aligned region2 v52, v47+48
;;> @0003                               v53 = uextend.i64 v13
;;> @0003                               store notrap aligned region2 v53, v47+40
;;> @0003                               v54 = uextend.i64 v14
;;> @0003                               store notrap aligned region2 v54, v47+32
;;> @0003                               v55 = uextend.i64 v12
;;> @0003                               store notrap aligned region2 v55, v47+16
;;> @0003                               v56 = uextend.i64 v29
;;> @0003                               v57 = iconst.i64 0x0001_0000_0007
;;> @0003                               v58 = get_pinned_reg.i64
;;> @0003                               v59 = load.i64 notrap aligned readonly region1 v58-16
;;> @0003                               v60 = load.i64 notrap aligned readonly region1 v59+176
;;> @0003                               v61 = call_indirect sig2, v60(v58, v57, v56)  ; v57 = 0x0001_0000_0007
;;> @0003                               v62 = get_pinned_reg.i64
;;> @0003                               v63 = load.i64 notrap aligned readonly region1 v62-64
;;> @0003                               v64 = load.i64 notrap aligned readonly region1 v63+40
;;> @0003                               return_call_indirect sig1, v61(v64)
;;>
;;>                                 block5(v30: i32):
;;> @0006                               v65 = get_pinned_reg.i64
;;> @0006                               v66 = load.i64 notrap aligned region5 v65-176
;;> @0006                               call_indirect sig3, v66()
;;> @0006                               v67 = iconst.i32 1
;;> @0007                               v68 = iadd.i32 v14, v67  ; v67 = 1
;;> @0008                               v69 = icmp ult v68, v12
;;> @0008                               v70 = uextend.i32 v69
;;> @0009                               brif v70, block2(v30, v68), block10
;;>
;;>                                 block10:
;;> @000b                               return v30
;;> }
;;> inline-guarded in function 2: done
;;> side-exit in function 2: done
