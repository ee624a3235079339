;; What lies up to 64 KiB above an address that was accessed takes its register: no sum of its own. Sums are alike in whatever order they were made, and an index times eight is one value
;; wherever it was computed.
;;! tier = optimizing
;;! show = assembly
;;! contains = +r11+10h]
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
;;>      4  mov r10, [r15+48h]
;;>      8  mov r11d, edi
;;>      b  mov qword [r10+r11], 1
;;>     13  mov qword [r10+r11+10h], 2
;;>     1c  test esi, esi
;;>     1e  je short 2Ch
;;>     20  mov qword [r10+r11+0FFFCh], 3
;;>     2c  lea eax, [rdi+rsi*8]
;;>     2f  mov rcx, [r10+rax+8]
;;>     34  mov rdx, [r10+rax+18h]
;;>     39  add rdx, [r10+rax+48h]
;;>     3e  lea rax, [rcx+rdx]
;;>     42  mov rsp, rbp
;;>     45  pop rbp
;;>     46  ret
