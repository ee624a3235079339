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
;;>      4  sub rsp, 10h
;;>      8  mov [rsp], r12
;;>      c  mov rax, r15
;;>      f  cmp esi, 3
;;>     12  jne near 3Ah
;;>     18  mov rax, [rax+48h]
;;>     1c  mov edx, edi
;;>     1e  mov ecx, [rax+rdx]
;;>     21  mov esi, [rax+rdx+4]
;;>     25  mov eax, [rax+rdx+8]
;;>     29  add ecx, esi
;;>     2b  add eax, ecx
;;>     2d  nop dword [rax]
;;>     31  add rsp, 10h
;;>     35  mov rsp, rbp
;;>     38  pop rbp
;;>     39  ret
;;>     3a  xor ecx, ecx
;;>     3c  mov rdx, [rax+48h]
;;>     40  mov rax, rcx
;;>     43  nop dword [rax+rax]
;;>     48  cmp r15, [r15+88h]
;;>     50  jb near 0DDh
;;>     56  lea r9d, [rdi+rcx*4]
;;>     5a  mov r8d, [rdx+r9]
;;>     5e  lea r10d, [rcx+1]
;;>     62  cmp r10d, esi
;;>     65  jae near 0CDh
;;>     6b  mov r10d, [rdx+r9+4]
;;>     70  lea r11d, [rcx+2]
;;>     74  cmp r11d, esi
;;>     77  jae near 0C2h
;;>     7d  mov r11d, [rdx+r9+8]
;;>     82  lea r12d, [rcx+3]
;;>     86  cmp r12d, esi
;;>     89  jae near 0B4h
;;>     8f  mov r9d, [rdx+r9+0Ch]
;;>     94  add ecx, 4
;;>     9a  add r8d, eax
;;>     9d  add r8d, r10d
;;>     a0  add r8d, r11d
;;>     a3  lea eax, [r8+r9]
;;>     a7  cmp ecx, esi
;;>     a9  jb near 48h
;;>     af  jmp 0D0h
;;>     b4  add eax, r8d
;;>     b7  add eax, r10d
;;>     ba  add eax, r11d
;;>     bd  jmp 0D0h
;;>     c2  add eax, r8d
;;>     c5  add eax, r10d
;;>     c8  jmp 0D0h
;;>     cd  add eax, r8d
;;>     d0  mov r12, [rsp]
;;>     d4  add rsp, 10h
;;>     d8  mov rsp, rbp
;;>     db  pop rbp
;;>     dc  ret
;;>     dd  mov rdx, r15
;;>     e0  mov rdx, [rdx+8]
;;>     e4  mov rdx, [rdx+28h]
;;>     e8  mov r8, 2100000000h
;;>     f2  mov [rdx], r8
;;>     f5  mov qword [rdx+8], 7
;;>     fd  mov edi, edi
;;>     ff  mov [rdx+10h], rdi
;;>    103  mov esi, esi
;;>    105  mov [rdx+18h], rsi
;;>    109  mov ecx, ecx
;;>    10b  mov [rdx+20h], rcx
;;>    10f  mov eax, eax
;;>    111  mov [rdx+28h], rax
;;>    115  mov esi, [rdx]
;;>    117  mov eax, [rdx+4]
;;>    11a  mov ecx, [rdx+8]
;;>    11d  mov rdi, r15
;;>    120  mov rdx, [rdi+38h]
;;>    124  mov r8, [rdx+70h]
;;>    128  mov rdx, rax
;;>    12b  call r8
;;>    12e  mov rcx, r15
;;>    131  mov rcx, [rcx+8]
;;>    135  mov rdi, [rcx+28h]
;;>    139  mov r10, rax
;;>    13c  mov r12, [rsp]
;;>    140  add rsp, 10h
;;>    144  mov rsp, rbp
;;>    147  pop rbp
;;>    148  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
