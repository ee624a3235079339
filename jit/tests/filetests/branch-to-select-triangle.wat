;; The partition loop as LLVM writes it: the store's address is selected, the branch is gone, the poll's stays.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"branch-to-select": {"offset": "BrIf#0"}}
;;! contains = branch-to-select in function 0: done
;;! contains = stack_addr
(module
  (memory 1)
  (func (param $n i32) (param $flags i32) (param $in i32) (param $out i32) (result i32) (local $k i32)
    (loop $next
      (block $skip
        (br_if $skip (i32.eqz (i32.load8_u (local.get $flags))))
        (i32.store (i32.add (local.get $out) (i32.shl (local.get $k) (i32.const 2))) (i32.load (local.get $in)))
        (local.set $k (i32.add (local.get $k) (i32.const 1))))
      (local.set $flags (i32.add (local.get $flags) (i32.const 1)))
      (local.set $in (i32.add (local.get $in) (i32.const 4)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $k)))

;;> function u0:0(i32, i32, i32, i32) -> i32 tail {
;;>     ss0 = explicit_slot 16, align = 16
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32, v3: i32):
;;>                                     v4 = get_pinned_reg.i64
;;> @0000                               v6 = iconst.i32 0
;;> @0000                               v5 = load.i64 notrap aligned readonly can_move region0 v4+72
;;> @0008                               v78 = stack_addr.i64 ss0
;;> @0004                               v53 = iconst.i32 2
;;> @0008                               v61 = iconst.i32 1
;;> @000b                               v67 = iconst.i32 4
;;> @0001                               jump block2(v0, v1, v2, v6)  ; v6 = 0
;;>
;;>                                 block2(v23: i32, v26: i32, v29: i32, v35: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region1 v8+128
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i32 notrap aligned region1 v11+132
;;> @0001                               v14 = ireduce.i16 v12
;;> @0001                               brif v14, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v13 = iconst.i32 0x0024_0000
;;> @0001                               v15 = bxor.i32 v12, v13  ; v13 = 0x0024_0000
;;> @0001                               brif v15, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v16 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v16, v11+134  ; v16 = 0
;;> @0001                               jump block2(v23, v26, v29, v35)
;;>
;;>                                 block6 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region0 v18+40
;;> @0001                               v20 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v20, v19  ; v20 = 0x0023_0000_0000
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v21, v19+8  ; v21 = 7
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v24, v19+16
;;>                                     v98 = uextend.i64 v26
;;> @0001                               store notrap aligned region2 v98, v19+24
;;> @0007                               v56 = uextend.i64 v29
;;> @0001                               store notrap aligned region2 v56, v19+32
;;> @0001                               v33 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v33, v19+40
;;> @0001                               v36 = uextend.i64 v35
;;> @0001                               store notrap aligned region2 v36, v19+48
;;> @0001                               v37 = load.i32 notrap aligned region2 v19
;;> @0001                               v38 = load.i32 notrap aligned region2 v19+4
;;> @0001                               v39 = load.i32 notrap aligned region2 v19+8
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+56
;;> @0001                               v42 = load.i64 notrap aligned readonly region0 v41+96
;;> @0001                               v43 = call_indirect sig0, v42(v40, v37, v38, v39)
;;> @0001                               v44 = get_pinned_reg.i64
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+8
;;> @0001                               v46 = load.i64 notrap aligned readonly region0 v45+40
;;> @0001                               return_call_indirect sig1, v43(v46)
;;>
;;>                                 block4:
;;> @0002                               v47 = uextend.i64 v26
;;> @0002                               v48 = iadd.i64 v5, v47
;;> @0002                               v49 = uload8.i32 user2 region3 v48
;;>                                     v87 = iconst.i32 0
;;>                                     v88 = icmp eq v49, v87  ; v87 = 0
;;>                                     v89 = select v88, v87, v29  ; v87 = 0
;;> @0007                               v76 = uextend.i64 v89
;;> @0007                               v77 = iadd.i64 v5, v76
;;> @0007                               v58 = load.i32 user2 region3 v77
;;>                                     v90 = iconst.i32 2
;;>                                     v91 = ishl.i32 v35, v90  ; v90 = 2
;;> @0006                               v55 = iadd.i32 v3, v91
;;> @0008                               v59 = uextend.i64 v55
;;> @0008                               v60 = iadd.i64 v5, v59
;;>                                     v83 = select.i64 v88, v78, v60
;;> @0008                               store user2 region3 v58, v83
;;> @0004                               jump block8
;;>
;;>                                 block8:
;;>                                     v92 = iconst.i32 1
;;>                                     v93 = isub.i32 v23, v92  ; v92 = 1
;;>                                     v94 = iadd.i32 v26, v92  ; v92 = 1
;;>                                     v95 = iconst.i32 4
;;>                                     v96 = iadd.i32 v29, v95  ; v95 = 4
;;>                                     v97 = iadd.i32 v35, v92  ; v92 = 1
;;>                                     v85 = select.i32 v88, v35, v97
;;> @000e                               brif v93, block2(v93, v94, v96, v85), block10
;;>
;;>                                 block10:
;;> @0010                               return v85
;;> }
;;> branch-to-select in function 0: done
