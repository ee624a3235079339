;; Nobody but the thread that runs grows a memory that is not shared: its size is read once where nothing is called.
;;! tier = optimizing
;;! show = optimized
;;! lacks = atomic_load
(module
  (memory 1 10)
  (func (result i32) (local $n i32)
    (local.set $n (memory.size))
    (loop $same (br_if $same (i32.ne (memory.size) (local.get $n))))
    (memory.size)))

;;> function u0:0() -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 117440512 "lengths"
;;>     region2 = 33554432 "poll"
;;>     region3 = 83886080 "switch"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0:
;;>                                     v0 = get_pinned_reg.i64
;;> @0001                               v3 = load.i64 notrap aligned readonly can_move region0 v0-88
;;> @0001                               v4 = load.i64 notrap aligned region1 v3+8
;;> @0002                               jump block2
;;>
;;>                                 block2:
;;> @0002                               v8 = get_pinned_reg.i64
;;> @0002                               v9 = load.i64 user66 aligned region2 v8-136
;;> @0002                               v10 = icmp ult v8, v9
;;> @0002                               brif v10, block3, block4
;;>
;;>                                 block3 cold:
;;> @0002                               v11 = get_pinned_reg.i64
;;> @0002                               v12 = load.i64 notrap aligned readonly region0 v11-64
;;> @0002                               v13 = load.i64 notrap aligned readonly region0 v12+40
;;> @0002                               v14 = iconst.i64 0x0024_0000_0000
;;> @0002                               store notrap aligned region3 v14, v13  ; v14 = 0x0024_0000_0000
;;> @0002                               v15 = iconst.i64 7
;;> @0002                               store notrap aligned region3 v15, v13+8  ; v15 = 7
;;>                                     v41 = iconst.i64 16
;;>                                     v42 = ushr.i64 v4, v41  ; v41 = 16
;;>                                     v43 = ireduce.i32 v42
;;> @0002                               v17 = uextend.i64 v43
;;> @0002                               store notrap aligned region3 v17, v13+16
;;> @0002                               v18 = load.i32 notrap aligned region3 v13
;;> @0002                               v19 = load.i32 notrap aligned region3 v13+4
;;> @0002                               v20 = load.i32 notrap aligned region3 v13+8
;;> @0002                               v21 = get_pinned_reg.i64
;;> @0002                               v22 = load.i64 notrap aligned readonly region0 v21-16
;;> @0002                               v23 = load.i64 notrap aligned readonly region0 v22+112
;;> @0002                               v24 = call_indirect sig0, v23(v21, v18, v19, v20)
;;> @0002                               v25 = get_pinned_reg.i64
;;> @0002                               v26 = load.i64 notrap aligned readonly region0 v25-64
;;> @0002                               v27 = load.i64 notrap aligned readonly region0 v26+40
;;> @0002                               return_call_indirect sig1, v24(v27)
;;>
;;>                                 block4:
;;> @0005                               jump block5
;;>
;;>                                 block5:
;;> @0001                               v5 = iconst.i64 16
;;> @0001                               v6 = ushr.i64 v4, v5  ; v5 = 16
;;> @0001                               v7 = ireduce.i32 v6
;;> @0008                               return v7
;;> }
