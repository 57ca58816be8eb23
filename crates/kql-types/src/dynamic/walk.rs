//! Iterators over the elements of arrays and bags.

use super::layout::Container;
use super::{DynamicRef, Kind};

impl<'a> DynamicRef<'a> {
    /// The elements of an array; empty for any other content.
    pub fn iter_array(self) -> ArrayIter<'a> {
        ArrayIter::new(self, self.container(Kind::Array))
    }

    /// The array; `None` for any other content.
    pub fn elements(self) -> Option<ArrayElements<'a>> {
        let array = self.container(Kind::Array);
        (self.kind() == Kind::Array).then_some(ArrayElements {
            parent: self,
            array,
        })
    }

    /// The keys and values of a bag in insertion order; empty for any other content.
    pub fn iter_bag(self) -> BagIter<'a> {
        BagIter::in_insertion_order(self, self.container(Kind::Bag))
    }

    /// The keys and values of a bag in the order of the keys; empty for any other content.
    pub fn iter_bag_sorted(self) -> BagIter<'a> {
        BagIter::in_key_order(self, self.container(Kind::Bag))
    }
}

/// An array whose elements are read in place, by position.
#[derive(Debug, Clone, Copy)]
pub struct ArrayElements<'a> {
    parent: DynamicRef<'a>,
    array: Option<Container<'a>>,
}

impl<'a> ArrayElements<'a> {
    /// An array without elements.
    pub const EMPTY: ArrayElements<'static> = ArrayElements {
        parent: DynamicRef::NULL,
        array: None,
    };

    /// The number of elements.
    pub fn len(self) -> usize {
        self.array.map_or(0, |array| array.count)
    }

    /// Whether there are no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The element at `index`; `None` beyond the end.
    pub fn get(self, index: usize) -> Option<DynamicRef<'a>> {
        Some(self.parent.nested(self.array?.value(index)?))
    }

    /// All elements.
    pub fn iter(self) -> ArrayIter<'a> {
        ArrayIter::new(self.parent, self.array)
    }

    /// The elements from `start` to before `end`; as many of them as there are.
    pub fn range(self, start: usize, end: usize) -> ArrayIter<'a> {
        let end = end.min(self.len());
        ArrayIter {
            next: start.min(end),
            end,
            ..self.iter()
        }
    }
}

impl<'a> IntoIterator for ArrayElements<'a> {
    type Item = DynamicRef<'a>;
    type IntoIter = ArrayIter<'a>;

    fn into_iter(self) -> ArrayIter<'a> {
        self.iter()
    }
}

/// The elements of an array. It ends at an element whose place is corrupt.
#[derive(Debug, Clone)]
pub struct ArrayIter<'a> {
    parent: DynamicRef<'a>,
    array: Option<Container<'a>>,
    next: usize,
    end: usize,
}

impl<'a> ArrayIter<'a> {
    pub(crate) fn new(parent: DynamicRef<'a>, array: Option<Container<'a>>) -> ArrayIter<'a> {
        ArrayIter {
            parent,
            array,
            next: 0,
            end: array.map_or(0, |array| array.count),
        }
    }
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = DynamicRef<'a>;

    fn next(&mut self) -> Option<DynamicRef<'a>> {
        if self.next >= self.end {
            return None;
        }
        let element = self.array?.value(self.next)?;
        self.next += 1;
        Some(self.parent.nested(element))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.end - self.next))
    }
}

impl DoubleEndedIterator for ArrayIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let element = self.array?.value(self.end - 1)?;
        self.end -= 1;
        Some(self.parent.nested(element))
    }
}

/// The keys and values of a bag.
#[derive(Debug, Clone)]
pub struct BagIter<'a> {
    parent: DynamicRef<'a>,
    bag: Option<Container<'a>>,
    next: usize,
    /// The fields in the order of their values; `None` if that is the order of the keys.
    order: Option<Vec<u32>>,
}

impl<'a> BagIter<'a> {
    pub(crate) fn in_key_order(parent: DynamicRef<'a>, bag: Option<Container<'a>>) -> BagIter<'a> {
        BagIter {
            parent,
            bag,
            next: 0,
            order: None,
        }
    }

    pub(crate) fn in_insertion_order(
        parent: DynamicRef<'a>,
        bag: Option<Container<'a>>,
    ) -> BagIter<'a> {
        let order = bag.and_then(|bag| {
            let offsets = || (0..bag.count).map(|index| bag.offset(index));
            if offsets().is_sorted() {
                return None;
            }
            let mut order: Vec<u32> = (0..bag.count as u32).collect();
            order.sort_by_key(|index| bag.offset(*index as usize));
            Some(order)
        });
        BagIter {
            parent,
            bag,
            next: 0,
            order,
        }
    }
}

impl<'a> Iterator for BagIter<'a> {
    type Item = (&'a str, DynamicRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let bag = self.bag?;
        let index = match &self.order {
            Some(order) => *order.get(self.next)? as usize,
            None => self.next,
        };
        let value = bag.value(index)?;
        let key = self.parent.key_name(bag.id(index)?)?;
        self.next += 1;
        Some((key, self.parent.nested(value)))
    }
}
