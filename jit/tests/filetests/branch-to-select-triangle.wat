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
;;> @0000                               v5 = load.i64 notrap aligned readonly can_move region0 v4+64
;;> @0007                               v73 = stack_addr.i64 ss0
;;> @0004                               v52 = iconst.i32 2
;;> @0008                               v60 = iconst.i32 1
;;> @000b                               v66 = iconst.i32 4
;;> @0001                               jump block2(v0, v1, v2, v6)  ; v6 = 0
;;>
;;>                                 block2(v22: i32, v25: i32, v28: i32, v34: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region1 v8+112
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i32 notrap aligned region1 v10+112
;;> @0001                               v13 = ireduce.i16 v11
;;> @0001                               brif v13, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v12 = iconst.i32 0x0024_0000
;;> @0001                               v14 = bxor.i32 v11, v12  ; v12 = 0x0024_0000
;;> @0001                               brif v14, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v15 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v15, v10+114  ; v15 = 0
;;> @0001                               jump block2(v22, v25, v28, v34)
;;>
;;>                                 block6 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v19 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v19, v18  ; v19 = 0x0023_0000_0000
;;> @0001                               v20 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v20, v18+8  ; v20 = 7
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v23, v18+16
;;>                                     v94 = uextend.i64 v25
;;> @0001                               store notrap aligned region2 v94, v18+24
;;>                                     v95 = uextend.i64 v28
;;> @0001                               store notrap aligned region2 v95, v18+32
;;> @0001                               v32 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v32, v18+40
;;> @0001                               v35 = uextend.i64 v34
;;> @0001                               store notrap aligned region2 v35, v18+48
;;> @0001                               v36 = load.i32 notrap aligned region2 v18
;;> @0001                               v37 = load.i32 notrap aligned region2 v18+4
;;> @0001                               v38 = load.i32 notrap aligned region2 v18+8
;;> @0001                               v39 = get_pinned_reg.i64
;;> @0001                               v40 = load.i64 notrap aligned readonly region0 v39+48
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+96
;;> @0001                               v42 = call_indirect sig0, v41(v39, v36, v37, v38)
;;> @0001                               v43 = get_pinned_reg.i64
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+8
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+40
;;> @0001                               return_call_indirect sig1, v42(v45)
;;>
;;>                                 block4:
;;> @0002                               v46 = uextend.i64 v25
;;> @0002                               v47 = iadd.i64 v5, v46
;;> @0002                               v48 = uload8.i32 user2 region3 v47
;;>                                     v84 = iconst.i32 0
;;>                                     v85 = icmp eq v48, v84  ; v84 = 0
;;> @0007                               v55 = uextend.i64 v28
;;> @0007                               v56 = iadd.i64 v5, v55
;;>                                     v78 = select.i64 v85, v73, v56
;;> @0007                               v57 = load.i32 user2 region3 v78
;;>                                     v86 = iconst.i32 2
;;>                                     v87 = ishl.i32 v34, v86  ; v86 = 2
;;> @0006                               v54 = iadd.i32 v3, v87
;;> @0008                               v58 = uextend.i64 v54
;;> @0008                               v59 = iadd.i64 v5, v58
;;>                                     v80 = select.i64 v85, v73, v59
;;> @0008                               store user2 region3 v57, v80
;;> @0004                               jump block8
;;>
;;>                                 block8:
;;>                                     v88 = iconst.i32 1
;;>                                     v89 = isub.i32 v22, v88  ; v88 = 1
;;>                                     v90 = iadd.i32 v25, v88  ; v88 = 1
;;>                                     v91 = iconst.i32 4
;;>                                     v92 = iadd.i32 v28, v91  ; v91 = 4
;;>                                     v93 = iadd.i32 v34, v88  ; v88 = 1
;;>                                     v82 = select.i32 v85, v34, v93
;;> @000e                               brif v89, block2(v89, v90, v92, v82), block10
;;>
;;>                                 block10:
;;> @0010                               return v82
;;> }
;;> branch-to-select in function 0: done
