;; A comparator is inlined without a way out: its result comes from the inlined body or from the call. The test of its sign moves to both, and of the inlined
;; one a single comparison is left.
;;! tier = optimizing
;;! show = optimized
;;! function = 1
;;! plan = 0 -> 0
;;! contains = icmp ult
;;! lacks = icmp ugt
(module
  (type $comparator (func (param i32 i32) (result i32)))
  (memory 1)
  (table (export "table") 8 8 funcref)
  (func $compare (type $comparator) (local $a i32) (local $b i32)
    (i32.sub
      (i32.gt_u (local.tee $a (i32.load (local.get 0))) (local.tee $b (i32.load (local.get 1))))
      (i32.lt_u (local.get $a) (local.get $b))))
  (func (export "run") (param $p i32) (param $q i32) (param $f i32) (result i32)
    (i32.add
      (local.get $p)
      (i32.and (i32.shr_u (call_indirect (type $comparator) (local.get $p) (local.get $q) (local.get $f)) (i32.const 29)) (i32.const 4)))))

;;> function u0:1(i32, i32, i32) -> i32 tail {
;;>     ss0 = explicit_slot 8, align = 8
;;>     region0 = 16777216 "context"
;;>     region1 = 285212672 "table 0"
;;>     region2 = 268435456 "memory 0"
;;>     region3 = 150994944 "frame"
;;>     region4 = 100663296 "code"
;;>     sig0 = (i32, i32) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32):
;;>                                     v3 = get_pinned_reg.i64
;;> @0001                               v6 = iconst.i32 8
;;> @0001                               v7 = icmp uge v2, v6  ; v6 = 8
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block4:
;;> @0001                               v8 = load.i64 notrap aligned readonly can_move region0 v3-112
;;> @0001                               v9 = iconst.i64 4
;;> @0001                               v10 = ishl.i32 v2, v9  ; v9 = 4
;;> @0001                               v11 = uextend.i64 v10
;;> @0001                               v12 = iadd v8, v11
;;> @0001                               v13 = load.i64 notrap aligned region1 v12+8
;;> @0001                               v14 = iconst.i64 -176
;;> @0001                               v15 = iadd.i64 v3, v14  ; v14 = -176
;;> @0001                               v16 = icmp ne v13, v15
;;> @0001                               brif v16, block3, block5
;;>
;;>                                 block5:
;;> @0002                               v19 = uextend.i64 v0
;;> @0002                               v22 = load.i32 user72 region2 v19
;;> @0003                               v23 = uextend.i64 v1
;;> @0003                               v26 = load.i32 user72 region2 v23
;;> @0005                               v29 = icmp ult v22, v26
;;> @0005                               v30 = uextend.i32 v29
;;> @0007                               v64 = iconst.i32 2
;;> @0007                               v65 = ishl v30, v64  ; v64 = 2
;;> @0007                               jump block2(v65)
;;>
;;>                                 block3 cold:
;;> @0001                               trapnz.i8 v7, user4
;;>                                     v71 = load.i64 notrap aligned readonly can_move region0 v3-112
;;>                                     v72 = iconst.i64 4
;;>                                     v73 = ishl.i32 v2, v72  ; v72 = 4
;;>                                     v74 = uextend.i64 v73
;;>                                     v75 = iadd v71, v74
;;> @0001                               v40 = select_spectre_guard v7, v71, v75
;;> @0001                               v41 = load.i64 notrap aligned region1 v40
;;> @0001                               v42 = load.i64 notrap aligned readonly can_move region0 v3-8
;;> @0001                               v43 = load.i32 notrap aligned readonly can_move region0 v42
;;> @0001                               v44 = uextend.i64 v43
;;> @0001                               v45 = icmp ne v41, v44
;;> @0001                               brif v45, block7, block8
;;>
;;>                                 block7 cold:
;;> @0001                               v46 = load.i64 notrap aligned region1 v40+8
;;> @0001                               trapz v46, user5
;;> @0001                               trap user6
;;>
;;>                                 block8 cold:
;;> @0001                               v47 = load.i64 notrap aligned region1 v40+8
;;> @0001                               v48 = load.i64 notrap aligned readonly region0 v47+8
;;> @0001                               v49 = icmp ne v48, v3
;;> @0001                               brif v49, block9, block10
;;>
;;>                                 block9 cold:
;;> @0001                               store.i64 notrap aligned region0 v3, v48-56
;;> @0001                               v51 = stack_addr.i64 ss0
;;> @0001                               store.i64 notrap aligned region3 v3, v51
;;> @0001                               v52 = load.i64 notrap aligned region4 v47
;;> @0001                               set_pinned_reg.i64 v48
;;> @0001                               v53 = call_indirect sig0, v52(v0, v1)
;;> @0001                               v54 = load.i64 notrap aligned region3 v51
;;> @0001                               set_pinned_reg v54
;;> @0001                               jump block11(v53)
;;>
;;>                                 block10 cold:
;;> @0001                               v55 = load.i64 notrap aligned region4 v47
;;> @0001                               v56 = call_indirect sig0, v55(v0, v1)
;;> @0001                               jump block11(v56)
;;>
;;>                                 block11(v50: i32) cold:
;;> @0001                               v66 = iconst.i32 29
;;> @0001                               v67 = ushr v50, v66  ; v66 = 29
;;> @0001                               v68 = iconst.i32 4
;;> @0001                               v69 = band v67, v68  ; v68 = 4
;;> @0001                               jump block2(v69)
;;>
;;>                                 block2(v70: i32):
;;> @000a                               v61 = iadd.i32 v0, v70
;;> @000b                               return v61
;;> }
;;> inline-guarded in function 1: done
