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
;;>                                     v23 -> v3
;;>                                     v22 -> v23
;;> @0001                               jump block2(v0)
;;>
;;>                                 block2(v20: i32):
;;>                                     v19 -> v20
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region0 v5+112
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region0 v8+116
;;> @0001                               v10 = iconst.i32 0x001f_0000
;;> @0001                               v11 = ireduce.i16 v9
;;> @0001                               v12 = bxor v9, v10  ; v10 = 0x001f_0000
;;> @0001                               brif v11, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               brif.i32 v12, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v13 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v13, v8+118  ; v13 = 0
;;> @0001                               jump block2(v20)
;;>
;;>                                 block6 cold:
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 notrap aligned readonly region1 v14+8
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+40
;;> @0001                               v17 = iconst.i64 0x001e_0000_0000
;;> @0001                               store notrap aligned region2 v17, v16  ; v17 = 0x001e_0000_0000
;;> @0001                               v18 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v18, v16+8  ; v18 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v16+16
;;> @0001                               v24 = uextend.i64 v23  ; v23 = 0
;;> @0001                               store notrap aligned region2 v24, v16+32
;;> @0001                               v25 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v25, v16+48
;;> @0001                               v26 = load.i32 notrap aligned region2 v16
;;> @0001                               v27 = load.i32 notrap aligned region2 v16+4
;;> @0001                               v28 = load.i32 notrap aligned region2 v16+8
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+56
;;> @0001                               v31 = load.i64 notrap aligned readonly region1 v30+96
;;> @0001                               v32 = call_indirect sig0, v31(v29, v26, v27, v28)
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly region1 v33+8
;;> @0001                               v35 = load.i64 notrap aligned readonly region1 v34+40
;;> @0001                               return_call_indirect sig1, v32(v35)
;;>
;;>                                 block4:
;;> @0001                               v36 = iconst.i32 1
;;> @0002                               v37 = isub.i32 v20, v36  ; v36 = 1
;;> @0003                               brif v37, block2(v37), block8
;;>
;;>                                 block8:
;;> @0005                               v38 = iadd.i32 v1, v23  ; v23 = 0
;;> @0006                               return v38
;;> }
