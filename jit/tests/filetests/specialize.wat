;; The bound is compared once, its loop is three rounds in a row; the general body stands behind, with its loop and poll.
;;! tier = optimizing
;;! show = assembly
;;! decision = {"specialize": {"offset": 0, "parameter": 1, "value": 3}}
;;! contains = specialize in function 0: done
;;! contains = unroll in function 0: done
(module
  (memory 1)
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $s i32)
    (loop $next
      (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rax, r15
;;>      7  cmp esi, 3
;;>      a  jne near 30h
;;>     10  mov rax, [rax+48h]
;;>     14  mov ecx, edi
;;>     16  mov ecx, [rax+rcx]
;;>     19  lea edx, [rdi+4]
;;>     1c  mov edx, [rax+rdx]
;;>     1f  lea esi, [rdi+8]
;;>     22  mov esi, [rax+rsi]
;;>     25  lea edi, [rcx+rdx]
;;>     28  lea eax, [rdi+rsi]
;;>     2b  mov rsp, rbp
;;>     2e  pop rbp
;;>     2f  ret
;;>     30  xor ecx, ecx
;;>     32  mov r8, [rax+48h]
;;>     36  mov rax, rcx
;;>     39  nop dword [rax+rax]
;;>     3e  cmp r15, [r15+88h]
;;>     46  jb near 0D1h
;;>     4c  lea r9d, [rdi+rcx*4]
;;>     50  mov r9d, [r8+r9]
;;>     54  lea r10d, [rcx+1]
;;>     58  cmp r10d, esi
;;>     5b  jb near 69h
;;>     61  add eax, r9d
;;>     64  jmp 0CCh
;;>     69  lea r10d, [rdi+r10*4]
;;>     6d  mov r10d, [r8+r10]
;;>     71  lea r11d, [rcx+2]
;;>     75  cmp r11d, esi
;;>     78  jb near 89h
;;>     7e  add eax, r9d
;;>     81  add eax, r10d
;;>     84  jmp 0CCh
;;>     89  lea edx, [rdi+r11*4]
;;>     8d  mov edx, [r8+rdx]
;;>     91  lea r11d, [rcx+3]
;;>     95  cmp r11d, esi
;;>     98  jb near 0ABh
;;>     9e  add eax, r9d
;;>     a1  add eax, r10d
;;>     a4  add eax, edx
;;>     a6  jmp 0CCh
;;>     ab  lea r11d, [rdi+r11*4]
;;>     af  mov r11d, [r8+r11]
;;>     b3  add ecx, 4
;;>     b9  add eax, r9d
;;>     bc  add eax, r10d
;;>     bf  add eax, edx
;;>     c1  add eax, r11d
;;>     c4  cmp ecx, esi
;;>     c6  jb near 3Eh
;;>     cc  mov rsp, rbp
;;>     cf  pop rbp
;;>     d0  ret
;;>     d1  mov rdx, r15
;;>     d4  mov rdx, [rdx+8]
;;>     d8  mov rdx, [rdx+28h]
;;>     dc  mov r8, 2100000000h
;;>     e6  mov [rdx], r8
;;>     e9  mov qword [rdx+8], 7
;;>     f1  mov edi, edi
;;>     f3  mov [rdx+10h], rdi
;;>     f7  mov esi, esi
;;>     f9  mov [rdx+18h], rsi
;;>     fd  mov ecx, ecx
;;>     ff  mov [rdx+20h], rcx
;;>    103  mov eax, eax
;;>    105  mov [rdx+28h], rax
;;>    109  mov esi, [rdx]
;;>    10b  mov eax, [rdx+4]
;;>    10e  mov ecx, [rdx+8]
;;>    111  mov rdi, r15
;;>    114  mov rdx, [rdi+38h]
;;>    118  mov r8, [rdx+60h]
;;>    11c  mov rdx, rax
;;>    11f  call r8
;;>    122  mov rcx, r15
;;>    125  mov rcx, [rcx+8]
;;>    129  mov rdi, [rcx+28h]
;;>    12d  mov r10, rax
;;>    130  mov rsp, rbp
;;>    133  pop rbp
;;>    134  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
