//! Engine-wide signature ids: two function types get the same id if and only if they are equal, in any module of the process.
//!
//! A process-wide table keeps `call_indirect` between modules one compare. Ids are small and never 0. They are given out in the order in
//! which types are met, so they mean nothing in another process: compiled code reads them from its module's list (`VmContext::signatures`).
//!
//! Modules own the ids of their types ([`Signatures`]), and types those that they refer to; an id without an owner is given to another type. What a module's instances have
//! (functions, tags, tables) is their store's, which keeps the module. What may outlive all modules with a type (an adapter, a host's function, a type that the host
//! has in hand) pins its id, and then it stays.
//!
//! A type may refer to types, its own included (typed function references). In everything that leaves this file a reference's index is the id of what it refers
//! to, so that types of different modules can be compared as they are. Without the garbage collection proposal a module's type refers to earlier ones and
//! itself only; in the table's keys the reference to itself is index 0 of its recursion group.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, RwLock, RwLockReadGuard};
use wasmparser::{AbstractHeapType, FuncType, HeapType, RefType, UnpackedIndex, ValType};

#[derive(Default)]
struct Table {
    /// By the key form, and by the form that leaves this file.
    ids: HashMap<FuncType, u32>,
    /// By id, less one; none where it is free.
    types: Vec<Option<Entry>>,
    free: Vec<u32>,
}

struct Entry {
    ty: FuncType,
    /// Modules (once for each of their types that is this one), and types that refer to it.
    owners: AtomicU64,
    pinned: AtomicBool,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

fn table() -> RwLockReadGuard<'static, Table> {
    TABLE.read().unwrap_or_else(|e| e.into_inner())
}

impl Table {
    fn entry(&self, id: u32) -> &Entry {
        self.types[id as usize - 1].as_ref().expect("an id that is in use has an owner or is pinned")
    }

    /// The id of a type that is known, with one more owner.
    fn own(&self, key: &FuncType) -> Option<u32> {
        let &id = self.ids.get(key)?;
        self.entry(id).owners.fetch_add(1, Ordering::Relaxed);
        Some(id)
    }

    /// The same of one that is not. `None`: it refers to itself, and its id is larger than a reference can name.
    fn add(&mut self, key: &FuncType) -> Option<u32> {
        let id = self.free.last().copied().unwrap_or(self.types.len() as u32 + 1);
        let ty = map(key, |index| if index == ITSELF { UnpackedIndex::Module(id) } else { index })?;
        references(&ty).filter(|&other| other != id).for_each(|other| _ = self.entry(other).owners.fetch_add(1, Ordering::Relaxed));
        self.ids.insert(key.clone(), id);
        self.ids.insert(ty.clone(), id);
        let entry = Some(Entry { ty, owners: AtomicU64::new(1), pinned: AtomicBool::new(false) });
        match self.free.pop() {
            Some(_) => self.types[id as usize - 1] = entry,
            None => self.types.push(entry),
        }
        Some(id)
    }

    /// One owner of each is gone.
    fn release(&mut self, mut ids: Vec<u32>) {
        while let Some(id) = ids.pop() {
            let entry = self.types[id as usize - 1].as_mut().expect("it has an owner");
            *entry.owners.get_mut() -= 1;
            if *entry.owners.get_mut() > 0 || *entry.pinned.get_mut() {
                continue;
            }
            let Entry { ty, .. } = self.types[id as usize - 1].take().expect("just seen");
            self.ids.remove(&ty);
            if let Some(key) = map(&ty, |index| if index == UnpackedIndex::Module(id) { ITSELF } else { index }) {
                self.ids.remove(&key);
            }
            ids.extend(references(&ty).filter(|&other| other != id));
            self.free.push(id);
        }
    }
}

/// In a key, a reference to the type itself.
const ITSELF: UnpackedIndex = UnpackedIndex::RecGroup(0);

/// The ids that a type refers to.
fn references(ty: &FuncType) -> impl Iterator<Item = u32> + '_ {
    ty.params().iter().chain(ty.results()).filter_map(|value| match *value {
        ValType::Ref(ty) => id_of_reference(ty),
        _ => None,
    })
}

/// The id of a function type, whose references have ids already. It stays.
pub fn id(ty: &FuncType) -> u32 {
    let id = owned_id(ty).expect("only a module's types refer to themselves");
    pin(id);
    id
}

