;;! tier = optimizing
;;! show = assembly

;; The poll in the hot part of a loop is a load, a test and one branch, which is not taken: everything else of it stands behind the loop.
(module
  (func (param i32)
    loop
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end))
