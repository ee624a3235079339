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
;;> @0002                               v11 = load.i64 user66 aligned region1 v10-128
;;> @0002                               v12 = icmp ult v10, v11
;;> @0002                               brif v12, block5, block6
;;>
;;>                                 block5 cold:
;;> @0002                               v13 = get_pinned_reg.i64
;;> @0002                               v14 = load.i64 notrap aligned readonly region2 v13-64
;;> @0002                               v15 = load.i64 notrap aligned readonly region2 v14+40
;;> @0002                               v16 = iconst.i64 0x0024_0000_0000
;;> @0002                               store notrap aligned region0 v16, v15  ; v16 = 0x0024_0000_0000
;;> @0002                               v17 = iconst.i64 7
;;> @0002                               store notrap aligned region0 v17, v15+8  ; v17 = 7
;;>                                     v157 = iadd.i32 v35, v70
;;> @0002                               v21 = uextend.i64 v157
;;> @0002                               store notrap aligned region0 v21, v15+40
;;> @0002                               v22 = uextend.i64 v4
;;> @0002                               store notrap aligned region0 v22, v15+24
;;>                                     v158 = iconst.i32 1
;;>                                     v159 = isub.i32 v70, v158  ; v158 = 1
;;> @0002                               v23 = uextend.i64 v159
;;> @0002                               store notrap aligned region0 v23, v15+16
;;> @0002                               v24 = load.i32 notrap aligned region0 v15
;;> @0002                               v25 = load.i32 notrap aligned region0 v15+4
;;> @0002                               v26 = load.i32 notrap aligned region0 v15+8
;;> @0002                               v27 = get_pinned_reg.i64
;;> @0002                               v28 = load.i64 notrap aligned readonly region2 v27-16
;;> @0002                               v29 = load.i64 notrap aligned readonly region2 v28+112
;;> @0002                               v30 = call_indirect sig0, v29(v27, v24, v25, v26)
;;> @0002                               v31 = get_pinned_reg.i64
;;> @0002                               v32 = load.i64 notrap aligned readonly region2 v31-64
;;> @0002                               v33 = load.i64 notrap aligned readonly region2 v32+40
;;> @0002                               return_call_indirect sig1, v30(v33)
;;>
;;>                                 block6:
;;> @0010                               v75 = iadd.i32 v35, v70
;;>                                     v155 = iconst.i32 1
;;>                                     v156 = isub.i32 v70, v155  ; v155 = 1
;;> @0003                               jump block7(v75, v156, v4)
;;>
;;>                                 block1:
;;> @0003                               v34 = load.i32 notrap aligned region0 v0+48
;;> @0003                               jump block7(v34, v3, v5)
;;>
;;>                                 block7(v35: i32, v70: i32, v72: i32):
;;> @0003                               v62 = iconst.i32 1
;;>                                     v94 = iconst.i32 2
;;>                                     v111 = iconst.i32 3
;;>                                     v134 = iconst.i32 4
;;> @0003                               jump block8(v72)
;;>
;;>                                 block8(v47: i32):
;;> @0003                               v37 = get_pinned_reg.i64
;;> @0003                               v38 = load.i64 user66 aligned region1 v37-120
;;> @0003                               v39 = icmp ult v37, v38
;;> @0003                               brif v39, block9, block10
;;>
;;>                                 block9 cold:
;;> @0003                               v40 = get_pinned_reg.i64
;;> @0003                               v41 = load.i64 notrap aligned readonly region2 v40-64
;;> @0003                               v42 = load.i64 notrap aligned readonly region2 v41+40
;;> @0003                               v43 = iconst.i64 0x002c_0000_0000
;;> @0003                               store notrap aligned region0 v43, v42  ; v43 = 0x002c_0000_0000
;;>                                     v161 = iconst.i64 7
;;> @0003                               store notrap aligned region0 v161, v42+8  ; v161 = 7
;;> @0003                               v48 = uextend.i64 v35
;;> @0003                               store notrap aligned region0 v48, v42+48
;;> @0003                               v49 = uextend.i64 v47
;;> @0003                               store notrap aligned region0 v49, v42+32
;;>                                     v162 = uextend.i64 v4
;;> @0003                               store notrap aligned region0 v162, v42+24
;;> @0003                               v51 = uextend.i64 v70
;;> @0003                               store notrap aligned region0 v51, v42+16
;;> @0003                               v52 = load.i32 notrap aligned region0 v42
;;> @0003                               v53 = load.i32 notrap aligned region0 v42+4
;;> @0003                               v54 = load.i32 notrap aligned region0 v42+8
;;> @0003                               v55 = get_pinned_reg.i64
;;> @0003                               v56 = load.i64 notrap aligned readonly region2 v55-16
;;> @0003                               v57 = load.i64 notrap aligned readonly region2 v56+112
;;> @0003                               v58 = call_indirect sig0, v57(v55, v52, v53, v54)
;;> @0003                               v59 = get_pinned_reg.i64
;;> @0003                               v60 = load.i64 notrap aligned readonly region2 v59-64
;;> @0003                               v61 = load.i64 notrap aligned readonly region2 v60+40
;;> @0003                               return_call_indirect sig1, v58(v61)
;;>
;;>                                 block10:
;;>                                     v145 = iconst.i32 1
;;>                                     v146 = icmp.i32 eq v47, v145  ; v145 = 1
;;> @0005                               brif v146, block13, block12
;;>
;;>                                 block13 cold:
;;> @0006                               jump block11
;;>
;;>                                 block12:
;;>                                     v147 = iconst.i32 2
;;>                                     v148 = icmp.i32 eq v47, v147  ; v147 = 2
;;> @0008                               brif v148, block15, block14
;;>
;;>                                 block15 cold:
;;> @0009                               jump block11
;;>
;;>                                 block14:
;;>                                     v149 = iconst.i32 3
;;>                                     v150 = icmp.i32 eq v47, v149  ; v149 = 3
;;> @000b                               brif v150, block17, block16
;;>
;;>                                 block17 cold:
;;> @000c                               jump block11
;;>
;;>                                 block16:
;;>                                     v151 = iconst.i32 4
;;>                                     v152 = isub.i32 v47, v151  ; v151 = 4
;;> @000e                               brif v152, block8(v152), block18
;;>
;;>                                 block18:
;;> @000f                               jump block11
;;>
;;>                                 block11:
;;>                                     v153 = iconst.i32 1
;;>                                     v154 = icmp.i32 eq v70, v153  ; v153 = 1
;;> @0012                               brif v154, block19, block4
;;>
;;>                                 block19:
;;>                                     v160 = iadd.i32 v35, v70
;;> @0014                               return v160
;;> }
