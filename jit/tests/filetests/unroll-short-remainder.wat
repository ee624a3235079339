;; The loop for the rounds that an unrolled one leaves over, counted by what a mask leaves, stays as it is: it runs three times at most (the control is `unroll-short.wat`).
;;! tier = optimizing
;;! show = assembly
(module
  (func (param $n i32) (result i32) (local $left i32) (local $at i32) (local $sum i32)
    (local.set $at (local.tee $left (i32.and (local.get $n) (i32.const 3))))
    (loop $again
      (local.set $sum (i32.xor (local.get $sum) (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (local.get $sum)))
