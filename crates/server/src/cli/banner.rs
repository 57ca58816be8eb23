//! What `serve` prints when it is ready.

use hindsight_store::Application;

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

/// One command for each operation, to be pasted as it stands.
pub(super) fn things_to_try(app: &Application, key: &str, base: &str) -> String {
    let url = format!("{base}/v1/apps/{}", app.id);
    let curl = |what: &str| format!("  curl -s -H 'X-Api-Key: {key}' {what}\n");
    let json = "-H 'Content-Type: application/json'";
    let lines = [
        "\n  Try one of each operation:\n\n".to_owned(),
        curl(&format!(
            "'{url}/metrics/requests/duration?interval=PT1H&aggregation=avg,max'"
        )),
        curl(&format!(
            "'{url}/metrics' {json} -d '[{{\"id\":\"failed\",\"parameters\":{{\"metricId\":\"requests/failed\",\"segment\":\"request/name\"}}}}]'"
        )),
        curl(&format!(
            "'{url}/events/exceptions?$top=1&$orderby=timestamp%20desc'"
        )),
        curl(&format!(
            "\"{url}/events/requests/$(curl -s -H 'X-Api-Key: {key}' '{url}/events/requests?$top=1&$select=id' | grep -o '\"id\":\"[^\"]*' | head -1 | cut -d'\"' -f4)\""
        )),
        curl(&format!(
            "'{url}/query' --get --data-urlencode 'query=requests | summarize count(), avg(duration) by name | top 5 by count_'"
        )),
        curl(&format!(
            "'{url}/query' {json} -d '{{\"query\":\"exceptions | summarize count() by type\",\"timespan\":\"PT12H\"}}'"
        )),
    ];
    lines.concat()
}
