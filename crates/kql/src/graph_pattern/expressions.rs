//! Expressions over the elements of patterns.
//!
//! An expression reads properties of elements, whole elements, and paths through functions. [`Expressions::rewrite`] replaces
//! each of these reads by the name of a column of the matches, and records what the column holds.

use hindsight_kql_syntax::ast::{Call, DynamicLiteral, Expr, ExprKind, Literal};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::degrees;
use super::elements::{Element, Elements};
use crate::context::{BindContext, Entry};
use crate::error::BindResult;
use crate::functions::bag::pack_columns;
use crate::graph::{Graph, ID};
use crate::plan::{hidden_name, visible};
use crate::relation::{Column, Relation, Scalar};

/// A clause of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    Where,
    Project,
}

/// What a column of the matches holds.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    /// The column's name, which no query can write.
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) value: ReadValue,
    /// The expression over the rows of the graph: of the element, or of each edge or inner node of a path.
    pub(crate) scalar: Scalar,
}

/// How a column of the matches is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadValue {
    /// The value of the element itself.
    Cell,
    /// A value of a path.
    Path(PathFunction, Over),
    /// The number of edges of a step, a long.
    Length,
}

/// A function of the values of a path's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathFunction {
    /// Whether all are true.
    All,
    /// Whether any is true.
    Any,
    /// All as one array; each value is an array of one element.
    Map,
}

/// The elements of a path that a function reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Its edges.
    Edges,
    /// The nodes between its edges.
    InnerNodes,
}

impl Read {
    /// The type of the column.
    pub(crate) fn kind(&self) -> ScalarType {
        match self.value {
            ReadValue::Cell => self.scalar.kind,
            ReadValue::Path(PathFunction::All | PathFunction::Any, _) => ScalarType::Bool,
            ReadValue::Path(PathFunction::Map, _) => ScalarType::Dynamic,
            ReadValue::Length => ScalarType::Long,
        }
    }

    /// The column.
    pub(crate) fn column(&self) -> Column {
        Column::scratch(&self.name, self.kind())
    }
}

/// The expressions of one operator.
pub(crate) struct Expressions<'e> {
    pub(crate) elements: &'e Elements,
    pub(crate) graph: Graph,
    /// The columns that the expressions read.
    pub(crate) reads: Vec<Read>,
    /// The reads of the last expression.
    pub(crate) used: Vec<usize>,
    has_degrees: bool,
}

