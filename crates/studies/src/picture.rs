//! A picture with the name of the file it belongs into.

/// A picture with the name of the file it belongs into.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Without a folder.
    pub file_name: String,
    /// The picture.
    pub svg: String,
}
