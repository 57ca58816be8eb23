/** Examples of queries, by what one wants to know. A test runs each against the demo and against an empty application. */

/** @type {{group: string, title: string, query: string}[]} */
export const EXAMPLES = [
  { group: 'Requests', title: 'Requests and failures over time', query: 'requests\n| summarize total = sum(itemCount), failed = sumif(itemCount, success == false) by bin(timestamp, 15m)\n| render timechart' },
  { group: 'Requests', title: 'Slowest operations', query: 'requests\n| summarize n = sum(itemCount), percentiles(duration, 50, 95, 99) by operation_Name\n| top 20 by percentile_duration_95' },
  { group: 'Requests', title: 'Failed requests, newest first', query: 'requests\n| where success == false\n| project timestamp, name, resultCode, duration, cloud_RoleName, operation_Id\n| order by timestamp desc\n| take 100' },
  { group: 'Requests', title: 'Result codes by operation', query: 'requests\n| summarize n = sum(itemCount) by name, resultCode\n| render barchart with (kind=stacked)' },
  { group: 'Dependencies', title: 'Calls by target', query: 'dependencies\n| summarize n = sum(itemCount), failed = sumif(itemCount, success == false), percentile(duration, 95) by target, type\n| order by n desc' },
  { group: 'Dependencies', title: 'Duration of calls over time', query: 'dependencies\n| summarize percentile(duration, 95) by bin(timestamp, 15m), target\n| render timechart' },
  { group: 'Exceptions', title: 'Most frequent problems', query: 'exceptions\n| summarize n = sum(itemCount), roles = make_set(cloud_RoleName, 10), latest = max(timestamp) by problemId, type\n| order by n desc' },
  { group: 'Exceptions', title: 'Exceptions with the request that they failed', query: 'exceptions\n| project timestamp, type, outerMessage, operation_Id\n| join kind=leftouter (requests | project operation_Id, request = name, resultCode) on operation_Id\n| project-away operation_Id1\n| order by timestamp desc\n| take 100' },
  { group: 'Traces', title: 'Warnings and errors', query: 'traces\n| where severityLevel >= 2\n| project timestamp, severityLevel, message, cloud_RoleName, operation_Id\n| order by timestamp desc\n| take 200' },
  { group: 'Traces', title: 'Messages by pattern', query: 'traces\n| reduce by message with threshold=0.35\n| order by Count desc' },
  { group: 'People', title: 'People and sessions by day', query: 'union pageViews, customEvents\n| summarize people = dcount(user_Id), sessions = dcount(session_Id) by bin(timestamp, 1d)\n| render columnchart with (kind=unstacked)' },
  { group: 'People', title: 'Countries', query: 'pageViews\n| summarize n = sum(itemCount) by client_CountryOrRegion\n| render piechart' },
  { group: 'Data', title: 'Items by table and hour', query: 'union withsource=tableName *\n| summarize items = sum(itemCount) by tableName, bin(timestamp, 1h)\n| render columnchart with (kind=stacked)' },
  { group: 'Data', title: 'Keys of custom dimensions', query: 'requests\n| mv-expand key = bag_keys(customDimensions) to typeof(string)\n| summarize n = count() by key\n| order by n desc' },
  { group: 'Series', title: 'Unusual numbers of requests', query: 'requests\n| make-series n = sum(itemCount) default=0 on timestamp from ago(1d) to now() step 30m\n| extend (anomalies, score, baseline) = series_decompose_anomalies(n)\n| render anomalychart with (anomalycolumns=anomalies)' },
];
