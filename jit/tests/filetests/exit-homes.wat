;;! tier = optimizing
;;! show = optimized
;;! contains = stack_addr
;;! contains = uload32
;; More values than registers: what the loop does not change is stored in front of it, and the poll's exit, which writes all locals, reads it from there.
(module
  (func (param $p0 i32) (param $p1 i32) (param $p2 i32) (param $p3 i32) (param $p4 i32) (param $p5 i32) (param $p6 i32) (param $p7 i32) (param $p8 i32) (param $p9 i32) (param $p10 i32) (param $p11 i32) (param $p12 i32) (result i32) (local $i i32) (local $s i32)
    (loop $l
      (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p0)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p1)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p2)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p3)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p4)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p5)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p6)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p7)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p8)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p9)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p10)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p11)))) (local.set $s (i32.xor (local.get $s) (i32.add (local.get $i) (local.get $p12))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (local.get $i)))
    (local.get $s)))

;;> function u0:0(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> i32 tail {
;;>     ss0 = explicit_slot 4, align = 4
;;>     ss1 = explicit_slot 4, align = 4
;;>     ss2 = explicit_slot 4, align = 4
;;>     ss3 = explicit_slot 4, align = 4
;;>     ss4 = explicit_slot 4, align = 4
;;>     ss5 = explicit_slot 4, align = 4
;;>     ss6 = explicit_slot 4, align = 4
;;>     ss7 = explicit_slot 4, align = 4
;;>     ss8 = explicit_slot 4, align = 4
;;>     ss9 = explicit_slot 4, align = 4
;;>     ss10 = explicit_slot 4, align = 4
;;>     ss11 = explicit_slot 4, align = 4
;;>     ss12 = explicit_slot 4, align = 4
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32, v3: i32, v4: i32, v5: i32, v6: i32, v7: i32, v8: i32, v9: i32, v10: i32, v11: i32, v12: i32):
;;>                                     v13 = get_pinned_reg.i64
;;> @0000                               v14 = iconst.i32 0
;;> @001b                               v90 = iconst.i32 1
;;>                                     v94 = stack_addr.i64 ss0
;;>                                     store notrap v12, v94
;;>                                     v96 = stack_addr.i64 ss1
;;>                                     store notrap v11, v96
;;>                                     v98 = stack_addr.i64 ss2
;;>                                     store notrap v10, v98
;;>                                     v100 = stack_addr.i64 ss3
;;>                                     store notrap v9, v100
;;>                                     v102 = stack_addr.i64 ss4
;;>                                     store notrap v8, v102
;;>                                     v104 = stack_addr.i64 ss5
;;>                                     store notrap v7, v104
;;>                                     v106 = stack_addr.i64 ss6
;;>                                     store notrap v6, v106
;;>                                     v108 = stack_addr.i64 ss7
;;>                                     store notrap v5, v108
;;>                                     v110 = stack_addr.i64 ss8
;;>                                     store notrap v4, v110
;;>                                     v112 = stack_addr.i64 ss9
;;>                                     store notrap v3, v112
;;>                                     v114 = stack_addr.i64 ss10
;;>                                     store notrap v2, v114
;;>                                     v116 = stack_addr.i64 ss11
;;>                                     store notrap v1, v116
;;>                                     v118 = stack_addr.i64 ss12
;;>                                     store notrap v0, v118
;;> @0001                               jump block2(v14, v14)  ; v14 = 0, v14 = 0
;;>
;;>                                 block2(v37: i32, v38: i32):
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 user66 aligned region0 v16-120
;;> @0001                               v18 = icmp ult v16, v17
;;> @0001                               brif v18, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v19 = get_pinned_reg.i64
;;> @0001                               v20 = load.i64 notrap aligned readonly region1 v19-64
;;> @0001                               v21 = load.i64 notrap aligned readonly region1 v20+40
;;> @0001                               v22 = iconst.i64 0x0029_0000_0000
;;> @0001                               store notrap aligned region2 v22, v21  ; v22 = 0x0029_0000_0000
;;> @0001                               v23 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v23, v21+8  ; v23 = 7
;;> @0001                               v39 = uextend.i64 v38
;;> @0001                               store notrap aligned region2 v39, v21+128
;;> @0001                               v40 = uextend.i64 v37
;;> @0001                               store notrap aligned region2 v40, v21+120
;;>                                     v95 = stack_addr.i64 ss0
;;> @0001                               v41 = uload32 notrap aligned v95
;;> @0001                               store notrap aligned region2 v41, v21+112
;;>                                     v97 = stack_addr.i64 ss1
;;> @0001                               v42 = uload32 notrap aligned v97
;;> @0001                               store notrap aligned region2 v42, v21+104
;;>                                     v99 = stack_addr.i64 ss2
;;> @0001                               v43 = uload32 notrap aligned v99
;;> @0001                               store notrap aligned region2 v43, v21+96
;;>                                     v101 = stack_addr.i64 ss3
;;> @0001                               v44 = uload32 notrap aligned v101
;;> @0001                               store notrap aligned region2 v44, v21+88
;;>                                     v103 = stack_addr.i64 ss4
;;> @0001                               v45 = uload32 notrap aligned v103
;;> @0001                               store notrap aligned region2 v45, v21+80
;;>                                     v105 = stack_addr.i64 ss5
;;> @0001                               v46 = uload32 notrap aligned v105
;;> @0001                               store notrap aligned region2 v46, v21+72
;;>                                     v107 = stack_addr.i64 ss6
;;> @0001                               v47 = uload32 notrap aligned v107
;;> @0001                               store notrap aligned region2 v47, v21+64
;;>                                     v109 = stack_addr.i64 ss7
;;> @0001                               v48 = uload32 notrap aligned v109
;;> @0001                               store notrap aligned region2 v48, v21+56
;;>                                     v111 = stack_addr.i64 ss8
;;> @0001                               v49 = uload32 notrap aligned v111
;;> @0001                               store notrap aligned region2 v49, v21+48
;;>                                     v113 = stack_addr.i64 ss9
;;> @0001                               v50 = uload32 notrap aligned v113
;;> @0001                               store notrap aligned region2 v50, v21+40
;;>                                     v115 = stack_addr.i64 ss10
;;> @0001                               v51 = uload32 notrap aligned v115
;;> @0001                               store notrap aligned region2 v51, v21+32
;;>                                     v117 = stack_addr.i64 ss11
;;> @0001                               v52 = uload32 notrap aligned v117
;;> @0001                               store notrap aligned region2 v52, v21+24
;;>                                     v119 = stack_addr.i64 ss12
;;> @0001                               v53 = uload32 notrap aligned v119
;;> @0001                               store notrap aligned region2 v53, v21+16
;;> @0001                               v54 = load.i32 notrap aligned region2 v21
;;> @0001                               v55 = load.i32 notrap aligned region2 v21+4
;;> @0001                               v56 = load.i32 notrap aligned region2 v21+8
;;> @0001                               v57 = get_pinned_reg.i64
;;> @0001                               v58 = load.i64 notrap aligned readonly region1 v57-16
;;> @0001                               v59 = load.i64 notrap aligned readonly region1 v58+112
;;> @0001                               v60 = call_indirect sig0, v59(v57, v54, v55, v56)
;;> @0001                               v61 = get_pinned_reg.i64
;;> @0001                               v62 = load.i64 notrap aligned readonly region1 v61-64
;;> @0001                               v63 = load.i64 notrap aligned readonly region1 v62+40
;;> @0001                               return_call_indirect sig1, v60(v63)
;;>
;;>                                 block4:
;;>                                     v92 = iconst.i32 1
;;>                                     v93 = iadd.i32 v37, v92  ; v92 = 1
;;> @0002                               v64 = iadd.i32 v37, v0
;;> @0003                               v65 = bxor.i32 v38, v64
;;> @0004                               v66 = iadd.i32 v37, v1
;;> @0005                               v67 = bxor v65, v66
;;> @0006                               v68 = iadd.i32 v37, v2
;;> @0007                               v69 = bxor v67, v68
;;> @0008                               v70 = iadd.i32 v37, v3
;;> @0009                               v71 = bxor v69, v70
;;> @000a                               v72 = iadd.i32 v37, v4
;;> @000b                               v73 = bxor v71, v72
;;> @000c                               v74 = iadd.i32 v37, v5
;;> @000d                               v75 = bxor v73, v74
;;> @000e                               v76 = iadd.i32 v37, v6
;;> @000f                               v77 = bxor v75, v76
;;> @0010                               v78 = iadd.i32 v37, v7
;;> @0011                               v79 = bxor v77, v78
;;> @0012                               v80 = iadd.i32 v37, v8
;;> @0013                               v81 = bxor v79, v80
;;> @0014                               v82 = iadd.i32 v37, v9
;;> @0015                               v83 = bxor v81, v82
;;> @0016                               v84 = iadd.i32 v37, v10
;;> @0017                               v85 = bxor v83, v84
;;> @0018                               v86 = iadd.i32 v37, v11
;;> @0019                               v87 = bxor v85, v86
;;> @001a                               v88 = iadd.i32 v37, v12
;;> @001b                               v89 = bxor v87, v88
;;> @001d                               brif v93, block2(v93, v89), block5
;;>
;;>                                 block5:
;;> @001f                               return v89
;;> }
