//! 64-bit hashes in JSON, as 16 hexadecimal digits: many readers of JSON (JavaScript's, older `jq`) round numbers above 2^53. Numbers are read too, and are what
//! formats that nobody reads by eye have.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum Either {
    Number(u64),
    Text(String),
}

/// Writes a hash.
pub fn serialize<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() { serializer.collect_str(&format_args!("{hash:016x}")) } else { serializer.serialize_u64(*hash) }
}

/// Reads a hash.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    if !deserializer.is_human_readable() {
        return u64::deserialize(deserializer);
    }
    match Either::deserialize(deserializer).map_err(|_| D::Error::custom("a module's hash is 16 hexadecimal digits"))? {
        Either::Number(hash) => Ok(hash),
        Either::Text(text) => {
            u64::from_str_radix(&text, 16).map_err(|_| D::Error::custom(format!("`{text}` is no hash: expected 16 hexadecimal digits")))
        }
    }
}

/// The same of what may be absent.
pub mod option {
    use super::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    struct Hash(#[serde(with = "super")] u64);

    /// Writes a hash, or null.
    pub fn serialize<S: Serializer>(hash: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match hash {
            Some(hash) => super::serialize(hash, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a hash, or null.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        Ok(Option::<Hash>::deserialize(deserializer)?.map(|hash| hash.0))
    }
}
