;; Where the loop calls, every register would be saved around the call: the constant stays an operand.
;;! tier = optimizing
;;! function = 1
;;! show = assembly
;;! contains = [rip
(module
  (import "" "" (func $there (result f64)))
  (func (export "run") (param $rounds i32) (result f64) (local $sum f64)
    (loop $again
      (local.set $sum (f64.add (local.get $sum) (f64.mul (call $there) (f64.const 0.125))))
      (br_if $again (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  sub rsp, 30h
;;>      8  mov [rsp+20h], rbx
;;>      d  mov rbx, rdi
;;>     10  vxorpd xmm0, xmm0, xmm0
;;>     14  movdqu [rsp+8], xmm0
;;>     1a  mov rax, r15
;;>     1d  mov rcx, [r15-58h]
;;>     21  mov rdx, [rcx+8]
;;>     25  mov [rdx-38h], rax
;;>     29  mov [rsp], rax
;;>     2d  mov rax, [rcx]
;;>     30  mov r15, rdx
;;>     33  call rax
;;>     35  mov rax, [rsp]
;;>     39  mov r15, rax
;;>     3c  mov rdi, rbx
;;>     3f  sub edi, 1
;;>     42  vmulsd xmm1, xmm0, [rip+0A0h]
;;>     4a  movdqu xmm0, [rsp+8]
;;>     50  vaddsd xmm0, xmm0, xmm1
;;>     54  test edi, edi
;;>     56  je short 73h
;;>     58  mov rbx, rdi
;;>     5b  movdqu [rsp+8], xmm0
;;>     61  jmp short 63h
;;>     63  cmp r15, [r15-80h]
;;>     6b  jb near 81h
;;>     71  jmp short 1Ah
;;>     73  mov rbx, [rsp+20h]
;;>     78  add rsp, 30h
;;>     7c  mov rsp, rbp
;;>     7f  pop rbp
;;>     80  ret
;;>     81  mov rdi, rbx
;;>     84  mov rax, [r15-40h]
;;>     88  mov rax, [rax+28h]
;;>     8c  mov rcx, 2F00000001h
;;>     96  mov [rax], rcx
;;>     99  mov qword [rax+8], 7
;;>     a1  vmovsd [rax+18h], xmm0
;;>     a6  mov ecx, edi
;;>     a8  mov [rax+10h], rcx
;;>     ac  mov esi, [rax]
;;>     ae  mov edx, [rax+4]
;;>     b1  mov ecx, [rax+8]
;;>     b4  mov rdi, r15
;;>     b7  mov rax, [r15-10h]
;;>     bb  mov rax, [rax+70h]
;;>     bf  call rax
;;>     c1  mov rcx, [r15-40h]
;;>     c5  mov rdi, [rcx+28h]
;;>     c9  mov r10, rax
;;>     cc  mov rbx, [rsp+20h]
;;>     d1  add rsp, 30h
;;>     d5  mov rsp, rbp
;;>     d8  pop rbp
;;>     d9  jmp r10
;;>     dc  int3
;;>     dd  int3
;;>     de  int3
;;>     df  int3
;;>     e0  int3
;;>     e1  int3
;;>     e2  int3
;;>     e3  int3
;;>     e4  int3
;;>     e5  int3
;;>     e6  int3
;;>     e7  int3
;;>     e8  int3
;;>     e9  add [rax], al
;;>     eb  add [rax], al
;;>     ed  add [rax], al
;;>     ef  add al, al
;;>     f1  (bad)
;;>     f3  add [rax], al
;;>     f5  add [rax], al
;;>     f7  add [rax], al
;;>     f9  (bad)
