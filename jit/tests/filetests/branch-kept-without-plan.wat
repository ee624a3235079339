;;! tier = optimizing
;;! show = optimized
;;! lacks = select
;;! lacks = stack_addr
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
;;> @0004                               v41 = iconst.i32 2
;;> @0008                               v49 = iconst.i32 1
;;> @000b                               v55 = iconst.i32 4
;;> @0001                               jump block2(v0, v1, v2, v6)  ; v6 = 0
;;>
;;>                                 block2(v13: i32, v15: i32, v17: i32, v21: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region1 v8+112
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i64 notrap aligned readonly region0 v10+8
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11+40
;;> @0001                               v14 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v14, v12+16
;;>                                     v73 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v73, v12+24
;;>                                     v74 = uextend.i64 v17
;;> @0001                               store notrap aligned region2 v74, v12+32
;;> @0001                               v20 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v20, v12+40
;;> @0001                               v22 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v22, v12+48
;;> @0001                               v23 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v23, v12  ; v23 = 0x0023_0000_0000
;;> @0001                               v24 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v24, v12+8  ; v24 = 7
;;> @0001                               v25 = load.i32 notrap aligned region2 v12
;;> @0001                               v26 = load.i32 notrap aligned region2 v12+4
;;> @0001                               v27 = load.i32 notrap aligned region2 v12+8
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region0 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v25, v26, v27)
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+8
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33+40
;;> @0001                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block4:
;;> @0002                               v35 = uextend.i64 v15
;;> @0002                               v36 = iadd.i64 v5, v35
;;> @0002                               v37 = uload8.i32 user2 region3 v36
;;>                                     v62 = iconst.i32 0
;;>                                     v63 = icmp eq v37, v62  ; v62 = 0
;;> @0004                               brif v63, block5(v21), block6
;;>
;;>                                 block6:
;;> @0007                               v44 = uextend.i64 v17
;;> @0007                               v45 = iadd.i64 v5, v44
;;> @0007                               v46 = load.i32 user2 region3 v45
;;>                                     v64 = iconst.i32 2
;;>                                     v65 = ishl.i32 v21, v64  ; v64 = 2
;;> @0006                               v43 = iadd.i32 v3, v65
;;> @0008                               v47 = uextend.i64 v43
;;> @0008                               v48 = iadd.i64 v5, v47
;;> @0008                               store user2 region3 v46, v48
;;>                                     v66 = iconst.i32 1
;;>                                     v67 = iadd.i32 v21, v66  ; v66 = 1
;;> @000a                               jump block5(v67)
;;>
;;>                                 block5(v61: i32):
;;>                                     v68 = iconst.i32 1
;;>                                     v69 = isub.i32 v13, v68  ; v68 = 1
;;>                                     v70 = iadd.i32 v15, v68  ; v68 = 1
;;>                                     v71 = iconst.i32 4
;;>                                     v72 = iadd.i32 v17, v71  ; v71 = 4
;;> @000e                               brif v69, block2(v69, v70, v72, v61), block7
;;>
;;>                                 block7:
;;> @0010                               return v61
;;> }
