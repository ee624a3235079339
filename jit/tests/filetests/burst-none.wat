;; The same in tier 2: nothing of a burst but the poll that can lead to one.
;;! tier = optimizing
;;! show = clif
;;! loop = 0
;;! lacks = burst words
;;! lacks = preserve_all
(module (memory 1)
  (func (param i32) (result i32) (local i32)
    loop
      local.get 0
      i32.load
      if
        local.get 1
        i32.const 1
        i32.add
        local.set 1
      end
      local.get 0
      i32.const 4
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 1))

;;> function u0:0(i64) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 83886080 "switch"
;;>     region2 = 33554432 "poll"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i64):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+72
;;> @0000                               v3 = iconst.i32 0
;;> @0000                               v4 = load.i32 notrap aligned region1 v0+16
;;> @0000                               v5 = load.i32 notrap aligned region1 v0+24
;;> @0000                               jump block1
;;>
;;>                                 block2:
;;> @0000                               v6 = iconst.i32 0
;;> @0001                               jump block4(v6, v6)  ; v6 = 0, v6 = 0
;;>
;;>                                 block1:
;;> @0001                               jump block4(v4, v5)
;;>
;;>                                 block4(v46: i32, v47: i32):
;;> @0001                               jump block5(v46, v47)
;;>
;;>                                 block5(v23: i32, v26: i32):
;;>                                     v22 -> v23
;;>                                     v43 -> v23
;;>                                     v25 -> v26
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region2 v8+128
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i32 notrap aligned region2 v11+132
;;> @0001                               v13 = iconst.i32 0x0021_0000
;;> @0001                               v14 = ireduce.i16 v12
;;> @0001                               v15 = bxor v12, v13  ; v13 = 0x0021_0000
;;> @0001                               brif v14, block9, block8
;;>
;;>                                 block8 cold:
;;> @0001                               brif.i32 v15, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v16 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v16, v11+134  ; v16 = 0
;;> @0001                               jump block5(v23, v26)
;;>
;;>                                 block9 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region0 v18+40
;;> @0001                               v20 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v20, v19  ; v20 = 0x0020_0000_0000
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v21, v19+8  ; v21 = 7
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region1 v24, v19+16
;;> @0001                               v27 = uextend.i64 v26
;;> @0001                               store notrap aligned region1 v27, v19+24
;;> @0001                               v28 = load.i32 notrap aligned region1 v19
;;> @0001                               v29 = load.i32 notrap aligned region1 v19+4
;;> @0001                               v30 = load.i32 notrap aligned region1 v19+8
;;> @0001                               v31 = get_pinned_reg.i64
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+56
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+96
;;> @0001                               v34 = call_indirect sig0, v33(v31, v28, v29, v30)
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+8
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+40
;;> @0001                               return_call_indirect sig1, v34(v37)
;;>
;;>                                 block7:
;;> @0002                               v38 = uextend.i64 v23
;;> @0002                               v39 = iadd.i64 v2, v38
;;> @0002                               v40 = load.i32 user2 region3 v39
;;> @0003                               brif v40, block12, block13
;;>
;;>                                 block12:
;;> @0003                               v41 = iconst.i32 1
;;> @0004                               v42 = iadd.i32 v26, v41  ; v41 = 1
;;> @0005                               jump block11(v42)
;;>
;;>                                 block13:
;;> @0005                               jump block11(v26)
;;>
;;>                                 block11(v48: i32):
;;> @0005                               v44 = iconst.i32 4
;;> @0006                               v45 = isub.i32 v23, v44  ; v44 = 4
;;> @0007                               brif v45, block5(v45, v48), block14
;;>
;;>                                 block14:
;;> @0009                               return v48
;;> }
