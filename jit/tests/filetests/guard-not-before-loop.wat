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
;;>                                     v20 -> v0
;;>                                     v79 -> v0
;;>                                     v58 -> v20
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v80 -> v2
;;>                                     v81 -> v2
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
;;>                                 block4(v22: i32, v24: i32):
;;>                                     v60 -> v24
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+200
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region1 v16+40
;;> @0001                               v18 = iconst.i64 0x005a_0000_0002
;;> @0001                               store notrap aligned region2 v18, v17  ; v18 = 0x005a_0000_0002
;;> @0001                               v19 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v19, v17+8  ; v19 = 7
;;> @0001                               v21 = uextend.i64 v20
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
;;> @0002                               v36 = get_pinned_reg.i64
;;> @0002                               v37 = load.i32 notrap aligned region3 v36+80
;;> @0003                               v39 = iconst.i32 8
;;> @0003                               v40 = icmp uge v37, v39  ; v39 = 8
;;> @0003                               brif v40, block8, block9
;;>
;;>                                 block9:
;;> @0003                               v41 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v42 = iconst.i64 4
;;> @0003                               v43 = ishl.i32 v37, v42  ; v42 = 4
;;> @0003                               v44 = uextend.i64 v43
;;> @0003                               v45 = iadd v41, v44
;;> @0003                               v46 = load.i64 notrap aligned region4 v45+8
;;> @0003                               v47 = iconst.i64 96
;;> @0003                               v48 = iadd.i64 v1, v47  ; v47 = 96
;;> @0003                               v49 = icmp ne v46, v48
;;> @0003                               brif v49, block8, block10
;;>
;;>                                 block10:
;;> @0003                               v51 = iconst.i32 1
;;> @0004                               v52 = iadd.i32 v22, v51  ; v51 = 1
;;> @0005                               jump block7(v52)
;;>
;;>                                 block8 cold:
;;> @0003                               v53 = get_pinned_reg.i64
;;> @0003                               v54 = load.i64 notrap aligned readonly region1 v53+8
;;> @0003                               v55 = load.i64 notrap aligned readonly region1 v54+40
;;> @0003                               v56 = iconst.i64 0x0060_0000_0002
;;> @0003                               store notrap aligned region2 v56, v55  ; v56 = 0x0060_0000_0002
;;> @0003                               v57 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v57, v55+8  ; v57 = 7
;;> @0003                               v59 = uextend.i64 v20
;;> @0003                               store notrap aligned region2 v59, v55+16
;;> @0003                               v61 = uextend.i64 v24
;;> @0003                               store notrap aligned region2 v61, v55+32
;;> @0003                               v62 = uextend.i64 v22
;;> @0003                               store notrap aligned region2 v62, v55+40
;;> @0003                               v63 = uextend.i64 v37
;;> @0003                               store notrap aligned region2 v63, v55+48
;;> @0003                               v64 = uextend.i64 v37
;;> @0003                               v65 = iconst.i64 0x0001_0000_0007
;;> @0003                               v66 = get_pinned_reg.i64
;;> @0003                               v67 = load.i64 notrap aligned readonly region1 v66+48
;;> @0003                               v68 = load.i64 notrap aligned readonly region1 v67+112
;;> @0003                               v69 = call_indirect sig2, v68(v66, v65, v64)  ; v65 = 0x0001_0000_0007
;;> @0003                               v70 = get_pinned_reg.i64
;;> @0003                               v71 = load.i64 notrap aligned readonly region1 v70+8
;;> @0003                               v72 = load.i64 notrap aligned readonly region1 v71+40
;;> @0003                               return_call_indirect sig1, v69(v72)
;;>
;;>                                 block7(v38: i32):
;;> @0006                               v73 = get_pinned_reg.i64
;;> @0006                               v74 = load.i64 notrap aligned region5 v73+128
;;> @0006                               call_indirect sig3, v74()
;;> @0006                               v75 = iconst.i32 1
;;> @0007                               v76 = iadd.i32 v24, v75  ; v75 = 1
;;> @0008                               v77 = icmp ult v76, v20
;;> @0008                               v78 = uextend.i32 v77
;;> @0009                               brif v78, block4(v38, v76), block12
;;>
;;>                                 block12:
;;> @000b                               return v38
;;> }
;;> inline-guarded in function 2: done
;;> side-exit in function 2: done
