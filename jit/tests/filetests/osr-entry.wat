;;! tier = optimizing
;;! show = optimized
;;! loop = 1

;; Entering at the inner loop: live locals and the operand stack (the outer loop's sum, pushed before the inner loop) come from the
;; buffer; what stands in front of the loops is gone; the outer loop is whole.
(module
  (func (param i32 i32) (result i32)
    (local i32 i32)
    local.get 1
    i32.const 77
    i32.mul
    local.set 1
    loop
      local.get 3
      local.get 1
      local.set 2
      loop
        local.get 2
        i32.const 1
        i32.sub
        local.tee 2
        br_if 0
      end
      local.get 0
      i32.add
      local.set 3
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 3))

;;> function u0:0(i64) -> i32 tail {
;;>     region0 = 83886080 "switch"
;;>     region1 = 33554432 "poll"
;;>     region2 = 16777216 "context"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i64):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v3 = load.i32 notrap aligned region0 v0+16
;;> @0000                               v4 = load.i32 notrap aligned region0 v0+24
;;> @0000                               v5 = load.i32 notrap aligned region0 v0+32
;;> @0000                               jump block1
;;>
;;>                                 block4:
;;> @0002                               v10 = get_pinned_reg.i64
;;> @0002                               v11 = load.i32 notrap aligned region1 v10+28
;;> @0002                               brif v11, block5, block6
;;>
;;>                                 block5 cold:
;;> @0002                               v12 = get_pinned_reg.i64
;;> @0002                               v13 = load.i64 notrap aligned readonly region2 v12+8
;;> @0002                               v14 = load.i64 notrap aligned readonly region2 v13+40
;;> @0000                               v2 = iconst.i32 0
;;> @0002                               store notrap aligned region0 v2, v14  ; v2 = 0
;;> @0002                               v16 = iconst.i32 36
;;> @0002                               store notrap aligned region0 v16, v14+4  ; v16 = 36
;;> @0002                               v17 = iconst.i32 7
;;> @0002                               store notrap aligned region0 v17, v14+8  ; v17 = 7
;;> @0002                               v19 = uextend.i64 v66
;;> @0002                               store notrap aligned region0 v19, v14+16
;;> @0002                               v21 = uextend.i64 v4
;;> @0002                               store notrap aligned region0 v21, v14+24
;;>                                     v68 = iadd.i32 v31, v57
;;> @0002                               v23 = uextend.i64 v68
;;> @0002                               store notrap aligned region0 v23, v14+40
;;> @0002                               v27 = load.i64 notrap aligned readonly region2 v1+48
;;> @0002                               v28 = load.i64 notrap aligned readonly region2 v27+96
;;> @0002                               v29 = call_indirect sig0, v28(v1, v2, v16, v17)  ; v2 = 0, v16 = 36, v17 = 7
;;> @0002                               return_call_indirect sig1, v29(v14)
;;>
;;>                                 block6:
;;>                                     v67 = iadd.i32 v31, v57
;;> @0003                               jump block7(v67, v66, v4)
;;>
;;>                                 block1:
;;> @0003                               v30 = load.i32 notrap aligned region0 v0+48
;;> @0003                               jump block7(v30, v3, v5)
;;>
;;>                                 block7(v31: i32, v57: i32, v59: i32):
;;> @0003                               v55 = iconst.i32 1
;;> @0003                               jump block8(v59)
;;>
;;>                                 block8(v45: i32):
;;> @0003                               v33 = get_pinned_reg.i64
;;> @0003                               v34 = load.i32 notrap aligned region1 v33+28
;;> @0003                               brif v34, block9, block10
;;>
;;>                                 block9 cold:
;;> @0003                               v35 = get_pinned_reg.i64
;;> @0003                               v36 = load.i64 notrap aligned readonly region2 v35+8
;;> @0003                               v37 = load.i64 notrap aligned readonly region2 v36+40
;;>                                     v69 = iconst.i32 0
;;> @0003                               store notrap aligned region0 v69, v37  ; v69 = 0
;;> @0003                               v39 = iconst.i32 44
;;> @0003                               store notrap aligned region0 v39, v37+4  ; v39 = 44
;;>                                     v70 = iconst.i32 7
;;> @0003                               store notrap aligned region0 v70, v37+8  ; v70 = 7
;;> @0003                               v42 = uextend.i64 v57
;;> @0003                               store notrap aligned region0 v42, v37+16
;;>                                     v71 = uextend.i64 v4
;;> @0003                               store notrap aligned region0 v71, v37+24
;;> @0003                               v46 = uextend.i64 v45
;;> @0003                               store notrap aligned region0 v46, v37+32
;;> @0003                               v47 = uextend.i64 v31
;;> @0003                               store notrap aligned region0 v47, v37+48
;;> @0003                               store notrap aligned region0 v47, v37+56
;;> @0003                               v52 = load.i64 notrap aligned readonly region2 v1+48
;;> @0003                               v53 = load.i64 notrap aligned readonly region2 v52+96
;;> @0003                               v54 = call_indirect sig0, v53(v1, v69, v39, v70)  ; v69 = 0, v39 = 44, v70 = 7
;;> @0003                               return_call_indirect sig1, v54(v37)
;;>
;;>                                 block10:
;;>                                     v63 = iconst.i32 1
;;>                                     v64 = isub.i32 v45, v63  ; v63 = 1
;;> @0005                               brif v64, block8(v64), block11
;;>
;;>                                 block11:
;;>                                     v65 = iconst.i32 1
;;>                                     v66 = isub.i32 v57, v65  ; v65 = 1
;;> @0009                               brif v66, block4, block12
;;>
;;>                                 block12:
;;> @0007                               v60 = iadd.i32 v31, v57
;;> @000b                               return v60
;;> }
