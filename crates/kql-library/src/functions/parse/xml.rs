//! `parse_xml` (`docs/semantics.md §11`).

use std::collections::HashMap;

use hindsight_kql_types::Encoder;
use hindsight_kql_types::dynamic::MAX_DEPTH;
use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::functions::prelude::*;

/// The maximum bytes of a document. A longer one gives null.
const MAX_BYTES: usize = 1 << 20;
/// The key of the text of an element that has attributes, child elements or several pieces of text.
const TEXT_KEY: &str = "#text";

pub(crate) static DEF: ScalarFunction = function(
    &["parse_xml(xml: string) -> dynamic"],
    "An XML document as a bag: attributes have the prefix `@`, mixed text the key `#text`, repeated elements are arrays. Null if the text is not \
     XML or longer than 1 MiB.",
    ResultName::FirstArgument,
    &[example(
        "print d = parse_xml('<e name=\"value\"><a>text</a><b/></e>')",
        "d:dynamic\n{\"e\":{\"@name\":\"value\",\"a\":\"text\",\"b\":null}}",
    )],
    kernel,
);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let texts = args.strings(0)?;
    let mut encoder = Encoder::new();
    Ok(args.collect_dynamics(|row, out| {
        let Some(root) = parse(texts.get(row)) else {
            return false;
        };
        encoder.begin_bag();
        encoder.key(&root.name);
        root.write(&mut encoder);
        encoder.end();
        encoder.finish_into(out);
        true
    }))
}

/// An element with what it contains, in document order.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Node>,
}

enum Node {
    Element(Element),
    Text(String),
    Cdata(String),
}

impl Element {
    /// The element of a start tag. `None` if the tag is malformed.
    fn new(tag: &BytesStart<'_>) -> Option<Element> {
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.ok()?;
            let value = unescape(&attribute.value).ok()?;
            attributes.push((format!("@{}", attribute.key.as_ref()), value.into_owned()));
        }
        let name = tag.name().as_ref().to_owned();
        (!name.is_empty()).then_some(Element {
            name,
            attributes,
            children: Vec::new(),
        })
    }

    /// Writes null for an empty element, the text for an element with one text and no attributes, and a bag otherwise.
    fn write(&self, encoder: &mut Encoder) {
        match (self.attributes.as_slice(), self.children.as_slice()) {
            ([], []) => encoder.null(),
            ([], [Node::Text(text)]) => encoder.string(text),
            _ => self.write_bag(encoder),
        }
    }

    fn write_bag(&self, encoder: &mut Encoder) {
        encoder.begin_bag();
        for (key, value) in &self.attributes {
            encoder.key(key);
            encoder.string(value);
        }
        for (key, nodes) in by_key(&self.children) {
            encoder.key(key);
            match nodes.as_slice() {
                [node] => node.write(encoder),
                several => {
                    encoder.begin_array();
                    several.iter().for_each(|node| node.write(encoder));
                    encoder.end();
                }
            }
        }
        encoder.end();
    }
}

impl Node {
    fn key(&self) -> &str {
        match self {
            Node::Element(element) => &element.name,
            Node::Text(_) | Node::Cdata(_) => TEXT_KEY,
        }
    }

    fn write(&self, encoder: &mut Encoder) {
        match self {
            Node::Element(element) => element.write(encoder),
            Node::Text(text) | Node::Cdata(text) => encoder.string(text),
        }
    }
}

/// The nodes grouped by key, in the order in which the keys first occur.
fn by_key(nodes: &[Node]) -> Vec<(&str, Vec<&Node>)> {
    let mut groups: Vec<(&str, Vec<&Node>)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for node in nodes {
        let position = *positions.entry(node.key()).or_insert(groups.len());
        match groups.get_mut(position) {
            Some((_, group)) => group.push(node),
            None => groups.push((node.key(), vec![node])),
        }
    }
    groups
}

/// The root element of a document. `None` if the text is not a document, is longer than [`MAX_BYTES`] or nested deeper than
/// [`MAX_DEPTH`].
fn parse(text: &str) -> Option<Element> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut document = Document::default();
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => document.open(Element::new(&tag)?)?,
            Event::Empty(tag) => {
                document.open(Element::new(&tag)?)?;
                document.close()?;
            }
            Event::End(_) => document.close()?,
            Event::Text(text) => document.text(&text.into_inner())?,
            Event::GeneralRef(reference) => document.reference(&reference)?,
            Event::CData(cdata) => document.cdata(&cdata.into_inner())?,
            // A document type declares entities. None of them is expanded: a reference to one is an error.
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {
                document.end_text();
            }
            Event::Eof => return document.finish(),
        }
    }
}

/// The state of the parser: the elements that are open, and the text that is not yet a node.
#[derive(Default)]
struct Document {
    open: Vec<Element>,
    root: Option<Element>,
    /// The current piece of text. `Some` from its first character that is not white space.
    piece: Option<String>,
}

impl Document {
    fn open(&mut self, element: Element) -> Option<()> {
        self.end_text();
        let second_root = self.open.is_empty() && self.root.is_some();
        (!second_root && self.open.len() < MAX_DEPTH).then(|| self.open.push(element))
    }

    fn close(&mut self) -> Option<()> {
        self.end_text();
        let element = self.open.pop()?;
        match self.open.last_mut() {
            Some(parent) => parent.children.push(Node::Element(element)),
            None => self.root = Some(element),
        }
        Some(())
    }

    /// Characters without references. Outside of the root element only white space may stand.
    fn text(&mut self, text: &str) -> Option<()> {
        let text = match &self.piece {
            Some(_) => text,
            None => text.trim_start_matches(is_white_space),
        };
        if text.is_empty() {
            return Some(());
        }
        self.append(text)
    }

    fn append(&mut self, text: &str) -> Option<()> {
        (!self.open.is_empty()).then(|| self.piece.get_or_insert_default().push_str(text))
    }

    /// A reference to a character or to one of the five predefined entities. `None` for any other entity.
    fn reference(&mut self, reference: &BytesRef<'_>) -> Option<()> {
        match reference.resolve_char_ref().ok()? {
            Some(character) => self.append(character.encode_utf8(&mut [0; 4])),
            None => {
                let name = reference.borrow().into_inner();
                self.append(resolve_predefined_entity(&name)?)
            }
        }
    }

    fn cdata(&mut self, text: &str) -> Option<()> {
        self.end_text();
        let element = self.open.last_mut()?;
        element.children.push(Node::Cdata(text.to_owned()));
        Some(())
    }

    /// Makes a node of the current piece of text, without the white space around it.
    fn end_text(&mut self) {
        let Some(mut text) = self.piece.take() else {
            return;
        };
        text.truncate(text.trim_end_matches(is_white_space).len());
        if let Some(element) = self.open.last_mut() {
            element.children.push(Node::Text(text));
        }
    }

    fn finish(self) -> Option<Element> {
        self.root.filter(|_| self.open.is_empty())
    }
}

/// White space of XML 1.0, production 3.
fn is_white_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_deep_documents_are_refused() {
        let of_length = |length: usize| format!("<e>{}</e>", "x".repeat(length - "<e></e>".len()));
        assert!(parse(&of_length(MAX_BYTES)).is_some());
        assert!(parse(&of_length(MAX_BYTES + 1)).is_none());
        let of_depth = |depth: usize| "<e>".repeat(depth) + &"</e>".repeat(depth);
        assert!(parse(&of_depth(MAX_DEPTH)).is_some());
        assert!(parse(&of_depth(MAX_DEPTH + 1)).is_none());
    }
}
