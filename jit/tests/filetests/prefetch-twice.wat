;;! tier = optimizing
;;! show = assembly
;;! decision = {"prefetch": {"offset": "I32Load#1", "kind": "indirect", "distance": 64}}
;;! intel = true
;;! contains = prefetcht0
;;! contains = prefetcht1
;;! contains = prefetch in function 0: done
;; As prefetch-gather, on a processor whose first cache waits for few lines at once: 64 rounds ahead into the second, and 8 rounds ahead into the first.
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
;;>      4  xor eax, eax
;;>      6  mov rcx, [r15-60h]
;;>      a  mov r8d, esi
;;>      d  mov r8d, [r15+r8]
;;>     11  lea r9d, [rsi+100h]
;;>     18  mov r9d, [rcx+r9]
;;>     1c  lea r9d, [rdx+r9*4]
;;>     20  prefetcht1 [rcx+r9]
;;>     25  lea r9d, [rsi+20h]
;;>     29  mov r9d, [rcx+r9]
;;>     2d  lea r9d, [rdx+r9*4]
;;>     31  prefetcht0 [rcx+r9]
;;>     36  lea r8d, [rdx+r8*4]
;;>     3a  mov r8d, [r15+r8]
;;>     3e  sub edi, 1
;;>     41  add esi, 4
;;>     44  add eax, r8d
;;>     47  test edi, edi
;;>     49  jne short 50h
;;>     4b  mov rsp, rbp
;;>     4e  pop rbp
;;>     4f  ret
;;>     50  cmp r15, [r15-88h]
;;>     58  jb near 60h
;;>     5e  jmp short 0Ah
;;>     60  mov rcx, [r15-40h]
;;>     64  mov rcx, [rcx+28h]
;;>     68  mov r8, 2200000000h
;;>     72  mov [rcx], r8
;;>     75  mov qword [rcx+8], 7
;;>     7d  mov eax, eax
;;>     7f  mov [rcx+28h], rax
;;>     83  mov eax, edx
;;>     85  mov [rcx+20h], rax
;;>     89  mov eax, esi
;;>     8b  mov [rcx+18h], rax
;;>     8f  mov eax, edi
;;>     91  mov [rcx+10h], rax
;;>     95  mov esi, [rcx]
;;>     97  mov edx, [rcx+4]
;;>     9a  mov ecx, [rcx+8]
;;>     9d  mov rdi, r15
;;>     a0  mov rax, [r15-10h]
;;>     a4  mov rax, [rax+70h]
;;>     a8  call rax
;;>     aa  mov rcx, [r15-40h]
;;>     ae  mov rdi, [rcx+28h]
;;>     b2  mov r10, rax
;;>     b5  mov rsp, rbp
;;>     b8  pop rbp
;;>     b9  jmp r10
;;> prefetch in function 0: done
