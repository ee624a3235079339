;;! tier = optimizing
;;! show = clif
;;! function = 1
;;! plan = 0 -> 0
;;! exits = true
;;! contains = side-exit in function 1: done
;;! lacks = trapz

;; The index comes from memory, so each round tests the callee; where it is another the code is left at the call with its operands, and no
;; generic call stands in the function.
(module
  (type $unary (func (param i32) (result i32)))
  (memory 1)
  (table (export "table") 8 8 funcref)
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (i32.load8_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;> function u0:1(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     region4 = 285212672 "table 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i64, i64, i64) -> i64 system_v
;;>
;;>                                 block0(v0: i32):
;;>                                     v12 -> v0
;;>                                     v51 -> v12
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+64
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v3, v3)  ; v3 = 0, v3 = 0
;;>
;;>                                 block2(v14: i32, v16: i32):
;;>                                     v53 -> v16
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i32 notrap aligned region1 v5+164
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly region0 v7+8
;;> @0001                               v9 = load.i64 notrap aligned readonly region0 v8+40
;;> @0001                               v10 = iconst.i64 0x0041_0000_0001
;;> @0001                               store notrap aligned region2 v10, v9  ; v10 = 0x0041_0000_0001
;;> @0001                               v11 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v11, v9+8  ; v11 = 7
;;> @0001                               v13 = uextend.i64 v12
;;> @0001                               store notrap aligned region2 v13, v9+16
;;> @0001                               v15 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v15, v9+24
;;> @0001                               v17 = uextend.i64 v16
;;> @0001                               store notrap aligned region2 v17, v9+32
;;> @0001                               v18 = load.i32 notrap aligned region2 v9
;;> @0001                               v19 = load.i32 notrap aligned region2 v9+4
;;> @0001                               v20 = load.i32 notrap aligned region2 v9+8
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 notrap aligned readonly region0 v21+48
;;> @0001                               v23 = load.i64 notrap aligned readonly region0 v22+96
;;> @0001                               v24 = call_indirect sig0, v23(v21, v18, v19, v20)
;;> @0001                               v25 = get_pinned_reg.i64
;;> @0001                               v26 = load.i64 notrap aligned readonly region0 v25+8
;;> @0001                               v27 = load.i64 notrap aligned readonly region0 v26+40
;;> @0001                               return_call_indirect sig1, v24(v27)
;;>
;;>                                 block4:
;;> @0002                               v28 = uextend.i64 v16
;;> @0002                               v29 = iadd.i64 v2, v28
;;> @0002                               v30 = uload8.i32 user2 region3 v29
;;> @0003                               v32 = iconst.i32 8
;;> @0003                               v33 = icmp uge v30, v32  ; v32 = 8
;;> @0003                               brif v33, block6, block7
;;>
;;>                                 block7:
;;> @0003                               v34 = load.i64 notrap aligned readonly can_move region0 v1+80
;;> @0003                               v35 = iconst.i64 4
;;> @0003                               v36 = ishl.i32 v30, v35  ; v35 = 4
;;> @0003                               v37 = uextend.i64 v36
;;> @0003                               v38 = iadd v34, v37
;;> @0003                               v39 = load.i64 notrap aligned region4 v38+8
;;> @0003                               v40 = iconst.i64 96
;;> @0003                               v41 = iadd.i64 v1, v40  ; v40 = 96
;;> @0003                               v42 = icmp ne v39, v41
;;> @0003                               brif v42, block6, block8
;;>
;;>                                 block8:
;;> @0003                               v44 = iconst.i32 1
;;> @0004                               v45 = iadd.i32 v14, v44  ; v44 = 1
;;> @0005                               jump block5(v45)
;;>
;;>                                 block6 cold:
;;> @0003                               v46 = get_pinned_reg.i64
;;> @0003                               v47 = load.i64 notrap aligned readonly region0 v46+8
;;> @0003                               v48 = load.i64 notrap aligned readonly region0 v47+40
;;> @0003                               v49 = iconst.i64 0x004a_0000_0001
;;> @0003                               store notrap aligned region2 v49, v48  ; v49 = 0x004a_0000_0001
;;> @0003                               v50 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v50, v48+8  ; v50 = 7
;;> @0003                               v52 = uextend.i64 v12
;;> @0003                               store notrap aligned region2 v52, v48+16
;;> @0003                               v54 = uextend.i64 v16
;;> @0003                               store notrap aligned region2 v54, v48+32
;;> @0003                               v55 = uextend.i64 v14
;;> @0003                               store notrap aligned region2 v55, v48+40
;;> @0003                               v56 = uextend.i64 v30
;;> @0003                               store notrap aligned region2 v56, v48+48
;;> @0003                               v57 = uextend.i64 v30
;;> @0003                               v58 = iconst.i64 0x0001_0000_0007
;;> @0003                               v59 = get_pinned_reg.i64
;;> @0003                               v60 = load.i64 notrap aligned readonly region0 v59+48
;;> @0003                               v61 = load.i64 notrap aligned readonly region0 v60+112
;;> @0003                               v62 = call_indirect sig2, v61(v59, v58, v57)  ; v58 = 0x0001_0000_0007
;;> @0003                               v63 = get_pinned_reg.i64
;;> @0003                               v64 = load.i64 notrap aligned readonly region0 v63+8
;;> @0003                               v65 = load.i64 notrap aligned readonly region0 v64+40
;;> @0003                               return_call_indirect sig1, v62(v65)
;;>
;;>                                 block5(v31: i32):
;;> @0003                               v66 = iconst.i32 1
;;> @0006                               v67 = iadd.i32 v16, v66  ; v66 = 1
;;> @0007                               v68 = icmp ult v67, v12
;;> @0007                               v69 = uextend.i32 v68
;;> @0008                               brif v69, block2(v31, v67), block10
;;>
;;>                                 block10:
;;> @000a                               return v31
;;> }
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
