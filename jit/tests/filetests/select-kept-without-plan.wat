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
;;>      6  cmp r15, [r15-78h]
;;>      e  jb near 17Dh
;;>     14  cmp edi, 1
;;>     17  je near 15Dh
;;>     1d  cmp edi, 2
;;>     20  je near 11Fh
;;>     26  cmp edi, 3
;;>     29  je near 0C4h
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
;;>     b2  je short 0BCh
;;>     b4  mov rdi, rax
;;>     b7  jmp 6
;;>     bc  mov rax, rsi
;;>     bf  mov rsp, rbp
;;>     c2  pop rbp
;;>     c3  ret
;;>     c4  mov rax, rsi
;;>     c7  imul eax, esi
;;>     ca  imul ecx, eax, 0F4243h
;;>     d0  imul ecx, edi
;;>     d3  lea eax, [rsi+1]
;;>     d6  test esi, 3FFh
;;>     dc  cmove eax, ecx
;;>     df  mov rcx, rax
;;>     e2  imul ecx, eax
;;>     e5  imul edx, ecx, 0F4243h
;;>     eb  mov rcx, rdi
;;>     ee  sub ecx, 1
;;>     f1  imul edx, ecx
;;>     f4  lea ecx, [rax+1]
;;>     f7  test eax, 3FFh
;;>     fc  cmove ecx, edx
;;>     ff  mov rax, rcx
;;>    102  imul eax, ecx
;;>    105  imul edx, eax, 0F4243h
;;>    10b  sub edi, 2
;;>    10e  imul edx, edi
;;>    111  lea eax, [rcx+1]
;;>    114  test ecx, 3FFh
;;>    11a  cmove eax, edx
;;>    11d  jmp short 0BFh
;;>    11f  mov rax, rsi
;;>    122  imul eax, esi
;;>    125  imul eax, 0F4243h
;;>    12b  imul eax, edi
;;>    12e  lea ecx, [rsi+1]
;;>    131  test esi, 3FFh
;;>    137  cmove ecx, eax
;;>    13a  mov rax, rcx
;;>    13d  imul eax, ecx
;;>    140  imul edx, eax, 0F4243h
;;>    146  sub edi, 1
;;>    149  imul edx, edi
;;>    14c  lea eax, [rcx+1]
;;>    14f  test ecx, 3FFh
;;>    155  cmove eax, edx
;;>    158  jmp 0BFh
;;>    15d  mov rax, rsi
;;>    160  imul eax, esi
;;>    163  imul ecx, eax, 0F4243h
;;>    169  imul ecx, edi
;;>    16c  lea eax, [rsi+1]
;;>    16f  test esi, 3FFh
;;>    175  cmove eax, ecx
;;>    178  jmp 0BFh
;;>    17d  mov rax, [r15-40h]
;;>    181  mov rax, [rax+28h]
;;>    185  mov rcx, 1A00000000h
;;>    18f  mov [rax], rcx
;;>    192  mov qword [rax+8], 7
;;>    19a  mov ecx, esi
;;>    19c  mov [rax+18h], rcx
;;>    1a0  mov ecx, edi
;;>    1a2  mov [rax+10h], rcx
;;>    1a6  mov esi, [rax]
;;>    1a8  mov edx, [rax+4]
;;>    1ab  mov ecx, [rax+8]
;;>    1ae  mov rdi, r15
;;>    1b1  mov rax, [r15-10h]
;;>    1b5  mov rax, [rax+70h]
;;>    1b9  call rax
;;>    1bb  mov rcx, [r15-40h]
;;>    1bf  mov rdi, [rcx+28h]
;;>    1c3  mov r10, rax
;;>    1c6  mov rsp, rbp
;;>    1c9  pop rbp
;;>    1ca  jmp r10
