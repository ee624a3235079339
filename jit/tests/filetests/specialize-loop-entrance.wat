;; At the loop entrance the compare is made with the local of the switch buffer; the entered loop itself stays a loop.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": 0, "parameter": 1, "value": 3}}
;;! contains = specialize in function 0: done
;;! loop = 0
;;! lacks = unroll
(module
  (memory 1)
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $s i32)
    (loop $next
      (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))

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
;;> @0000                               v4 = load.i32 notrap aligned region1 v0+16
;;> @0000                               v5 = load.i32 notrap aligned region1 v0+24
;;> @0000                               v6 = load.i32 notrap aligned region1 v0+32
;;> @0000                               v7 = load.i32 notrap aligned region1 v0+40
;;> @0000                               v8 = iconst.i32 3
;;> @0000                               v9 = icmp ne v5, v8  ; v8 = 3
;;> @0000                               brif v9, block2, block1
;;>
;;>                                 block1:
;;> @0000                               jump block3
;;>
;;>                                 block3:
;;> @0001                               jump block6
;;>
;;>                                 block6:
;;> @0001                               v40 = iconst.i32 2
;;> @0005                               v47 = iconst.i32 1
;;>                                     v189 = iconst.i32 4
;;> @0001                               jump block7(v6, v7)
;;>
;;>                                 block7(v24: i32, v25: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region2 v14-136
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17-64
;;> @0001                               v19 = load.i64 notrap aligned readonly region0 v18+40
;;> @0001                               v20 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region1 v20, v19  ; v20 = 0x0021_0000_0000
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v21, v19+8  ; v21 = 7
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region1 v26, v19+40
;;> @0001                               v27 = uextend.i64 v24
;;> @0001                               store notrap aligned region1 v27, v19+32
;;>                                     v206 = iconst.i64 3
;;> @0001                               store notrap aligned region1 v206, v19+24  ; v206 = 3
;;> @0001                               v29 = uextend.i64 v4
;;> @0001                               store notrap aligned region1 v29, v19+16
;;> @0001                               v30 = load.i32 notrap aligned region1 v19
;;> @0001                               v31 = load.i32 notrap aligned region1 v19+4
;;> @0001                               v32 = load.i32 notrap aligned region1 v19+8
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33-16
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+112
;;> @0001                               v36 = call_indirect sig0, v35(v33, v30, v31, v32)
;;> @0001                               v37 = get_pinned_reg.i64
;;> @0001                               v38 = load.i64 notrap aligned readonly region0 v37-64
;;> @0001                               v39 = load.i64 notrap aligned readonly region0 v38+40
;;> @0001                               return_call_indirect sig1, v36(v39)
;;>
;;>                                 block9:
;;>                                     v269 = iconst.i32 2
;;>                                     v270 = ishl.i32 v24, v269  ; v269 = 2
;;> @0003                               v42 = iadd.i32 v4, v270
;;> @0004                               v43 = uextend.i64 v42
;;> @0004                               v45 = load.i32 user72 region3 v43
;;>                                     v271 = iconst.i32 1
;;>                                     v272 = iadd.i32 v24, v271  ; v271 = 1
;;>                                     v273 = iconst.i32 3
;;>                                     v274 = icmp uge v272, v273  ; v273 = 3
;;> @0008                               brif v274, block12, block11
;;>
;;>                                 block12 cold:
;;>                                     v291 = iadd.i32 v25, v45
;;> @0009                               jump block10(v291)
;;>
;;>                                 block11:
;;> @000c                               v56 = load.i32 user72 region3 v43+4
;;>                                     v275 = iconst.i32 2
;;>                                     v276 = iadd.i32 v24, v275  ; v275 = 2
;;>                                     v277 = iconst.i32 3
;;>                                     v278 = icmp uge v276, v277  ; v277 = 3
;;> @0010                               brif v278, block14, block13
;;>
;;>                                 block14 cold:
;;>                                     v289 = iadd.i32 v25, v45
;;>                                     v290 = iadd v289, v56
;;> @0011                               jump block10(v290)
;;>
;;>                                 block13:
;;> @0014                               v67 = load.i32 user72 region3 v43+8
;;>                                     v279 = iconst.i32 3
;;>                                     v280 = iadd.i32 v24, v279  ; v279 = 3
;;>                                     v281 = icmp uge v280, v279  ; v279 = 3
;;> @0018                               brif v281, block16, block15
;;>
;;>                                 block16 cold:
;;>                                     v286 = iadd.i32 v25, v45
;;>                                     v287 = iadd v286, v56
;;>                                     v288 = iadd v287, v67
;;> @0019                               jump block10(v288)
;;>
;;>                                 block15:
;;> @001c                               v78 = load.i32 user72 region3 v43+12
;;>                                     v282 = iconst.i32 4
;;>                                     v283 = iadd.i32 v24, v282  ; v282 = 4
;;>                                     v284 = iconst.i32 3
;;>                                     v285 = icmp ult v283, v284  ; v284 = 3
;;> @0005                               v46 = iadd.i32 v25, v45
;;> @000d                               v57 = iadd v46, v56
;;> @0015                               v68 = iadd v57, v67
;;> @001d                               v79 = iadd v68, v78
;;> @0020                               brif v285, block7(v283, v79), block17
;;>
;;>                                 block17:
;;> @0021                               jump block10(v79)
;;>
;;>                                 block10(v87: i32):
;;> @0022                               return v87
;;>
;;>                                 block2 cold:
;;> @0022                               jump block18
;;>
;;>                                 block18 cold:
;;> @0023                               jump block21
;;>
;;>                                 block21 cold:
;;>                                     v293 = iconst.i32 2
;;>                                     v294 = iconst.i32 1
;;>                                     v297 = iconst.i32 4
;;> @0023                               jump block22(v6, v7)
;;>
;;>                                 block22(v100: i32, v101: i32) cold:
;;> @0023                               v90 = get_pinned_reg.i64
;;> @0023                               v91 = load.i64 user66 aligned region2 v90-136
;;> @0023                               v92 = icmp ult v90, v91
;;> @0023                               brif v92, block23, block24
;;>
;;>                                 block23 cold:
;;> @0023                               v93 = get_pinned_reg.i64
;;> @0023                               v94 = load.i64 notrap aligned readonly region0 v93-64
;;> @0023                               v95 = load.i64 notrap aligned readonly region0 v94+40
;;>                                     v304 = iconst.i64 0x0021_0000_0000
;;> @0023                               store notrap aligned region1 v304, v95  ; v304 = 0x0021_0000_0000
;;>                                     v305 = iconst.i64 7
;;> @0023                               store notrap aligned region1 v305, v95+8  ; v305 = 7
;;> @0023                               v102 = uextend.i64 v101
;;> @0023                               store notrap aligned region1 v102, v95+40
;;> @0023                               v103 = uextend.i64 v100
;;> @0023                               store notrap aligned region1 v103, v95+32
;;> @0023                               v104 = uextend.i64 v5
;;> @0023                               store notrap aligned region1 v104, v95+24
;;>                                     v306 = uextend.i64 v4
;;> @0023                               store notrap aligned region1 v306, v95+16
;;> @0023                               v106 = load.i32 notrap aligned region1 v95
;;> @0023                               v107 = load.i32 notrap aligned region1 v95+4
;;> @0023                               v108 = load.i32 notrap aligned region1 v95+8
;;> @0023                               v109 = get_pinned_reg.i64
;;> @0023                               v110 = load.i64 notrap aligned readonly region0 v109-16
;;> @0023                               v111 = load.i64 notrap aligned readonly region0 v110+112
;;> @0023                               v112 = call_indirect sig0, v111(v109, v106, v107, v108)
;;> @0023                               v113 = get_pinned_reg.i64
;;> @0023                               v114 = load.i64 notrap aligned readonly region0 v113-64
;;> @0023                               v115 = load.i64 notrap aligned readonly region0 v114+40
;;> @0023                               return_call_indirect sig1, v112(v115)
;;>
;;>                                 block24 cold:
;;> @0024                               v117 = ishl.i32 v100, v293  ; v293 = 2
;;> @0025                               v118 = iadd.i32 v4, v117
;;> @0026                               v119 = uextend.i64 v118
;;> @0026                               v121 = load.i32 user72 region3 v119
;;> @0028                               v124 = iadd.i32 v100, v294  ; v294 = 1
;;> @002a                               v168 = icmp uge v124, v5
;;> @002a                               brif v168, block27, block26
;;>
;;>                                 block27 cold:
;;>                                     v303 = iadd.i32 v101, v121
;;> @002b                               jump block25(v303)
;;>
;;>                                 block26 cold:
;;> @002e                               v132 = load.i32 user72 region3 v119+4
;;>                                     v207 = iadd.i32 v100, v293  ; v293 = 2
;;> @0032                               v169 = icmp uge v207, v5
;;> @0032                               brif v169, block29, block28
;;>
;;>                                 block29 cold:
;;>                                     v301 = iadd.i32 v101, v121
;;>                                     v302 = iadd v301, v132
;;> @0033                               jump block25(v302)
;;>
;;>                                 block28 cold:
;;> @0036                               v143 = load.i32 user72 region3 v119+8
;;>                                     v295 = iconst.i32 3
;;>                                     v296 = iadd.i32 v100, v295  ; v295 = 3
;;> @003a                               v170 = icmp uge v296, v5
;;> @003a                               brif v170, block31, block30
;;>
;;>                                 block31 cold:
;;>                                     v298 = iadd.i32 v101, v121
;;>                                     v299 = iadd v298, v132
;;>                                     v300 = iadd v299, v143
;;> @003b                               jump block25(v300)
;;>
;;>                                 block30 cold:
;;> @003e                               v154 = load.i32 user72 region3 v119+12
;;>                                     v214 = iadd.i32 v100, v297  ; v297 = 4
;;> @0041                               v158 = icmp ult v214, v5
;;> @0027                               v122 = iadd.i32 v101, v121
;;> @002f                               v133 = iadd v122, v132
;;> @0037                               v144 = iadd v133, v143
;;> @003f                               v155 = iadd v144, v154
;;> @0042                               brif v158, block22(v214, v155), block32
;;>
;;>                                 block32 cold:
;;> @0043                               jump block25(v155)
;;>
;;>                                 block25(v164: i32) cold:
;;> @0044                               return v164
;;> }
;;> specialize in function 0: done
