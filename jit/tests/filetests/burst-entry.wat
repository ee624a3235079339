;; Instrumented code of a body: it asks whether the burst goes on before it writes anything. A call that is asked to go on elsewhere leaves no parameter.
;;! tier = instrumented
;;! show = clif
;;! contains = burst words
(module
  (func (param i32) (result i32)
    local.get 0
    if (result i32)
      i32.const 1
    else
      i32.const 2
    end))

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 201326592 "burst"
;;>     region2 = 218103808 "burst words"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v32 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = get_pinned_reg.i64
;;> @0000                               v3 = load.i64 notrap aligned readonly region0 v2-64
;;> @0000                               v4 = load.i32 notrap aligned region1 v3+156
;;> @0000                               v5 = load.i32 notrap aligned region1 v3+160
;;> @0000                               v6 = icmp uge v4, v5
;;> @0000                               brif v6, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v7 = iconst.i32 0
;;> @0000                               v8 = iconst.i32 -1
;;> @0000                               v9 = iconst.i32 7
;;> @0000                               v10 = get_pinned_reg.i64
;;> @0000                               v11 = load.i64 notrap aligned readonly region0 v10-16
;;> @0000                               v12 = load.i64 notrap aligned readonly region0 v11+200
;;> @0000                               v13 = call_indirect sig0, v12(v10, v7, v8, v9)  ; v7 = 0, v8 = -1, v9 = 7
;;> @0000                               brif v13, block3, block2
;;>
;;>                                 block3 cold:
;;> @0000                               return_call_indirect.i64 sig1, v13(v0)
;;>
;;>                                 block2:
;;> @0000                               v14 = get_return_address.i64
;;> @0000                               v15 = iconst.i64 32
;;> @0000                               v16 = ishl v14, v15  ; v15 = 32
;;> @0000                               v17 = iconst.i64 0
;;> @0000                               v18 = bor v16, v17  ; v17 = 0
;;> @0000                               v19 = get_pinned_reg.i64
;;> @0000                               v20 = load.i64 notrap aligned readonly region0 v19-64
;;> @0000                               v21 = load.i64 notrap aligned readonly region0 v20+176
;;> @0000                               v22 = load.i32 notrap aligned region1 v20+156
;;> @0000                               v23 = iconst.i32 0x3fff
;;> @0000                               v24 = band v22, v23  ; v23 = 0x3fff
;;> @0000                               v25 = uextend.i64 v24
;;> @0000                               v26 = iconst.i64 3
;;> @0000                               v27 = ishl v25, v26  ; v26 = 3
;;> @0000                               v28 = iadd v21, v27
;;> @0000                               store notrap aligned region2 v18, v28
;;> @0000                               v29 = iconst.i32 1
;;> @0000                               v30 = iadd v22, v29  ; v29 = 1
;;> @0000                               store notrap aligned region1 v30, v20+156
;;> @0001                               v33 = iconst.i32 0
;;> @0001                               v34 = icmp.i32 ne v0, v33  ; v33 = 0
;;> @0001                               v35 = uextend.i64 v34
;;> @0001                               v36 = iconst.i64 32
;;> @0001                               v37 = ishl v35, v36  ; v36 = 32
;;> @0001                               v38 = iconst.i64 1
;;> @0001                               v39 = bor v37, v38  ; v38 = 1
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40-64
;;> @0001                               v42 = load.i64 notrap aligned readonly region0 v41+176
;;> @0001                               v43 = load.i32 notrap aligned region1 v41+156
;;> @0001                               v44 = iconst.i32 0x3fff
;;> @0001                               v45 = band v43, v44  ; v44 = 0x3fff
;;> @0001                               v46 = uextend.i64 v45
;;> @0001                               v47 = iconst.i64 3
;;> @0001                               v48 = ishl v46, v47  ; v47 = 3
;;> @0001                               v49 = iadd v42, v48
;;> @0001                               store notrap aligned region2 v39, v49
;;> @0001                               v50 = iconst.i32 1
;;> @0001                               v51 = iadd v43, v50  ; v50 = 1
;;> @0001                               store notrap aligned region1 v51, v41+156
;;> @0001                               brif.i32 v0, block6, block7
;;>
;;>                                 block6:
;;> @0001                               v53 = iconst.i32 1
;;> @0002                               jump block5(v53)  ; v53 = 1
;;>
;;>                                 block7:
;;> @0002                               v54 = iconst.i32 2
;;> @0003                               jump block5(v54)  ; v54 = 2
;;>
;;>                                 block5(v52: i32):
;;> @0004                               v55 = get_return_address.i64
;;> @0004                               v56 = iconst.i64 32
;;> @0004                               v57 = ishl v55, v56  ; v56 = 32
;;> @0004                               v58 = iconst.i64 2
;;> @0004                               v59 = bor v57, v58  ; v58 = 2
;;> @0004                               v60 = get_pinned_reg.i64
;;> @0004                               v61 = load.i64 notrap aligned readonly region0 v60-64
;;> @0004                               v62 = load.i64 notrap aligned readonly region0 v61+176
;;> @0004                               v63 = load.i32 notrap aligned region1 v61+156
;;> @0004                               v64 = iconst.i32 0x3fff
;;> @0004                               v65 = band v63, v64  ; v64 = 0x3fff
;;> @0004                               v66 = uextend.i64 v65
;;> @0004                               v67 = iconst.i64 3
;;> @0004                               v68 = ishl v66, v67  ; v67 = 3
;;> @0004                               v69 = iadd v62, v68
;;> @0004                               store notrap aligned region2 v59, v69
;;> @0004                               v70 = iconst.i32 1
;;> @0004                               v71 = iadd v63, v70  ; v70 = 1
;;> @0004                               store notrap aligned region1 v71, v61+156
;;> @0004                               return v52
;;> }
