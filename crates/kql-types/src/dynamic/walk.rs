//! Iterators over the elements of arrays and bags.

use super::layout::Container;
use super::{DynamicRef, Kind};

impl<'a> DynamicRef<'a> {
    /// The elements of an array; empty for any other content.
    pub fn iter_array(self) -> ArrayIter<'a> {
        ArrayIter::new(self, self.container(Kind::Array))
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

/// The elements of an array.
#[derive(Debug, Clone)]
pub struct ArrayIter<'a> {
    parent: DynamicRef<'a>,
    array: Option<Container<'a>>,
    next: usize,
}

impl<'a> ArrayIter<'a> {
    pub(crate) fn new(parent: DynamicRef<'a>, array: Option<Container<'a>>) -> ArrayIter<'a> {
        ArrayIter {
            parent,
            array,
            next: 0,
        }
    }
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = DynamicRef<'a>;

    fn next(&mut self) -> Option<DynamicRef<'a>> {
        let element = self.array?.value(self.next)?;
        self.next += 1;
        Some(self.parent.nested(element))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.array.map_or(0, |array| array.count - self.next);
        (0, Some(left))
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
