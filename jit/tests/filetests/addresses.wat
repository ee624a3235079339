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
;;>      4  mov r10, r15
;;>      7  mov r10, [r10+48h]
;;>      b  mov r11d, edi
;;>      e  mov qword [r10+r11], 1
;;>     16  mov qword [r10+r11+10h], 2
;;>     1f  test esi, esi
;;>     21  je near 33h
;;>     27  mov qword [r10+r11+0FFFCh], 3
;;>     33  lea eax, [rdi+rsi*8]
;;>     36  mov rcx, [r10+rax+8]
;;>     3b  mov rdx, [r10+rax+18h]
;;>     40  add rdx, [r10+rax+48h]
;;>     45  lea rax, [rcx+rdx]
;;>     49  mov rsp, rbp
;;>     4c  pop rbp
;;>     4d  ret
