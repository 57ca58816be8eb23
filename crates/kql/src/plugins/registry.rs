//! The registry of plug-ins by name.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, TypeOf};

use super::activity;
use super::autocluster;
use super::bag_unpack;
use super::basket;
use super::dcount_intersect;
use super::diffpatterns;
use super::funnel_sequence;
use super::funnel_sequence_completion;
use super::geo_lookup;
use super::ip_lookup;
use super::narrow;
use super::pivot;
use super::preview;
use super::rows_near;
use super::schema_merge;
use super::sequence_detect;
use super::session_count;
use super::windows;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::relation::Relation;

/// A plug-in of KQL.
pub(crate) struct Plugin {
    /// The signature: `name(argument, [optional], …)`.
    pub(crate) form: &'static str,
    /// One sentence for the reference.
    pub(crate) summary: &'static str,
    /// Its implementation.
    pub(crate) bind: Bind,
}

/// The function that binds a plug-in.
#[derive(Clone, Copy)]
pub(crate) enum Bind {
    /// The plug-in determines its columns; the caller applies a declared schema to them.
    Columns(BindColumns),
    /// The plug-in has additional results.
    Results(fn(&Call, Bound, &mut dyn BindContext, Span) -> BindResult<Bound>),
    /// The plug-in applies a declared schema itself.
    Schema(BindSchema),
}

/// Binds a call over its input.
type BindColumns = fn(&Call, Relation, &mut dyn BindContext, Span) -> BindResult<Relation>;

/// Binds a call with the declared schema over its input.
type BindSchema =
    fn(&Call, Option<&TypeOf>, Relation, &mut dyn BindContext, Span) -> BindResult<Relation>;

