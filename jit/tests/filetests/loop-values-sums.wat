;; What stays the same in a loop is computed before it, also where Cranelift would rather do it again than keep a register: the bound of an unrolled loop.
;;! tier = optimizing
;;! show = optimized
;;! contains = jump block2(v1, v5, v206, v209)
(module
  (memory 1)
  (func (param $n i32) (param $at i32) (param $to i32) (local $i i32)
    (loop $again
      (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (local.get $i)))
      (i32.store offset=4 (local.get $at) (i32.xor (local.get $to) (i32.const 77)))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.ne (local.get $i) (i32.and (local.get $n) (i32.const -4)))))))

;;> function u0:0(i32, i32, i32) tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32):
;;>                                     v3 = get_pinned_reg.i64
;;> @0000                               v5 = iconst.i32 0
;;> @0004                               v38 = iconst.i32 77
;;> @0005                               v39 = bxor v2, v38  ; v38 = 77
;;> @0007                               v44 = iconst.i32 1
;;> @0008                               v46 = iconst.i32 -4
;;> @0009                               v47 = band v0, v46  ; v46 = -4
;;>                                     v116 = iconst.i32 2
;;>                                     v135 = iconst.i32 3
;;>                                     v164 = iconst.i32 4
;;>                                     v146 = iconst.i32 256
;;>                                     v205 = iconst.i32 77
;;>                                     v206 = bxor v2, v205  ; v205 = 77
;;>                                     v208 = iconst.i32 -4
;;>                                     v209 = band v0, v208  ; v208 = -4
;;> @0001                               jump block2(v1, v5, v206, v209)  ; v5 = 0
;;>
;;>                                 block2(v15: i32, v17: i32, v204: i32, v207: i32):
;;> @0001                               v6 = get_pinned_reg.i64
;;> @0001                               v7 = load.i64 user66 aligned region1 v6-136
;;> @0001                               v8 = icmp ult v6, v7
;;> @0001                               brif v8, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v9 = get_pinned_reg.i64
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9-64
;;> @0001                               v11 = load.i64 notrap aligned readonly region0 v10+40
;;> @0001                               v12 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region2 v12, v11  ; v12 = 0x0021_0000_0000
;;> @0001                               v13 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v13, v11+8  ; v13 = 7
;;> @0001                               v18 = uextend.i64 v17
;;> @0001                               store notrap aligned region2 v18, v11+40
;;> @0001                               v19 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v19, v11+32
;;>                                     v203 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v203, v11+24
;;> @0001                               v21 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v21, v11+16
;;> @0001                               v22 = load.i32 notrap aligned region2 v11
;;> @0001                               v23 = load.i32 notrap aligned region2 v11+4
;;> @0001                               v24 = load.i32 notrap aligned region2 v11+8
;;> @0001                               v25 = get_pinned_reg.i64
;;> @0001                               v26 = load.i64 notrap aligned readonly region0 v25-16
;;> @0001                               v27 = load.i64 notrap aligned readonly region0 v26+112
;;> @0001                               v28 = call_indirect sig0, v27(v25, v22, v23, v24)
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29-64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+40
;;> @0001                               return_call_indirect sig1, v28(v31)
;;>
;;>                                 block4:
;;> @0002                               v32 = uextend.i64 v15
;;> @0002                               v34 = load.i32 user72 region3 v32
;;> @0003                               v35 = iadd v34, v17
;;> @0004                               store user72 region3 v35, v32
;;> @0006                               store.i32 user72 region3 v204, v32+4
;;>                                     v182 = iconst.i32 1
;;>                                     v183 = iadd.i32 v17, v182  ; v182 = 1
;;>                                     v185 = icmp eq v183, v207
;;> @000b                               brif v185, block7, block6
;;>
;;>                                 block7 cold:
;;> @000c                               jump block5
;;>
;;>                                 block6:
;;> @000d                               v52 = load.i32 user72 region3 v32+64
;;> @000e                               v53 = iadd v52, v183
;;> @000f                               store user72 region3 v53, v32+64
;;> @0011                               store.i32 user72 region3 v204, v32+68
;;>                                     v187 = iconst.i32 2
;;>                                     v188 = iadd.i32 v17, v187  ; v187 = 2
;;>                                     v190 = icmp eq v188, v207
;;> @0016                               brif v190, block9, block8
;;>
;;>                                 block9 cold:
;;> @0017                               jump block5
;;>
;;>                                 block8:
;;> @0018                               v70 = load.i32 user72 region3 v32+128
;;> @0019                               v71 = iadd v70, v188
;;> @001a                               store user72 region3 v71, v32+128
;;> @001c                               store.i32 user72 region3 v204, v32+132
;;>                                     v192 = iconst.i32 3
;;>                                     v193 = iadd.i32 v17, v192  ; v192 = 3
;;>                                     v195 = icmp eq v193, v207
;;> @0021                               brif v195, block11, block10
;;>
;;>                                 block11 cold:
;;> @0022                               jump block5
;;>
;;>                                 block10:
;;> @0023                               v88 = load.i32 user72 region3 v32+192
;;> @0024                               v89 = iadd v88, v193
;;> @0025                               store user72 region3 v89, v32+192
;;> @0027                               store.i32 user72 region3 v204, v32+196
;;>                                     v197 = iconst.i32 4
;;>                                     v198 = iadd.i32 v17, v197  ; v197 = 4
;;>                                     v200 = icmp ne v198, v207
;;>                                     v201 = iconst.i32 256
;;>                                     v202 = iadd.i32 v15, v201  ; v201 = 256
;;> @002c                               brif v200, block2(v202, v198, v204, v207), block12
;;>
;;>                                 block12:
;;> @002d                               jump block5
;;>
;;>                                 block5:
;;> @002e                               return
;;> }
