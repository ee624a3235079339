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
;;>                                     v19 -> v0
;;>                                     v18 -> v19
;;>                                     v60 -> v19
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+64
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v3, v3)  ; v3 = 0, v3 = 0
;;>
;;>                                 block2(v22: i32, v25: i32):
;;>                                     v21 -> v22
;;>                                     v24 -> v25
;;>                                     v62 -> v25
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i32 notrap aligned region1 v5+164
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i32 notrap aligned region1 v7+164
;;> @0001                               v9 = iconst.i32 0x0042_0000
;;> @0001                               v10 = ireduce.i16 v8
;;> @0001                               v11 = bxor v8, v9  ; v9 = 0x0042_0000
;;> @0001                               brif v10, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               brif.i32 v11, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v12 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v12, v7+166  ; v12 = 0
;;> @0001                               jump block2(v22, v25)
;;>
;;>                                 block6 cold:
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i64 notrap aligned readonly region0 v13+8
;;> @0001                               v15 = load.i64 notrap aligned readonly region0 v14+40
;;> @0001                               v16 = iconst.i64 0x0041_0000_0001
;;> @0001                               store notrap aligned region2 v16, v15  ; v16 = 0x0041_0000_0001
;;> @0001                               v17 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v17, v15+8  ; v17 = 7
;;> @0001                               v20 = uextend.i64 v19
;;> @0001                               store notrap aligned region2 v20, v15+16
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v23, v15+24
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region2 v26, v15+32
;;> @0001                               v27 = load.i32 notrap aligned region2 v15
;;> @0001                               v28 = load.i32 notrap aligned region2 v15+4
;;> @0001                               v29 = load.i32 notrap aligned region2 v15+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+48
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block4:
;;> @0002                               v37 = uextend.i64 v25
;;> @0002                               v38 = iadd.i64 v2, v37
;;> @0002                               v39 = uload8.i32 user2 region3 v38
;;> @0003                               v41 = iconst.i32 8
;;> @0003                               v42 = icmp uge v39, v41  ; v41 = 8
;;> @0003                               brif v42, block9, block10
;;>
;;>                                 block10:
;;> @0003                               v43 = load.i64 notrap aligned readonly can_move region0 v1+80
;;> @0003                               v44 = iconst.i64 4
;;> @0003                               v45 = ishl.i32 v39, v44  ; v44 = 4
;;> @0003                               v46 = uextend.i64 v45
;;> @0003                               v47 = iadd v43, v46
;;> @0003                               v48 = load.i64 notrap aligned region4 v47+8
;;> @0003                               v49 = iconst.i64 96
;;> @0003                               v50 = iadd.i64 v1, v49  ; v49 = 96
;;> @0003                               v51 = icmp ne v48, v50
;;> @0003                               brif v51, block9, block11
;;>
;;>                                 block11:
;;> @0003                               v53 = iconst.i32 1
;;> @0004                               v54 = iadd.i32 v22, v53  ; v53 = 1
;;> @0005                               jump block8(v54)
;;>
;;>                                 block9 cold:
;;> @0003                               v55 = get_pinned_reg.i64
;;> @0003                               v56 = load.i64 notrap aligned readonly region0 v55+8
;;> @0003                               v57 = load.i64 notrap aligned readonly region0 v56+40
;;> @0003                               v58 = iconst.i64 0x004a_0000_0001
;;> @0003                               store notrap aligned region2 v58, v57  ; v58 = 0x004a_0000_0001
;;> @0003                               v59 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v59, v57+8  ; v59 = 7
;;> @0003                               v61 = uextend.i64 v19
;;> @0003                               store notrap aligned region2 v61, v57+16
;;> @0003                               v63 = uextend.i64 v25
;;> @0003                               store notrap aligned region2 v63, v57+32
;;> @0003                               v64 = uextend.i64 v22
;;> @0003                               store notrap aligned region2 v64, v57+40
;;> @0003                               v65 = uextend.i64 v39
;;> @0003                               store notrap aligned region2 v65, v57+48
;;> @0003                               v66 = uextend.i64 v39
;;> @0003                               v67 = iconst.i64 0x0001_0000_0007
;;> @0003                               v68 = get_pinned_reg.i64
;;> @0003                               v69 = load.i64 notrap aligned readonly region0 v68+48
;;> @0003                               v70 = load.i64 notrap aligned readonly region0 v69+160
;;> @0003                               v71 = call_indirect sig2, v70(v68, v67, v66)  ; v67 = 0x0001_0000_0007
;;> @0003                               v72 = get_pinned_reg.i64
;;> @0003                               v73 = load.i64 notrap aligned readonly region0 v72+8
;;> @0003                               v74 = load.i64 notrap aligned readonly region0 v73+40
;;> @0003                               return_call_indirect sig1, v71(v74)
;;>
;;>                                 block8(v40: i32):
;;> @0003                               v75 = iconst.i32 1
;;> @0006                               v76 = iadd.i32 v25, v75  ; v75 = 1
;;> @0007                               v77 = icmp ult v76, v19
;;> @0007                               v78 = uextend.i32 v77
;;> @0008                               brif v78, block2(v40, v76), block13
;;>
;;>                                 block13:
;;> @000a                               return v40
;;> }
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
