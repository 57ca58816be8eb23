//! Functions on arrays and sets (`docs/semantics.md §9.7`).

mod generate;
mod read;
mod set;
pub(crate) mod sort;
mod transform;

use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &read::ARRAY_LENGTH,
    &read::ARRAY_SUM,
    &read::ARRAY_INDEX_OF,
    &read::STRCAT_ARRAY,
    &transform::ARRAY_CONCAT,
    &transform::ARRAY_SLICE,
    &transform::ARRAY_SPLIT,
    &transform::ARRAY_REVERSE,
    &transform::ARRAY_ROTATE_LEFT,
    &transform::ARRAY_ROTATE_RIGHT,
    &transform::ARRAY_SHIFT_LEFT,
    &transform::ARRAY_SHIFT_RIGHT,
    &transform::ARRAY_IFF,
    &transform::ZIP,
    &generate::PACK_ARRAY,
    &generate::RANGE,
    &generate::REPEAT,
    &sort::ARRAY_SORT_ASC,
    &sort::ARRAY_SORT_DESC,
    &set::SET_UNION,
    &set::SET_INTERSECT,
    &set::SET_DIFFERENCE,
    &set::SET_HAS_ELEMENT,
    &set::SET_EQUALS,
    &set::JACCARD_INDEX,
];
