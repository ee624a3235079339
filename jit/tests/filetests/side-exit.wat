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
;;>                                     v13 -> v0
;;>                                     v52 -> v13
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+72
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v3, v3)  ; v3 = 0, v3 = 0
;;>
;;>                                 block2(v15: i32, v17: i32):
;;>                                     v54 -> v17
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region1 v5+192
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 notrap aligned readonly region0 v8+8
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9+40
;;> @0001                               v11 = iconst.i64 0x0041_0000_0001
;;> @0001                               store notrap aligned region2 v11, v10  ; v11 = 0x0041_0000_0001
;;> @0001                               v12 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v12, v10+8  ; v12 = 7
;;> @0001                               v14 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v14, v10+16
;;> @0001                               v16 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v16, v10+24
;;> @0001                               v18 = uextend.i64 v17
;;> @0001                               store notrap aligned region2 v18, v10+32
;;> @0001                               v19 = load.i32 notrap aligned region2 v10
;;> @0001                               v20 = load.i32 notrap aligned region2 v10+4
;;> @0001                               v21 = load.i32 notrap aligned region2 v10+8
;;> @0001                               v22 = get_pinned_reg.i64
;;> @0001                               v23 = load.i64 notrap aligned readonly region0 v22+56
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23+96
;;> @0001                               v25 = call_indirect sig0, v24(v22, v19, v20, v21)
;;> @0001                               v26 = get_pinned_reg.i64
;;> @0001                               v27 = load.i64 notrap aligned readonly region0 v26+8
;;> @0001                               v28 = load.i64 notrap aligned readonly region0 v27+40
;;> @0001                               return_call_indirect sig1, v25(v28)
;;>
;;>                                 block4:
;;> @0002                               v29 = uextend.i64 v17
;;> @0002                               v30 = iadd.i64 v2, v29
;;> @0002                               v31 = uload8.i32 user2 region3 v30
;;> @0003                               v33 = iconst.i32 8
;;> @0003                               v34 = icmp uge v31, v33  ; v33 = 8
;;> @0003                               brif v34, block6, block7
;;>
;;>                                 block7:
;;> @0003                               v35 = load.i64 notrap aligned readonly can_move region0 v1+88
;;> @0003                               v36 = iconst.i64 4
;;> @0003                               v37 = ishl.i32 v31, v36  ; v36 = 4
;;> @0003                               v38 = uextend.i64 v37
;;> @0003                               v39 = iadd v35, v38
;;> @0003                               v40 = load.i64 notrap aligned region4 v39+8
;;> @0003                               v41 = iconst.i64 112
;;> @0003                               v42 = iadd.i64 v1, v41  ; v41 = 112
;;> @0003                               v43 = icmp ne v40, v42
;;> @0003                               brif v43, block6, block8
;;>
;;>                                 block8:
;;> @0003                               v45 = iconst.i32 1
;;> @0004                               v46 = iadd.i32 v15, v45  ; v45 = 1
;;> @0005                               jump block5(v46)
;;>
;;>                                 block6 cold:
;;> @0003                               v47 = get_pinned_reg.i64
;;> @0003                               v48 = load.i64 notrap aligned readonly region0 v47+8
;;> @0003                               v49 = load.i64 notrap aligned readonly region0 v48+40
;;> @0003                               v50 = iconst.i64 0x004a_0000_0001
;;> @0003                               store notrap aligned region2 v50, v49  ; v50 = 0x004a_0000_0001
;;> @0003                               v51 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v51, v49+8  ; v51 = 7
;;> @0003                               v53 = uextend.i64 v13
;;> @0003                               store notrap aligned region2 v53, v49+16
;;> @0003                               v55 = uextend.i64 v17
;;> @0003                               store notrap aligned region2 v55, v49+32
;;> @0003                               v56 = uextend.i64 v15
;;> @0003                               store notrap aligned region2 v56, v49+40
;;> @0003                               v57 = uextend.i64 v31
;;> @0003                               store notrap aligned region2 v57, v49+48
;;> @0003                               v58 = uextend.i64 v31
;;> @0003                               v59 = iconst.i64 0x0001_0000_0007
;;> @0003                               v60 = get_pinned_reg.i64
;;> @0003                               v61 = load.i64 notrap aligned readonly region0 v60+56
;;> @0003                               v62 = load.i64 notrap aligned readonly region0 v61+160
;;> @0003                               v63 = call_indirect sig2, v62(v60, v59, v58)  ; v59 = 0x0001_0000_0007
;;> @0003                               v64 = get_pinned_reg.i64
;;> @0003                               v65 = load.i64 notrap aligned readonly region0 v64+8
;;> @0003                               v66 = load.i64 notrap aligned readonly region0 v65+40
;;> @0003                               return_call_indirect sig1, v63(v66)
;;>
;;>                                 block5(v32: i32):
;;> @0003                               v67 = iconst.i32 1
;;> @0006                               v68 = iadd.i32 v17, v67  ; v67 = 1
;;> @0007                               v69 = icmp ult v68, v13
;;> @0007                               v70 = uextend.i32 v69
;;> @0008                               brif v70, block2(v32, v68), block10
;;>
;;>                                 block10:
;;> @000a                               return v32
;;> }
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