impl<'e> Expressions<'e> {
    pub(crate) fn new(elements: &'e Elements, graph: Graph) -> Expressions<'e> {
        Expressions {
            elements,
            graph,
            reads: Vec::new(),
            used: Vec::new(),
            has_degrees: false,
        }
    }

    /// The expression with reads of elements replaced by names of columns; [`Expressions::used`] are its reads.
    pub(crate) fn rewrite(
        &mut self,
        expr: &Expr,
        clause: Clause,
        binder: &mut dyn BindContext,
    ) -> BindResult<Expr> {
        self.used.clear();
        self.replace(expr, clause, binder)
    }

    fn replace(
        &mut self,
        expr: &Expr,
        clause: Clause,
        binder: &mut dyn BindContext,
    ) -> BindResult<Expr> {
        let span = expr.span;
        let read = match &expr.kind {
            ExprKind::Name(name) => match self.elements.find(&name.text) {
                Some(element) => Some(self.whole(element, binder)?),
                None => None,
            },
            ExprKind::Member { value, member } => match self.variable(value) {
                Some(element) => {
                    Some(self.property(element, &member.text, clause, binder, span)?)
                }
                None => None,
            },
            ExprKind::Index { value, index } => match (self.variable(value), &index.kind) {
                (Some(element), ExprKind::Literal(Literal::String(name))) => {
                    Some(self.property(element, name, clause, binder, span)?)
                }
                _ => None,
            },
            ExprKind::Call(call) => match self.graph_call(call, binder, span)? {
                Some(GraphCall::Read(read)) => Some(read),
                Some(GraphCall::Constant(constant)) => return Ok(constant),
                None => None,
            },
            _ => None,
        };
        if let Some(read) = read {
            return Ok(Expr {
                span,
                ..Expr::name(self.record(read))
            });
        }
        expr.try_map_operands(&mut |operand| self.replace(operand, clause, binder))
    }

    /// The element that an expression names.
    fn variable(&self, expr: &Expr) -> Option<Element> {
        self.elements.find(expr.unparenthesised().as_name()?)
    }

    /// The name of the column of a read; equal reads share a column.
    fn record(&mut self, mut read: Read) -> String {
        let same = |known: &Read| {
            known.element == read.element
                && known.value == read.value
                && known.scalar.expr == read.scalar.expr
        };
        let index = self.reads.iter().position(same).unwrap_or(self.reads.len());
        if index == self.reads.len() {
            read.name = hidden_name(&format!("match.{index}"));
            self.reads.push(read);
        }
        self.used.push(index);
        self.reads
            .get(index)
            .map_or_else(String::new, |r| r.name.clone())
    }

    /// The properties of an element's rows.
    fn properties(&self, over: Over) -> Relation {
        match over {
            Over::Edges => self.graph.edge_properties(),
            Over::InnerNodes => self.graph.node_properties(),
        }
    }

    /// A whole element: a bag of its properties without those that are null or `""`; of a path, an array of bags.
    fn whole(&self, element: Element, binder: &mut dyn BindContext) -> BindResult<Read> {
        let over = match element {
            Element::Node(_) => Over::InnerNodes,
            Element::Step(_) => Over::Edges,
        };
        let properties = self.properties(over);
        let columns = visible(&properties).map(|c| (c.name.clone(), c.scalar()));
        let bag = pack_columns(columns, true);
        if !self.elements.is_path(element) {
            return Ok(cell(element, bag));
        }
        self.mapped(element, Over::Edges, bag, binder)
    }

    /// `variable.property`
    fn property(
        &self,
        element: Element,
        property: &str,
        clause: Clause,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Read> {
        let over = match element {
            Element::Node(_) => Over::InnerNodes,
            Element::Step(_) => Over::Edges,
        };
        let properties = self.properties(over);
        let Some(column) = visible(&properties).find(|c| c.name == property) else {
            let what = match element {
                Element::Node(_) => "nodes",
                Element::Step(_) => "edges",
            };
            let message = format!("the {what} of the graph have no property '{property}'");
            return Err(binder.error(Code::UnknownProperty, message, span));
        };
        let scalar = column.scalar();
        if !self.elements.is_path(element) {
            return Ok(cell(element, scalar));
        }
        if clause == Clause::Where {
            let message = "a path has a property for each edge: read it in all(), any() or map()";
            return Err(binder.error(Code::PathProperty, message, span));
        }
        self.mapped(element, Over::Edges, scalar, binder)
    }

    /// The values of a path's elements as an array.
    fn mapped(
        &self,
        element: Element,
        over: Over,
        value: Scalar,
        binder: &mut dyn BindContext,
    ) -> BindResult<Read> {
        let name = hidden_name("mapped");
        let entry = binder.frame().value(value);
        let frame = binder.frame().with_name(&name, entry);
        let packed = Expr::call("pack_array", [Expr::name(&name)]);
        let scalar = binder.within(frame, |binder| {
            binder.bind_scalar(&packed, &self.properties(over))
        })?;
        Ok(path(element, PathFunction::Map, over, scalar))
    }

    /// A call of a function of graphs; none for any other call.
    fn graph_call(
        &mut self,
        call: &Call,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Option<GraphCall>> {
        let name = call.function.text.as_str();
        if let Some((Entry::Function(_), _)) = binder.frame().names.find(name) {
            return Ok(None);
        }
        let arguments: Vec<&Expr> = call.arguments.iter().map(|a| &a.value).collect();
        let function = match name {
            "all" => PathFunction::All,
            "any" => PathFunction::Any,
            "map" => PathFunction::Map,
            "inner_nodes" => {
                let message =
                    "inner_nodes() stands only as the first argument of all(), any() and map()";
                return Err(binder.error(Code::NotStringLiteral, message, span));
            }
            _ => return self.element_call(call, &arguments, binder, span),
        };
        let [first, expr] = arguments.as_slice() else {
            let message = format!("{}(): function expects 2 argument(s).", call.function.text);
            return Err(binder.error(Code::ArgumentCount, message, span));
        };
        let (element, over) = self.path_argument(first, binder)?;
        let expr = self.of_path_element(expr, over, binder)?;
        let properties = self.with_structure(self.properties(over), over);
        let read = match function {
            PathFunction::Map => {
                let value = binder.bind_scalar(&expr, &properties)?;
                self.mapped(element, over, value, binder)?
            }
            PathFunction::All | PathFunction::Any => {
                let predicate = binder.bind_predicate(&expr, &properties)?;
                let scalar = Scalar::new(predicate, ScalarType::Bool);
                path(element, function, over, scalar)
            }
        };
        Ok(Some(GraphCall::Read(read)))
    }

    /// The first argument of `all`, `any` and `map`: an edge, or `inner_nodes(edge)`.
    fn path_argument(&self, expr: &Expr, binder: &dyn BindContext) -> BindResult<(Element, Over)> {
        let (edge, over) = match &expr.unparenthesised().kind {
            ExprKind::Call(call) if call.function.text == "inner_nodes" => {
                match call.arguments.as_slice() {
                    [edge] => (&edge.value, Over::InnerNodes),
                    _ => {
                        let message = "inner_nodes(): function expects 1 argument(s).";
                        return Err(binder.error(Code::ArgumentCount, message, expr.span));
                    }
                }
            }
            _ => (expr, Over::Edges),
        };
        match self.variable(edge) {
            Some(element @ Element::Step(_)) => Ok((element, over)),
            _ => {
                let message = "an edge of the pattern, or inner_nodes() of one, is expected here";
                Err(binder.error(Code::UnresolvedName, message, edge.span))
            }
        }
    }

    /// The expression of `all`, `any` and `map`, which reads the element of the path by the names of its properties.
    fn of_path_element(
        &mut self,
        expr: &Expr,
        over: Over,
        binder: &mut dyn BindContext,
    ) -> BindResult<Expr> {
        match &expr.kind {
            ExprKind::Call(call) => match (call.function.text.as_str(), over) {
                ("labels", _) if call.arguments.is_empty() => return Ok(no_labels()),
                ("node_id", Over::InnerNodes) if call.arguments.is_empty() => {
                    return Ok(Expr::call("tostring", [Expr::name(ID)]));
                }
                (name, Over::InnerNodes) if call.arguments.is_empty() => {
                    if let Some(degree) = degrees::column(name) {
                        self.add_degrees(expr.span)?;
                        return Ok(Expr::name(degree.name));
                    }
                }
                _ => {}
            },
            ExprKind::Member { value, .. } | ExprKind::Index { value, .. } => {
                let properties = self.properties(over);
                if let Some(name) = value.as_name()
                    && self.elements.find(name).is_some()
                    && properties.column(name).is_none()
                {
                    let what = format_args!("the element '{name}' inside a function of a path");
                    return Err(binder.unsupported(what, expr.span));
                }
            }
            _ => {}
        }
        expr.try_map_operands(&mut |operand| self.of_path_element(operand, over, binder))
    }

    /// The properties of the nodes or edges of a path, with the columns that its functions read.
    fn with_structure(&self, mut properties: Relation, over: Over) -> Relation {
        if over == Over::InnerNodes {
            properties.columns.push(self.graph.id_column());
            if self.has_degrees {
                properties.columns.extend(degrees::columns());
            }
        }
        properties
    }

    /// `node_degree_in(n)`, `node_degree_out(n)`, `node_id(n)`, `labels(x)`.
    fn element_call(
        &mut self,
        call: &Call,
        arguments: &[&Expr],
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Option<GraphCall>> {
        let name = call.function.text.as_str();
        let degree = degrees::column(name);
        if !matches!(name, "node_id" | "labels") && degree.is_none() {
            return Ok(None);
        }
        let element = match arguments {
            [argument] => self.variable(argument),
            _ => None,
        };
        match (name, element, degree) {
            ("labels", Some(_), _) => Ok(Some(GraphCall::Constant(no_labels()))),
            ("node_id", Some(node @ Element::Node(_)), _) => {
                let id = Expr::call("tostring", [Expr::name(ID)]);
                let nodes = self.properties(Over::InnerNodes);
                let nodes = self.with_structure(nodes, Over::InnerNodes);
                let id = binder.bind_scalar(&id, &nodes)?;
                Ok(Some(GraphCall::Read(cell(node, id))))
            }
            (_, Some(node @ Element::Node(_)), Some(degree)) => {
                self.add_degrees(span)?;
                Ok(Some(GraphCall::Read(cell(node, degree.scalar()))))
            }
            _ => {
                let what = match name {
                    "labels" => "a node or an edge",
                    _ => "a node",
                };
                let message = format!("{name}(): {what} of the pattern is expected here");
                Err(binder.error(Code::ArgumentType, message, span))
            }
        }
    }

    /// Adds the degrees of nodes to the rows of the graph.
    fn add_degrees(&mut self, span: Span) -> BindResult<()> {
        if !self.has_degrees {
            self.graph = degrees::with_degrees(self.graph.clone(), span)?;
            self.has_degrees = true;
        }
        Ok(())
    }
}

/// What a call of a function of graphs becomes.
enum GraphCall {
    Read(Read),
    Constant(Expr),
}

fn cell(element: Element, scalar: Scalar) -> Read {
    Read {
        name: String::new(),
        element,
        value: ReadValue::Cell,
        scalar,
    }
}

fn path(element: Element, function: PathFunction, over: Over, scalar: Scalar) -> Read {
    Read {
        value: ReadValue::Path(function, over),
        ..cell(element, scalar)
    }
}

/// The labels of an element of a graph that `make-graph` made: none.
fn no_labels() -> Expr {
    Expr::literal(Literal::Dynamic(DynamicLiteral::Array(Vec::new())))
}
