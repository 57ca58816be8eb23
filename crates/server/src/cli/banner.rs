//! What `serve` prints when it is ready.

use hindsight_store::{Application, ClockTrust};

use super::output;
use crate::app::connection_string;

/// A new application's id, key and connection string; the key is shown here and never again.
pub(super) fn introduction(new: &Application, key: &str, base: &str) -> String {
    format!(
        "\n  application  {} ({})\n  key          {key}   (shown only now)\n  connection   {}\n",
        new.name,
        new.id,
        connection_string(base, new)
    )
}

/// What is wrong with the store, if anything is. `command` makes a line for a shell from the words after the program's name.
pub(super) fn warnings(
    clock: ClockTrust,
    damaged: usize,
    command: impl Fn(&str) -> String,
) -> String {
    let mut text = match clock {
        ClockTrust::Trusted => String::new(),
        ClockTrust::Ahead { trusted, clock } | ClockTrust::Behind { trusted, clock } => format!(
            "\n  warning      the clock says {}, and the latest trusted time is {}; nothing expires\n  \
                            if the clock is right: {}\n",
            output::date(Some(clock)),
            output::date(Some(trusted)),
            command("retention confirm")
        ),
    };
    if damaged > 0 {
        text += &format!(
            "\n  warning      {damaged} segments are damaged and not served: {}\n",
            command("store check")
        );
    }
    text
}

/// Commands to be pasted as they stand: of this program, and one for each operation of the API.
pub(super) fn things_to_try(
    app: &Application,
    key: &str,
    base: &str,
    command: impl Fn(&str) -> String,
) -> String {
    let name = &app.name;
    let query = command(&format!(
        "query 'requests | summarize count(), avg(duration) by name' --app {name}"
    ));
    let tail = command(&format!("tail --app {name}"));
    format!(
        "\n  Query, and follow what arrives:\n\n  {query}\n  {tail}\n\n  Try one of each operation:\n\n  export KEY={key}\n  export APP={}\n  export URL={base}/v1/apps/$APP\n{COMMANDS}",
        app.id
    )
}

/// The commands, which read `KEY` and `URL` as the lines before them set them.
const COMMANDS: &str = r#"
  # a metric, several metrics
  curl -s -H "X-Api-Key: $KEY" "$URL/metrics/requests/duration?interval=PT1H&aggregation=avg,max"
  curl -s -H "X-Api-Key: $KEY" "$URL/metrics" -H 'Content-Type: application/json' -d '[{"id":"failed","parameters":{"metricId":"requests/failed","segment":"request/name"}}]'

  # events, one event
  curl -s -H "X-Api-Key: $KEY" "$URL/events/exceptions?\$top=1"
  ID=$(curl -s -H "X-Api-Key: $KEY" "$URL/events/requests?\$top=1&\$select=id" | grep -o '"id":"[^"]*' | head -1 | cut -d'"' -f4)
  curl -s -H "X-Api-Key: $KEY" "$URL/events/requests/$ID"

  # a query by GET and by POST
  curl -s -H "X-Api-Key: $KEY" "$URL/query" --get --data-urlencode 'query=requests | summarize count(), avg(duration) by name | top 5 by count_'
  curl -s -H "X-Api-Key: $KEY" "$URL/query" -H 'Content-Type: application/json' -d '{"query":"exceptions | summarize count() by type","timespan":"PT12H"}'
"#;
