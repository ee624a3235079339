//! The name section: names of the module and its functions. Advisory: whatever is malformed is skipped, never an error.

use wasmparser::{KnownCustom, Name, NameSectionReader};

/// What was found.
#[derive(Default)]
pub(super) struct Names {
    pub(super) module: Option<String>,
    pub(super) functions: Vec<Option<String>>,
}

impl Names {
    /// Adds what a custom section says, if it is the name section. Names beyond `functions` entries are dropped.
    pub(super) fn read(&mut self, section: &wasmparser::CustomSectionReader<'_>, functions: usize) {
        if let KnownCustom::Name(reader) = section.as_known() {
            self.read_section(reader, functions);
        }
    }

    fn read_section(&mut self, reader: NameSectionReader<'_>, functions: usize) {
        for name in reader {
            match name {
                Ok(Name::Module { name, .. }) => self.module = Some(name.to_owned()),
                Ok(Name::Function(map)) => {
                    self.functions.resize(functions, None);
                    for naming in map {
                        let Ok(naming) = naming else { break };
                        if let Some(slot) = self.functions.get_mut(naming.index as usize) {
                            *slot = Some(naming.name.to_owned());
                        }
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }
}
