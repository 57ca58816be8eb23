//! Attacks, and where each is survived: the rows 1 to 23 and 39 to 45 of `attacks.md`.

mod identity;
mod ingestion;
mod isolation;
mod limits;

use super::*;

/// A row of the list: its number, what is tried, and the tests, each as a file and a name in it.
struct Row(u8, &'static str, &'static [(&'static str, &'static str)]);

const IDENTITY: &str = "crates/server/src/tests/attacks/identity.rs";
const ISOLATION: &str = "crates/server/src/tests/attacks/isolation.rs";
const INGESTION: &str = "crates/server/src/tests/attacks/ingestion.rs";
const OTLP: &str = "crates/server/src/tests/otlp/refusals.rs";
const LIMITS: &str = "crates/server/src/tests/attacks/limits.rs";
const OAUTH: &str = "crates/server/src/tests/oauth/attacks.rs";
const PAGES: &str = "crates/server/src/tests/oauth/pages.rs";
const WIRE: &str = "crates/server/src/tests/connections.rs";
const HTTP: &str = "crates/server/src/tests/http.rs";
const ISSUERS: &str = "crates/identity/tests/external.rs";
const CLAIMS: &str = "crates/identity/src/claims.rs";
const BODIES: &str = "crates/ingest/src/body.rs";
const ITEMS: &str = "crates/server/src/tests/envelopes.rs";
const RAW: &str = "tests/sdk/test_raw_headers.py";
const LOAD: &str = "tests/sdk/test_hostile_telemetry.py";
const CANARY: &str = "tests/sdk/test_canary.py";

