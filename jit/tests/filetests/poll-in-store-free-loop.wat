;;! tier = optimizing
;;! show = optimized
;;! contains = get_pinned_reg

;; A loop without stores, after a poll at function entry (the function calls): the flag is loaded again in every round. From a kept
;; context, alias analysis would reuse the entry's flag and nothing could stop the loop.
(module
  (func (param i32) (result i32)
    (local i32)
    loop
      local.get 1
      local.get 0
      i32.add
      local.set 1
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 1
    call 0))

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     region3 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i64 user66 aligned region0 v3+32
;;> @0000                               v5 = icmp ult v3, v4
;;> @0000                               brif v5, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v9 = get_pinned_reg.i64
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+56
;;> @0000                               v11 = load.i64 notrap aligned readonly region1 v10+96
;;> @0000                               v2 = iconst.i32 0
;;> @0000                               v7 = iconst.i32 -1
;;> @0000                               v8 = iconst.i32 7
;;> @0000                               v12 = call_indirect sig0, v11(v9, v2, v7, v8)  ; v2 = 0, v7 = -1, v8 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v14 = get_pinned_reg.i64
;;>                                     v45 = iconst.i32 0
;;> @0002                               v38 = iconst.i32 1
;;> @0001                               jump block4(v0, v45)  ; v45 = 0
;;>
;;>                                 block4(v23: i32, v25: i32):
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 user66 aligned region0 v15+120
;;> @0001                               v17 = icmp ult v15, v16
;;> @0001                               brif v17, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v18 = get_pinned_reg.i64
;;> @0001                               v19 = load.i64 notrap aligned readonly region1 v18+8
;;> @0001                               v20 = load.i64 notrap aligned readonly region1 v19+40
;;> @0001                               v21 = iconst.i64 0x001b_0000_0000
;;> @0001                               store notrap aligned region2 v21, v20  ; v21 = 0x001b_0000_0000
;;> @0001                               v22 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v22, v20+8  ; v22 = 7
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v24, v20+16
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region2 v26, v20+24
;;> @0001                               v27 = load.i32 notrap aligned region2 v20
;;> @0001                               v28 = load.i32 notrap aligned region2 v20+4
;;> @0001                               v29 = load.i32 notrap aligned region2 v20+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region1 v30+56
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region1 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region1 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block6:
;;>                                     v46 = iconst.i32 1
;;>                                     v47 = isub.i32 v23, v46  ; v46 = 1
;;> @0002                               v37 = iadd.i32 v25, v23
;;> @0004                               brif v47, block4(v47, v37), block7
;;>
;;>                                 block7:
;;> @0006                               v42 = get_pinned_reg.i64
;;> @0006                               v43 = load.i64 notrap aligned region3 v42+80
;;> @0006                               v44 = call_indirect sig2, v43(v37)
;;> @0007                               return v44
;;> }
