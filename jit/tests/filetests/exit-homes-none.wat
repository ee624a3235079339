;;! tier = optimizing
;;! show = optimized
;;! lacks = stack_addr
;; The control of `exit-homes`: all values have registers.
(module
  (func (param $p0 i32) (param $p1 i32) (param $p2 i32) (param $p3 i32) (result i32) (local $i i32) (local $s i32)
    (loop $l
      (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p0)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p1)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p2)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p3))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (local.get $i)))
    (local.get $s)))

;;> function u0:0(i32, i32, i32, i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32, v3: i32):
;;>                                     v4 = get_pinned_reg.i64
;;> @0000                               v5 = iconst.i32 0
;;>                                     v91 = iconst.i32 -1
;;>                                     v110 = iconst.i32 -2
;;>                                     v141 = iconst.i32 -3
;;>                                     v163 = iconst.i32 4
;;> @0009                               v45 = iconst.i32 1
;;>                                     v96 = iconst.i32 2
;;>                                     v124 = iconst.i32 3
;;> @0001                               jump block2(v5, v5)  ; v5 = 0, v5 = 0
;;>
;;>                                 block2(v19: i32, v20: i32):
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 user66 aligned region0 v7-120
;;> @0001                               v9 = icmp ult v7, v8
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i64 notrap aligned readonly region1 v10-64
;;> @0001                               v12 = load.i64 notrap aligned readonly region1 v11+40
;;> @0001                               v13 = iconst.i64 0x001e_0000_0000
;;> @0001                               store notrap aligned region2 v13, v12  ; v13 = 0x001e_0000_0000
;;> @0001                               v14 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v14, v12+8  ; v14 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v12+56
;;> @0001                               v22 = uextend.i64 v19
;;> @0001                               store notrap aligned region2 v22, v12+48
;;> @0001                               v23 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v23, v12+40
;;> @0001                               v24 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v24, v12+32
;;> @0001                               v25 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v25, v12+24
;;> @0001                               v26 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v26, v12+16
;;> @0001                               v27 = load.i32 notrap aligned region2 v12
;;> @0001                               v28 = load.i32 notrap aligned region2 v12+4
;;> @0001                               v29 = load.i32 notrap aligned region2 v12+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region1 v30-16
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+112
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region1 v34-64
;;> @0001                               v36 = load.i64 notrap aligned readonly region1 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block4:
;;>                                     v180 = iconst.i32 -1
;;>                                     v181 = icmp.i32 eq v19, v180  ; v180 = -1
;;> @000b                               brif v181, block7, block6
;;>
;;>                                 block7 cold:
;;>                                     v240 = iadd.i32 v19, v0
;;>                                     v241 = bxor.i32 v20, v240
;;>                                     v242 = iadd.i32 v19, v1
;;>                                     v243 = bxor v241, v242
;;>                                     v244 = iadd.i32 v19, v2
;;>                                     v245 = bxor v243, v244
;;>                                     v246 = iadd.i32 v19, v3
;;>                                     v247 = bxor v245, v246
;;> @000c                               jump block5(v247)
;;>
;;>                                 block6:
;;>                                     v182 = iconst.i32 -2
;;>                                     v183 = icmp.i32 eq v19, v182  ; v182 = -2
;;> @0016                               brif v183, block9, block8
;;>
;;>                                 block9 cold:
;;>                                     v222 = iadd.i32 v19, v0
;;>                                     v223 = bxor.i32 v20, v222
;;>                                     v224 = iadd.i32 v19, v1
;;>                                     v225 = bxor v223, v224
;;>                                     v226 = iadd.i32 v19, v2
;;>                                     v227 = bxor v225, v226
;;>                                     v228 = iadd.i32 v19, v3
;;>                                     v229 = bxor v227, v228
;;>                                     v230 = iconst.i32 1
;;>                                     v231 = iadd.i32 v19, v230  ; v230 = 1
;;>                                     v232 = iadd v231, v0
;;>                                     v233 = bxor v229, v232
;;>                                     v234 = iadd v231, v1
;;>                                     v235 = bxor v233, v234
;;>                                     v236 = iadd v231, v2
;;>                                     v237 = bxor v235, v236
;;>                                     v238 = iadd v231, v3
;;>                                     v239 = bxor v237, v238
;;> @0017                               jump block5(v239)
;;>
;;>                                 block8:
;;>                                     v184 = iconst.i32 -3
;;>                                     v185 = icmp.i32 eq v19, v184  ; v184 = -3
;;> @0021                               brif v185, block11, block10
;;>
;;>                                 block11 cold:
;;>                                     v194 = iadd.i32 v19, v0
;;>                                     v195 = bxor.i32 v20, v194
;;>                                     v196 = iadd.i32 v19, v1
;;>                                     v197 = bxor v195, v196
;;>                                     v198 = iadd.i32 v19, v2
;;>                                     v199 = bxor v197, v198
;;>                                     v200 = iadd.i32 v19, v3
;;>                                     v201 = bxor v199, v200
;;>                                     v202 = iconst.i32 1
;;>                                     v203 = iadd.i32 v19, v202  ; v202 = 1
;;>                                     v204 = iadd v203, v0
;;>                                     v205 = bxor v201, v204
;;>                                     v206 = iadd v203, v1
;;>                                     v207 = bxor v205, v206
;;>                                     v208 = iadd v203, v2
;;>                                     v209 = bxor v207, v208
;;>                                     v210 = iadd v203, v3
;;>                                     v211 = bxor v209, v210
;;>                                     v212 = iconst.i32 2
;;>                                     v213 = iadd.i32 v19, v212  ; v212 = 2
;;>                                     v214 = iadd v213, v0
;;>                                     v215 = bxor v211, v214
;;>                                     v216 = iadd v213, v1
;;>                                     v217 = bxor v215, v216
;;>                                     v218 = iadd v213, v2
;;>                                     v219 = bxor v217, v218
;;>                                     v220 = iadd v213, v3
;;>                                     v221 = bxor v219, v220
;;> @0022                               jump block5(v221)
;;>
;;>                                 block10:
;;>                                     v186 = iconst.i32 4
;;>                                     v187 = iadd.i32 v19, v186  ; v186 = 4
;;> @0002                               v37 = iadd.i32 v19, v0
;;> @0003                               v38 = bxor.i32 v20, v37
;;> @0004                               v39 = iadd.i32 v19, v1
;;> @0005                               v40 = bxor v38, v39
;;> @0006                               v41 = iadd.i32 v19, v2
;;> @0007                               v42 = bxor v40, v41
;;> @0008                               v43 = iadd.i32 v19, v3
;;> @0009                               v44 = bxor v42, v43
;;>                                     v188 = iconst.i32 1
;;>                                     v189 = iadd.i32 v19, v188  ; v188 = 1
;;> @000d                               v47 = iadd v189, v0
;;> @000e                               v48 = bxor v44, v47
;;> @000f                               v49 = iadd v189, v1
;;> @0010                               v50 = bxor v48, v49
;;> @0011                               v51 = iadd v189, v2
;;> @0012                               v52 = bxor v50, v51
;;> @0013                               v53 = iadd v189, v3
;;> @0014                               v54 = bxor v52, v53
;;>                                     v190 = iconst.i32 2
;;>                                     v191 = iadd.i32 v19, v190  ; v190 = 2
;;> @0018                               v57 = iadd v191, v0
;;> @0019                               v58 = bxor v54, v57
;;> @001a                               v59 = iadd v191, v1
;;> @001b                               v60 = bxor v58, v59
;;> @001c                               v61 = iadd v191, v2
;;> @001d                               v62 = bxor v60, v61
;;> @001e                               v63 = iadd v191, v3
;;> @001f                               v64 = bxor v62, v63
;;>                                     v192 = iconst.i32 3
;;>                                     v193 = iadd.i32 v19, v192  ; v192 = 3
;;> @0023                               v67 = iadd v193, v0
;;> @0024                               v68 = bxor v64, v67
;;> @0025                               v69 = iadd v193, v1
;;> @0026                               v70 = bxor v68, v69
;;> @0027                               v71 = iadd v193, v2
;;> @0028                               v72 = bxor v70, v71
;;> @0029                               v73 = iadd v193, v3
;;> @002a                               v74 = bxor v72, v73
;;> @002c                               brif v187, block2(v187, v74), block12
;;>
;;>                                 block12:
;;> @002d                               jump block5(v74)
;;>
;;>                                 block5(v77: i32):
;;> @002e                               return v77
;;> }
