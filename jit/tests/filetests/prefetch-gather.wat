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
;;>      9  mov r8, r15
;;>      c  mov r8d, [r8+70h]
;;>     10  test r8d, r8d
;;>     13  jne near 59h
;;>     19  mov r8, [rcx+40h]
;;>     1d  lea r9d, [rsi+100h]
;;>     24  mov r9d, [r8+r9]
;;>     28  lea r9d, [rdx+r9*4]
;;>     2c  prefetcht0 [r8+r9]
;;>     31  mov r9d, esi
;;>     34  mov r9d, [r8+r9]
;;>     38  lea r9d, [rdx+r9*4]
;;>     3c  mov r8d, [r8+r9]
;;>     40  sub edi, 1
;;>     43  add esi, 4
;;>     49  add eax, r8d
;;>     4c  test edi, edi
;;>     4e  jne near 9
;;>     54  mov rsp, rbp
;;>     57  pop rbp
;;>     58  ret
;;>     59  mov r8, r15
;;>     5c  mov r8d, [r8+70h]
;;>     60  test r8d, 0FFFFFFFEh
;;>     67  je near 7Ah
;;>     6d  xor r8d, 22h
;;>     71  test r8d, r8d
;;>     74  jne near 19h
;;>     7a  mov rcx, r15
;;>     7d  mov rcx, [rcx+8]
;;>     81  mov rcx, [rcx+28h]
;;>     85  mov r8, 2200000000h
;;>     8f  mov [rcx], r8
;;>     92  mov qword [rcx+8], 7
;;>     9a  mov edi, edi
;;>     9c  mov [rcx+10h], rdi
;;>     a0  mov esi, esi
;;>     a2  mov [rcx+18h], rsi
;;>     a6  mov edx, edx
;;>     a8  mov [rcx+20h], rdx
;;>     ac  mov eax, eax
;;>     ae  mov [rcx+28h], rax
;;>     b2  mov esi, [rcx]
;;>     b4  mov edx, [rcx+4]
;;>     b7  mov ecx, [rcx+8]
;;>     ba  mov rdi, r15
;;>     bd  mov rax, [rdi+30h]
;;>     c1  mov rax, [rax+60h]
;;>     c5  call rax
;;>     c7  mov rcx, r15
;;>     ca  mov rcx, [rcx+8]
;;>     ce  mov rdi, [rcx+28h]
;;>     d2  mov r10, rax
;;>     d5  mov rsp, rbp
;;>     d8  pop rbp
;;>     d9  jmp r10
;;> prefetch in function 0: done
