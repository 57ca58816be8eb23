//! Rewrites a plan: leaves enter at scans, and pass through the same operators as their bag.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, JoinType, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias,
    TableScan, Union,
};
use hindsight_kql_types::ScalarType;

use super::path::{in_filter, member, replacement};
use super::source::{Leaf, LeafSource};

/// The maximum number of keys of one query that become columns; for further keys the query reads the bag.
const MAX_KEYS: usize = 64;

/// `plan` with leaves in place of paths; its schema stays the same.
pub(super) fn rewrite(plan: LogicalPlan, source: &dyn LeafSource) -> Result<LogicalPlan> {
    let keys = keys(&plan)?;
    if keys.is_empty() {
        return Ok(plan);
    }
    let mut walk = Walk {
        source,
        keys,
        names: 0,
    };
    walk.closed(plan)
}

/// The keys that the paths of the plan name.
fn keys(plan: &LogicalPlan) -> Result<Vec<String>> {
    let mut keys = BTreeSet::new();
    plan.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Some((_, key)) = member(part)
                    && keys.len() < MAX_KEYS
                {
                    keys.insert(key.to_owned());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(keys.into_iter().collect())
}

/// A leaf among the output fields of a plan, by field index.
#[derive(Debug, Clone, PartialEq)]
struct LeafColumn {
    bag: usize,
    key: String,
    kind: ScalarType,
    field: usize,
}

/// A plan with leaves among its fields. A plan without leaves keeps its fields.
struct Open {
    plan: LogicalPlan,
    leaves: Vec<LeafColumn>,
}

struct Walk<'s> {
    source: &'s dyn LeafSource,
    keys: Vec<String>,
    names: usize,
}

