//! The plug-ins of KQL, supported or not.

/// Their names.
pub(super) const PLUGINS: &str = "active_users_count activity_counts_metrics activity_engagement activity_metrics ai_chat_completion \
    ai_chat_completion_prompt ai_embed_text ai_embeddings autocluster azure_digital_twins_query_request bag_unpack \
    basket cosmosdb_sql_request dcount_intersect diffpatterns diffpatterns_text external_data funnel_sequence \
    funnel_sequence_completion geo_line_lookup geo_polygon_lookup http_request http_request_post \
    infer_storage_schema infer_storage_schema_with_suggestions ipv4_lookup ipv6_lookup mysql_request narrow \
    new_activity_metrics pivot postgresql_request python r rolling_percentile rows_near schema_merge sequence_detect \
    session_count sliding_window_counts sql_request";
