//! Tables whose contents are known before any instance exists: nothing but element segments writes them.
//!
//! Such a table is defined by the module, not exported, and no body has an operator that writes or grows it. Its entries are those of the active
//! segments at constant offsets, in order. An instance whose segments do not fit is never finished, but its functions may be in a table that it imports, by a segment that did fit, and run: so every
//! segment up to the table's last one must be known to fit.

use super::{ConstOp, ElementItems, ElementSegment, ExportItem, Module, SegmentMode};
use wasmparser::Operator;

/// Longest table that is looked at; longer ones count as written. 1 Mi entries: a guess.
const MOST_ENTRIES: u64 = 1 << 20;

/// A table's entries: the functions, where it is constant.
type Entries = Option<Box<[Option<u32>]>>;

/// The constant tables of a module, found at first use: all bodies are read once.
#[derive(Default)]
pub(crate) struct ConstantTables(std::sync::OnceLock<Box<[Entries]>>);

impl Module {
    /// The function of each entry of a table that only element segments write, null entries as `None`; `None` for any other table.
    pub fn constant_table(&self, table: u32) -> Option<&[Option<u32>]> {
        // Most tables that are written are exported or imported: for those no body is read.
        if !self.may_be_constant(table) {
            return None;
        }
        let tables = self.constant_tables.0.get_or_init(|| {
            let written = self.written_tables();
            (0..self.tables.len()).map(|table| if written[table] { None } else { self.entries(table as u32) }).collect()
        });
        tables[table as usize].as_deref()
    }

    fn may_be_constant(&self, table: u32) -> bool {
        table >= self.imported_tables
            && self.tables[table as usize].initial <= MOST_ENTRIES
            && !self.exports.iter().any(|(_, item)| *item == ExportItem::Table(table))
    }

    fn written_tables(&self) -> Vec<bool> {
        let mut written: Vec<bool> = (0..self.tables.len() as u32).map(|table| !self.may_be_constant(table)).collect();
        for own in 0..self.bodies.len() as u32 {
            let reader = self.body(self.imported_functions + own).get_operators_reader().expect("the body was validated");
            for operator in reader {
                match operator.expect("the body was validated") {
                    Operator::TableSet { table }
                    | Operator::TableGrow { table }
                    | Operator::TableFill { table }
                    | Operator::TableInit { table, .. }
                    | Operator::TableCopy { dst_table: table, .. } => written[table as usize] = true,
                    _ => {}
                }
            }
        }
        written
    }

    /// What the element segments make of a table; `None` where that is not known.
    fn entries(&self, table: u32) -> Entries {
        let mut entries = vec![None; self.tables[table as usize].initial as usize];
        let init = &self.table_inits[(table - self.imported_tables) as usize];
        if init.init.is_some() {
            return None;
        }
        let is_own = |segment: &ElementSegment| matches!(segment.mode, SegmentMode::Active { index, .. } if index == table);
        let behind_last = self.elements.iter().rposition(is_own).map_or(0, |last| last + 1);
        for segment in &self.elements[..behind_last] {
            let SegmentMode::Active { index, offset } = &segment.mode else { continue };
            let offset = match offset.ops[..] {
                [ConstOp::I32(offset)] => offset as usize,
                _ => return None,
            };
            if *index != table {
                let count = match &segment.items {
                    ElementItems::Functions(functions) => functions.len(),
                    ElementItems::Expressions(expressions) => expressions.len(),
                };
                // (one that is imported has its type's minimum at least)
                if offset as u64 + count as u64 > self.tables[*index as usize].initial {
                    return None;
                }
                continue;
            }
            let functions: Vec<Option<u32>> = match &segment.items {
                ElementItems::Functions(functions) => functions.iter().copied().map(Some).collect(),
                ElementItems::Expressions(expressions) => (expressions.iter())
                    .map(|expression| match expression.ops[..] {
                        [ConstOp::RefFunc(function)] => Some(Some(function)),
                        [ConstOp::RefNull] => Some(None),
                        _ => None,
                    })
                    .collect::<Option<_>>()?,
            };
            entries.get_mut(offset..offset.checked_add(functions.len())?)?.copy_from_slice(&functions);
        }
        Some(entries.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(rest: &str) -> Option<Vec<Option<u32>>> {
        let text = format!(
            "(module (import \"a\" \"i\" (global $i i32)) (func $f) (func $g) (table $t 3 funcref) (table $u 1 funcref)
               (elem (table $t) (i32.const 1) func $f $g) (elem declare func $f) {rest})"
        );
        let module = Module::new(text.as_bytes()).unwrap();
        module.constant_table(0).map(<[_]>::to_vec)
    }

    #[test]
    fn segments_in_order_and_what_makes_a_table_unknown() {
        assert_eq!(entries(""), Some(vec![None, Some(0), Some(1)]));
        assert_eq!(entries("(elem (table $t) (i32.const 2) func $f)"), Some(vec![None, Some(0), Some(0)]));
        assert_eq!(entries("(elem (table $u) (global.get $i) func $f)"), Some(vec![None, Some(0), Some(1)]));
        assert_eq!(
            entries("(elem (table $u) (i32.const 0) func $f) (elem (table $t) (i32.const 0) func $g)"),
            Some(vec![Some(1), Some(0), Some(1)])
        );
        // What comes before its own may end the instantiation.
        assert_eq!(entries("(elem (table $u) (i32.const 1) func $f) (elem (table $t) (i32.const 0) func $g)"), None);
        assert_eq!(entries("(elem (table $u) (global.get $i) func $f) (elem (table $t) (i32.const 0) func $g)"), None);
        for written in [
            "(export \"t\" (table $t))",
            "(func (table.set $t (i32.const 0) (ref.func $f)))",
            "(func (table.copy $t $u (i32.const 0) (i32.const 0) (i32.const 0)))",
            "(func (drop (table.grow $t (ref.null func) (i32.const 1))))",
            "(func (table.fill $t (i32.const 0) (ref.null func) (i32.const 1)))",
            "(elem (table $t) (global.get $i) func $f)",
            "(elem (table $t) (i32.const 3) func $f)",
        ] {
            assert_eq!(entries(written), None, "{written}");
        }
    }
}
