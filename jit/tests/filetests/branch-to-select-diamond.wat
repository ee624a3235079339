;; Arms that write different memory: their accesses are alike, so one load and one store to the address that the flag selects remain, and
;; nothing goes to a scratch slot.
;;! tier = optimizing
;;! show = assembly
;;! decision = {"branch-to-select": {"offset": "If#0"}}
;;! contains = branch-to-select in function 0: done
;;! contains = cmov
(module
  (memory 1)
  (func (param $f i32) (param $sums i32) (param $mixes i32) (param $x i32)
    (if (local.get $f)
      (then (i32.store (local.get $sums) (i32.add (i32.load (local.get $sums)) (local.get $x))))
      (else (i32.store (local.get $mixes) (i32.xor (i32.load (local.get $mixes)) (local.get $x)))))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov r8, rdx
;;>      7  mov rax, [r15-60h]
;;>      b  mov edx, esi
;;>      d  add rdx, rax
;;>     10  mov rsi, r8
;;>     13  mov esi, esi
;;>     15  add rax, rsi
;;>     18  test edi, edi
;;>     1a  cmovne rax, rdx
;;>     1e  mov edx, [rax]
;;>     20  lea esi, [rdx+rcx]
;;>     23  xor edx, ecx
;;>     25  test edi, edi
;;>     27  cmovne edx, esi
;;>     2a  mov [rax], edx
;;>     2c  mov rsp, rbp
;;>     2f  pop rbp
;;>     30  ret
;;> branch-to-select in function 0: done