const MAP: &[Row] = &[
    Row(
        1,
        "no credential",
        &[
            (
                IDENTITY,
                "row_1_without_a_credential_nothing_says_which_applications_exist",
            ),
            (
                "crates/server/src/tests/routes.rs",
                "closed_routes_need_a_credential",
            ),
        ],
    ),
    Row(
        2,
        "wrong application or key: the same bytes; the same time is for bench/timing.py, which measures",
        &[(
            IDENTITY,
            "rows_2_and_4_every_wrong_key_and_application_gets_the_same_403",
        )],
    ),
    Row(
        3,
        "empty credentials",
        &[(IDENTITY, "row_3_empty_credentials_are_none")],
    ),
    Row(
        4,
        "dead, cut and changed keys; the hash as the key",
        &[(
            IDENTITY,
            "rows_2_and_4_every_wrong_key_and_application_gets_the_same_403",
        )],
    ),
    Row(
        5,
        "two credentials that disagree",
        &[(
            IDENTITY,
            "row_5_of_two_credentials_the_first_in_order_decides_alone",
        )],
    ),
    Row(
        6,
        "a key in both fields of Basic",
        &[(
            IDENTITY,
            "row_6_in_basic_the_user_name_wins_and_a_password_alone_counts",
        )],
    ),
    Row(
        7,
        "headers twice, folded, with control characters",
        &[
            (IDENTITY, "row_7_a_key_sent_twice_is_400"),
            (RAW, "test_twice_folded_or_with_control_characters"),
        ],
    ),
    Row(
        8,
        "tokens without or with a confused signature",
        &[(OAUTH, "forged_tokens_are_401")],
    ),
    Row(
        9,
        "tokens for others, too old, too young, too long",
        &[
            (CLAIMS, "each_wrong_claim_is_refused"),
            (CLAIMS, "clocks_may_differ_by_seconds_but_not_by_a_day"),
            (ISSUERS, "claims_are_compared_with_the_settings"),
            (RAW, "test_a_token_of_a_megabyte"),
        ],
    ),
    Row(
        10,
        "good tokens without the scope or the right",
        &[
            (
                OAUTH,
                "without_the_scope_or_the_role_a_good_token_is_403_and_says_what_is_missing",
            ),
            (OAUTH, "roles_decide_which_applications_a_token_opens"),
        ],
    ),
    Row(
        11,
        "codes used twice or by others",
        &[
            (
                OAUTH,
                "a_code_is_good_once_and_a_second_use_revokes_what_the_first_gave",
            ),
            (OAUTH, "a_code_shown_twice_at_once_gives_nothing_that_lasts"),
            (OAUTH, "a_code_is_bound_to_its_client_address_and_challenge"),
        ],
    ),
    Row(
        12,
        "refresh tokens used twice",
        &[
            (OAUTH, "a_refresh_token_used_twice_revokes_the_family"),
            (
                OAUTH,
                "another_client_cannot_use_a_refresh_token_nor_use_it_up",
            ),
        ],
    ),
    Row(
        13,
        "redirects to elsewhere",
        &[
            (
                OAUTH,
                "a_wrong_redirect_address_is_told_to_the_person_and_goes_nowhere",
            ),
            (
                "crates/identity/src/issuer/redirect.rs",
                "a_redirect_matches_exactly",
            ),
            (
                "crates/identity/src/issuer/redirect.rs",
                "only_safe_addresses_can_be_registered",
            ),
        ],
    ),
    Row(
        14,
        "issuers inside the network, huge and slow documents, outages, floods of key ids",
        &[
            (ISSUERS, "an_issuer_inside_is_refused_at_the_start"),
            (ISSUERS, "documents_are_bounded_in_reach_size_and_time"),
            (ISSUERS, "an_outage_keeps_the_last_good_keys"),
            (ISSUERS, "a_flood_of_unknown_keys_reads_once_a_minute"),
        ],
    ),
    Row(
        15,
        "guessing",
        &[
            (
                IDENTITY,
                "row_15_many_wrong_keys_of_an_address_are_429_and_a_good_one_still_works",
            ),
            (PAGES, "guessing_passwords_ends_soon_also_for_the_right_one"),
            (
                PAGES,
                "of_many_guesses_at_once_no_more_are_compared_than_the_limit",
            ),
            (PAGES, "wrong_guesses_lock_out_no_one_else"),
            (PAGES, "unknown_clients_are_no_guesses"),
        ],
    ),
    Row(
        16,
        "pages: forged forms, sessions, cookies, script. There is no portal, so that telemetry is shown on no page",
        &[
            (PAGES, "a_form_of_another_site_signs_nobody_in"),
            (
                PAGES,
                "a_form_of_another_site_decides_nothing_and_signs_nobody_out",
            ),
            (
                PAGES,
                "a_session_is_new_hidden_from_scripts_and_ends_on_the_server",
            ),
            (PAGES, "over_tls_cookies_are_secure_and_bound_to_the_host"),
            (
                PAGES,
                "the_sign_in_page_needs_no_script_and_cannot_be_framed",
            ),
            (PAGES, "what_is_typed_or_named_is_text_on_every_page"),
        ],
    ),
    Row(
        17,
        "another's cached reply",
        &[(
            ISOLATION,
            "rows_17_and_20_the_cache_gives_nothing_to_others_nor_to_deleted_keys",
        )],
    ),
    Row(
        18,
        "another's application in a query",
        &[(ISOLATION, "row_18_a_query_reaches_no_other_application")],
    ),
    Row(
        19,
        "too many applications",
        &[(
            ISOLATION,
            "row_19_more_applications_than_the_limit_are_400_and_the_limit_is_named",
        )],
    ),
    Row(
        20,
        "a key deleted while its replies are cached",
        &[(
            ISOLATION,
            "rows_17_and_20_the_cache_gives_nothing_to_others_nor_to_deleted_keys",
        )],
    ),
    Row(
        21,
        "telemetry for others",
        &[
            (
                ISOLATION,
                "row_21_telemetry_goes_only_where_its_credential_opens",
            ),
            (
                "crates/server/src/tests/ingest.rs",
                "a_wrong_key_stores_nothing_and_some_is_206",
            ),
        ],
    ),
    Row(
        22,
        "tricks in the path",
        &[(ISOLATION, "row_22_tricks_in_the_path_reach_nothing_else")],
    ),
    Row(
        23,
        "live tail: there is none, and what is not there asks for a credential as everything does",
        &[(ISOLATION, "row_23_what_is_not_there_needs_a_credential_too")],
    ),
    Row(
        39,
        "compression bombs and lying lengths; there is no gRPC",
        &[
            (BODIES, "a_bomb_of_every_codec_stops_at_the_limit"),
            (BODIES, "garbage_is_corrupt_and_never_a_panic"),
            (BODIES, "unknown_and_stacked_encodings_are_refused"),
            (BODIES, "what_follows_the_end_is_corrupt"),
            (
                INGESTION,
                "row_39_a_bomb_is_413_in_every_codec_on_every_path",
            ),
            (LOAD, "test_bombs_need_no_memory"),
            (
                LIMITS,
                "row_39_arriving_bodies_hold_bounded_memory_and_the_oldest_is_told_to_come_back",
            ),
            (LIMITS, "row_39_a_small_body_gets_a_small_reply"),
            (LIMITS, "row_39_millions_of_items_are_refused"),
            (WIRE, "a_body_that_does_not_come_is_408"),
            (WIRE, "what_is_too_long_or_ambiguous_is_refused"),
            (WIRE, "a_body_that_is_not_as_long_as_it_says_is_refused"),
        ],
    ),
    Row(
        40,
        "hostile JSON",
        &[
            (
                INGESTION,
                "row_40_each_hostile_item_is_refused_alone_with_its_place",
            ),
            (
                "crates/ingest/src/split.rs",
                "nesting_of_any_depth_is_refused_without_recursion",
            ),
        ],
    ),
    Row(
        41,
        "OTLP: lengths of 2³¹, a million attributes, groups, texts that are not UTF-8, impossible times, large events",
        &[
            (INGESTION, "row_41_malformed_otlp_is_refused"),
            (OTLP, "hostile_payloads_are_refused_or_clamped"),
            (OTLP, "what_is_refused_in_part_is_counted_and_named"),
            (ITEMS, "an_item_that_is_too_large_is_refused"),
            (ITEMS, "times_outside_the_window_are_refused_as_recorded"),
        ],
    ),
    Row(
        42,
        "ever new names",
        &[
            (
                INGESTION,
                "row_42_an_item_has_so_many_properties_and_the_rest_is_counted",
            ),
            (LOAD, "test_ever_new_names"),
        ],
    ),
    Row(
        43,
        "slow, endless, too many, ambiguous",
        &[
            (WIRE, "a_head_that_does_not_come_ends_the_connection"),
            (WIRE, "a_body_that_does_not_come_is_408"),
            (WIRE, "a_client_that_does_not_read_is_cut_off"),
            (WIRE, "idle_connections_delay_no_request"),
            (WIRE, "a_reply_on_its_way_keeps_its_connection"),
            (WIRE, "rapid_resets_end_the_connection"),
            (WIRE, "endless_continuations_end_the_connection"),
            (WIRE, "what_is_too_long_or_ambiguous_is_refused"),
            (
                LIMITS,
                "row_43_unfinished_bodies_of_one_connection_block_no_ingestion",
            ),
            (
                LIMITS,
                "row_43_connections_whose_bodies_do_not_arrive_make_room",
            ),
            (
                LIMITS,
                "row_43_health_is_answered_while_every_connection_works",
            ),
            (LIMITS, "row_43_an_address_has_so_many_arriving_bodies"),
            (LOAD, "test_ten_thousand_idle_connections"),
            (LOAD, "test_connections_leave_files_to_the_store"),
        ],
    ),
    Row(
        44,
        "other origins",
        &[
            (
                HTTP,
                "other_origins_may_ask_without_the_browsers_credentials",
            ),
            (PAGES, "a_form_of_another_site_signs_nobody_in"),
        ],
    ),
    Row(
        45,
        "secrets in what is written",
        &[
            (CANARY, "test_no_secret_is_written_anywhere"),
            (
                "crates/server/src/middleware/outer.rs",
                "keys_never_reach_the_log",
            ),
            (HTTP, "replies_carry_the_recorded_headers"),
        ],
    ),
];

