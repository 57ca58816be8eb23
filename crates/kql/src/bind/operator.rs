//! Which module binds which operator. The match is exhaustive, so a new node of the grammar needs a meaning to build.

use hindsight_kql_syntax::ast::{Operator, OperatorKind};

use super::{BindResult, Binder};
use crate::operators;
use crate::relation::Relation;

impl Binder<'_> {
    /// Binds one operator over `input`; an operator that starts a pipeline gets [`Relation::unit`].
    pub(crate) fn bind_operator(
        &mut self,
        operator: &Operator,
        input: Relation,
    ) -> BindResult<Relation> {
        let before = self.operator.replace(operator.kind.keyword().to_owned());
        let result = self.dispatch(operator, input);
        self.operator = before;
        result
    }

    fn dispatch(&mut self, operator: &Operator, input: Relation) -> BindResult<Relation> {
        let span = operator.span;
        match &operator.kind {
            OperatorKind::As(node) => operators::as_::bind(node, input, self, span),
            OperatorKind::AssertSchema(node) => {
                operators::assert_schema::bind(node, input, self, span)
            }
            OperatorKind::Consume(node) => operators::consume::bind(node, input, self, span),
            OperatorKind::Count(node) => operators::count::bind(node, input, self, span),
            OperatorKind::Distinct(node) => operators::distinct::bind(node, input, self, span),
            OperatorKind::Evaluate(node) => operators::evaluate::bind(node, input, self, span),
            OperatorKind::Extend(node) => operators::extend::bind(node, input, self, span),
            OperatorKind::Facet(node) => operators::facet::bind(node, input, self, span),
            OperatorKind::Find(node) => operators::find::bind(node, input, self, span),
            OperatorKind::Fork(node) => operators::fork::bind(node, input, self, span),
            OperatorKind::GetSchema(node) => operators::getschema::bind(node, input, self, span),
            OperatorKind::Invoke(node) => operators::invoke::bind(node, input, self, span),
            OperatorKind::Join(node) => operators::join::bind(node, input, self, span),
            OperatorKind::Lookup(node) => operators::lookup::bind(node, input, self, span),
            OperatorKind::MacroExpand(node) => {
                operators::macro_expand::bind(node, input, self, span)
            }
            OperatorKind::MakeSeries(node) => operators::make_series::bind(node, input, self, span),
            OperatorKind::MvApply(node) => operators::mv_apply::bind(node, input, self, span),
            OperatorKind::MvExpand(node) => operators::mv_expand::bind(node, input, self, span),
            OperatorKind::Parse(node) => operators::parse::bind(node, input, self, span),
            OperatorKind::ParseKv(node) => operators::parse_kv::bind(node, input, self, span),
            OperatorKind::Partition(node) => operators::partition::bind(node, input, self, span),
            OperatorKind::Print(node) => operators::print::bind(node, input, self, span),
            OperatorKind::Project(node) => operators::project::bind(node, input, self, span),
            OperatorKind::ProjectAway(node) => {
                operators::project_away::bind(node, input, self, span)
            }
            OperatorKind::ProjectByNames(node) => {
                operators::project_by_names::bind(node, input, self, span)
            }
            OperatorKind::ProjectKeep(node) => {
                operators::project_keep::bind(node, input, self, span)
            }
            OperatorKind::ProjectRename(node) => {
                operators::project_rename::bind(node, input, self, span)
            }
            OperatorKind::ProjectReorder(node) => {
                operators::project_reorder::bind(node, input, self, span)
            }
            OperatorKind::Range(node) => operators::range::bind(node, input, self, span),
            OperatorKind::Reduce(node) => operators::reduce::bind(node, input, self, span),
            OperatorKind::Render(node) => operators::render::bind(node, input, self, span),
            OperatorKind::Sample(node) => operators::sample::bind(node, input, self, span),
            OperatorKind::SampleDistinct(node) => {
                operators::sample_distinct::bind(node, input, self, span)
            }
            OperatorKind::Scan(node) => operators::scan::bind(node, input, self, span),
            OperatorKind::Search(node) => operators::search::bind(node, input, self, span),
            OperatorKind::Serialize(node) => operators::serialize::bind(node, input, self, span),
            OperatorKind::Sort(node) => operators::sort::bind(node, input, self, span),
            OperatorKind::Summarize(node) => operators::summarize::bind(node, input, self, span),
            OperatorKind::Take(node) => operators::take::bind(node, input, self, span),
            OperatorKind::Top(node) => operators::top::bind(node, input, self, span),
            OperatorKind::TopHitters(node) => operators::top_hitters::bind(node, input, self, span),
            OperatorKind::TopNested(node) => operators::top_nested::bind(node, input, self, span),
            OperatorKind::Union(node) => operators::union::bind(node, input, self, span),
            OperatorKind::Where(node) => operators::where_::bind(node, input, self, span),
            OperatorKind::Unsupported { name, .. } => {
                Err(self.unsupported(format_args!("the operator '{name}'"), span))
            }
        }
    }
}
