;; Tier 1 records conditions of selects, indices of switches, and how often a loop ran where it is left, by a branch or through its end.
;;! tier = baseline
;;! show = clif
;;! sites = true
;;! contains = iconst.i32 3
;;! contains = iconst.i32 4
;;! contains = iconst.i32 5
(module
  (func (param $n i32) (result i32) (local $k i32)
    (block $out
      (loop $next
        (br_if $out (i32.eq (local.get $k) (i32.const 100)))
        (local.set $k (select (i32.add (local.get $k) (i32.const 6)) (local.get $k) (i32.and (local.get $n) (i32.const 1))))
        (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
    (block $b (block $a (br_table $a $b (local.get $k))) (return (i32.const 9)))
    (local.get $k)))
