//! Engine-wide signature ids: two function types get the same id if and only if they are equal, in any module of the process.
//!
//! A process-wide table keeps `call_indirect` between modules one compare. Ids are small, never 0, and never freed. They are given out in the order in
//! which types are met, so they mean nothing in another process: compiled code reads them from its module's list (`VmContext::signatures`).
//!
//! A type may refer to types, its own included (typed function references). In everything that leaves this file a reference's index is the id of what it refers
//! to, so that types of different modules can be compared as they are. Without the garbage collection proposal a module's type refers to earlier ones and
//! itself only; in the table's keys the reference to itself is index 0 of its recursion group.

use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};
use wasmparser::{AbstractHeapType, FuncType, HeapType, RefType, UnpackedIndex, ValType};

#[derive(Default)]
struct Table {
    /// By the key form, and by the form that leaves this file.
    ids: HashMap<FuncType, u32>,
    types: Vec<FuncType>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

/// The id of a function type, whose references have ids already.
pub fn id(ty: &FuncType) -> u32 {
    id_of_key(ty).expect("only a module's types refer to themselves")
}

/// `None`: it refers to itself, and its id is larger than a reference can name.
fn id_of_key(ty: &FuncType) -> Option<u32> {
    if let Some(&id) = TABLE.read().unwrap_or_else(|e| e.into_inner()).ids.get(ty) {
        return Some(id);
    }
    let mut table = TABLE.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&id) = table.ids.get(ty) {
        return Some(id);
    }
    let id = table.types.len() as u32 + 1;
    let own = |index| if index == UnpackedIndex::RecGroup(0) { UnpackedIndex::Module(id) } else { index };
    let resolved = map(ty, own)?;
    table.ids.insert(ty.clone(), id);
    table.ids.insert(resolved.clone(), id);
    table.types.push(resolved);
    Some(id)
}

/// The function type of an id that [`id`] gave out.
pub fn of(id: u32) -> FuncType {
    TABLE.read().unwrap_or_else(|e| e.into_inner()).types[id as usize - 1].clone()
}

/// Ids of a module's types in order, which refer to each other by their index in the module. `None`: the process has met a million types, and one of these refers to a later one. (Taken for a
/// reference to any function it would be the same as another such type, whose functions a guest would then call as its own's.)
pub(crate) fn of_module(types: &[FuncType]) -> Option<Vec<u32>> {
    let mut ids: Vec<u32> = Vec::with_capacity(types.len());
    for ty in types {
        let own = ids.len() as u32;
        let key = map(ty, |index| match index {
            UnpackedIndex::Module(index) if index == own => UnpackedIndex::RecGroup(0),
            UnpackedIndex::Module(index) => UnpackedIndex::Module(ids[index as usize]),
            other => other,
        })?;
        ids.push(id_of_key(&key)?);
    }
    Some(ids)
}

fn map(ty: &FuncType, index: impl Fn(UnpackedIndex) -> UnpackedIndex) -> Option<FuncType> {
    let values = |types: &[ValType]| -> Option<Vec<ValType>> {
        let value = |ty: &ValType| match *ty {
            ValType::Ref(ty) => map_reference(ty, &index).map(ValType::Ref),
            ty => Some(ty),
        };
        types.iter().map(value).collect()
    };
    Some(FuncType::new(values(ty.params())?, values(ty.results())?))
}

/// `None` where the index is larger than a reference can name (2^20 - 1).
fn map_reference(ty: RefType, index: impl Fn(UnpackedIndex) -> UnpackedIndex) -> Option<RefType> {
    match ty.heap_type() {
        HeapType::Concrete(at) => RefType::new(ty.is_nullable(), HeapType::Concrete(index(at))),
        _ => Some(ty),
    }
}

/// A module's reference type with ids in place of its type indices.
pub(crate) fn reference(ids: &[u32], ty: RefType) -> Option<RefType> {
    map_reference(ty, |index| match index {
        UnpackedIndex::Module(index) => UnpackedIndex::Module(ids[index as usize]),
        other => other,
    })
}

/// A module's value type with ids in place of its type indices.
pub(crate) fn value(ids: &[u32], ty: ValType) -> Option<ValType> {
    match ty {
        ValType::Ref(ty) => reference(ids, ty).map(ValType::Ref),
        ty => Some(ty),
    }
}

