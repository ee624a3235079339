;; A callee's parameter is compared at its call: where it is the value, its loop stands there as three rounds; else the code is left at the call.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": "Body#1", "parameter": 1, "value": 3}}
;;! contains = specialize in function 0: done
;;! contains = unroll in function 1: done
;;! contains = side-exit in function 0: done
(module
  (memory 1)
  (func (param $p i32) (param $n i32) (result i32)
    (i32.add (call $sum (local.get $p) (local.get $n)) (i32.const 1)))
  (func $sum (param $p i32) (param $n i32) (result i32) (local $i i32) (local $s i32)
    (loop $next
      (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))

;;> function u0:0(i32, i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 268435456 "memory 0"
;;>     region2 = 83886080 "switch"
;;>     sig0 = (i64, i64, i64) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32):
;;>                                     v2 = get_pinned_reg.i64
;;> @0001                               v4 = iconst.i32 3
;;> @0001                               v5 = icmp ne v1, v4  ; v4 = 3
;;> @0001                               brif v5, block4, block3
;;>
;;>                                 block3:
;;> @0005                               v12 = uextend.i64 v0
;;> @0005                               v15 = load.i32 user72 region1 v12
;;> @0009                               jump block7
;;>
;;>                                 block7:
;;> @000c                               v26 = load.i32 user72 region1 v12+4
;;> @0010                               jump block8
;;>
;;>                                 block8:
;;> @0013                               v37 = load.i32 user72 region1 v12+8
;;> @0018                               jump block6
;;>
;;>                                 block6:
;;> @0019                               jump block2
;;>
;;>                                 block4 cold:
;;> @0001                               v42 = get_pinned_reg.i64
;;> @0001                               v43 = load.i64 notrap aligned readonly region0 v42-64
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+40
;;> @0001                               v45 = iconst.i64 0x0024_0000_0000
;;> @0001                               store notrap aligned region2 v45, v44  ; v45 = 0x0024_0000_0000
;;> @0001                               v46 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v46, v44+8  ; v46 = 7
;;> @0001                               v47 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v47, v44+40
;;>                                     v62 = uextend.i64 v0
;;> @0001                               store notrap aligned region2 v62, v44+32
;;> @0001                               v51 = get_pinned_reg.i64
;;> @0001                               v52 = load.i64 notrap aligned readonly region0 v51-16
;;> @0001                               v53 = load.i64 notrap aligned readonly region0 v52+176
;;> @0001                               v50 = iconst.i64 0x0001_0000_0007
;;> @0001                               v49 = iconst.i64 1
;;> @0001                               v54 = call_indirect sig0, v53(v51, v50, v49)  ; v50 = 0x0001_0000_0007, v49 = 1
;;> @0001                               v55 = get_pinned_reg.i64
;;> @0001                               v56 = load.i64 notrap aligned readonly region0 v55-64
;;> @0001                               v57 = load.i64 notrap aligned readonly region0 v56+40
;;> @0001                               return_call_indirect sig1, v54(v57)
;;>
;;>                                 block2:
;;> @000d                               v27 = iadd.i32 v15, v26
;;> @0014                               v38 = iadd v27, v37
;;> @0006                               v17 = iconst.i32 1
;;> @001a                               v59 = iadd v38, v17  ; v17 = 1
;;> @001b                               return v59
;;> }
;;> specialize in function 0: done
;;> unroll in function 1: done
;;> side-exit in function 0: done
