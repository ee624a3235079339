;;! tier = optimizing
;;! show = optimized
;;! decision = {"prefetch": {"offset": "I64Load#0", "kind": "indirect", "distance": 8}}
;;! contains = prefetch in function 0: done
;; Two loads lead to the address: the second would miss too, and is fetched one distance earlier (80 bytes of the first array).
(module
  (memory 1)
  (func (param $n i32) (param $a i32) (result i64) (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum)
        (i64.load offset=40 (i32.load16_u offset=0x1000 (i32.mul (i32.load8_u (local.get $a)) (i32.const 12))))))
      (local.set $a (i32.add (local.get $a) (i32.const 5)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))

;;> function u0:0(i32, i32) -> i64 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i64 tail
;;>
;;>                                 block0(v0: i32, v1: i32):
;;>                                     v2 = get_pinned_reg.i64
;;> @0000                               v4 = iconst.i64 0
;;> @0000                               v3 = load.i64 notrap aligned readonly can_move region0 v2+64
;;> @0005                               v44 = iconst.i32 80
;;> @0005                               v48 = iconst.i64 1
;;> @0005                               v51 = iconst.i32 12
;;> @0005                               v56 = iconst.i32 40
;;> @0005                               v67 = iconst.i64 4097
;;> @0007                               v42 = iconst.i32 1
;;> @0006                               v40 = iconst.i32 5
;;> @0001                               jump block2(v0, v1, v4)  ; v4 = 0
;;>
;;>                                 block2(v11: i32, v13: i32, v15: i64):
;;> @0001                               v6 = get_pinned_reg.i64
;;> @0001                               v7 = load.i32 notrap aligned region1 v6+112
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 notrap aligned readonly region0 v8+8
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9+40
;;> @0001                               v12 = uextend.i64 v11
;;> @0001                               store notrap aligned region2 v12, v10+16
;;>                                     v90 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v90, v10+24
;;> @0001                               store.i64 notrap aligned region2 v15, v10+32
;;> @0001                               v16 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region2 v16, v10  ; v16 = 0x0021_0000_0000
;;> @0001                               v17 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v17, v10+8  ; v17 = 7
;;> @0001                               v18 = load.i32 notrap aligned region2 v10
;;> @0001                               v19 = load.i32 notrap aligned region2 v10+4
;;> @0001                               v20 = load.i32 notrap aligned region2 v10+8
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
;;>                                     v73 = iconst.i32 80
;;>                                     v74 = iadd.i32 v13, v73  ; v73 = 80
;;> @0005                               v46 = uextend.i64 v74
;;> @0005                               v47 = iadd.i64 v3, v46
;;>                                     v75 = iconst.i64 1
;;>                                     v76 = iadd v47, v75  ; v75 = 1
;;> @0005                               v50 = uload8.i32 user65 region3 v76-1
;;>                                     v77 = iconst.i32 12
;;>                                     v78 = imul v50, v77  ; v77 = 12
;;> @0005                               v53 = uextend.i64 v78
;;> @0005                               v54 = iadd.i64 v3, v53
;;> @0005                               v55 = load.i16 user64 little region3 v54+4096
;;>                                     v79 = iconst.i32 40
;;>                                     v80 = iadd.i32 v13, v79  ; v79 = 40
;;> @0005                               v58 = uextend.i64 v80
;;> @0005                               v59 = iadd.i64 v3, v58
;;>                                     v81 = iadd v59, v75  ; v75 = 1
;;> @0005                               v62 = uload8.i32 user65 region3 v81-1
;;>                                     v82 = imul v62, v77  ; v77 = 12
;;> @0005                               v65 = uextend.i64 v82
;;> @0005                               v66 = iadd.i64 v3, v65
;;>                                     v83 = iconst.i64 4097
;;>                                     v84 = iadd v66, v83  ; v83 = 4097
;;> @0005                               v69 = uload16.i32 user65 region3 v84-1
;;> @0005                               v70 = uextend.i64 v69
;;> @0005                               v71 = iadd.i64 v3, v70
;;> @0005                               v72 = load.i16 user64 little region3 v71+40
;;> @0002                               v28 = uextend.i64 v13
;;> @0002                               v29 = iadd.i64 v3, v28
;;> @0002                               v30 = uload8.i32 user2 region3 v29
;;>                                     v85 = imul v30, v77  ; v77 = 12
;;> @0004                               v33 = uextend.i64 v85
;;> @0004                               v34 = iadd.i64 v3, v33
;;> @0004                               v35 = uload16.i32 user2 region3 v34+4096
;;> @0005                               v36 = uextend.i64 v35
;;> @0005                               v37 = iadd.i64 v3, v36
;;> @0005                               v38 = load.i64 user2 region3 v37+40
;;>                                     v86 = iconst.i32 1
;;>                                     v87 = isub.i32 v11, v86  ; v86 = 1
;;>                                     v88 = iconst.i32 5
;;>                                     v89 = iadd.i32 v13, v88  ; v88 = 5
;;> @0006                               v39 = iadd.i64 v15, v38
;;> @0009                               brif v87, block2(v87, v89, v39), block5
;;>
;;>                                 block5:
;;> @000b                               return v39
;;> }
;;> prefetch in function 0: done