/// The signature id that a reference type names.
pub fn id_of_reference(ty: RefType) -> Option<u32> {
    match ty.heap_type() {
        HeapType::Concrete(UnpackedIndex::Module(id)) => Some(id),
        _ => None,
    }
}

/// Whether a reference type is one of functions: its values are null or the address of a `VmFunc`.
pub fn is_function(ty: RefType) -> bool {
    match ty.heap_type() {
        HeapType::Concrete(_) | HeapType::Exact(_) => true,
        HeapType::Abstract { ty, .. } => matches!(ty, AbstractHeapType::Func | AbstractHeapType::NoFunc),
    }
}

/// Whether every value of `found` is one of `expected`.
pub fn is_subtype(found: ValType, expected: ValType) -> bool {
    use AbstractHeapType::{Exn, Extern, Func, NoExn, NoExtern, NoFunc};
    let (ValType::Ref(found), ValType::Ref(expected)) = (found, expected) else {
        return found == expected;
    };
    let heap = found.heap_type() == expected.heap_type()
        || match (found.heap_type(), expected.heap_type()) {
            (HeapType::Concrete(_), HeapType::Abstract { ty: Func, .. }) => true,
            (HeapType::Abstract { ty: NoFunc, .. }, HeapType::Concrete(_)) => true,
            (HeapType::Abstract { ty: found, .. }, HeapType::Abstract { ty: expected, .. }) => {
                matches!((found, expected), (NoFunc, Func) | (NoExtern, Extern) | (NoExn, Exn))
            }
            _ => false,
        };
    heap && (!found.is_nullable() || expected.is_nullable())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concrete(index: u32) -> ValType {
        ValType::Ref(RefType::new(true, HeapType::Concrete(UnpackedIndex::Module(index))).unwrap())
    }

    #[test]
    fn types_of_different_modules_are_compared_by_structure() {
        // (type 0) refers to itself, (type 1) to type 0; in the second module something stands before them.
        let first = of_module(&[FuncType::new([concrete(0)], []), FuncType::new([concrete(0), ValType::I32], [])]).unwrap();
        let second = of_module(&[
            FuncType::new([], [ValType::F64]),
            FuncType::new([concrete(1)], []),
            FuncType::new([concrete(1), ValType::I32], []),
        ])
        .unwrap();
        assert_eq!(first[..], second[1..]);
        assert_ne!(first[0], first[1]);
        // What leaves the table is found again.
        assert_eq!(id(&of(first[0])), first[0]);
        assert_eq!(of(first[1]).params()[0], concrete(first[0]));
        assert_ne!(of_module(&[FuncType::new([ValType::Ref(RefType::FUNCREF)], [])]).unwrap()[0], first[0]);
    }

    #[test]
    fn a_type_that_no_reference_can_name_is_none() {
        let index = |_| UnpackedIndex::Module(1 << 20);
        let last = |_| UnpackedIndex::Module((1 << 20) - 1);
        let refers = FuncType::new([concrete(0)], []);
        assert!(map(&refers, index).is_none() && map(&refers, last).is_some());
        assert!(reference(&[1 << 20], RefType::new(true, HeapType::Concrete(UnpackedIndex::Module(0))).unwrap()).is_none());
        assert!(map(&FuncType::new([ValType::I32], []), index).is_some());
    }

    #[test]
    fn subtypes() {
        let reference = |nullable, heap| ValType::Ref(RefType::new(nullable, heap).unwrap());
        let own = HeapType::Concrete(UnpackedIndex::Module(5));
        assert!(is_subtype(reference(false, own), reference(true, HeapType::FUNC)));
        assert!(is_subtype(reference(false, own), reference(true, own)));
        assert!(!is_subtype(reference(true, own), reference(false, own)));
        assert!(!is_subtype(reference(true, HeapType::FUNC), reference(true, own)));
        assert!(!is_subtype(reference(true, HeapType::EXTERN), reference(true, HeapType::FUNC)));
        assert!(is_subtype(ValType::I32, ValType::I32) && !is_subtype(ValType::I32, ValType::I64));
    }
}
