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
;;>      6  cmp r15, [r15+78h]
;;>      e  jb near 187h
;;>     14  mov rax, rdi
;;>     17  sub eax, 1
;;>     1a  test eax, eax
;;>     1c  je near 0D3h
;;>     22  mov rcx, rdi
;;>     25  sub ecx, 2
;;>     28  test ecx, ecx
;;>     2a  je near 0F3h
;;>     30  mov rcx, rdi
;;>     33  sub ecx, 3
;;>     36  test ecx, ecx
;;>     38  je near 12Eh
;;>     3e  mov rcx, rdi
;;>     41  sub ecx, 4
;;>     44  mov rdx, rsi
;;>     47  imul edx, esi
;;>     4a  imul r8d, edx, 0F4243h
;;>     51  imul r8d, edi
;;>     55  lea edx, [rsi+1]
;;>     58  test esi, 3FFh
;;>     5e  cmove edx, r8d
;;>     62  mov rsi, rdx
;;>     65  imul esi, edx
;;>     68  imul esi, 0F4243h
;;>     6e  imul esi, eax
;;>     71  lea eax, [rdx+1]
;;>     74  test edx, 3FFh
;;>     7a  cmove eax, esi
;;>     7d  mov rdx, rax
;;>     80  imul edx, eax
;;>     83  imul esi, edx, 0F4243h
;;>     89  mov rdx, rdi
;;>     8c  sub edx, 2
;;>     8f  imul esi, edx
;;>     92  lea edx, [rax+1]
;;>     95  test eax, 3FFh
;;>     9a  cmove edx, esi
;;>     9d  mov rax, rdx
;;>     a0  imul eax, edx
;;>     a3  imul eax, 0F4243h
;;>     a9  sub edi, 3
;;>     ac  imul eax, edi
;;>     af  lea esi, [rdx+1]
;;>     b2  test edx, 3FFh
;;>     b8  cmove esi, eax
;;>     bb  test ecx, ecx
;;>     bd  je near 0CBh
;;>     c3  mov rdi, rcx
;;>     c6  jmp 6
;;>     cb  mov rax, rsi
;;>     ce  mov rsp, rbp
;;>     d1  pop rbp
;;>     d2  ret
;;>     d3  mov rax, rsi
;;>     d6  imul eax, esi
;;>     d9  imul ecx, eax, 0F4243h
;;>     df  imul ecx, edi
;;>     e2  lea eax, [rsi+1]
;;>     e5  test esi, 3FFh
;;>     eb  cmove eax, ecx
;;>     ee  jmp 0CEh
;;>     f3  mov rcx, rsi
;;>     f6  imul ecx, esi
;;>     f9  imul edx, ecx, 0F4243h
;;>     ff  imul edx, edi
;;>    102  lea ecx, [rsi+1]
;;>    105  test esi, 3FFh
;;>    10b  cmove ecx, edx
;;>    10e  mov rdx, rcx
;;>    111  imul edx, ecx
;;>    114  imul edx, 0F4243h
;;>    11a  imul edx, eax
;;>    11d  lea eax, [rcx+1]
;;>    120  test ecx, 3FFh
;;>    126  cmove eax, edx
;;>    129  jmp 0CEh
;;>    12e  mov rcx, rsi
;;>    131  imul ecx, esi
;;>    134  imul ecx, 0F4243h
;;>    13a  imul ecx, edi
;;>    13d  lea edx, [rsi+1]
;;>    140  test esi, 3FFh
;;>    146  cmove edx, ecx
;;>    149  mov rcx, rdx
;;>    14c  imul ecx, edx
;;>    14f  imul esi, ecx, 0F4243h
;;>    155  imul esi, eax
;;>    158  lea ecx, [rdx+1]
;;>    15b  test edx, 3FFh
;;>    161  cmove ecx, esi
;;>    164  mov rax, rcx
;;>    167  imul eax, ecx
;;>    16a  imul edx, eax, 0F4243h
;;>    170  sub edi, 2
;;>    173  imul edx, edi
;;>    176  lea eax, [rcx+1]
;;>    179  test ecx, 3FFh
;;>    17f  cmove eax, edx
;;>    182  jmp 0CEh
;;>    187  mov rax, r15
;;>    18a  mov rax, [rax+8]
;;>    18e  mov rax, [rax+28h]
;;>    192  mov rcx, 1A00000000h
;;>    19c  mov [rax], rcx
;;>    19f  mov qword [rax+8], 7
;;>    1a7  mov ecx, edi
;;>    1a9  mov [rax+10h], rcx
;;>    1ad  mov ecx, esi
;;>    1af  mov [rax+18h], rcx
;;>    1b3  mov esi, [rax]
;;>    1b5  mov edx, [rax+4]
;;>    1b8  mov ecx, [rax+8]
;;>    1bb  mov rdi, r15
;;>    1be  mov rax, [rdi+38h]
;;>    1c2  mov rax, [rax+60h]
;;>    1c6  call rax
;;>    1c8  mov rcx, r15
;;>    1cb  mov rcx, [rcx+8]
;;>    1cf  mov rdi, [rcx+28h]
;;>    1d3  mov r10, rax
;;>    1d6  mov rsp, rbp
;;>    1d9  pop rbp
;;>    1da  jmp r10