/// The id stays, whatever becomes of the modules that have the type.
pub fn pin(id: u32) {
    table().entry(id).pinned.store(true, Ordering::Relaxed);
}

/// What a type refers to stays.
pub fn pin_references(ty: &FuncType) {
    references(ty).for_each(pin);
}

/// See [`Table::add`].
fn owned_id(key: &FuncType) -> Option<u32> {
    let known = table().own(key);
    known.or_else(|| {
        let mut table = TABLE.write().unwrap_or_else(|e| e.into_inner());
        table.own(key).or_else(|| table.add(key))
    })
}

/// The function type of an id that is in use.
pub fn of(id: u32) -> FuncType {
    table().entry(id).ty.clone()
}

/// Ids of a module's types, by index. They are in use as long as this lives.
#[derive(Debug, Default)]
pub struct Signatures(Vec<u32>);

impl Deref for Signatures {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl Drop for Signatures {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            TABLE.write().unwrap_or_else(|e| e.into_inner()).release(std::mem::take(&mut self.0));
        }
    }
}

/// Ids of a module's types in order, which refer to each other by their index in the module. `None`: a million types are in use, and one of these refers to a later one. (Taken for a
/// reference to any function it would be the same as another such type, whose functions a guest would then call as its own's.)
pub(crate) fn of_module(types: &[FuncType]) -> Option<Signatures> {
    let mut ids = Signatures(Vec::with_capacity(types.len()));
    for ty in types {
        let own = ids.len() as u32;
        let key = map(ty, |index| match index {
            UnpackedIndex::Module(index) if index == own => ITSELF,
            UnpackedIndex::Module(index) => UnpackedIndex::Module(ids[index as usize]),
            other => other,
        })?;
        ids.0.push(owned_id(&key)?);
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

/// A value type for messages: with the function type that a reference names, whose id says nothing.
pub fn text(ty: ValType) -> String {
    match ty {
        ValType::Ref(reference) => match id_of_reference(reference) {
            Some(id) => format!("(ref {}{})", if reference.is_nullable() { "null " } else { "" }, of(id)),
            None => ty.to_string(),
        },
        _ => ty.to_string(),
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

    /// Ids of types that only this test knows.
    fn ids_in_use(types: &[FuncType]) -> usize {
        let table = table();
        types.iter().filter(|ty| table.ids.contains_key(ty)).count()
    }

    #[test]
    fn an_id_goes_with_its_last_owner_and_is_used_again() {
        let odd = |marks: usize| FuncType::new(vec![ValType::F32; 900 + marks], []);
        let of_both = |first: usize| [odd(first), FuncType::new([concrete(0), concrete(1)], [ValType::F64; 90])];
        let (one, two) = (of_module(&of_both(0)).unwrap(), of_module(&of_both(0)).unwrap());
        assert_eq!(one[..], two[..]);
        let (first, refers) = (one[0], one[1]);
        drop(one);
        assert_eq!((of(first), of(refers).params()[0]), (odd(0), concrete(first)));
        drop(two);
        assert_eq!(ids_in_use(&[odd(0)]), 0, "no module has it");
        let is_consistent = || {
            let table = table();
            let in_use = |id: u32| table.types[id as usize - 1].is_some();
            table.ids.iter().all(|(ty, &id)| references(ty).chain([id]).all(in_use))
        };
        assert!(is_consistent());
        // What a type refers to stays as long as the type does, whoever else had it.
        let [target, referrer] = [odd(1), FuncType::new([concrete(0)], [ValType::F64; 91])];
        let both = of_module(&[target.clone(), referrer]).unwrap();
        let again = of_module(&[of(both[0])]).unwrap();
        pin(both[1]);
        let (target_id, referrer_id) = (both[0], both[1]);
        drop((both, again));
        assert_eq!((of(target_id), of(referrer_id).params()[0]), (target.clone(), concrete(target_id)));
        // A host's type stays.
        let host = id(&odd(2));
        drop(of_module(&[odd(2)]).unwrap());
        assert_eq!(of(host), odd(2));
        // Modules that come and go take no more ids.
        let high = || table().types.len();
        let before = high();
        for round in 0..1000 {
            drop(of_module(&[odd(3 + round % 7), FuncType::new([concrete(0), concrete(1)], [])]).unwrap());
        }
        assert!(high() < before + 500, "{before}, {} (other tests have types too)", high());
        assert!(is_consistent());
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
