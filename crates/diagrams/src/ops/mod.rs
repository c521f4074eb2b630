//! The operations, one file each, written once against [`crate::exec::Exec`].

pub mod and;
pub mod compose;
pub mod image;
pub mod ite;
pub mod lists;
pub mod new_image;
pub mod permute;
pub mod quantify;
pub mod restrict;
pub mod saturate;
pub mod xor;

/// Codes of the cached operations; together with their parameter they tell entries apart.
mod code {
    pub const AND: u8 = 1;
    pub const XOR: u8 = 2;
    pub const EXISTS: u8 = 3;
    pub const AND_EXISTS: u8 = 4;
    pub const NEXT: u8 = 5;
    pub const PREVIOUS: u8 = 6;
    pub const NEXT_OF_ALL: u8 = 7;
    pub const PERMUTE: u8 = 8;
    pub const COMPOSE: u8 = 9;
    pub const RESTRICT: u8 = 10;
    pub const SATURATE: u8 = 11;
    pub const UNITE: u8 = 12;
    pub const INTERSECT: u8 = 13;
    pub const SUBTRACT: u8 = 14;
    pub const LIST_NEXT: u8 = 15;
    pub const LIST_PREVIOUS: u8 = 16;
    pub const LIST_NEXT_OF_ALL: u8 = 17;
    pub const PROJECT: u8 = 18;
    pub const SELECT: u8 = 19;
    pub const LIST_SATURATE: u8 = 20;
    pub const ADD_NEXT: u8 = 21;
    pub const NEW_IMAGE: u8 = 22;
}
