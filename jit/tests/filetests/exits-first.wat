;; What the loop does not change is computed before it, also what is only used behind a way out of the loop: elaboration forgets a loop at the first
;; block it meets outside of it, so ways out come last there. The product is computed once, in the first block.
;;! tier = optimizing
;;! show = optimized
;;! lacks = bxor.i32
(module
  (memory 1)
  (func (param $n i32) (param $p i32) (param $most i32) (result i32) (local $bound i32)
    (local.set $bound (i32.mul (i32.xor (local.get $most) (i32.const 0x5bd1)) (i32.const 31)))
    (block $out
      (loop $next
        (block $on
          (br_if $on (i32.le_u (i32.sub (local.get $p) (local.get $n)) (i32.const 65535)))
          (br $out))
        (i32.store (local.get $p) (local.get $bound))
        (local.set $p (i32.load (local.get $p)))
        (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
      (local.set $n (i32.const 0)))
    (local.get $n)))

;;> function u0:0(i32, i32, i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32):
;;>                                     v3 = get_pinned_reg.i64
;;> @0004                               v36 = iconst.i32 0xffff
;;> @0000                               v7 = iconst.i32 0x5bd1
;;> @0001                               v8 = bxor v2, v7  ; v7 = 0x5bd1
;;> @0001                               v9 = iconst.i32 31
;;> @0002                               v10 = imul v8, v9  ; v9 = 31
;;> @0009                               v44 = iconst.i32 1
;;> @0011                               v50 = uextend.i64 v10
;;>                                     v98 = iconst.i32 2
;;>                                     v115 = iconst.i32 3
;;>                                     v138 = iconst.i32 4
;;> @0003                               jump block3(v0, v1)
;;>
;;>                                 block3(v19: i32, v20: i32):
;;> @0003                               v11 = get_pinned_reg.i64
;;> @0003                               v12 = load.i64 user66 aligned region1 v11-136
;;> @0003                               v13 = icmp ult v11, v12
;;> @0003                               brif v13, block4, block5
;;>
;;>                                 block4 cold:
;;> @0003                               v14 = get_pinned_reg.i64
;;> @0003                               v15 = load.i64 notrap aligned readonly region0 v14-64
;;> @0003                               v16 = load.i64 notrap aligned readonly region0 v15+40
;;> @0003                               v17 = iconst.i64 0x0030_0000_0000
;;> @0003                               store notrap aligned region2 v17, v16  ; v17 = 0x0030_0000_0000
;;> @0003                               v18 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v18, v16+8  ; v18 = 7
;;> @0003                               store.i64 notrap aligned region2 v50, v16+40
;;>                                     v169 = uextend.i64 v20
;;> @0003                               store notrap aligned region2 v169, v16+24
;;> @0003                               v24 = uextend.i64 v19
;;> @0003                               store notrap aligned region2 v24, v16+16
;;> @0003                               v25 = load.i32 notrap aligned region2 v16
;;> @0003                               v26 = load.i32 notrap aligned region2 v16+4
;;> @0003                               v27 = load.i32 notrap aligned region2 v16+8
;;> @0003                               v28 = get_pinned_reg.i64
;;> @0003                               v29 = load.i64 notrap aligned readonly region0 v28-16
;;> @0003                               v30 = load.i64 notrap aligned readonly region0 v29+112
;;> @0003                               v31 = call_indirect sig0, v30(v28, v25, v26, v27)
;;> @0003                               v32 = get_pinned_reg.i64
;;> @0003                               v33 = load.i64 notrap aligned readonly region0 v32-64
;;> @0003                               v34 = load.i64 notrap aligned readonly region0 v33+40
;;> @0003                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block5:
;;> @0004                               v35 = isub.i32 v20, v19
;;>                                     v147 = iconst.i32 0xffff
;;>                                     v148 = icmp ugt v35, v147  ; v147 = 0xffff
;;> @0006                               brif v148, block9, block8
;;>
;;>                                 block9:
;;> @0007                               jump block2(v19)
;;>
;;>                                 block8:
;;> @0008                               v39 = uextend.i64 v20
;;> @0008                               store.i32 user72 region3 v10, v39
;;>                                     v149 = iconst.i32 1
;;>                                     v150 = icmp.i32 eq v19, v149  ; v149 = 1
;;> @000b                               brif v150, block10, block7
;;>
;;>                                 block10 cold:
;;> @000c                               jump block6
;;>
;;>                                 block7:
;;>                                     v151 = iconst.i32 1
;;>                                     v152 = isub.i32 v19, v151  ; v151 = 1
;;> @000d                               v46 = isub.i32 v10, v152
;;>                                     v153 = iconst.i32 0xffff
;;>                                     v154 = icmp ugt v46, v153  ; v153 = 0xffff
;;> @000f                               brif v154, block13, block12
;;>
;;>                                 block13:
;;> @0010                               jump block2(v152)
;;>
;;>                                 block12:
;;> @0011                               store.i32 user72 region3 v10, v50
;;>                                     v155 = iconst.i32 2
;;>                                     v156 = icmp.i32 eq v19, v155  ; v155 = 2
;;> @0014                               brif v156, block14, block11
;;>
;;>                                 block14 cold:
;;> @0015                               jump block6
;;>
;;>                                 block11:
;;>                                     v157 = iconst.i32 2
;;>                                     v158 = isub.i32 v19, v157  ; v157 = 2
;;> @0016                               v57 = isub.i32 v10, v158
;;>                                     v159 = iconst.i32 0xffff
;;>                                     v160 = icmp ugt v57, v159  ; v159 = 0xffff
;;> @0018                               brif v160, block17, block16
;;>
;;>                                 block17:
;;> @0019                               jump block2(v158)
;;>
;;>                                 block16:
;;>                                     v161 = iconst.i32 3
;;>                                     v162 = icmp.i32 eq v19, v161  ; v161 = 3
;;> @001d                               brif v162, block18, block15
;;>
;;>                                 block18 cold:
;;> @001e                               jump block6
;;>
;;>                                 block15:
;;>                                     v163 = iconst.i32 3
;;>                                     v164 = isub.i32 v19, v163  ; v163 = 3
;;> @001f                               v68 = isub.i32 v10, v164
;;>                                     v165 = iconst.i32 0xffff
;;>                                     v166 = icmp ugt v68, v165  ; v165 = 0xffff
;;> @0021                               brif v166, block20, block19
;;>
;;>                                 block20:
;;> @0022                               jump block2(v164)
;;>
;;>                                 block19:
;;> @0023                               store.i32 user72 region3 v10, v50
;;>                                     v167 = iconst.i32 4
;;>                                     v168 = isub.i32 v19, v167  ; v167 = 4
;;> @0026                               brif v168, block3(v168, v10), block21
;;>
;;>                                 block21:
;;> @0027                               jump block6
;;>
;;>                                 block6:
;;> @0000                               v5 = iconst.i32 0
;;> @0028                               jump block2(v5)  ; v5 = 0
;;>
;;>                                 block2(v80: i32):
;;> @0029                               return v80
;;> }
