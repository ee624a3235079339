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
;;>                                     v20 -> v0
;;>                                     v19 -> v20
;;>                                     v61 -> v20
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+72
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v3, v3)  ; v3 = 0, v3 = 0
;;>
;;>                                 block2(v23: i32, v26: i32):
;;>                                     v22 -> v23
;;>                                     v25 -> v26
;;>                                     v63 -> v26
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region1 v5+184
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region1 v8+188
;;> @0001                               v10 = iconst.i32 0x0042_0000
;;> @0001                               v11 = ireduce.i16 v9
;;> @0001                               v12 = bxor v9, v10  ; v10 = 0x0042_0000
;;> @0001                               brif v11, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               brif.i32 v12, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v13 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v13, v8+190  ; v13 = 0
;;> @0001                               jump block2(v23, v26)
;;>
;;>                                 block6 cold:
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 notrap aligned readonly region0 v14+8
;;> @0001                               v16 = load.i64 notrap aligned readonly region0 v15+40
;;> @0001                               v17 = iconst.i64 0x0041_0000_0001
;;> @0001                               store notrap aligned region2 v17, v16  ; v17 = 0x0041_0000_0001
;;> @0001                               v18 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v18, v16+8  ; v18 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v16+16
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v24, v16+24
;;> @0001                               v27 = uextend.i64 v26
;;> @0001                               store notrap aligned region2 v27, v16+32
;;> @0001                               v28 = load.i32 notrap aligned region2 v16
;;> @0001                               v29 = load.i32 notrap aligned region2 v16+4
;;> @0001                               v30 = load.i32 notrap aligned region2 v16+8
;;> @0001                               v31 = get_pinned_reg.i64
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+56
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+96
;;> @0001                               v34 = call_indirect sig0, v33(v31, v28, v29, v30)
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+8
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+40
;;> @0001                               return_call_indirect sig1, v34(v37)
;;>
;;>                                 block4:
;;> @0002                               v38 = uextend.i64 v26
;;> @0002                               v39 = iadd.i64 v2, v38
;;> @0002                               v40 = uload8.i32 user2 region3 v39
;;> @0003                               v42 = iconst.i32 8
;;> @0003                               v43 = icmp uge v40, v42  ; v42 = 8
;;> @0003                               brif v43, block9, block10
;;>
;;>                                 block10:
;;> @0003                               v44 = load.i64 notrap aligned readonly can_move region0 v1+88
;;> @0003                               v45 = iconst.i64 4
;;> @0003                               v46 = ishl.i32 v40, v45  ; v45 = 4
;;> @0003                               v47 = uextend.i64 v46
;;> @0003                               v48 = iadd v44, v47
;;> @0003                               v49 = load.i64 notrap aligned region4 v48+8
;;> @0003                               v50 = iconst.i64 112
;;> @0003                               v51 = iadd.i64 v1, v50  ; v50 = 112
;;> @0003                               v52 = icmp ne v49, v51
;;> @0003                               brif v52, block9, block11
;;>
;;>                                 block11:
;;> @0003                               v54 = iconst.i32 1
;;> @0004                               v55 = iadd.i32 v23, v54  ; v54 = 1
;;> @0005                               jump block8(v55)
;;>
;;>                                 block9 cold:
;;> @0003                               v56 = get_pinned_reg.i64
;;> @0003                               v57 = load.i64 notrap aligned readonly region0 v56+8
;;> @0003                               v58 = load.i64 notrap aligned readonly region0 v57+40
;;> @0003                               v59 = iconst.i64 0x004a_0000_0001
;;> @0003                               store notrap aligned region2 v59, v58  ; v59 = 0x004a_0000_0001
;;> @0003                               v60 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v60, v58+8  ; v60 = 7
;;> @0003                               v62 = uextend.i64 v20
;;> @0003                               store notrap aligned region2 v62, v58+16
;;> @0003                               v64 = uextend.i64 v26
;;> @0003                               store notrap aligned region2 v64, v58+32
;;> @0003                               v65 = uextend.i64 v23
;;> @0003                               store notrap aligned region2 v65, v58+40
;;> @0003                               v66 = uextend.i64 v40
;;> @0003                               store notrap aligned region2 v66, v58+48
;;> @0003                               v67 = uextend.i64 v40
;;> @0003                               v68 = iconst.i64 0x0001_0000_0007
;;> @0003                               v69 = get_pinned_reg.i64
;;> @0003                               v70 = load.i64 notrap aligned readonly region0 v69+56
;;> @0003                               v71 = load.i64 notrap aligned readonly region0 v70+160
;;> @0003                               v72 = call_indirect sig2, v71(v69, v68, v67)  ; v68 = 0x0001_0000_0007
;;> @0003                               v73 = get_pinned_reg.i64
;;> @0003                               v74 = load.i64 notrap aligned readonly region0 v73+8
;;> @0003                               v75 = load.i64 notrap aligned readonly region0 v74+40
;;> @0003                               return_call_indirect sig1, v72(v75)
;;>
;;>                                 block8(v41: i32):
;;> @0003                               v76 = iconst.i32 1
;;> @0006                               v77 = iadd.i32 v26, v76  ; v76 = 1
;;> @0007                               v78 = icmp ult v77, v20
;;> @0007                               v79 = uextend.i32 v78
;;> @0008                               brif v79, block2(v41, v77), block13
;;>
;;>                                 block13:
;;> @000a                               return v41
;;> }
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
