//! The shape that all dynamic values of a group share: what `buildschema` answers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use datafusion::common::Result;
use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType};

use super::sketch::{Sketch, SketchFunction, Sketches};
use crate::functions::dynamic::cells::Cells;

/// The key under which the elements of arrays are described.
const INDEXER: &str = "`indexer`";

/// What was seen at one place of the values.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Shape {
    /// The names of the scalar types, in order of first appearance.
    scalars: Vec<String>,
    /// The properties of bags, in order of first appearance.
    properties: Option<Properties>,
    /// The elements of arrays.
    elements: Option<Box<Shape>>,
}

impl Shape {
    fn add(&mut self, value: DynamicRef<'_>) {
        match value.kind() {
            Kind::Null => {}
            Kind::Bag => {
                let properties = self.properties.get_or_insert_default();
                for (key, value) in value.iter_bag() {
                    properties.shape(key).add(value);
                }
            }
            Kind::Array => {
                let elements = self.elements.get_or_insert_default();
                for element in value.iter_array() {
                    elements.add(element);
                }
            }
            _ => self.add_scalar(value.type_name()),
        }
    }

    fn add_scalar(&mut self, name: &str) {
        if !self.scalars.iter().any(|known| known == name) {
            self.scalars.push(name.to_owned());
        }
    }

    fn is_empty(&self) -> bool {
        self.scalars.is_empty() && self.properties.is_none() && self.elements.is_none()
    }

    /// The answer: a bag before scalar types, several alternatives as an array.
    fn write(&self, encoder: &mut Encoder) {
        let structured = self.properties.is_some() || self.elements.is_some();
        let several = self.scalars.len() + usize::from(structured) > 1;
        if several {
            encoder.begin_array();
        }
        if structured {
            encoder.begin_bag();
            for (key, shape) in self.properties.iter().flat_map(Properties::iter) {
                encoder.key(key);
                shape.write(encoder);
            }
            if let Some(elements) = &self.elements {
                encoder.key(INDEXER);
                elements.write(encoder);
            }
            encoder.end();
        }
        for name in &self.scalars {
            encoder.string(name);
        }
        if several {
            encoder.end();
        }
        if self.is_empty() {
            encoder.null();
        }
    }

    /// The state: scalars, properties and elements apart.
    fn save(&self, encoder: &mut Encoder) {
        encoder.begin_bag();
        encoder.key("s");
        encoder.begin_array();
        for name in &self.scalars {
            encoder.string(name);
        }
        encoder.end();
        if let Some(properties) = &self.properties {
            encoder.key("p");
            encoder.begin_bag();
            for (key, shape) in properties.iter() {
                encoder.key(key);
                shape.save(encoder);
            }
            encoder.end();
        }
        if let Some(elements) = &self.elements {
            encoder.key("e");
            elements.save(encoder);
        }
        encoder.end();
    }

    fn load(&mut self, state: DynamicRef<'_>) {
        let scalars = state.get_key("s").unwrap_or(DynamicRef::NULL);
        for name in scalars.iter_array().filter_map(DynamicRef::as_str) {
            self.add_scalar(name);
        }
        if let Some(saved) = state.get_key("p") {
            let properties = self.properties.get_or_insert_default();
            for (key, shape) in saved.iter_bag() {
                properties.shape(key).load(shape);
            }
        }
        if let Some(saved) = state.get_key("e") {
            self.elements.get_or_insert_default().load(saved);
        }
    }
}

/// The shapes of properties by name, in order of first appearance.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Properties {
    shapes: Vec<Shape>,
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, usize>,
}

impl Properties {
    fn shape(&mut self, name: &str) -> &mut Shape {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                let name: Arc<str> = name.into();
                self.names.push(Arc::clone(&name));
                self.places.insert(name, self.shapes.len());
                self.shapes.push(Shape::default());
                self.shapes.len() - 1
            }
        };
        &mut self.shapes[place]
    }

    fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Shape)> {
        self.names.iter().zip(&self.shapes)
    }

    fn heap(&self) -> usize {
        let own = |(name, shape): (&Arc<str>, &Shape)| name.len() + PER_PROPERTY + shape.heap();
        self.iter().map(own).sum()
    }
}

/// What a property takes beside its name and what its shape holds: the shape, the name's owners and its place.
const PER_PROPERTY: usize = size_of::<Shape>() + 3 * size_of::<Arc<str>>() + 48;

impl Sketch for Shape {
    fn heap(&self) -> usize {
        let scalars = self.scalars.len() * 32;
        let properties = self.properties.as_ref().map_or(0, Properties::heap);
        let elements = self.elements.as_ref();
        scalars + properties + elements.map_or(0, |e| size_of::<Shape>() + e.heap())
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut encoder = Encoder::new();
        self.save(&mut encoder);
        encoder.finish_into(out);
    }

    fn merge(&mut self, bytes: &[u8]) {
        self.load(DynamicRef::new(bytes));
    }
}

/// `buildschema`.
#[derive(Clone)]
pub(crate) struct BuildSchema;

impl SketchFunction for BuildSchema {
    type Sketch = Shape;

    fn empty(&self) -> Shape {
        Shape::default()
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Shape>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let cells = Cells::new(column, ScalarType::Dynamic)?;
        for (row, group) in groups.iter().enumerate() {
            sketches.with(*group, |shape| shape.add(cells.dynamic(row)));
        }
        Ok(())
    }

    fn finish(&self, sketches: Vec<Shape>) -> Result<ArrayRef> {
        let mut out = BinaryViewBuilder::with_capacity(sketches.len());
        let mut encoder = Encoder::new();
        for shape in sketches {
            if shape.is_empty() {
                out.append_null();
            } else {
                shape.write(&mut encoder);
                out.append_value(encoder.finish());
            }
        }
        Ok(Arc::new(out.finish()))
    }
}
