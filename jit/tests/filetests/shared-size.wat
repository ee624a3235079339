;; A loop on the size of a memory that threads share reads it anew in each round, for another thread may grow the memory; an access behind it is checked against a length that is read after that.
;;! tier = optimizing
;;! show = optimized
;;! contains = atomic_load.i64 notrap aligned
(module
  (memory 1 10 shared)
  (func (param $p i32) (result i32) (local $n i32)
    (local.set $n (memory.size))
    (loop $same (br_if $same (i32.eq (memory.size) (local.get $n))))
    (i32.atomic.load (local.get $p))))

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 117440512 "lengths"
;;>     region2 = 33554432 "poll"
;;>     region3 = 83886080 "switch"
;;>     region4 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v4 = load.i64 notrap aligned readonly can_move region0 v1-88
;;> @0001                               v5 = iconst.i64 8
;;> @0001                               v6 = iadd v4, v5  ; v5 = 8
;;> @0001                               v7 = atomic_load.i64 notrap aligned region1 v6
;;> @0001                               v8 = iconst.i64 16
;;> @0001                               v9 = ushr v7, v8  ; v8 = 16
;;> @0001                               v10 = ireduce.i32 v9
;;>                                     v65 = iconst.i64 8
;;>                                     v66 = iadd v4, v65  ; v65 = 8
;;> @0002                               jump block2(v66)
;;>
;;>                                 block2(v64: i64):
;;> @0002                               v11 = get_pinned_reg.i64
;;> @0002                               v12 = load.i64 user66 aligned region2 v11-136
;;> @0002                               v13 = icmp ult v11, v12
;;> @0002                               brif v13, block3, block4
;;>
;;>                                 block3 cold:
;;> @0002                               v14 = get_pinned_reg.i64
;;> @0002                               v15 = load.i64 notrap aligned readonly region0 v14-64
;;> @0002                               v16 = load.i64 notrap aligned readonly region0 v15+40
;;> @0002                               v17 = iconst.i64 0x0025_0000_0000
;;> @0002                               store notrap aligned region3 v17, v16  ; v17 = 0x0025_0000_0000
;;> @0002                               v18 = iconst.i64 7
;;> @0002                               store notrap aligned region3 v18, v16+8  ; v18 = 7
;;> @0002                               v21 = uextend.i64 v10
;;> @0002                               store notrap aligned region3 v21, v16+24
;;>                                     v63 = uextend.i64 v0
;;> @0002                               store notrap aligned region3 v63, v16+16
;;> @0002                               v23 = load.i32 notrap aligned region3 v16
;;> @0002                               v24 = load.i32 notrap aligned region3 v16+4
;;> @0002                               v25 = load.i32 notrap aligned region3 v16+8
;;> @0002                               v26 = get_pinned_reg.i64
;;> @0002                               v27 = load.i64 notrap aligned readonly region0 v26-16
;;> @0002                               v28 = load.i64 notrap aligned readonly region0 v27+112
;;> @0002                               v29 = call_indirect sig0, v28(v26, v23, v24, v25)
;;> @0002                               v30 = get_pinned_reg.i64
;;> @0002                               v31 = load.i64 notrap aligned readonly region0 v30-64
;;> @0002                               v32 = load.i64 notrap aligned readonly region0 v31+40
;;> @0002                               return_call_indirect sig1, v29(v32)
;;>
;;>                                 block4:
;;> @0003                               v36 = atomic_load.i64 notrap aligned region1 v64
;;>                                     v61 = iconst.i64 16
;;>                                     v62 = ushr v36, v61  ; v61 = 16
;;> @0003                               v39 = ireduce.i32 v62
;;> @0004                               v40 = icmp eq v39, v10
;;> @0005                               brif v40, block2(v64), block5
;;>
;;>                                 block5:
;;> @0007                               v42 = uextend.i64 v0
;;> @0007                               v45 = iconst.i64 3
;;> @0007                               v46 = band v42, v45  ; v45 = 3
;;> @0007                               trapnz v46, user3
;;> @0007                               v51 = load.i64 notrap aligned region1 v4+8
;;> @0007                               v52 = iconst.i64 4
;;> @0007                               v53 = iadd v42, v52  ; v52 = 4
;;> @0007                               v56 = icmp ugt v53, v51
;;> @0007                               trapnz v56, user2
;;> @0007                               v49 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0007                               v57 = iadd v49, v42
;;> @0007                               v58 = select_spectre_guard v56, v49, v57
;;> @0007                               v59 = atomic_load.i32 notrap aligned region4 v58
;;> @0008                               return v59
;;> }
