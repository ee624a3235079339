//! `--invoke`: arguments from text to values of the function's types, results from values to text. A function without parameters reads them by itself.

use crate::failure::Failure;
use backedge::{AsContextMut, ExternType, FuncType, Instance, Module, Val, ValType};
use std::fmt;

/// The results had nowhere to go.
#[derive(Debug)]
pub struct Unwritten(std::io::Error);

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the results: {}", self.0)
    }
}

impl std::error::Error for Unwritten {}

/// A call that fits its function.
pub struct Call {
    name: String,
    ty: FuncType,
    args: Vec<Val>,
}

/// Checks the export and turns the arguments into values.
pub fn prepare(module: &Module, name: &str, args: &[&str]) -> Result<Call, Failure> {
    let ty = match module.get_export(name) {
        Some(ExternType::Func(ty)) => ty,
        Some(other) => {
            return Err(Failure::Usage(format!("export `{name}` is not a function: {other}")));
        }
        None => {
            let known: Vec<String> = module
                .exports()
                .filter(|export| matches!(export.ty(), ExternType::Func(_)))
                .map(|export| format!("`{}`", export.name()))
                .take(12)
                .collect();
            let known =
                if known.is_empty() { "the module exports no functions".to_owned() } else { format!("it has {}", known.join(", ")) };
            return Err(Failure::Usage(format!("no export `{name}`; {known}")));
        }
    };
    // A function without parameters in a module that reads its command line: a `main` by another name, as reactors have it.
    let reads_its_own = module.imports().any(|import| (import.module(), import.name()) == ("wasi_snapshot_preview1", "args_get"));
    let args = if ty.params().len() == 0 && reads_its_own { &[] } else { args };
    if args.len() != ty.params().len() {
        return Err(Failure::Usage(format!("`{name}` takes {} arguments {ty}, found {}", ty.params().len(), args.len())));
    }
    let args = args
        .iter()
        .zip(ty.params())
        .enumerate()
        .map(|(index, (arg, ty))| {
            let expected = |what: String| Failure::Usage(format!("argument {} of `{name}`: expected {what}, found `{arg}`", index + 1));
            parse(arg, ty).ok_or_else(|| expected(accepted(arg, ty)))
        })
        .collect::<Result<Vec<Val>, Failure>>()?;
    Ok(Call { name: name.to_owned(), ty, args })
}

impl Call {
    /// Calls the function of an instance of the module and writes its results to `out`, one a line.
    pub fn run(&self, mut store: impl AsContextMut, instance: Instance, mut out: impl std::io::Write) -> Result<(), backedge::Error> {
        let func =
            instance.get_func(&mut store, &self.name).ok_or_else(|| backedge::format_err!("no exported function `{}`", self.name))?;
        let mut results: Vec<Val> = self.ty.results().map(|ty| Val::default_for_ty(&ty).unwrap_or(Val::I32(0))).collect();
        func.call(&mut store, &self.args, &mut results)?;
        let lines: String = results.iter().map(|result| format!("{}\n", print(result))).collect();
        match out.write_all(lines.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Unwritten(error).into()),
            // (a reader that went away is not the guest's failure)
            _ => Ok(()),
        }
    }
}

fn parse(text: &str, ty: ValType) -> Option<Val> {
    match ty {
        ValType::I32 => integer(text, 32).map(|bits| Val::I32(bits as i32)),
        ValType::I64 => integer(text, 64).map(|bits| Val::I64(bits as i64)),
        ValType::F32 => text.parse().ok().map(|value: f32| value.into()),
        ValType::F64 => text.parse().ok().map(|value: f64| value.into()),
        ValType::V128 => {
            let digits = text.strip_prefix("0x")?;
            u128::from_str_radix(digits, 16).ok().map(Val::from)
        }
        ValType::Ref(ty) => (text == "null").then(|| Val::null_ref(ty.heap_type())),
    }
}

/// What would have been taken in place of `text`.
fn accepted(text: &str, ty: ValType) -> String {
    // What is too large for 64 bits too is still a number.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match ty {
        ValType::I32 if is_number => format!("i32 ({} to {})", i32::MIN, u32::MAX),
        ValType::I64 if is_number => format!("i64 ({} to {})", i64::MIN, u64::MAX),
        ValType::V128 => "v128 as `0x` and hexadecimal digits".to_owned(),
        ValType::Ref(_) => format!("{ty}, of which only `null` can be given here"),
        ty => ty.to_string(),
    }
}

/// A decimal or hexadecimal integer, signed or unsigned, of at most `bits` bits.
fn integer(text: &str, bits: u32) -> Option<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let most = if negative { 1u64 << (bits - 1) } else { u64::MAX >> (64 - bits) };
    (magnitude <= most).then(|| if negative { magnitude.wrapping_neg() } else { magnitude })
}

fn print(value: &Val) -> String {
    match value {
        Val::I32(value) => value.to_string(),
        Val::I64(value) => value.to_string(),
        Val::F32(bits) => f32::from_bits(*bits).to_string(),
        Val::F64(bits) => f64::from_bits(*bits).to_string(),
        Val::V128(value) => format!("{:#034x}", value.as_u128()),
        Val::FuncRef(None) | Val::ExternRef(None) | Val::ExnRef(None) => "null".to_owned(),
        Val::FuncRef(Some(_)) => "funcref".to_owned(),
        Val::ExternRef(Some(_)) => "externref".to_owned(),
        Val::ExnRef(Some(_)) => "exnref".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_argument_is_told_what_would_have_been_right() {
        assert_eq!(accepted("-2147483649", ValType::I32), "i32 (-2147483648 to 4294967295)");
        assert_eq!(accepted("one", ValType::I32), "i32");
        assert_eq!(accepted("99999999999999999999", ValType::I64), "i64 (-9223372036854775808 to 18446744073709551615)");
        assert_eq!(accepted("1", ValType::V128), "v128 as `0x` and hexadecimal digits");
        assert_eq!(accepted("1", ValType::FUNCREF), "funcref, of which only `null` can be given here");
    }

    #[test]
    fn integers_fit_their_type() {
        assert_eq!(integer("4294967295", 32), Some(u32::MAX.into()));
        assert_eq!(integer("4294967296", 32), None);
        assert_eq!(integer("-2147483648", 32).map(|v| v as i32), Some(i32::MIN));
        assert_eq!(integer("-2147483649", 32), None);
        assert_eq!(integer("0x10", 64), Some(16));
        assert_eq!(integer("ten", 64), None);
        assert_eq!(integer("18446744073709551615", 64), Some(u64::MAX));
    }
}
