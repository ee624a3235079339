;; An interpreter of three operations: behind the way of 0 stands that of 1, behind that of 1 that of 2, with the test of what was read, and no table between them.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"switch-path": {"offset": "BrTable#0", "paths": [[0, 1, 2]]}}
;;! decision = {"switch-path": {"offset": 1, "paths": [[0, 1]]}}
;;! contains = switch-path in function 0: done
;;! contains = switch-path in function 0: no reachable br_table there
(module
  (memory 1)
  (func (param $at i32) (result i32) (local $top i32)
    (loop $next (result i32)
      (block $stop (block $double (block $push
        (br_table $push $double $stop $stop (i32.load8_u (local.get $at))))
        (local.set $top (i32.load8_u offset=1 (local.get $at)))
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
;;> @0000                               v3 = iconst.i32 0
;;> @0011                               v56 = iconst.i32 1
;;> @0004                               v33 = iconst.i32 2
;;>                                     v63 = iconst.i32 3
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
;;>                                     v85 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v85, v10+16
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
;;> @0002                               v27 = uextend.i64 v13
;;> @0002                               v29 = uload8.i32 user72 region3 v27
;;> @0003                               br_table v29, block5(v14), [block8, block6, block5(v14)]
;;>
;;>                                 block8:
;;> @0004                               v32 = uload8.i32 user72 region3 v27+1
;;> @0006                               jump block9
;;>
;;>                                 block9:
;;> @0007                               v37 = uload8.i32 user72 region3 v27+2
;;>                                     v73 = iconst.i32 1
;;>                                     v74 = icmp ne v37, v73  ; v73 = 1
;;> @0008                               brif v74, block13, block12
;;>
;;>                                 block13:
;;> @0008                               jump block11
;;>
;;>                                 block11:
;;>                                     v83 = iconst.i32 2
;;>                                     v84 = iadd.i32 v13, v83  ; v83 = 2
;;> @0008                               jump block2(v84, v32)
;;>
;;>                                 block12:
;;> @000c                               jump block14
;;>
;;>                                 block14:
;;> @000d                               v46 = uload8.i32 user72 region3 v27+3
;;>                                     v75 = iconst.i32 2
;;>                                     v76 = icmp eq v46, v75  ; v75 = 2
;;> @000e                               brif v76, block16, block17
;;>
;;>                                 block16:
;;>                                     v81 = iconst.i32 1
;;>                                     v82 = ishl.i32 v32, v81  ; v81 = 1
;;> @000e                               jump block5(v82)
;;>
;;>                                 block17:
;;> @000e                               jump block15
;;>
;;>                                 block15:
;;>                                     v77 = iconst.i32 3
;;>                                     v78 = iadd.i32 v13, v77  ; v77 = 3
;;>                                     v79 = iconst.i32 1
;;>                                     v80 = ishl.i32 v32, v79  ; v79 = 1
;;> @000e                               jump block2(v78, v80)
;;>
;;>                                 block6:
;;>                                     v70 = iconst.i32 1
;;>                                     v71 = iadd.i32 v13, v70  ; v70 = 1
;;>                                     v72 = ishl.i32 v14, v70  ; v70 = 1
;;> @0014                               jump block2(v71, v72)
;;>
;;>                                 block5(v60: i32):
;;> @0016                               return v60
;;> }
;;> switch-path in function 0: done
;;> switch-path in function 0: no reachable br_table there