impl Walk<'_> {
    /// The plan with its own fields, without leaves.
    fn closed(&mut self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let schema = Arc::clone(plan.schema());
        let open = self.open(plan)?;
        if open.leaves.is_empty() {
            return Ok(open.plan);
        }
        Projection::try_new(columns(&schema), Arc::new(open.plan)).map(LogicalPlan::Projection)
    }

    fn open(&mut self, plan: LogicalPlan) -> Result<Open> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Filter(filter) => {
                let input = self.open(Arc::unwrap_or_clone(filter.input))?;
                let predicate = in_filter(input.expr(filter.predicate)?);
                let plan = Filter::try_new(predicate, Arc::new(input.plan))?;
                Ok(Open {
                    plan: LogicalPlan::Filter(plan),
                    leaves: input.leaves,
                })
            }
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::SubqueryAlias(alias) => {
                let input = self.open(Arc::unwrap_or_clone(alias.input))?;
                let plan = SubqueryAlias::try_new(Arc::new(input.plan), alias.alias)?;
                Ok(Open {
                    plan: LogicalPlan::SubqueryAlias(plan),
                    leaves: input.leaves,
                })
            }
            LogicalPlan::Sort(mut sort) => {
                let input = self.open(Arc::unwrap_or_clone(sort.input))?;
                for key in &mut sort.expr {
                    key.expr = input.expr(std::mem::take(&mut key.expr))?;
                }
                sort.input = Arc::new(input.plan);
                Ok(Open {
                    plan: LogicalPlan::Sort(sort),
                    leaves: input.leaves,
                })
            }
            LogicalPlan::Limit(mut limit) => {
                let input = self.open(Arc::unwrap_or_clone(limit.input))?;
                limit.input = Arc::new(input.plan);
                Ok(Open {
                    plan: LogicalPlan::Limit(limit),
                    leaves: input.leaves,
                })
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Join(join) if carries(join.join_type) => self.join(join),
            LogicalPlan::Union(union) => self.union(union),
            other => self.opaque(other),
        }
    }

    /// An operator that the pass does not support: leaves are available below it, but not above it.
    fn opaque(&mut self, plan: LogicalPlan) -> Result<Open> {
        let inputs = plan.inputs();
        if inputs.is_empty() {
            return Ok(Open::without(plan));
        }
        let inputs = inputs
            .into_iter()
            .map(|input| self.closed(input.clone()))
            .collect::<Result<Vec<_>>>()?;
        plan.with_new_exprs(plan.expressions(), inputs)
            .map(Open::without)
    }

    fn scan(&mut self, scan: TableScan) -> Result<Open> {
        let plain = scan.projection.is_none() && scan.filters.is_empty() && scan.fetch.is_none();
        let given = plain
            .then(|| self.source.with_leaves(&scan.source, &self.keys))
            .flatten();
        let Some((source, leaves)) = given else {
            return Ok(Open::without(LogicalPlan::TableScan(scan)));
        };
        let table = scan.table_name.clone();
        let plan = LogicalPlanBuilder::scan(scan.table_name, source, None)?.build()?;
        let schema = Arc::clone(plan.schema());
        let place = |name: &str| schema.index_of_column_by_name(Some(&table), name);
        let held = |leaf: Leaf| {
            Some(LeafColumn {
                bag: place(&leaf.bag)?,
                field: place(&leaf.field)?,
                key: leaf.key,
                kind: leaf.kind,
            })
        };
        Ok(Open {
            leaves: leaves.into_iter().filter_map(held).collect(),
            plan,
        })
    }

    fn projection(&mut self, projection: Projection) -> Result<Open> {
        let input = self.open(Arc::unwrap_or_clone(projection.input))?;
        if input.leaves.is_empty() {
            let exprs = input.named(projection.expr)?;
            let plan = Projection::try_new(exprs, Arc::new(input.plan))?;
            return Ok(Open::without(LogicalPlan::Projection(plan)));
        }
        let mut leaves = Vec::new();
        let mut carried = Vec::new();
        let width = projection.expr.len();
        for (bag, expr) in projection.expr.iter().enumerate() {
            for leaf in input.leaves_of(unaliased(expr)) {
                let field = column(input.plan.schema(), leaf.field);
                leaves.push(LeafColumn {
                    bag,
                    field: width + carried.len(),
                    ..leaf.clone()
                });
                carried.push(field.alias(self.name()));
            }
        }
        let mut exprs = input.named(projection.expr)?;
        exprs.append(&mut carried);
        Ok(Open {
            plan: LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input.plan))?),
            leaves,
        })
    }

    fn aggregate(&mut self, aggregate: Aggregate) -> Result<Open> {
        let input = self.open(Arc::unwrap_or_clone(aggregate.input))?;
        let groups = input.named(aggregate.group_expr)?;
        let aggregates = input.named(aggregate.aggr_expr)?;
        let plan = Aggregate::try_new(Arc::new(input.plan), groups, aggregates)?;
        Ok(Open::without(LogicalPlan::Aggregate(plan)))
    }

    /// The columns of both sides: a row without a match has nulls for the bag and for its leaves.
    fn join(&mut self, join: Join) -> Result<Open> {
        let left = self.open(Arc::unwrap_or_clone(Arc::clone(&join.left)))?;
        let right = self.open(Arc::unwrap_or_clone(Arc::clone(&join.right)))?;
        let shift = left.plan.schema().fields().len();
        let mut leaves = left.leaves;
        leaves.extend(right.leaves.into_iter().map(|leaf| LeafColumn {
            bag: leaf.bag + shift,
            field: leaf.field + shift,
            ..leaf
        }));
        let plan = LogicalPlan::Join(join);
        let plan = plan.with_new_exprs(plan.expressions(), vec![left.plan, right.plan])?;
        Ok(Open { plan, leaves })
    }

    /// The leaves that all inputs have for the same field index.
    fn union(&mut self, union: Union) -> Result<Open> {
        let width = union.schema.fields().len();
        let mut schemas = Vec::with_capacity(union.inputs.len());
        let mut inputs = Vec::with_capacity(union.inputs.len());
        for input in union.inputs {
            schemas.push(Arc::clone(input.schema()));
            inputs.push(self.open(Arc::unwrap_or_clone(input))?);
        }
        let first = inputs.first().map(|open| open.leaves.clone());
        let shared: Vec<LeafColumn> = first
            .unwrap_or_default()
            .into_iter()
            .filter(|leaf| inputs.iter().all(|open| open.same(leaf).is_some()))
            .collect();
        let names: Vec<String> = shared.iter().map(|_| self.name()).collect();
        let mut legs = Vec::with_capacity(inputs.len());
        for (open, schema) in inputs.into_iter().zip(&schemas) {
            legs.push(Arc::new(open.leg(schema, &shared, &names)?));
        }
        let leaves = shared
            .into_iter()
            .enumerate()
            .map(|(index, leaf)| LeafColumn {
                field: width + index,
                ..leaf
            });
        Ok(Open {
            leaves: leaves.collect(),
            plan: LogicalPlan::Union(Union::try_new(legs)?),
        })
    }

    /// A field name that no other field has.
    fn name(&mut self) -> String {
        self.names += 1;
        format!("$leaf{}", self.names)
    }
}

