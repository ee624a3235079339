;; The control of `swap-words.wat`: another rotation, another place, what was loaded or rotated used once more, and a memory whose accesses are compared with its length.
;;! tier = optimizing
;;! show = assembly
(module
  (memory i64 1)
  (memory $n 1)
  (func (param $p i32) (param $q i32) (result i64) (local $x i64) (local $y i64)
    (i64.store $n (local.get $p) (i64.rotl (i64.load $n (local.get $p)) (i64.const 31)))
    (i64.store $n offset=8 (local.get $p) (i64.rotl (i64.load $n offset=16 (local.get $p)) (i64.const 32)))
    (i64.store $n offset=24 (local.get $q) (i64.rotl (i64.load $n offset=24 (local.get $p)) (i64.const 32)))
    (i64.store $n offset=32 (local.get $p) (i64.rotl (local.tee $x (i64.load $n offset=32 (local.get $p))) (i64.const 32)))
    (i64.store $n offset=40 (local.get $p) (local.tee $y (i64.rotl (i64.load $n offset=40 (local.get $p)) (i64.const 32))))
    (i64.store 0 (i64.const 8) (i64.rotl (i64.load 0 (i64.const 8)) (i64.const 32)))
    (i64.add (local.get $x) (local.get $y))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov r8, rsi
;;>      7  mov rax, r15
;;>      a  mov rcx, [r15-60h]
;;>      e  mov esi, edi
;;>     10  mov rdx, [rcx+rsi]
;;>     14  rorx rdx, rdx, 21h
;;>     1a  mov [rcx+rsi], rdx
;;>     1e  mov rdx, [rcx+rsi+10h]
;;>     23  rorx rdx, rdx, 20h
;;>     29  mov [rcx+rsi+8], rdx
;;>     2e  mov rdx, [rcx+rsi+18h]
;;>     33  rorx rdx, rdx, 20h
;;>     39  mov rdi, r8
;;>     3c  mov edi, edi
;;>     3e  mov [rcx+rdi+18h], rdx
;;>     43  mov rdx, [rcx+rsi+20h]
;;>     48  rorx rdi, rdx, 20h
;;>     4e  mov [rcx+rsi+20h], rdi
;;>     53  mov rdi, [rcx+rsi+28h]
;;>     58  rorx rdi, rdi, 20h
;;>     5e  mov [rcx+rsi+28h], rdi
;;>     63  mov rcx, [r15-68h]
;;>     67  mov rcx, [rcx+8]
;;>     6b  cmp rcx, 10h
;;>     6f  jb short 96h
;;>     71  mov rsi, [rax-70h]
;;>     75  lea rax, [rsi+8]
;;>     79  cmp rcx, 10h
;;>     7d  cmovb rax, rsi
;;>     81  mov rcx, [rax]
;;>     84  rorx rcx, rcx, 20h
;;>     8a  mov [rax], rcx
;;>     8d  lea rax, [rdx+rdi]
;;>     91  mov rsp, rbp
;;>     94  pop rbp
;;>     95  ret
;;>     96  ud2
