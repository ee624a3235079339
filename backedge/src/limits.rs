//! Limits on what a guest may allocate: wasmtime's `ResourceLimiter` and the ready-made [`StoreLimits`].

use crate::{Error, Result, bail};

/// Decides about growth of memories and tables and about counts of objects in a store. Register with [`Store::limiter`](crate::Store::limiter).
pub trait ResourceLimiter: Send {
    /// A memory is about to be created or to grow; sizes in bytes, `maximum` as its type declares.
    ///
    /// `Ok(false)` makes `memory.grow` return -1 (creation fails); an error becomes the guest's trap.
    ///
    /// It is asked for exceptions too, also of modules that have no memory: where the objects that a store keeps take more than 1 MiB together, and each
    /// time they would take more than was allowed. `maximum` is then `None`, and `Ok(false)` ends the guest with an error.
    ///
    /// # Errors
    /// The limiter's own.
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool>;

    /// A table is about to be created or to grow; sizes in elements. As [`ResourceLimiter::memory_growing`].
    ///
    /// # Errors
    /// The limiter's own.
    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool>;

    /// A memory did not grow though [`ResourceLimiter::memory_growing`] allowed it, or was not asked because no memory is as large: `memory.grow` returns -1. An error becomes the
    /// guest's trap.
    ///
    /// # Errors
    /// The limiter's own.
    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        let _ = error;
        Ok(())
    }

    /// As [`ResourceLimiter::memory_grow_failed`], of a table.
    ///
    /// # Errors
    /// The limiter's own.
    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        let _ = error;
        Ok(())
    }

    /// Most instances in the store.
    fn instances(&self) -> usize {
        10_000
    }

    /// Most tables in the store.
    fn tables(&self) -> usize {
        10_000
    }

    /// Most memories in the store.
    fn memories(&self) -> usize {
        10_000
    }
}

/// Builds [`StoreLimits`].
#[derive(Clone, Debug, Default)]
pub struct StoreLimitsBuilder(StoreLimits);

impl StoreLimitsBuilder {
    /// No limits on sizes, 10,000 objects of each kind.
    pub fn new() -> StoreLimitsBuilder {
        StoreLimitsBuilder::default()
    }

    /// Most bytes of any one memory.
    pub fn memory_size(mut self, limit: usize) -> StoreLimitsBuilder {
        self.0.memory_size = Some(limit);
        self
    }

    /// Most elements of any one table.
    pub fn table_elements(mut self, limit: usize) -> StoreLimitsBuilder {
        self.0.table_elements = Some(limit);
        self
    }

    /// Most instances.
    pub fn instances(mut self, limit: usize) -> StoreLimitsBuilder {
        self.0.instances = limit;
        self
    }

    /// Most tables.
    pub fn tables(mut self, limit: usize) -> StoreLimitsBuilder {
        self.0.tables = limit;
        self
    }

    /// Most memories.
    pub fn memories(mut self, limit: usize) -> StoreLimitsBuilder {
        self.0.memories = limit;
        self
    }

    /// Makes growth beyond a limit a trap instead of -1.
    pub fn trap_on_grow_failure(mut self, trap: bool) -> StoreLimitsBuilder {
        self.0.trap_on_grow_failure = trap;
        self
    }

    /// Finishes.
    pub fn build(self) -> StoreLimits {
        self.0
    }
}

/// Fixed limits, made by [`StoreLimitsBuilder`].
#[derive(Clone, Debug)]
pub struct StoreLimits {
    memory_size: Option<usize>,
    table_elements: Option<usize>,
    instances: usize,
    tables: usize,
    memories: usize,
    trap_on_grow_failure: bool,
}

impl Default for StoreLimits {
    fn default() -> StoreLimits {
        StoreLimits {
            memory_size: None,
            table_elements: None,
            instances: 10_000,
            tables: 10_000,
            memories: 10_000,
            trap_on_grow_failure: false,
        }
    }
}

impl StoreLimits {
    fn decide(&self, what: &str, limit: Option<usize>, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let allowed = limit.is_none_or(|limit| desired <= limit) && maximum.is_none_or(|maximum| desired <= maximum);
        if !allowed && self.trap_on_grow_failure {
            bail!("forcing trap when growing {what} to {desired}");
        }
        Ok(allowed)
    }

    fn failed(&self, error: Error) -> Result<()> {
        if self.trap_on_grow_failure { Err(error.context("forcing trap when growing fails")) } else { Ok(()) }
    }
}

impl ResourceLimiter for StoreLimits {
    fn memory_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        self.decide("memory", self.memory_size, desired, maximum)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        self.decide("table", self.table_elements, desired, maximum)
    }

    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        self.failed(error)
    }

    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        self.failed(error)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}
