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
;;>                                     v27 -> v0
;;>                                     v88 -> v0
;;>                                     v26 -> v27
;;>                                     v67 -> v27
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v89 -> v2
;;>                                     v90 -> v2
;;> @0000                               v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i32 notrap aligned region0 v3+28
;;> @0000                               brif v4, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v5 = iconst.i32 2
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v8 = get_pinned_reg.i64
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+48
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+96
;;> @0000                               v11 = call_indirect sig0, v10(v8, v5, v6, v7)  ; v5 = 2, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               jump block4(v2, v2)  ; v2 = 0, v2 = 0
;;>
;;>                                 block4(v30: i32, v33: i32):
;;>                                     v29 -> v30
;;>                                     v32 -> v33
;;>                                     v69 -> v33
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+200
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i32 notrap aligned region0 v15+200
;;> @0001                               v17 = iconst.i32 0x005b_0000
;;> @0001                               v18 = ireduce.i16 v16
;;> @0001                               v19 = bxor v16, v17  ; v17 = 0x005b_0000
;;> @0001                               brif v18, block8, block7
;;>
;;>                                 block7 cold:
;;> @0001                               brif.i32 v19, block9, block8
;;>
;;>                                 block9 cold:
;;> @0001                               v20 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v20, v15+202  ; v20 = 0
;;> @0001                               jump block4(v30, v33)
;;>
;;>                                 block8 cold:
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 notrap aligned readonly region1 v21+8
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22+40
;;> @0001                               v24 = iconst.i64 0x005a_0000_0002
;;> @0001                               store notrap aligned region2 v24, v23  ; v24 = 0x005a_0000_0002
;;> @0001                               v25 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v25, v23+8  ; v25 = 7
;;> @0001                               v28 = uextend.i64 v27
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
;;> @0002                               v45 = get_pinned_reg.i64
;;> @0002                               v46 = load.i32 notrap aligned region3 v45+80
;;> @0003                               v48 = iconst.i32 8
;;> @0003                               v49 = icmp uge v46, v48  ; v48 = 8
;;> @0003                               brif v49, block11, block12
;;>
;;>                                 block12:
;;> @0003                               v50 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v51 = iconst.i64 4
;;> @0003                               v52 = ishl.i32 v46, v51  ; v51 = 4
;;> @0003                               v53 = uextend.i64 v52
;;> @0003                               v54 = iadd v50, v53
;;> @0003                               v55 = load.i64 notrap aligned region4 v54+8
;;> @0003                               v56 = iconst.i64 96
;;> @0003                               v57 = iadd.i64 v1, v56  ; v56 = 96
;;> @0003                               v58 = icmp ne v55, v57
;;> @0003                               brif v58, block11, block13
;;>
;;>                                 block13:
;;> @0003                               v60 = iconst.i32 1
;;> @0004                               v61 = iadd.i32 v30, v60  ; v60 = 1
;;> @0005                               jump block10(v61)
;;>
;;>                                 block11 cold:
;;> @0003                               v62 = get_pinned_reg.i64
;;> @0003                               v63 = load.i64 notrap aligned readonly region1 v62+8
;;> @0003                               v64 = load.i64 notrap aligned readonly region1 v63+40
;;> @0003                               v65 = iconst.i64 0x0060_0000_0002
;;> @0003                               store notrap aligned region2 v65, v64  ; v65 = 0x0060_0000_0002
;;> @0003                               v66 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v66, v64+8  ; v66 = 7
;;> @0003                               v68 = uextend.i64 v27
;;> @0003                               store notrap aligned region2 v68, v64+16
;;> @0003                               v70 = uextend.i64 v33
;;> @0003                               store notrap aligned region2 v70, v64+32
;;> @0003                               v71 = uextend.i64 v30
;;> @0003                               store notrap aligned region2 v71, v64+40
;;> @0003                               v72 = uextend.i64 v46
;;> @0003                               store notrap aligned region2 v72, v64+48
;;> @0003                               v73 = uextend.i64 v46
;;> @0003                               v74 = iconst.i64 0x0001_0000_0007
;;> @0003                               v75 = get_pinned_reg.i64
;;> @0003                               v76 = load.i64 notrap aligned readonly region1 v75+48
;;> @0003                               v77 = load.i64 notrap aligned readonly region1 v76+160
;;> @0003                               v78 = call_indirect sig2, v77(v75, v74, v73)  ; v74 = 0x0001_0000_0007
;;> @0003                               v79 = get_pinned_reg.i64
;;> @0003                               v80 = load.i64 notrap aligned readonly region1 v79+8
;;> @0003                               v81 = load.i64 notrap aligned readonly region1 v80+40
;;> @0003                               return_call_indirect sig1, v78(v81)
;;>
;;>                                 block10(v47: i32):
;;> @0006                               v82 = get_pinned_reg.i64
;;> @0006                               v83 = load.i64 notrap aligned region5 v82+128
;;> @0006                               call_indirect sig3, v83()
;;> @0006                               v84 = iconst.i32 1
;;> @0007                               v85 = iadd.i32 v33, v84  ; v84 = 1
;;> @0008                               v86 = icmp ult v85, v27
;;> @0008                               v87 = uextend.i32 v86
;;> @0009                               brif v87, block4(v47, v85), block15
;;>
;;>                                 block15:
;;> @000b                               return v47
;;> }
;;> inline-guarded in function 2: done
;;> side-exit in function 2: done
