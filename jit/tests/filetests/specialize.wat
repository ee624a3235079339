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
;;>     46  jb near 0CFh
;;>     4c  lea r9d, [rdi+rcx*4]
;;>     50  mov r9d, [r8+r9]
;;>     54  lea r10d, [rcx+1]
;;>     58  cmp r10d, esi
;;>     5b  jae near 0C7h
;;>     61  lea r10d, [rdi+r10*4]
;;>     65  mov r10d, [r8+r10]
;;>     69  lea r11d, [rcx+2]
;;>     6d  cmp r11d, esi
;;>     70  jae near 0BCh
;;>     76  lea r11d, [rdi+r11*4]
;;>     7a  mov r11d, [r8+r11]
;;>     7e  lea edx, [rcx+3]
;;>     81  cmp edx, esi
;;>     83  jae near 0AEh
;;>     89  lea edx, [rdi+rdx*4]
;;>     8c  mov edx, [r8+rdx]
;;>     90  add ecx, 4
;;>     96  add eax, r9d
;;>     99  add eax, r10d
;;>     9c  add eax, r11d
;;>     9f  add eax, edx
;;>     a1  cmp ecx, esi
;;>     a3  jb near 3Eh
;;>     a9  jmp 0CAh
;;>     ae  add eax, r9d
;;>     b1  add eax, r10d
;;>     b4  add eax, r11d
;;>     b7  jmp 0CAh
;;>     bc  add eax, r9d
;;>     bf  add eax, r10d
;;>     c2  jmp 0CAh
;;>     c7  add eax, r9d
;;>     ca  mov rsp, rbp
;;>     cd  pop rbp
;;>     ce  ret
;;>     cf  mov rdx, r15
;;>     d2  mov rdx, [rdx+8]
;;>     d6  mov rdx, [rdx+28h]
;;>     da  mov r8, 2100000000h
;;>     e4  mov [rdx], r8
;;>     e7  mov qword [rdx+8], 7
;;>     ef  mov edi, edi
;;>     f1  mov [rdx+10h], rdi
;;>     f5  mov esi, esi
;;>     f7  mov [rdx+18h], rsi
;;>     fb  mov ecx, ecx
;;>     fd  mov [rdx+20h], rcx
;;>    101  mov eax, eax
;;>    103  mov [rdx+28h], rax
;;>    107  mov esi, [rdx]
;;>    109  mov eax, [rdx+4]
;;>    10c  mov ecx, [rdx+8]
;;>    10f  mov rdi, r15
;;>    112  mov rdx, [rdi+38h]
;;>    116  mov r8, [rdx+70h]
;;>    11a  mov rdx, rax
;;>    11d  call r8
;;>    120  mov rcx, r15
;;>    123  mov rcx, [rcx+8]
;;>    127  mov rdi, [rcx+28h]
;;>    12b  mov r10, rax
;;>    12e  mov rsp, rbp
;;>    131  pop rbp
;;>    132  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
