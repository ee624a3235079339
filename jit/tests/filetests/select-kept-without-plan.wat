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
;;>     4e  mov eax, [rax+60h]
;;>     51  test eax, 0FFFFFFFEh
;;>     56  je near 67h
;;>     5c  xor eax, 1Ah
;;>     5f  test eax, eax
;;>     61  jne near 12h
;;>     67  mov rax, r15
;;>     6a  mov rax, [rax+8]
;;>     6e  mov rax, [rax+28h]
;;>     72  mov rcx, 1A00000000h
;;>     7c  mov [rax], rcx
;;>     7f  mov qword [rax+8], 7
;;>     87  mov ecx, edi
;;>     89  mov [rax+10h], rcx
;;>     8d  mov ecx, esi
;;>     8f  mov [rax+18h], rcx
;;>     93  mov esi, [rax]
;;>     95  mov edx, [rax+4]
;;>     98  mov ecx, [rax+8]
;;>     9b  mov rdi, r15
;;>     9e  mov rax, [rdi+30h]
;;>     a2  mov rax, [rax+60h]
;;>     a6  call rax
;;>     a8  mov rcx, r15
;;>     ab  mov rcx, [rcx+8]
;;>     af  mov rdi, [rcx+28h]
;;>     b3  mov r10, rax
;;>     b6  mov rsp, rbp
;;>     b9  pop rbp
;;>     ba  jmp r10
