//! The state of `buildschema`: the common schema of the dynamic values of a group.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use datafusion::common::Result;
use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType};

use super::collect::exceeds;
use super::sketch::{Sketch, SketchFunction, Sketches};
use crate::dynamic::cells::Cells;
use crate::encoder::{encoder, finished};

/// The key of the schema of array elements.
const INDEXER: &str = "`indexer`";

/// The schema of the values at one path.
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
    /// Adds a value; returns the number of bytes by which the schema has grown.
    fn add(&mut self, value: DynamicRef<'_>) -> usize {
        match value.kind() {
            Kind::Null => 0,
            Kind::Bag => {
                let properties = self.properties.get_or_insert_default();
                let each = value.iter_bag().map(|(key, value)| {
                    let (shape, grown) = properties.shape(key);
                    grown + shape.add(value)
                });
                each.sum()
            }
            Kind::Array => {
                let grown = self.grow_elements();
                let Some(elements) = &mut self.elements else {
                    return grown;
                };
                grown + value.iter_array().map(|e| elements.add(e)).sum::<usize>()
            }
            _ => self.add_scalar(value.type_name()),
        }
    }

    fn grow_elements(&mut self) -> usize {
        match self.elements {
            Some(_) => 0,
            None => {
                self.elements = Some(Box::default());
                size_of::<Shape>()
            }
        }
    }

    fn add_scalar(&mut self, name: &str) -> usize {
        if self.scalars.iter().any(|known| known == name) {
            return 0;
        }
        self.scalars.push(name.to_owned());
        size_of::<String>() + name.len()
    }

    fn is_empty(&self) -> bool {
        self.scalars.is_empty() && self.properties.is_none() && self.elements.is_none()
    }

    /// The result: a bag before scalar types; several alternatives form an array.
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

    /// The partial state: scalars, properties and elements separately.
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

    /// Merges a partial state; returns the number of bytes by which this schema has grown.
    fn load(&mut self, state: DynamicRef<'_>) -> usize {
        let mut grown = 0;
        let scalars = state.get_key("s").unwrap_or(DynamicRef::NULL);
        for name in scalars.iter_array().filter_map(DynamicRef::as_str) {
            grown += self.add_scalar(name);
        }
        if let Some(saved) = state.get_key("p") {
            let properties = self.properties.get_or_insert_default();
            for (key, saved) in saved.iter_bag() {
                let (shape, added) = properties.shape(key);
                grown += added + shape.load(saved);
            }
        }
        if let Some(saved) = state.get_key("e") {
            grown += self.grow_elements();
            if let Some(elements) = &mut self.elements {
                grown += elements.load(saved);
            }
        }
        grown
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
    /// The schema of a property, and the number of bytes that a new property takes.
    #[expect(
        clippy::indexing_slicing,
        reason = "`places` holds the places of `shapes` and no others"
    )]
    fn shape(&mut self, name: &str) -> (&mut Shape, usize) {
        let (place, grown) = match self.places.get(name) {
            Some(place) => (*place, 0),
            None => {
                let name: Arc<str> = name.into();
                let grown = name.len() + PER_PROPERTY;
                self.names.push(Arc::clone(&name));
                self.places.insert(name, self.shapes.len());
                self.shapes.push(Shape::default());
                (self.shapes.len() - 1, grown)
            }
        };
        (&mut self.shapes[place], grown)
    }

    fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Shape)> {
        self.names.iter().zip(&self.shapes)
    }
}

/// The memory of a property apart from its name's text and nested content: the schema, the string headers and the slot.
const PER_PROPERTY: usize = size_of::<Shape>() + 3 * size_of::<Arc<str>>() + 48;

/// The schema of one group and its memory in bytes.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    shape: Shape,
    bytes: usize,
    /// Whether a partial state exceeded the size limit.
    too_large: bool,
}

/// The partial state of a schema that exceeds the size limit of one value.
const TOO_LARGE: &[u8] = &[0xFF];

impl Sketch for Schema {
    fn heap(&self) -> usize {
        self.bytes
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut encoder = Encoder::new();
        self.shape.save(&mut encoder);
        let saved = encoder.finish();
        if saved.is_empty() || self.too_large {
            out.extend_from_slice(TOO_LARGE)
        } else {
            out.extend(saved)
        }
    }

    fn merge(&mut self, bytes: &[u8]) {
        if bytes == TOO_LARGE {
            self.too_large = true
        } else {
            self.bytes += self.shape.load(DynamicRef::new(bytes))
        }
    }
}

/// `buildschema`.
#[derive(Clone)]
pub(crate) struct BuildSchema;

impl SketchFunction for BuildSchema {
    type Sketch = Schema;

    fn empty(&self) -> Schema {
        Schema::default()
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Schema>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let cells = Cells::new(column, ScalarType::Dynamic)?;
        for (row, group) in groups.iter().enumerate() {
            sketches.with(*group, |schema| {
                schema.bytes += schema.shape.add(cells.dynamic(row));
            });
        }
        Ok(())
    }

    fn finish(&self, sketches: Vec<Schema>) -> Result<ArrayRef> {
        let mut out = BinaryViewBuilder::with_capacity(sketches.len());
        let mut encoder = encoder();
        for Schema {
            shape, too_large, ..
        } in sketches
        {
            if too_large {
                return Err(exceeds("buildschema"));
            }
            if shape.is_empty() {
                out.append_null();
                continue;
            }
            shape.write(&mut encoder);
            let bytes = finished(&mut encoder, "buildschema()")?;
            out.append_value(bytes);
        }
        Ok(Arc::new(out.finish()))
    }
}