#[test]
fn every_row_has_tests_and_they_exist() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let numbers: Vec<u8> = MAP.iter().map(|row| row.0).collect();
    assert_eq!(numbers, (1..=23).chain(39..=45).collect::<Vec<_>>());
    for Row(number, about, tests) in MAP {
        assert!(!tests.is_empty(), "{number}: {about}");
        for (file, name) in *tests {
            let text = std::fs::read_to_string(format!("{root}/{file}")).unwrap();
            let rust = format!("fn {name}() {{");
            let python = format!("def {name}(self");
            let found = text.contains(&rust) || text.contains(&python);
            assert!(found, "{number}: {file} has no {name}");
        }
    }
}

/// A second application with a key of its own: `(id, key)`.
async fn second(server: &Server) -> (Application, String) {
    let catalogue = server.app.store.catalogue();
    let other = create_app(catalogue, "other", server.app.now())
        .await
        .unwrap();
    let (_, key) = create_key(catalogue, other.id, "", server.app.now(), None)
        .await
        .unwrap();
    (other, key)
}

/// What everybody sees of a refusal.
fn seen(reply: &Reply) -> (u16, String, Vec<(String, String)>) {
    let id = reply.header("x-ms-request-id").to_owned();
    let headers = reply
        .headers
        .iter()
        .filter(|(name, _)| *name != "x-ms-request-id" && *name != "date")
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    let body = String::from_utf8(reply.bytes.clone()).unwrap();
    (reply.status.as_u16(), body.replace(&id, "ID"), headers)
}

async fn ask(server: &Server, app: &str, key: &str) -> Reply {
    let path = format!("/v1/apps/{app}/query?query=print+1");
    server
        .ask(Method::GET, &path, &[("x-api-key", key)], Body::empty())
        .await
}
