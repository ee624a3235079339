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
;;>      d  jmp short 12h
;;>      f  add [rax], r8b
;;>     12  cmp r15, [r15+88h]
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
;;>     51  jne near 12h
;;>     57  mov rsp, rbp
;;>     5a  pop rbp
;;>     5b  ret
;;>     5c  mov rcx, r15
;;>     5f  mov rcx, [rcx+8]
;;>     63  mov rcx, [rcx+28h]
;;>     67  mov r8, 2200000000h
;;>     71  mov [rcx], r8
;;>     74  mov qword [rcx+8], 7
;;>     7c  mov eax, eax
;;>     7e  mov [rcx+28h], rax
;;>     82  mov eax, edx
;;>     84  mov [rcx+20h], rax
;;>     88  mov eax, esi
;;>     8a  mov [rcx+18h], rax
;;>     8e  mov eax, edi
;;>     90  mov [rcx+10h], rax
;;>     94  mov esi, [rcx]
;;>     96  mov edx, [rcx+4]
;;>     99  mov ecx, [rcx+8]
;;>     9c  mov rdi, r15
;;>     9f  mov rax, [rdi+38h]
;;>     a3  mov rax, [rax+70h]
;;>     a7  call rax
;;>     a9  mov rcx, r15
;;>     ac  mov rcx, [rcx+8]
;;>     b0  mov rdi, [rcx+28h]
;;>     b4  mov r10, rax
;;>     b7  mov rsp, rbp
;;>     ba  pop rbp
;;>     bb  jmp r10
;;> prefetch in function 0: done
