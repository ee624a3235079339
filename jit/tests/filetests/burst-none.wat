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
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+64
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
;;>                                 block4(v45: i32, v46: i32):
;;> @0001                               jump block5(v45, v46)
;;>
;;>                                 block5(v22: i32, v25: i32):
;;>                                     v21 -> v22
;;>                                     v42 -> v22
;;>                                     v24 -> v25
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region2 v8+112
;;> @0001                               brif v9, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i32 notrap aligned region2 v10+112
;;> @0001                               v12 = iconst.i32 0x0021_0000
;;> @0001                               v13 = ireduce.i16 v11
;;> @0001                               v14 = bxor v11, v12  ; v12 = 0x0021_0000
;;> @0001                               brif v13, block9, block8
;;>
;;>                                 block8 cold:
;;> @0001                               brif.i32 v14, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v15 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v15, v10+114  ; v15 = 0
;;> @0001                               jump block5(v22, v25)
;;>
;;>                                 block9 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v19 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v19, v18  ; v19 = 0x0020_0000_0000
;;> @0001                               v20 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v20, v18+8  ; v20 = 7
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region1 v23, v18+16
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region1 v26, v18+24
;;> @0001                               v27 = load.i32 notrap aligned region1 v18
;;> @0001                               v28 = load.i32 notrap aligned region1 v18+4
;;> @0001                               v29 = load.i32 notrap aligned region1 v18+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+48
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block7:
;;> @0002                               v37 = uextend.i64 v22
;;> @0002                               v38 = iadd.i64 v2, v37
;;> @0002                               v39 = load.i32 user2 region3 v38
;;> @0003                               brif v39, block12, block13
;;>
;;>                                 block12:
;;> @0003                               v40 = iconst.i32 1
;;> @0004                               v41 = iadd.i32 v25, v40  ; v40 = 1
;;> @0005                               jump block11(v41)
;;>
;;>                                 block13:
;;> @0005                               jump block11(v25)
;;>
;;>                                 block11(v47: i32):
;;> @0005                               v43 = iconst.i32 4
;;> @0006                               v44 = isub.i32 v22, v43  ; v43 = 4
;;> @0007                               brif v44, block5(v44, v47), block14
;;>
;;>                                 block14:
;;> @0009                               return v47
;;> }
