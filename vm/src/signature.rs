//! Engine-wide signature ids: two function types get the same id if and only if they are equal, in any module of the process.
//!
//! A process-wide table keeps `call_indirect` between modules one compare. Ids are small, never 0, and never freed.

use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};
use wasmparser::FuncType;

#[derive(Default)]
struct Table {
    ids: HashMap<FuncType, u32>,
    types: Vec<FuncType>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

/// The id of a function type.
pub fn id(ty: &FuncType) -> u32 {
    if let Some(&id) = TABLE.read().unwrap_or_else(|e| e.into_inner()).ids.get(ty) {
        return id;
    }
    let mut table = TABLE.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&id) = table.ids.get(ty) {
        return id;
    }
    table.types.push(ty.clone());
    let id = table.types.len() as u32;
    table.ids.insert(ty.clone(), id);
    id
}

/// The function type of an id that [`id`] gave out.
pub fn of(id: u32) -> FuncType {
    TABLE.read().unwrap_or_else(|e| e.into_inner()).types[id as usize - 1].clone()
}
