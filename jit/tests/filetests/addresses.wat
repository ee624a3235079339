;; What lies up to 64 KiB above an address that was accessed takes its register: no sum of its own. Sums are alike in whatever order they were made, and an index times eight is one value
;; wherever it was computed.
;;! tier = optimizing
;;! show = assembly
;;! contains = [r15+r8+10h]
;;! contains = +0FFFCh]
;;! contains = +18h]
;;! contains = +48h]
(module (memory 1)
  (func (param $p i32) (param $i i32) (result i64) (local $q i32)
    (i64.store (local.get $p) (i64.const 1))
    (i64.store (i32.add (local.get $p) (i32.const 16)) (i64.const 2))
    (if (local.get $i) (then (i64.store (i32.sub (local.get $p) (i32.const -65532)) (i64.const 3))))
    (local.set $q (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 3))))
    (i64.add
      (i64.load offset=8 (local.get $q))
      (i64.add
        (i64.load offset=8 (i32.add (i32.const 16) (i32.add (i32.shl (local.get $i) (i32.const 3)) (local.get $p))))
        (i64.load offset=8 (i32.add (i32.shl (i32.add (local.get $i) (i32.const 8)) (i32.const 3)) (local.get $p)))))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov r8d, edi
;;>      7  mov qword [r15+r8], 1
;;>      f  mov qword [r15+r8+10h], 2
;;>     18  test esi, esi
;;>     1a  je short 28h
;;>     1c  mov qword [r15+r8+0FFFCh], 3
;;>     28  lea eax, [rdi+rsi*8]
;;>     2b  mov rcx, [r15+rax+8]
;;>     30  mov rdx, [r15+rax+18h]
;;>     35  add rdx, [r15+rax+48h]
;;>     3a  lea rax, [rcx+rdx]
;;>     3e  mov rsp, rbp
;;>     41  pop rbp
;;>     42  ret
