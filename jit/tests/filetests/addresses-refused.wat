;; The control of `addresses.wat`: a sum that might have wrapped is made. What lies below, or more than 64 KiB above; what was accessed on one way only; a memory that somebody else
;; made, and one that begins with all pages there are (the third and fourth pair).
;;! tier = optimizing
;;! show = assembly
;;! lacks = +10h]
;;! lacks = +10001h]
;;! lacks = r9-4]
(module
  (import "m" "m" (memory $imported 1))
  (memory $own 1)
  (memory $whole 65536)
  (func (param $p i32) (param $q i32) (param $r i32) (param $s i32)
    (i32.store $own (local.get $p) (i32.const 1))
    (i32.store $own (i32.add (local.get $p) (i32.const -4)) (i32.const 2))
    (i32.store $own (i32.add (local.get $p) (i32.const 65537)) (i32.const 3))
    (if (local.get $s) (then (i32.store $own (local.get $q) (i32.const 4))))
    (i32.store $own (i32.add (local.get $q) (i32.const 16)) (i32.const 5))
    (i32.store $imported (local.get $r) (i32.const 6))
    (i32.store $imported (i32.add (local.get $r) (i32.const 16)) (i32.const 7))
    (i32.store $whole (local.get $s) (i32.const 8))
    (i32.store $whole (i32.add (local.get $s) (i32.const 16)) (i32.const 9))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rax, r15
;;>      7  mov r8, [r15-70h]
;;>      b  mov r9d, edi
;;>      e  mov dword [r8+r9], 1
;;>     16  lea r9d, [rdi-4]
;;>     1a  mov dword [r8+r9], 2
;;>     22  add edi, 10001h
;;>     28  mov dword [r8+rdi], 3
;;>     30  test ecx, ecx
;;>     32  je short 3Eh
;;>     34  mov edi, esi
;;>     36  mov dword [r8+rdi], 4
;;>     3e  add esi, 10h
;;>     41  mov dword [r8+rsi], 5
;;>     49  mov rsi, [rax-80h]
;;>     4d  mov edi, edx
;;>     4f  mov dword [rsi+rdi], 6
;;>     56  add edx, 10h
;;>     59  mov dword [rsi+rdx], 7
;;>     60  mov rax, [rax-60h]
;;>     64  mov edx, ecx
;;>     66  mov dword [rax+rdx], 8
;;>     6d  add ecx, 10h
;;>     70  mov dword [rax+rcx], 9
;;>     77  mov rsp, rbp
;;>     7a  pop rbp
;;>     7b  ret