impl Open {
    fn without(plan: LogicalPlan) -> Open {
        Open {
            plan,
            leaves: Vec::new(),
        }
    }

    /// The leaves of the bag that `expr` reads.
    fn leaves_of(&self, expr: &Expr) -> impl Iterator<Item = &LeafColumn> {
        let bag = match expr {
            Expr::Column(column) => self.plan.schema().index_of_column(column).ok(),
            _ => None,
        };
        self.leaves.iter().filter(move |leaf| Some(leaf.bag) == bag)
    }

    fn same(&self, other: &LeafColumn) -> Option<&LeafColumn> {
        self.leaves
            .iter()
            .find(|leaf| leaf.bag == other.bag && leaf.key == other.key && leaf.kind == other.kind)
    }

    /// `expr`, rewritten to read leaves.
    fn expr(&self, expr: Expr) -> Result<Expr> {
        let find = |bag: &Expr, key: &str, kind: ScalarType| {
            let mut leaves = self.leaves_of(bag);
            let leaf = leaves.find(|leaf| leaf.key == key && leaf.kind == kind)?;
            Some(column(self.plan.schema(), leaf.field))
        };
        expr.transform_down(|part| {
            Ok(match replacement(&part, &find) {
                Some(other) => Transformed::yes(other),
                None => Transformed::no(part),
            })
        })
        .map(|done| done.data)
    }

    /// The expressions with their original names.
    fn named(&self, exprs: Vec<Expr>) -> Result<Vec<Expr>> {
        let preserver = NamePreserver::new_for_projection();
        let renamed = exprs.into_iter().map(|expr| {
            let name = preserver.save(&expr);
            Ok(name.restore(self.expr(expr)?))
        });
        renamed.collect()
    }

    /// One input of a union: its own fields, then the leaves under their names in that input.
    fn leg(
        self,
        schema: &DFSchemaRef,
        shared: &[LeafColumn],
        names: &[String],
    ) -> Result<LogicalPlan> {
        if self.leaves.is_empty() {
            return Ok(self.plan);
        }
        let mut exprs = columns(schema);
        for (leaf, name) in shared.iter().zip(names) {
            if let Some(own) = self.same(leaf) {
                exprs.push(column(self.plan.schema(), own.field).alias(name));
            }
        }
        Projection::try_new(exprs, Arc::new(self.plan)).map(LogicalPlan::Projection)
    }
}

/// Joins that output all columns of both sides.
fn carries(kind: JoinType) -> bool {
    matches!(
        kind,
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full
    )
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}

/// Every field of a schema.
fn columns(schema: &DFSchema) -> Vec<Expr> {
    schema
        .iter()
        .map(|(table, field)| Expr::Column(Column::new(table.cloned(), field.name())))
        .collect()
}

fn column(schema: &DFSchema, index: usize) -> Expr {
    let (table, field) = schema.qualified_field(index);
    Expr::Column(Column::new(table.cloned(), field.name()))
}
