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
;;>                                     v88 = stack_addr.i64 ss0
;;>                                     v89 = get_pinned_reg.i64
;;>                                     v90 = isub v88, v89
;;>                                     v4 = get_pinned_reg.i64
;;> @0000                               v6 = iconst.i32 0
;;> @0004                               v42 = iconst.i32 2
;;> @0008                               v50 = iconst.i32 1
;;> @000b                               v56 = iconst.i32 4
;;> @0001                               jump block2(v0, v1, v2, v6)  ; v6 = 0
;;>
;;>                                 block2(v16: i32, v17: i32, v18: i32, v20: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region1 v8-136
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11-64
;;> @0001                               v13 = load.i64 notrap aligned readonly region0 v12+40
;;> @0001                               v14 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v14, v13  ; v14 = 0x0023_0000_0000
;;> @0001                               v15 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v15, v13+8  ; v15 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v13+48
;;> @0001                               v22 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v22, v13+40
;;> @0007                               v45 = uextend.i64 v18
;;> @0001                               store notrap aligned region2 v45, v13+32
;;>                                     v87 = uextend.i64 v17
;;> @0001                               store notrap aligned region2 v87, v13+24
;;> @0001                               v25 = uextend.i64 v16
;;> @0001                               store notrap aligned region2 v25, v13+16
;;> @0001                               v26 = load.i32 notrap aligned region2 v13
;;> @0001                               v27 = load.i32 notrap aligned region2 v13+4
;;> @0001                               v28 = load.i32 notrap aligned region2 v13+8
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29-16
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+112
;;> @0001                               v32 = call_indirect sig0, v31(v29, v26, v27, v28)
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33-64
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+40
;;> @0001                               return_call_indirect sig1, v32(v35)
;;>
;;>                                 block4:
;;> @0002                               v36 = uextend.i64 v17
;;> @0002                               v38 = uload8.i32 user72 region3 v36
;;>                                     v76 = iconst.i32 0
;;>                                     v77 = icmp eq v38, v76  ; v76 = 0
;;>                                     v78 = select v77, v76, v18  ; v76 = 0
;;> @0007                               v65 = uextend.i64 v78
;;> @0007                               v47 = load.i32 user72 region3 v65
;;>                                     v79 = iconst.i32 2
;;>                                     v80 = ishl.i32 v20, v79  ; v79 = 2
;;> @0006                               v44 = iadd.i32 v3, v80
;;> @0008                               v48 = uextend.i64 v44
;;>                                     v91 = select.i64 v77, v90, v48
;;> @0008                               store user72 region3 v47, v91
;;> @0004                               jump block5
;;>
;;>                                 block5:
;;>                                     v81 = iconst.i32 1
;;>                                     v82 = isub.i32 v16, v81  ; v81 = 1
;;>                                     v83 = iadd.i32 v17, v81  ; v81 = 1
;;>                                     v84 = iconst.i32 4
;;>                                     v85 = iadd.i32 v18, v84  ; v84 = 4
;;>                                     v86 = iadd.i32 v20, v81  ; v81 = 1
;;>                                     v74 = select.i32 v77, v20, v86
;;> @000e                               brif v82, block2(v82, v83, v85, v74), block7
;;>
;;>                                 block7:
;;> @0010                               return v74
;;> }
;;> branch-to-select in function 0: done
