//! backedge's benchmark programs, and the harness that runs them under backedge and its peers and says what can be said of the times.
//!
//! Enters: the programs of `programs/` ([`catalog`]) and the engines that are installed ([`peers`]). [`runner`] starts one process after the other
//! ([`process`], [`measure`]) and writes each down ([`journal`]); [`summarize`] makes of them one JSON file, [`results::Results`], with [`statistics`]. Everything else
//! reads that file: [`table`], [`compare`], [`merge`], the HTML report.

pub mod catalog;
pub mod machine;
pub mod peers;
pub mod process;
pub mod spawner;
pub mod measure;
pub mod journal;
pub mod runner;
pub mod statistics;
pub mod summarize;
pub mod results;
pub mod table;
pub mod compare;
pub mod merge;
pub mod selfcheck;