static PLUGINS: &[Plugin] = &[
    Plugin {
        form: "active_users_count(id, axis, start, end, lookback, period, periods, bin, [dimension, …])",
        summary: "The number of ids in each bin that were active in enough periods of the lookback.",
        bind: Bind::Columns(activity::users_count),
    },
    Plugin {
        form: "activity_counts_metrics(id, axis, start, end, window, [dimension, …])",
        summary: "The numbers of rows, distinct ids, new ids and all ids so far, for each window.",
        bind: Bind::Columns(activity::counts_metrics),
    },
    Plugin {
        form: "activity_engagement(id, axis, start, end, inner, outer, [dimension, …])",
        summary: "The ratio of the ids active in an inner window to those active in the outer window that ends with it.",
        bind: Bind::Columns(activity::engagement),
    },
    Plugin {
        form: "activity_metrics(id, axis, start, end, window, [dimension, …])",
        summary: "The ids of each window, with retention and churn relative to the previous window.",
        bind: Bind::Columns(activity::metrics),
    },
    Plugin {
        form: "autocluster([size_weight=0.5], [weight], [seeds=25], [wildcard, …])",
        summary: "A few patterns that many rows have in common. The choice is Hindsight's own and may differ from the cloud's, whose details are not published: of each of the most frequent rows it is the part with the best score, the geometric mean of the shares of rows and columns.",
        bind: Bind::Columns(autocluster::bind),
    },
    Plugin {
        form: "bag_unpack(bag, [prefix], [columnsConflict='error' | 'replace_source' | 'keep_source'], [ignoredProperties=array])",
        summary: "A column for each key of a column's bags, in place of the column.",
        bind: Bind::Schema(bag_unpack::bind),
    },
    Plugin {
        form: "basket([threshold=0.05], [weight], [dimensions=5], [wildcard, …])",
        summary: "All patterns that at least a share of the rows has; a column with one value in all of these rows belongs to the pattern. The search is complete, where the cloud's samples, and the most frequent patterns come first.",
        bind: Bind::Columns(basket::bind),
    },
    Plugin {
        form: "dcount_intersect(hll, hll, …)",
        summary: "The columns of the input, and the estimated sizes of the intersections of the first hll states of a row, in a column for each state.",
        bind: Bind::Columns(dcount_intersect::bind),
    },
    Plugin {
        form: "diffpatterns(split, a, b, [weight], [threshold=0.05], [dimensions], [wildcard, …])",
        summary: "Patterns whose shares of two sets of rows differ by at least a threshold. The choice is Hindsight's own and may differ from the cloud's, whose details are not published: of patterns that share nine tenths of their rows only the one with the largest difference stays.",
        bind: Bind::Columns(diffpatterns::bind),
    },
    Plugin {
        form: "funnel_sequence(id, axis, start, end, step_window, bin, state, sequence)",
        summary: "How many ids went through a sequence of states, by the state before it and the state after it: three results.",
        bind: Bind::Results(funnel_sequence::bind),
    },
    Plugin {
        form: "funnel_sequence_completion(id, axis, start, end, bin, state, sequence, periods)",
        summary: "How many ids reach each state of a sequence within a period of its first state.",
        bind: Bind::Columns(funnel_sequence_completion::bind),
    },
    Plugin {
        form: "geo_line_lookup(table, line, longitude, latitude, radius, [return_unmatched=false], [join_hint], [return_lookup_key=false])",
        summary: "The rows of a table whose line is within a radius in metres of a row's point.",
        bind: Bind::Columns(|call, input, binder, span| {
            geo_lookup::bind(geo_lookup::Shape::Line, call, input, binder, span)
        }),
    },
    Plugin {
        form: "geo_polygon_lookup(table, polygon, longitude, latitude, [radius], [return_unmatched=false], [join_hint], [return_lookup_key=false])",
        summary: "The rows of a table whose polygon contains a row's point, or is within a radius in metres of it.",
        bind: Bind::Columns(|call, input, binder, span| {
            geo_lookup::bind(geo_lookup::Shape::Polygon, call, input, binder, span)
        }),
    },
    Plugin {
        form: "ipv4_lookup(table, address, network, [key, …], [return_unmatched=false])",
        summary: "Adds the rows of a table whose IPv4 network contains the address.",
        bind: Bind::Columns(|call, input, binder, span| {
            ip_lookup::bind(ip_lookup::Family::V4, call, input, binder, span)
        }),
    },
    Plugin {
        form: "ipv6_lookup(table, address, network, [key, …], [return_unmatched=false])",
        summary: "Adds the rows of a table whose IPv6 or IPv4 network contains the address.",
        bind: Bind::Columns(|call, input, binder, span| {
            ip_lookup::bind(ip_lookup::Family::V6, call, input, binder, span)
        }),
    },
    Plugin {
        form: "narrow()",
        summary: "A row for each cell: row, column and value as text.",
        bind: Bind::Columns(narrow::bind),
    },
    Plugin {
        form: "new_activity_metrics(id, axis, start, end, window, [cohort], [dimension, …], [lookback])",
        summary: "The retention and churn of each cohort of new ids.",
        bind: Bind::Columns(activity::new_metrics),
    },
    Plugin {
        form: "pivot(column, [aggregate], [key, …])",
        summary: "A column for each value of a column, with an aggregate of its rows.",
        bind: Bind::Columns(pivot::bind),
    },
    Plugin {
        form: "preview(rows)",
        summary: "The first rows as a separate result, then the number of all rows.",
        bind: Bind::Results(preview::bind),
    },
    Plugin {
        form: "rolling_percentile(value, percentile, axis, bin, bins, [dimension, …])",
        summary: "A percentile over a sliding window of bins.",
        bind: Bind::Columns(windows::percentile),
    },
    Plugin {
        form: "rows_near(condition, distance, [after])",
        summary: "The rows near those for which a condition is true; the input must be serialized.",
        bind: Bind::Columns(rows_near::bind),
    },
    Plugin {
        form: "schema_merge([PreserveOrder=true])",
        summary: "One schema merged from the getschema results of several tables.",
        bind: Bind::Columns(schema_merge::bind),
    },
    Plugin {
        form: "sequence_detect(axis, step_window, span, [name=] predicate, …, [dimension, …])",
        summary: "The occurrences of rows that meet predicates one after the other.",
        bind: Bind::Columns(sequence_detect::bind),
    },
    Plugin {
        form: "session_count(id, axis, start, end, bin, lookback, [dimension, …])",
        summary: "The number of sessions that have an event in each window.",
        bind: Bind::Columns(session_count::bind),
    },
    Plugin {
        form: "sliding_window_counts(id, axis, start, end, lookback, bin, [dimension, …])",
        summary: "The numbers of rows and distinct ids in a sliding window.",
        bind: Bind::Columns(windows::counts),
    },
];

/// All plug-ins, ordered by name.
pub(crate) fn all() -> &'static [Plugin] {
    PLUGINS
}

/// The plug-in called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Plugin> {
    PLUGINS.iter().find(|plugin| plugin.name() == name)
}

impl Plugin {
    /// The plug-in's name.
    pub(crate) fn name(&self) -> &'static str {
        self.form.split('(').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugins_are_in_order_and_say_what_they_do() {
        let names: Vec<&str> = all().iter().map(Plugin::name).collect();
        assert!(names.is_sorted(), "{names:?}");
        assert!(all().iter().all(|p| p.summary.ends_with('.')));
    }
}
