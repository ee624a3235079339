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
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1-96
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
;;>                                 block4(v65: i32, v66: i32):
;;> @0001                               jump block5(v65, v66)
;;>
;;>                                 block5(v16: i32, v17: i32):
;;>                                     v35 -> v16
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region2 v8-136
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11-64
;;> @0001                               v13 = load.i64 notrap aligned readonly region0 v12+40
;;> @0001                               v14 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v14, v13  ; v14 = 0x0020_0000_0000
;;> @0001                               v15 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v15, v13+8  ; v15 = 7
;;> @0001                               v18 = uextend.i64 v17
;;> @0001                               store notrap aligned region1 v18, v13+24
;;> @0001                               v19 = uextend.i64 v16
;;> @0001                               store notrap aligned region1 v19, v13+16
;;> @0001                               v20 = load.i32 notrap aligned region1 v13
;;> @0001                               v21 = load.i32 notrap aligned region1 v13+4
;;> @0001                               v22 = load.i32 notrap aligned region1 v13+8
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23-16
;;> @0001                               v25 = load.i64 notrap aligned readonly region0 v24+112
;;> @0001                               v26 = call_indirect sig0, v25(v23, v20, v21, v22)
;;> @0001                               v27 = get_pinned_reg.i64
;;> @0001                               v28 = load.i64 notrap aligned readonly region0 v27-64
;;> @0001                               v29 = load.i64 notrap aligned readonly region0 v28+40
;;> @0001                               return_call_indirect sig1, v26(v29)
;;>
;;>                                 block7:
;;> @0002                               v30 = uextend.i64 v16
;;> @0002                               v31 = iadd.i64 v2, v30
;;> @0002                               v32 = load.i32 user2 region3 v31
;;> @0003                               brif v32, block11, block12
;;>
;;>                                 block11:
;;> @0003                               v33 = iconst.i32 1
;;> @0004                               v34 = iadd.i32 v17, v33  ; v33 = 1
;;> @0005                               jump block10(v34)
;;>
;;>                                 block12:
;;> @0005                               jump block10(v17)
;;>
;;>                                 block10(v41: i32):
;;> @0005                               v36 = iconst.i32 4
;;> @0006                               v37 = isub.i32 v16, v36  ; v36 = 4
;;>                                     v44 -> v37
;;> @0007                               v69 = iconst.i32 0
;;> @0007                               v70 = icmp eq v37, v69  ; v69 = 0
;;> @0007                               brif v70, block13, block9
;;>
;;>                                 block13 cold:
;;> @0008                               jump block8(v41)
;;>
;;>                                 block9:
;;> @0009                               v38 = uextend.i64 v37
;;> @0009                               v39 = iadd.i64 v2, v38
;;> @0009                               v40 = load.i32 user2 region3 v39
;;> @000a                               brif v40, block16, block17
;;>
;;>                                 block16:
;;> @000a                               v42 = iconst.i32 1
;;> @000b                               v43 = iadd.i32 v41, v42  ; v42 = 1
;;> @000c                               jump block15(v43)
;;>
;;>                                 block17:
;;> @000c                               jump block15(v41)
;;>
;;>                                 block15(v50: i32):
;;> @000c                               v45 = iconst.i32 4
;;> @000d                               v46 = isub.i32 v37, v45  ; v45 = 4
;;>                                     v53 -> v46
;;> @000e                               v71 = iconst.i32 0
;;> @000e                               v72 = icmp eq v46, v71  ; v71 = 0
;;> @000e                               brif v72, block18, block14
;;>
;;>                                 block18 cold:
;;> @000f                               jump block8(v50)
;;>
;;>                                 block14:
;;> @0010                               v47 = uextend.i64 v46
;;> @0010                               v48 = iadd.i64 v2, v47
;;> @0010                               v49 = load.i32 user2 region3 v48
;;> @0011                               brif v49, block21, block22
;;>
;;>                                 block21:
;;> @0011                               v51 = iconst.i32 1
;;> @0012                               v52 = iadd.i32 v50, v51  ; v51 = 1
;;> @0013                               jump block20(v52)
;;>
;;>                                 block22:
;;> @0013                               jump block20(v50)
;;>
;;>                                 block20(v59: i32):
;;> @0013                               v54 = iconst.i32 4
;;> @0014                               v55 = isub.i32 v46, v54  ; v54 = 4
;;>                                     v62 -> v55
;;> @0015                               v73 = iconst.i32 0
;;> @0015                               v74 = icmp eq v55, v73  ; v73 = 0
;;> @0015                               brif v74, block23, block19
;;>
;;>                                 block23 cold:
;;> @0016                               jump block8(v59)
;;>
;;>                                 block19:
;;> @0017                               v56 = uextend.i64 v55
;;> @0017                               v57 = iadd.i64 v2, v56
;;> @0017                               v58 = load.i32 user2 region3 v57
;;> @0018                               brif v58, block25, block26
;;>
;;>                                 block25:
;;> @0018                               v60 = iconst.i32 1
;;> @0019                               v61 = iadd.i32 v59, v60  ; v60 = 1
;;> @001a                               jump block24(v61)
;;>
;;>                                 block26:
;;> @001a                               jump block24(v59)
;;>
;;>                                 block24(v67: i32):
;;> @001a                               v63 = iconst.i32 4
;;> @001b                               v64 = isub.i32 v55, v63  ; v63 = 4
;;> @001c                               brif v64, block5(v64, v67), block27
;;>
;;>                                 block27:
;;> @001d                               jump block8(v67)
;;>
;;>                                 block8(v68: i32):
;;> @001e                               return v68
;;> }
