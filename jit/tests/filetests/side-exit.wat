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
;;>                                     v62 -> v19
;;>                                     v63 -> v19
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+64
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v3, v3)  ; v3 = 0, v3 = 0
;;>
;;>                                 block2(v22: i32, v25: i32):
;;>                                     v21 -> v22
;;>                                     v37 -> v22
;;>                                     v24 -> v25
;;>                                     v38 -> v25
;;>                                     v65 -> v25
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i32 notrap aligned region1 v5+164
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i32 notrap aligned region1 v7+164
;;> @0001                               v9 = iconst.i32 -2
;;> @0001                               v10 = iconst.i32 65
;;> @0001                               v11 = band v8, v9  ; v9 = -2
;;> @0001                               v12 = bxor v8, v10  ; v10 = 65
;;> @0001                               brif v11, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               brif.i32 v12, block4, block6
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
;;> @0002                               v39 = uextend.i64 v25
;;> @0002                               v40 = iadd.i64 v2, v39
;;> @0002                               v41 = uload8.i32 user2 region3 v40
;;> @0003                               v43 = iconst.i32 8
;;> @0003                               v44 = icmp uge v41, v43  ; v43 = 8
;;> @0003                               brif v44, block8, block9
;;>
;;>                                 block9:
;;> @0003                               v45 = load.i64 notrap aligned readonly can_move region0 v1+80
;;> @0003                               v46 = iconst.i64 4
;;> @0003                               v47 = ishl.i32 v41, v46  ; v46 = 4
;;> @0003                               v48 = uextend.i64 v47
;;> @0003                               v49 = iadd v45, v48
;;> @0003                               v50 = load.i64 notrap aligned region4 v49+8
;;> @0003                               v51 = iconst.i64 96
;;> @0003                               v52 = iadd.i64 v1, v51  ; v51 = 96
;;> @0003                               v53 = icmp ne v50, v52
;;> @0003                               brif v53, block8, block10
;;>
;;>                                 block10:
;;> @0003                               v55 = iconst.i32 1
;;> @0004                               v56 = iadd.i32 v22, v55  ; v55 = 1
;;> @0005                               jump block7(v56)
;;>
;;>                                 block8 cold:
;;> @0003                               v57 = get_pinned_reg.i64
;;> @0003                               v58 = load.i64 notrap aligned readonly region0 v57+8
;;> @0003                               v59 = load.i64 notrap aligned readonly region0 v58+40
;;> @0003                               v60 = iconst.i64 0x004a_0000_0001
;;> @0003                               store notrap aligned region2 v60, v59  ; v60 = 0x004a_0000_0001
;;> @0003                               v61 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v61, v59+8  ; v61 = 7
;;> @0003                               v64 = uextend.i64 v19
;;> @0003                               store notrap aligned region2 v64, v59+16
;;> @0003                               v66 = uextend.i64 v25
;;> @0003                               store notrap aligned region2 v66, v59+32
;;> @0003                               v67 = uextend.i64 v22
;;> @0003                               store notrap aligned region2 v67, v59+40
;;> @0003                               v68 = uextend.i64 v41
;;> @0003                               store notrap aligned region2 v68, v59+48
;;> @0003                               v69 = uextend.i64 v41
;;> @0003                               v70 = iconst.i64 0x0001_0000_0007
;;> @0003                               v71 = get_pinned_reg.i64
;;> @0003                               v72 = load.i64 notrap aligned readonly region0 v71+48
;;> @0003                               v73 = load.i64 notrap aligned readonly region0 v72+112
;;> @0003                               v74 = call_indirect sig2, v73(v71, v70, v69)  ; v70 = 0x0001_0000_0007
;;> @0003                               v75 = get_pinned_reg.i64
;;> @0003                               v76 = load.i64 notrap aligned readonly region0 v75+8
;;> @0003                               v77 = load.i64 notrap aligned readonly region0 v76+40
;;> @0003                               return_call_indirect sig1, v74(v77)
;;>
;;>                                 block7(v42: i32):
;;> @0003                               v78 = iconst.i32 1
;;> @0006                               v79 = iadd.i32 v38, v78  ; v78 = 1
;;> @0007                               v80 = icmp ult v79, v63
;;> @0007                               v81 = uextend.i32 v80
;;> @0008                               brif v81, block2(v42, v79), block12
;;>
;;>                                 block12:
;;> @000a                               return v42
;;> }
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
