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
;;>                                     v29 -> v0
;;>                                     v90 -> v0
;;>                                     v28 -> v29
;;>                                     v69 -> v29
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v91 -> v2
;;>                                     v92 -> v2
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
;;>                                 block4(v32: i32, v35: i32):
;;>                                     v31 -> v32
;;>                                     v34 -> v35
;;>                                     v71 -> v35
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region0 v14+224
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i32 notrap aligned region0 v17+228
;;> @0001                               v19 = iconst.i32 0x005b_0000
;;> @0001                               v20 = ireduce.i16 v18
;;> @0001                               v21 = bxor v18, v19  ; v19 = 0x005b_0000
;;> @0001                               brif v20, block8, block7
;;>
;;>                                 block7 cold:
;;> @0001                               brif.i32 v21, block9, block8
;;>
;;>                                 block9 cold:
;;> @0001                               v22 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v22, v17+230  ; v22 = 0
;;> @0001                               jump block4(v32, v35)
;;>
;;>                                 block8 cold:
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region1 v23+8
;;> @0001                               v25 = load.i64 notrap aligned readonly region1 v24+40
;;> @0001                               v26 = iconst.i64 0x005a_0000_0002
;;> @0001                               store notrap aligned region2 v26, v25  ; v26 = 0x005a_0000_0002
;;> @0001                               v27 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v27, v25+8  ; v27 = 7
;;> @0001                               v30 = uextend.i64 v29
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
;;> @0002                               v47 = get_pinned_reg.i64
;;> @0002                               v48 = load.i32 notrap aligned region3 v47+96
;;> @0003                               v50 = iconst.i32 8
;;> @0003                               v51 = icmp uge v48, v50  ; v50 = 8
;;> @0003                               brif v51, block11, block12
;;>
;;>                                 block12:
;;> @0003                               v52 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v53 = iconst.i64 4
;;> @0003                               v54 = ishl.i32 v48, v53  ; v53 = 4
;;> @0003                               v55 = uextend.i64 v54
;;> @0003                               v56 = iadd v52, v55
;;> @0003                               v57 = load.i64 notrap aligned region4 v56+8
;;> @0003                               v58 = iconst.i64 112
;;> @0003                               v59 = iadd.i64 v1, v58  ; v58 = 112
;;> @0003                               v60 = icmp ne v57, v59
;;> @0003                               brif v60, block11, block13
;;>
;;>                                 block13:
;;> @0003                               v62 = iconst.i32 1
;;> @0004                               v63 = iadd.i32 v32, v62  ; v62 = 1
;;> @0005                               jump block10(v63)
;;>
;;>                                 block11 cold:
;;> @0003                               v64 = get_pinned_reg.i64
;;> @0003                               v65 = load.i64 notrap aligned readonly region1 v64+8
;;> @0003                               v66 = load.i64 notrap aligned readonly region1 v65+40
;;> @0003                               v67 = iconst.i64 0x0060_0000_0002
;;> @0003                               store notrap aligned region2 v67, v66  ; v67 = 0x0060_0000_0002
;;> @0003                               v68 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v68, v66+8  ; v68 = 7
;;> @0003                               v70 = uextend.i64 v29
;;> @0003                               store notrap aligned region2 v70, v66+16
;;> @0003                               v72 = uextend.i64 v35
;;> @0003                               store notrap aligned region2 v72, v66+32
;;> @0003                               v73 = uextend.i64 v32
;;> @0003                               store notrap aligned region2 v73, v66+40
;;> @0003                               v74 = uextend.i64 v48
;;> @0003                               store notrap aligned region2 v74, v66+48
;;> @0003                               v75 = uextend.i64 v48
;;> @0003                               v76 = iconst.i64 0x0001_0000_0007
;;> @0003                               v77 = get_pinned_reg.i64
;;> @0003                               v78 = load.i64 notrap aligned readonly region1 v77+56
;;> @0003                               v79 = load.i64 notrap aligned readonly region1 v78+160
;;> @0003                               v80 = call_indirect sig2, v79(v77, v76, v75)  ; v76 = 0x0001_0000_0007
;;> @0003                               v81 = get_pinned_reg.i64
;;> @0003                               v82 = load.i64 notrap aligned readonly region1 v81+8
;;> @0003                               v83 = load.i64 notrap aligned readonly region1 v82+40
;;> @0003                               return_call_indirect sig1, v80(v83)
;;>
;;>                                 block10(v49: i32):
;;> @0006                               v84 = get_pinned_reg.i64
;;> @0006                               v85 = load.i64 notrap aligned region5 v84+144
;;> @0006                               call_indirect sig3, v85()
;;> @0006                               v86 = iconst.i32 1
;;> @0007                               v87 = iadd.i32 v35, v86  ; v86 = 1
;;> @0008                               v88 = icmp ult v87, v29
;;> @0008                               v89 = uextend.i32 v88
;;> @0009                               brif v89, block4(v49, v87), block15
;;>
;;>                                 block15:
;;> @000b                               return v49
;;> }
;;> inline-guarded in function 2: done
;;> side-exit in function 2: done
