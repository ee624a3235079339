//! skeleton
pub mod policy {
    //! skeleton
    /// skeleton
    #[derive(Clone, Debug)]
    pub struct Plan;
}
