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
;;>      4  jmp short 6
;;>      6  cmp r15, [r15+78h]
;;>      e  jb near 184h
;;>     14  cmp edi, 1
;;>     17  je near 164h
;;>     1d  cmp edi, 2
;;>     20  je near 126h
;;>     26  cmp edi, 3
;;>     29  je near 0C8h
;;>     2f  mov rax, rdi
;;>     32  sub eax, 4
;;>     35  mov rcx, rsi
;;>     38  imul ecx, esi
;;>     3b  imul edx, ecx, 0F4243h
;;>     41  imul edx, edi
;;>     44  lea ecx, [rsi+1]
;;>     47  test esi, 3FFh
;;>     4d  cmove ecx, edx
;;>     50  mov rdx, rcx
;;>     53  imul edx, ecx
;;>     56  imul esi, edx, 0F4243h
;;>     5c  mov rdx, rdi
;;>     5f  sub edx, 1
;;>     62  imul esi, edx
;;>     65  lea edx, [rcx+1]
;;>     68  test ecx, 3FFh
;;>     6e  cmove edx, esi
;;>     71  mov rcx, rdx
;;>     74  imul ecx, edx
;;>     77  imul esi, ecx, 0F4243h
;;>     7d  mov rcx, rdi
;;>     80  sub ecx, 2
;;>     83  imul esi, ecx
;;>     86  lea ecx, [rdx+1]
;;>     89  test edx, 3FFh
;;>     8f  cmove ecx, esi
;;>     92  mov rdx, rcx
;;>     95  imul edx, ecx
;;>     98  imul edx, 0F4243h
;;>     9e  sub edi, 3
;;>     a1  imul edx, edi
;;>     a4  lea esi, [rcx+1]
;;>     a7  test ecx, 3FFh
;;>     ad  cmove esi, edx
;;>     b0  test eax, eax
;;>     b2  je near 0C0h
;;>     b8  mov rdi, rax
;;>     bb  jmp 6
;;>     c0  mov rax, rsi
;;>     c3  mov rsp, rbp
;;>     c6  pop rbp
;;>     c7  ret
;;>     c8  mov rax, rsi
;;>     cb  imul eax, esi
;;>     ce  imul ecx, eax, 0F4243h
;;>     d4  imul ecx, edi
;;>     d7  lea eax, [rsi+1]
;;>     da  test esi, 3FFh
;;>     e0  cmove eax, ecx
;;>     e3  mov rcx, rax
;;>     e6  imul ecx, eax
;;>     e9  imul edx, ecx, 0F4243h
;;>     ef  mov rcx, rdi
;;>     f2  sub ecx, 1
;;>     f5  imul edx, ecx
;;>     f8  lea ecx, [rax+1]
;;>     fb  test eax, 3FFh
;;>    100  cmove ecx, edx
;;>    103  mov rax, rcx
;;>    106  imul eax, ecx
;;>    109  imul edx, eax, 0F4243h
;;>    10f  sub edi, 2
;;>    112  imul edx, edi
;;>    115  lea eax, [rcx+1]
;;>    118  test ecx, 3FFh
;;>    11e  cmove eax, edx
;;>    121  jmp 0C3h
;;>    126  mov rax, rsi
;;>    129  imul eax, esi
;;>    12c  imul eax, 0F4243h
;;>    132  imul eax, edi
;;>    135  lea ecx, [rsi+1]
;;>    138  test esi, 3FFh
;;>    13e  cmove ecx, eax
;;>    141  mov rax, rcx
;;>    144  imul eax, ecx
;;>    147  imul edx, eax, 0F4243h
;;>    14d  sub edi, 1
;;>    150  imul edx, edi
;;>    153  lea eax, [rcx+1]
;;>    156  test ecx, 3FFh
;;>    15c  cmove eax, edx
;;>    15f  jmp 0C3h
;;>    164  mov rax, rsi
;;>    167  imul eax, esi
;;>    16a  imul ecx, eax, 0F4243h
;;>    170  imul ecx, edi
;;>    173  lea eax, [rsi+1]
;;>    176  test esi, 3FFh
;;>    17c  cmove eax, ecx
;;>    17f  jmp 0C3h
;;>    184  mov rax, r15
;;>    187  mov rax, [rax+8]
;;>    18b  mov rax, [rax+28h]
;;>    18f  mov rcx, 1A00000000h
;;>    199  mov [rax], rcx
;;>    19c  mov qword [rax+8], 7
;;>    1a4  mov ecx, esi
;;>    1a6  mov [rax+18h], rcx
;;>    1aa  mov ecx, edi
;;>    1ac  mov [rax+10h], rcx
;;>    1b0  mov esi, [rax]
;;>    1b2  mov edx, [rax+4]
;;>    1b5  mov ecx, [rax+8]
;;>    1b8  mov rdi, r15
;;>    1bb  mov rax, [rdi+38h]
;;>    1bf  mov rax, [rax+70h]
;;>    1c3  call rax
;;>    1c5  mov rcx, r15
;;>    1c8  mov rcx, [rcx+8]
;;>    1cc  mov rdi, [rcx+28h]
;;>    1d0  mov r10, rax
;;>    1d3  mov rsp, rbp
;;>    1d6  pop rbp
;;>    1d7  jmp r10
