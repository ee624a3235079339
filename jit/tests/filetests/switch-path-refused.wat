;; What stands between the loop's header and the table counts operations in memory: it cannot be done again where no path goes on.
;;! tier = optimizing
;;! show = clif
;;! decision = {"switch-path": {"offset": "BrTable#0", "paths": [[0, 1]]}}
;;! contains = more than values and loads between the loop's header and it
(module
  (memory 1)
  (func (param $at i32) (result i32) (local $top i32)
    (loop $next (result i32)
      (i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1)))
      (block $stop (block $double (block $push
        (br_table $push $double $stop $stop (i32.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (br $next))
        (local.set $top (i32.shl (local.get $top) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next))
      (local.get $top))))

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v0, v3)  ; v3 = 0
;;>
;;>                                 block2(v13: i32, v14: i32):
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region1 v5-136
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 notrap aligned readonly region0 v8-64
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9+40
;;> @0001                               v11 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region2 v11, v10  ; v11 = 0x0020_0000_0000
;;> @0001                               v12 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v12, v10+8  ; v12 = 7
;;> @0001                               v15 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v15, v10+24
;;> @0001                               v16 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v16, v10+16
;;> @0001                               v17 = load.i32 notrap aligned region2 v10
;;> @0001                               v18 = load.i32 notrap aligned region2 v10+4
;;> @0001                               v19 = load.i32 notrap aligned region2 v10+8
;;> @0001                               v20 = get_pinned_reg.i64
;;> @0001                               v21 = load.i64 notrap aligned readonly region0 v20-16
;;> @0001                               v22 = load.i64 notrap aligned readonly region0 v21+112
;;> @0001                               v23 = call_indirect sig0, v22(v20, v17, v18, v19)
;;> @0001                               v24 = get_pinned_reg.i64
;;> @0001                               v25 = load.i64 notrap aligned readonly region0 v24-64
;;> @0001                               v26 = load.i64 notrap aligned readonly region0 v25+40
;;> @0001                               return_call_indirect sig1, v23(v26)
;;>
;;>                                 block4:
;;> @0001                               v27 = iconst.i32 64
;;> @0001                               v28 = iconst.i32 64
;;> @0002                               v29 = uextend.i64 v28  ; v28 = 64
;;> @0002                               v30 = iadd.i64 v2, v29
;;> @0002                               v31 = load.i32 user2 region3 v30
;;> @0002                               v32 = iconst.i32 1
;;> @0003                               v33 = iadd v31, v32  ; v32 = 1
;;> @0004                               v34 = uextend.i64 v27  ; v27 = 64
;;> @0004                               v35 = iadd.i64 v2, v34
;;> @0004                               v36 = iconst.i64 -16
;;> @0004                               v37 = iadd v35, v36  ; v36 = -16
;;> @0004                               store user2 region3 v33, v37+16
;;> @0005                               v38 = uextend.i64 v13
;;> @0005                               v39 = iadd.i64 v2, v38
;;> @0005                               v40 = uload8.i32 user2 region3 v39
;;> @0006                               br_table v40, block5, [block7, block6, block5]
;;>
;;>                                 block7:
;;> @0006                               v41 = iconst.i32 2
;;> @0007                               v42 = iadd.i32 v13, v41  ; v41 = 2
;;> @0008                               jump block2(v42, v14)
;;>
;;>                                 block6:
;;> @0008                               v43 = iconst.i32 1
;;> @0009                               v44 = ishl.i32 v14, v43  ; v43 = 1
;;> @0009                               v45 = iconst.i32 1
;;> @000a                               v46 = iadd.i32 v13, v45  ; v45 = 1
;;> @000b                               jump block2(v46, v44)
;;>
;;>                                 block5:
;;> @000d                               return v14
;;> }
;;> switch-path in function 0: more than values and loads between the loop's header and it
