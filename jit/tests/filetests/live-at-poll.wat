;;! tier = baseline
;;! show = clif

;; The poll of the loop writes local 0 (read in the loop) and local 2 (read behind it), not locals 1 and 3, which are written
;; before they are read again; then the operand under the loop. Slots are 8 bytes behind a header of 16.
(module
  (func (param i32 i32) (result i32)
    (local i32 i32)
    local.get 1
    loop
      local.get 0
      local.set 3
      local.get 3
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 2
    i32.add))

;;> function u0:0(i32, i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32):
;;>                                     v2 = get_pinned_reg.i64
;;> @0000                               v3 = iconst.i32 0
;;>                                     v14 -> v3
;;> @0001                               jump block2(v0)
;;>
;;>                                 block2(v13: i32):
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region0 v5-120
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8-64
;;> @0001                               v10 = load.i64 notrap aligned readonly region1 v9+40
;;> @0001                               v11 = iconst.i64 0x001e_0000_0000
;;> @0001                               store notrap aligned region2 v11, v10  ; v11 = 0x001e_0000_0000
;;> @0001                               v12 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v12, v10+8  ; v12 = 7
;;> @0001                               v15 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v15, v10+48
;;> @0001                               v16 = uextend.i64 v14  ; v14 = 0
;;> @0001                               store notrap aligned region2 v16, v10+32
;;> @0001                               v17 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v17, v10+16
;;> @0001                               v18 = load.i32 notrap aligned region2 v10
;;> @0001                               v19 = load.i32 notrap aligned region2 v10+4
;;> @0001                               v20 = load.i32 notrap aligned region2 v10+8
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 notrap aligned readonly region1 v21-16
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22+112
;;> @0001                               v24 = call_indirect sig0, v23(v21, v18, v19, v20)
;;> @0001                               v25 = get_pinned_reg.i64
;;> @0001                               v26 = load.i64 notrap aligned readonly region1 v25-64
;;> @0001                               v27 = load.i64 notrap aligned readonly region1 v26+40
;;> @0001                               return_call_indirect sig1, v24(v27)
;;>
;;>                                 block4:
;;> @0001                               v28 = iconst.i32 1
;;> @0002                               v29 = isub.i32 v13, v28  ; v28 = 1
;;> @0003                               brif v29, block2(v29), block5
;;>
;;>                                 block5:
;;> @0005                               v30 = iadd.i32 v1, v14  ; v14 = 0
;;> @0006                               return v30
;;> }
