;; A difference that is used otherwise too, one of different operands and one whose sign bits are more than one stay as they are.
;;! tier = optimizing
;;! show = clif
;;! contains = isub
;;! contains = ushr
(module
  (func (param $a i32) (param $b i32) (param $c i32) (result i32 i32 i32) (local $r i32)
    (if (result i32) (local.get $c)
      (then (i32.sub (i32.gt_s (local.get $a) (local.get $b)) (i32.lt_s (local.get $a) (local.get $b))))
      (else (local.get $c)))
    (local.set $r)
    (i32.add (local.get $r) (i32.lt_s (local.get $r) (i32.const 0)))
    (i32.lt_s (i32.sub (i32.gt_s (local.get $a) (local.get $b)) (i32.lt_s (local.get $a) (local.get $c))) (i32.const 0))
    (i32.shr_u (i32.sub (i32.gt_s (local.get $a) (local.get $b)) (i32.lt_s (local.get $a) (local.get $b))) (i32.const 29))))

;;> function u0:0(i32, i32, i32) -> i32, i32, i32 tail {
;;>                                 block0(v0: i32, v1: i32, v2: i32):
;;>                                     v18 -> v0
;;>                                     v19 -> v1
;;>                                     v22 -> v2
;;>                                     v3 = get_pinned_reg.i64
;;> @0000                               v4 = iconst.i32 0
;;> @0001                               brif v2, block3, block4
;;>
;;>                                 block3:
;;> @0002                               v9 = icmp.i32 sgt v0, v1
;;> @0002                               v10 = uextend.i32 v9
;;> @0003                               v11 = icmp.i32 slt v0, v1
;;> @0003                               v12 = uextend.i32 v11
;;> @0004                               v13 = isub v10, v12
;;> @0005                               jump block2(v13)
;;>
;;>                                 block4:
;;> @0006                               jump block2(v2)
;;>
;;>                                 block2(v8: i32):
;;> @0006                               v14 = iconst.i32 0
;;> @0007                               v15 = icmp slt v8, v14  ; v14 = 0
;;> @0007                               v16 = uextend.i32 v15
;;> @0008                               v17 = iadd v8, v16
;;> @0009                               v20 = icmp.i32 sgt v0, v1
;;> @0009                               v21 = uextend.i32 v20
;;> @000a                               v23 = icmp.i32 slt v18, v2
;;> @000a                               v24 = uextend.i32 v23
;;> @000b                               v25 = isub v21, v24
;;> @000b                               v26 = iconst.i32 0
;;> @000c                               v27 = icmp slt v25, v26  ; v26 = 0
;;> @000c                               v28 = uextend.i32 v27
;;> @000d                               v29 = icmp.i32 sgt v18, v19
;;> @000d                               v30 = uextend.i32 v29
;;> @000e                               v31 = icmp.i32 slt v18, v19
;;> @000e                               v32 = uextend.i32 v31
;;> @000f                               v33 = isub v30, v32
;;> @000f                               v34 = iconst.i32 29
;;> @0010                               v35 = ushr v33, v34  ; v34 = 29
;;> @0011                               return v17, v28, v35
;;> }
