;; The control: a select stays one.
;;! tier = optimizing
;;! show = assembly
;;! contains = cmov
(module
  (func (param $n i32) (param $x i32) (result i32)
    (loop $next
      (local.set $x (select
        (i32.mul (i32.mul (i32.mul (local.get $x) (local.get $x)) (i32.const 1000003)) (local.get $n))
        (i32.add (local.get $x) (i32.const 1))
        (i32.eqz (i32.and (local.get $x) (i32.const 0x3ff)))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  xchg ax, ax
;;>      6  cmp r15, [r15+70h]
;;>      e  jb near 4Dh
;;>     14  mov rcx, rdi
;;>     17  sub ecx, 1
;;>     1a  mov rax, rsi
;;>     1d  imul eax, esi
;;>     20  imul edx, eax, 0F4243h
;;>     26  imul edx, edi
;;>     29  lea eax, [rsi+1]
;;>     2c  test esi, 3FFh
;;>     32  cmove eax, edx
;;>     35  test ecx, ecx
;;>     37  je near 48h
;;>     3d  mov rsi, rax
;;>     40  mov rdi, rcx
;;>     43  jmp 4
;;>     48  mov rsp, rbp
;;>     4b  pop rbp
;;>     4c  ret
;;>     4d  mov rax, r15
;;>     50  mov ecx, [rax+74h]
;;>     53  test cx, cx
;;>     56  jne near 75h
;;>     5c  xor ecx, 1B0000h
;;>     62  test ecx, ecx
;;>     64  je near 75h
;;>     6a  mov word [rax+76h], 0
;;>     70  jmp 4
;;>     75  mov rax, r15
;;>     78  mov rax, [rax+8]
;;>     7c  mov rax, [rax+28h]
;;>     80  mov rcx, 1A00000000h
;;>     8a  mov [rax], rcx
;;>     8d  mov qword [rax+8], 7
;;>     95  mov ecx, edi
;;>     97  mov [rax+10h], rcx
;;>     9b  mov ecx, esi
;;>     9d  mov [rax+18h], rcx
;;>     a1  mov esi, [rax]
;;>     a3  mov edx, [rax+4]
;;>     a6  mov ecx, [rax+8]
;;>     a9  mov rdi, r15
;;>     ac  mov rax, [rdi+38h]
;;>     b0  mov rax, [rax+60h]
;;>     b4  call rax
;;>     b6  mov rcx, r15
;;>     b9  mov rcx, [rcx+8]
;;>     bd  mov rdi, [rcx+28h]
;;>     c1  mov r10, rax
;;>     c4  mov rsp, rbp
;;>     c7  pop rbp
;;>     c8  jmp r10
