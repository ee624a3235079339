;; Index 2 is compared in front of the table.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"switch-order": {"offset": "BrTable#0", "first": [2]}}
;;! decision = {"switch-order": {"offset": 1, "first": [2]}}
;;! contains = switch-order in function 0: done
;;! contains = switch-order in function 0: no reachable br_table there
(module
  (func (param $i i32) (result i32)
    (block $c (block $b (block $a
      (br_table $a $b $c (local.get $i)))
      (return (i32.const 10)))
      (return (i32.const 20)))
    (i32.const 30)))

;;> function u0:0(i32) -> i32 tail {
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v3 = iconst.i32 2
;;> @0001                               v4 = icmp ne v0, v3  ; v3 = 2
;;> @0001                               brif v4, block6, block5
;;>
;;>                                 block5:
;;> @0001                               jump block2
;;>
;;>                                 block6:
;;> @0001                               br_table v0, block2, [block4, block3]
;;>
;;>                                 block4:
;;> @0001                               v5 = iconst.i32 10
;;> @0002                               return v5  ; v5 = 10
;;>
;;>                                 block3:
;;> @0002                               v6 = iconst.i32 20
;;> @0003                               return v6  ; v6 = 20
;;>
;;>                                 block2:
;;> @0003                               v7 = iconst.i32 30
;;> @0004                               return v7  ; v7 = 30
;;> }
;;> switch-order in function 0: done
;;> switch-order in function 0: no reachable br_table there
