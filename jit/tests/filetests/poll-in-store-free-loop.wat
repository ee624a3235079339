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
;;> @0000                               v4 = load.i32 notrap aligned region0 v3+28
;;> @0000                               brif v4, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v8 = get_pinned_reg.i64
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+48
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+96
;;> @0000                               v2 = iconst.i32 0
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v11 = call_indirect sig0, v10(v8, v2, v6, v7)  ; v2 = 0, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v13 = get_pinned_reg.i64
;;>                                     v43 = iconst.i32 0
;;> @0002                               v36 = iconst.i32 1
;;> @0001                               jump block4(v0, v43)  ; v43 = 0
;;>
;;>                                 block4(v21: i32, v23: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i32 notrap aligned region0 v14+96
;;> @0001                               brif v15, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region1 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region1 v17+40
;;> @0001                               v19 = iconst.i64 0x001b_0000_0000
;;> @0001                               store notrap aligned region2 v19, v18  ; v19 = 0x001b_0000_0000
;;> @0001                               v20 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v20, v18+8  ; v20 = 7
;;> @0001                               v22 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v22, v18+16
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v24, v18+24
;;> @0001                               v25 = load.i32 notrap aligned region2 v18
;;> @0001                               v26 = load.i32 notrap aligned region2 v18+4
;;> @0001                               v27 = load.i32 notrap aligned region2 v18+8
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region1 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v25, v26, v27)
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region1 v32+8
;;> @0001                               v34 = load.i64 notrap aligned readonly region1 v33+40
;;> @0001                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block6:
;;>                                     v44 = iconst.i32 1
;;>                                     v45 = isub.i32 v21, v44  ; v44 = 1
;;> @0002                               v35 = iadd.i32 v23, v21
;;> @0004                               brif v45, block4(v45, v35), block7
;;>
;;>                                 block7:
;;> @0006                               v40 = get_pinned_reg.i64
;;> @0006                               v41 = load.i64 notrap aligned region3 v40+64
;;> @0006                               v42 = call_indirect sig2, v41(v35)
;;> @0007                               return v42
;;> }
