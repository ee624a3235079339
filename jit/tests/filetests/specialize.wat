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
;;>      8  mov [rsp], rbx
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
;;>     3a  xor edx, edx
;;>     3c  mov rcx, [rax+48h]
;;>     40  mov rbx, rdx
;;>     43  jmp short 48h
;;>     45  add [rax], r8b
;;>     48  cmp r15, [r15+88h]
;;>     50  jb near 0EAh
;;>     56  lea r9d, [rdi+rdx*4]
;;>     5a  mov r8d, [rcx+r9]
;;>     5e  lea r10d, [rdx+1]
;;>     62  cmp r10d, esi
;;>     65  jae near 0D7h
;;>     6b  mov r10d, [rcx+r9+4]
;;>     70  lea r11d, [rdx+2]
;;>     74  cmp r11d, esi
;;>     77  jae near 0C9h
;;>     7d  mov r11d, [rcx+r9+8]
;;>     82  lea eax, [rdx+3]
;;>     85  cmp eax, esi
;;>     87  jae near 0B8h
;;>     8d  mov r9d, [rcx+r9+0Ch]
;;>     92  add edx, 4
;;>     98  mov rax, rbx
;;>     9b  add r8d, eax
;;>     9e  add r8d, r10d
;;>     a1  add r8d, r11d
;;>     a4  lea eax, [r8+r9]
;;>     a8  cmp edx, esi
;;>     aa  jae near 0DDh
;;>     b0  mov rbx, rax
;;>     b3  jmp 48h
;;>     b8  mov rax, rbx
;;>     bb  add eax, r8d
;;>     be  add eax, r10d
;;>     c1  add eax, r11d
;;>     c4  jmp 0DDh
;;>     c9  mov rax, rbx
;;>     cc  add eax, r8d
;;>     cf  add eax, r10d
;;>     d2  jmp 0DDh
;;>     d7  mov rax, rbx
;;>     da  add eax, r8d
;;>     dd  mov rbx, [rsp]
;;>     e1  add rsp, 10h
;;>     e5  mov rsp, rbp
;;>     e8  pop rbp
;;>     e9  ret
;;>     ea  mov rax, rbx
;;>     ed  mov rcx, r15
;;>     f0  mov rcx, [rcx+8]
;;>     f4  mov rcx, [rcx+28h]
;;>     f8  mov r8, 2100000000h
;;>    102  mov [rcx], r8
;;>    105  mov qword [rcx+8], 7
;;>    10d  mov eax, eax
;;>    10f  mov [rcx+28h], rax
;;>    113  mov eax, edx
;;>    115  mov [rcx+20h], rax
;;>    119  mov eax, esi
;;>    11b  mov [rcx+18h], rax
;;>    11f  mov eax, edi
;;>    121  mov [rcx+10h], rax
;;>    125  mov esi, [rcx]
;;>    127  mov edx, [rcx+4]
;;>    12a  mov ecx, [rcx+8]
;;>    12d  mov rdi, r15
;;>    130  mov rax, [rdi+38h]
;;>    134  mov rax, [rax+70h]
;;>    138  call rax
;;>    13a  mov rcx, r15
;;>    13d  mov rcx, [rcx+8]
;;>    141  mov rdi, [rcx+28h]
;;>    145  mov r10, rax
;;>    148  mov rbx, [rsp]
;;>    14c  add rsp, 10h
;;>    150  mov rsp, rbp
;;>    153  pop rbp
;;>    154  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
