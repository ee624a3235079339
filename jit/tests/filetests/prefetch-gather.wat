;;! tier = optimizing
;;! show = assembly
;;! decision = {"prefetch": {"offset": "I32Load#1", "kind": "indirect", "distance": 64}}
;;! contains = prefetcht0
;;! contains = prefetch in function 0: done
;; The address 64 rounds ahead is read through the index array.
(module
  (memory 1)
  (func (param $n i32) (param $indices i32) (param $array i32) (result i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum)
        (i32.load (i32.add (local.get $array) (i32.shl (i32.load (local.get $indices)) (i32.const 2))))))
      (local.set $indices (i32.add (local.get $indices) (i32.const 4)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  nop dword [rax+rax]
;;>     12  cmp r15, [r15+80h]
;;>     1a  jb near 5Ch
;;>     20  lea r8d, [rsi+100h]
;;>     27  mov r8d, [rcx+r8]
;;>     2b  lea r8d, [rdx+r8*4]
;;>     2f  prefetcht0 [rcx+r8]
;;>     34  mov r8d, esi
;;>     37  mov r8d, [rcx+r8]
;;>     3b  lea r8d, [rdx+r8*4]
;;>     3f  mov r8d, [rcx+r8]
;;>     43  sub edi, 1
;;>     46  add esi, 4
;;>     4c  add eax, r8d
;;>     4f  test edi, edi
;;>     51  jne near 0Dh
;;>     57  mov rsp, rbp
;;>     5a  pop rbp
;;>     5b  ret
;;>     5c  mov r8, r15
;;>     5f  mov r9d, [r8+84h]
;;>     66  test r9w, r9w
;;>     6a  jne near 8Fh
;;>     70  xor r9d, 230000h
;;>     77  test r9d, r9d
;;>     7a  je near 8Fh
;;>     80  mov word [r8+86h], 0
;;>     8a  jmp 0Dh
;;>     8f  mov rcx, r15
;;>     92  mov rcx, [rcx+8]
;;>     96  mov rcx, [rcx+28h]
;;>     9a  mov r8, 2200000000h
;;>     a4  mov [rcx], r8
;;>     a7  mov qword [rcx+8], 7
;;>     af  mov edi, edi
;;>     b1  mov [rcx+10h], rdi
;;>     b5  mov esi, esi
;;>     b7  mov [rcx+18h], rsi
;;>     bb  mov edx, edx
;;>     bd  mov [rcx+20h], rdx
;;>     c1  mov edx, eax
;;>     c3  mov [rcx+28h], rdx
;;>     c7  mov esi, [rcx]
;;>     c9  mov edx, [rcx+4]
;;>     cc  mov ecx, [rcx+8]
;;>     cf  mov rdi, r15
;;>     d2  mov r8, [rdi+38h]
;;>     d6  mov r8, [r8+60h]
;;>     da  call r8
;;>     dd  mov rsi, r15
;;>     e0  mov rsi, [rsi+8]
;;>     e4  mov rdi, [rsi+28h]
;;>     e8  mov r10, rax
;;>     eb  mov rsp, rbp
;;>     ee  pop rbp
;;>     ef  jmp r10
;;> prefetch in function 0: done
