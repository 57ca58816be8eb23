//! The adapter between the library's accumulators and DataFusion's aggregate functions.
//!
//! An aggregate implements only [`Groups`]: state for many groups at once. The adapter adds filters, the single-group
//! accumulator, the state for skipped partial aggregation, and equality, so that DataFusion computes an aggregate that
//! occurs twice only once.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use arrow::compute::filter;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, Expr, GroupsAccumulator, Signature,
    Volatility,
};

use super::description::Description;

/// The state of one aggregate over many groups.
pub(crate) trait Groups: Send + Sync + 'static {
    /// Grows the state to `total` groups; new groups are empty.
    fn grow(&mut self, total: usize);
    /// Adds rows: `values` are the argument columns and `groups` holds each row's group.
    fn update(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()>;
    /// Merges partial states, one per row of `states`.
    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()>;
    /// Returns and removes the results of the groups selected by `emit`.
    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef>;
    /// Returns and removes the partial states of the groups selected by `emit`.
    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>>;
    /// The allocated memory in bytes.
    fn size(&self) -> usize;
}

/// Creates the empty state of an aggregate.
pub(crate) type MakeGroups = Arc<dyn Fn() -> Box<dyn Groups> + Send + Sync>;

/// The definition of an aggregate for DataFusion.
pub(crate) struct GroupsUdaf {
    /// Its name, which identifies the kind of state.
    pub(crate) name: &'static str,
    /// Distinguishes aggregates of the same name: the constants and types that `make` captured.
    pub(crate) parameters: String,
    /// The number of arguments.
    pub(crate) arguments: usize,
    /// The Arrow type of the result.
    pub(crate) result: DataType,
    /// The Arrow types of the partial state's columns.
    pub(crate) states: Vec<DataType>,
    /// What it computes, for other processes.
    pub(crate) description: Description,
    /// Creates an empty state.
    pub(crate) make: MakeGroups,
}

impl GroupsUdaf {
    /// An aggregate call on `args`.
    pub(crate) fn call(self, args: Vec<Expr>) -> Expr {
        self.function().call(args)
    }

    /// The aggregate function.
    pub(crate) fn function(self) -> AggregateUDF {
        let signature = match self.arguments {
            0 => Signature::nullary(Volatility::Immutable),
            n => Signature::any(n, Volatility::Immutable),
        };
        let display = if self.parameters.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}[{}]", self.name, self.parameters)
        };
        AggregateUDF::from(Adapter {
            udaf: self,
            display,
            signature,
        })
    }
}

/// The description of an aggregate of this library; `None` for another aggregate.
pub(crate) fn description_of(function: &AggregateUDF) -> Option<&Description> {
    let adapter = function.inner().downcast_ref::<Adapter>();
    adapter.map(|adapter| &adapter.udaf.description)
}

/// The name of an aggregate of this library, without its parameters; `None` for another aggregate.
pub(crate) fn name_of(function: &AggregateUDF) -> Option<&'static str> {
    let adapter = function.inner().downcast_ref::<Adapter>();
    adapter.map(|adapter| adapter.udaf.name)
}

struct Adapter {
    udaf: GroupsUdaf,
    /// The name with its parameters. Plans derive column names from it, so it must distinguish calls.
    display: String,
    signature: Signature,
}

impl Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display)
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Adapter) -> bool {
        self.display == other.display
            && self.udaf.result == other.udaf.result
            && self.udaf.states == other.udaf.states
    }
}

impl Eq for Adapter {}

impl Hash for Adapter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.display.hash(state);
    }
}

impl AggregateUDFImpl for Adapter {
    fn name(&self) -> &str {
        &self.display
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.udaf.result.clone())
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let mut groups = (self.udaf.make)();
        groups.grow(1);
        Ok(Box::new(SingleGroup { groups }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |(index, kind): (usize, &DataType)| {
            Arc::new(Field::new(
                format!("{}[{index}]", args.name),
                kind.clone(),
                true,
            ))
        };
        Ok(self.udaf.states.iter().enumerate().map(field).collect())
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        _: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(ManyGroups {
            groups: (self.udaf.make)(),
            make: Arc::clone(&self.udaf.make),
        }))
    }
}

/// Treats all rows as one group.
struct SingleGroup {
    groups: Box<dyn Groups>,
}

impl Debug for SingleGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one group of {} bytes", self.groups.size())
    }
}

fn zeros(values: &[ArrayRef]) -> Vec<usize> {
    vec![0; values.first().map_or(0, |v| v.len())]
}

impl Accumulator for SingleGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.groups.update(values, &zeros(values))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let result = self.groups.evaluate(EmitTo::All)?;
        self.groups.grow(1);
        ScalarValue::try_from_array(&result, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.groups.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let states = self.groups.state(EmitTo::All)?;
        self.groups.grow(1);
        states
            .iter()
            .map(|state| ScalarValue::try_from_array(state, 0))
            .collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.groups.merge(states, &zeros(states))
    }
}

/// Maintains one state per group.
struct ManyGroups {
    groups: Box<dyn Groups>,
    make: MakeGroups,
}

impl GroupsAccumulator for ManyGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.grow(total_num_groups);
        match opt_filter {
            None => self.groups.update(values, group_indices),
            Some(keep) => {
                let (values, groups) = filter_rows(values, group_indices, keep)?;
                self.groups.update(&values, &groups)
            }
        }
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.groups.evaluate(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.groups.state(emit_to)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups.grow(total_num_groups);
        self.groups.merge(values, group_indices)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |v| v.len());
        let own: Vec<usize> = (0..rows).collect();
        let mut groups = (self.make)();
        groups.grow(rows);
        match opt_filter {
            None => groups.update(values, &own)?,
            Some(keep) => {
                let (values, own) = filter_rows(values, &own, keep)?;
                groups.update(&values, &own)?;
            }
        }
        groups.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.groups.size()
    }
}

/// The rows for which `keep` is true.
fn filter_rows(
    values: &[ArrayRef],
    groups: &[usize],
    keep: &BooleanArray,
) -> Result<(Vec<ArrayRef>, Vec<usize>)> {
    let values = values
        .iter()
        .map(|array| Ok(filter(array, keep)?))
        .collect::<Result<Vec<_>>>()?;
    let groups = UInt64Array::from_iter_values(groups.iter().map(|g| *g as u64));
    let groups = filter(&groups, keep)?;
    let groups = arrow::array::AsArray::as_primitive::<arrow::datatypes::UInt64Type>(&groups);
    Ok((
        values,
        groups.values().iter().map(|g| *g as usize).collect(),
    ))
}
