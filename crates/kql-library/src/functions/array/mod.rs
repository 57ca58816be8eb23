//! Functions on arrays and sets (`semantics.md §9.7`).

mod change;
mod generate;
mod look;
mod set;
pub(crate) mod sort;

use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &look::ARRAY_LENGTH,
    &look::ARRAY_SUM,
    &look::ARRAY_INDEX_OF,
    &look::STRCAT_ARRAY,
    &change::ARRAY_CONCAT,
    &change::ARRAY_SLICE,
    &change::ARRAY_SPLIT,
    &change::ARRAY_REVERSE,
    &change::ARRAY_ROTATE_LEFT,
    &change::ARRAY_ROTATE_RIGHT,
    &change::ARRAY_SHIFT_LEFT,
    &change::ARRAY_SHIFT_RIGHT,
    &change::ARRAY_IFF,
    &change::ZIP,
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
