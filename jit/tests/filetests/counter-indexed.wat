;; With an index there is nothing to gain, and one instruction is shorter.
;;! tier = optimizing
;;! show = assembly
;;! contains = add [r15+
(module (memory 1)
  (func (param $p i32) (param $x i32)
    (i32.store offset=16 (local.get $p) (i32.add (i32.load offset=16 (local.get $p)) (local.get $x)))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov edi, edi
;;>      6  add [r15+rdi+10h], esi
;;>      b  mov rsp, rbp
;;>      e  pop rbp
;;>      f  ret
