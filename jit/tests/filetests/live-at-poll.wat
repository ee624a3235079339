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
;;>                                     v22 -> v3
;;>                                     v21 -> v22
;;> @0001                               jump block2(v0)
;;>
;;>                                 block2(v19: i32):
;;>                                     v18 -> v19
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i32 notrap aligned region0 v5+96
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i32 notrap aligned region0 v7+96
;;> @0001                               v9 = iconst.i32 0x001f_0000
;;> @0001                               v10 = ireduce.i16 v8
;;> @0001                               v11 = bxor v8, v9  ; v9 = 0x001f_0000
;;> @0001                               brif v10, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               brif.i32 v11, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v12 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v12, v7+98  ; v12 = 0
;;> @0001                               jump block2(v19)
;;>
;;>                                 block6 cold:
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i64 notrap aligned readonly region1 v13+8
;;> @0001                               v15 = load.i64 notrap aligned readonly region1 v14+40
;;> @0001                               v16 = iconst.i64 0x001e_0000_0000
;;> @0001                               store notrap aligned region2 v16, v15  ; v16 = 0x001e_0000_0000
;;> @0001                               v17 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v17, v15+8  ; v17 = 7
;;> @0001                               v20 = uextend.i64 v19
;;> @0001                               store notrap aligned region2 v20, v15+16
;;> @0001                               v23 = uextend.i64 v22  ; v22 = 0
;;> @0001                               store notrap aligned region2 v23, v15+32
;;> @0001                               v24 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v24, v15+48
;;> @0001                               v25 = load.i32 notrap aligned region2 v15
;;> @0001                               v26 = load.i32 notrap aligned region2 v15+4
;;> @0001                               v27 = load.i32 notrap aligned region2 v15+8
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region1 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v25, v26, v27)
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region1 v32+8
;;> @0001                               v34 = load.i64 notrap aligned readonly region1 v33+40
;;> @0001                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block4:
;;> @0001                               v35 = iconst.i32 1
;;> @0002                               v36 = isub.i32 v19, v35  ; v35 = 1
;;> @0003                               brif v36, block2(v36), block8
;;>
;;>                                 block8:
;;> @0005                               v37 = iadd.i32 v1, v22  ; v22 = 0
;;> @0006                               return v37
;;> }
