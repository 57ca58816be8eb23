//! Why functions and plug-ins of the language are refused.

/// The names that one reason refuses.
pub(super) struct Refused {
    /// The names, separated by white space.
    pub(super) names: &'static str,
    /// The reason, a sentence.
    pub(super) reason: &'static str,
}

/// The reason for functions and plug-ins that no other reason names.
pub(super) const NOT_IMPLEMENTED: &str = "Not implemented.";

/// The reasons of scalar functions.
pub(super) const FUNCTIONS: &[Refused] = &[
    Refused {
        names: "cluster external_table materialized_view stored_query_result",
        reason: "They name parts of a cluster, which Hindsight does not have.",
    },
    Refused {
        names: "cursor_after cursor_before_or_at cursor_current extent_id extent_tags",
        reason: "They tell how a cluster stores its rows; Hindsight's segments are merged and rewritten at any time.",
    },
    Refused {
        names: "hash_combine hash_many",
        reason: "The engine's way to combine hashes is not published, and another hash would be a wrong answer.",
    },
];

/// Arguments that the published binder accepts and Hindsight refuses: the calls, and the reason.
pub(super) const ARGUMENTS: &[(&str, &str)] = &[
    (
        "around(value, center, delta)",
        "of other types than numbers, or a datetime or timespan, a center of its type and a timespan: center - delta has no meaning.",
    ),
    (
        "dcount(expr, accuracy)",
        "with an accuracy that is no integer from 0 to 4, the only ones that are documented.",
    ),
    (
        "hash(source)",
        "of a bool, real, decimal or guid: the engine's bytes of these types are not published, and another hash would be a wrong answer.",
    ),
    (
        "percentile(expr, percentage)",
        "and the related aggregates of a dynamic, which has no order.",
    ),
    (
        "binary_all_and(expr)",
        "and the related aggregates of a real, decimal, datetime or timespan: bits are those of integers.",
    ),
    (
        "range(start, stop, step)",
        "of a number beside a datetime or timespan: start + step has no meaning.",
    ),
    (
        "geo_line_densify(line, tolerance, preserve_crossing)",
        "and geo_polygon_densify with a number as the last argument, which is a bool by the documentation.",
    ),
];

/// The reasons of plug-ins.
pub(super) const PLUGINS: &[Refused] = &[
    Refused {
        names: "azure_digital_twins_query_request cosmosdb_sql_request external_data http_request http_request_post \
                infer_storage_schema infer_storage_schema_with_suggestions mysql_request postgresql_request sql_request",
        reason: "They read other systems; a query reads the telemetry of this machine only.",
    },
    Refused {
        names: "ai_chat_completion ai_chat_completion_prompt ai_embed_text ai_embeddings",
        reason: "They send telemetry to a model of another system.",
    },
    Refused {
        names: "python r",
        reason: "They run programs of another language, which a query could not confine.",
    },
    Refused {
        names: "diffpatterns_text",
        reason: "Its choice of text patterns is not published.",
    },
];

/// The reason for which `name` is refused.
pub(super) fn reason(reasons: &[Refused], name: &str) -> &'static str {
    let of_name = |refused: &&Refused| refused.names.split_whitespace().any(|n| n == name);
    let found = reasons.iter().find(of_name);
    found.map_or(NOT_IMPLEMENTED, |refused| refused.reason)
}
