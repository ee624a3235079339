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
;;>      7  mov rax, r15
;;>      a  mov rax, [rax+48h]
;;>      e  mov edx, esi
;;>     10  add rdx, rax
;;>     13  mov rsi, r8
;;>     16  mov esi, esi
;;>     18  add rax, rsi
;;>     1b  test edi, edi
;;>     1d  cmovne rax, rdx
;;>     21  mov edx, [rax]
;;>     23  lea esi, [rdx+rcx]
;;>     26  xor edx, ecx
;;>     28  test edi, edi
;;>     2a  cmovne edx, esi
;;>     2d  mov [rax], edx
;;>     2f  mov rsp, rbp
;;>     32  pop rbp
;;>     33  ret
;;> branch-to-select in function 0: done
