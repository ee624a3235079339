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
;;>      4  mov r11d, esi
;;>      7  mov r10d, edx
;;>      a  test edi, edi
;;>      c  cmovne r10, r11
;;>     10  mov r9d, [r15+r10]
;;>     14  lea eax, [r9+rcx]
;;>     18  xor r9d, ecx
;;>     1b  test edi, edi
;;>     1d  cmovne r9d, eax
;;>     21  mov [r15+r10], r9d
;;>     25  mov rsp, rbp
;;>     28  pop rbp
;;>     29  ret
;;> branch-to-select in function 0: done
