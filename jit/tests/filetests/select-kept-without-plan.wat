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
;;>      4  mov rax, r15
;;>      7  mov eax, [rax+60h]
;;>      a  test eax, eax
;;>      c  jne near 4Bh
;;>     12  mov rcx, rdi
;;>     15  sub ecx, 1
;;>     18  mov rax, rsi
;;>     1b  imul eax, esi
;;>     1e  imul edx, eax, 0F4243h
;;>     24  imul edx, edi
;;>     27  lea eax, [rsi+1]
;;>     2a  test esi, 3FFh
;;>     30  cmove eax, edx
;;>     33  test ecx, ecx
;;>     35  je near 46h
;;>     3b  mov rsi, rax
;;>     3e  mov rdi, rcx
;;>     41  jmp 4
;;>     46  mov rsp, rbp
;;>     49  pop rbp
;;>     4a  ret
;;>     4b  mov rax, r15
;;>     4e  mov ecx, [rax+60h]
;;>     51  test cx, cx
;;>     54  jne near 73h
;;>     5a  xor ecx, 1B0000h
;;>     60  test ecx, ecx
;;>     62  je near 73h
;;>     68  mov word [rax+62h], 0
;;>     6e  jmp 4
;;>     73  mov rax, r15
;;>     76  mov rax, [rax+8]
;;>     7a  mov rax, [rax+28h]
;;>     7e  mov rcx, 1A00000000h
;;>     88  mov [rax], rcx
;;>     8b  mov qword [rax+8], 7
;;>     93  mov ecx, edi
;;>     95  mov [rax+10h], rcx
;;>     99  mov ecx, esi
;;>     9b  mov [rax+18h], rcx
;;>     9f  mov esi, [rax]
;;>     a1  mov edx, [rax+4]
;;>     a4  mov ecx, [rax+8]
;;>     a7  mov rdi, r15
;;>     aa  mov rax, [rdi+30h]
;;>     ae  mov rax, [rax+60h]
;;>     b2  call rax
;;>     b4  mov rcx, r15
;;>     b7  mov rcx, [rcx+8]
;;>     bb  mov rdi, [rcx+28h]
;;>     bf  mov r10, rax
;;>     c2  mov rsp, rbp
;;>     c5  pop rbp
;;>     c6  jmp r10
