"""The 14 benchmark queries and eight everyday ones in KQL, and in SQL for DuckDB, chDB and MergeTree over the same rows; and queries for other operators in
KQL alone.

In a segment `timestamp` is an Int64 of 100 ns ticks since 0001-01-01, and frequent keys of property bags are
columns `customDimensions.<key>`.
"""
import datetime

from telemetry import EVIDENT_ID

EPOCH = datetime.datetime(1, 1, 1, tzinfo=datetime.timezone.utc)
HOUR = 36_000_000_000


def ticks(moment):
    return int((moment - EPOCH) / datetime.timedelta(microseconds=1)) * 10


def kql(end):
    """The 14 queries by which builds and engines are compared."""
    day = (end - datetime.timedelta(days=1)).strftime("datetime(%Y-%m-%dT%H:%M:%SZ)")
    six = (end - datetime.timedelta(hours=6)).strftime("datetime(%Y-%m-%dT%H:%M:%SZ)")
    a = (end - datetime.timedelta(days=2)).strftime("datetime(%Y-%m-%dT%H:%M:%SZ)")
    b = (end - datetime.timedelta(days=2) + datetime.timedelta(minutes=5)).strftime("datetime(%Y-%m-%dT%H:%M:%SZ)")
    return {
        "Q1": "requests | summarize c = count() by b = bin(timestamp, 1h) | sort by b asc",
        "Q2": f"requests | where success == 'False' and timestamp >= {day} | summarize c = count() by name | top 10 by c",
        "Q3": "requests | summarize percentiles(duration, 50, 95, 99) by name, bin(timestamp, 1h)",
        "Q4": "requests | summarize u = dcount(user_Id) by b = bin(timestamp, 1d) | sort by b asc",
        "Q5": "traces | where message has 'deadlock' | project timestamp, message",
        "Q6": "traces | where message contains 'timed out after' | count",
        "Q7": f"requests | where success == 'False' and timestamp >= {six} | project operation_Id "
              f"| join kind=inner (dependencies | where timestamp >= {six} | project operation_Id, target, duration) "
              "on operation_Id | summarize c = count(), a = avg(duration) by target | top 20 by c",
        "Q8": "requests | where customDimensions.tenantId == 'tenant-0007' "
              "| summarize c = count() by g = tostring(customDimensions.region) | sort by c",
        "Q9": "requests | top 100 by timestamp desc",
        "Q10": f"requests | where id == '{EVIDENT_ID}'",
        "Q11": "requests | summarize c = count(), a = avg(duration) by cloud_RoleName, bin(timestamp, 5m)",
        "Q12": "requests | summarize arg_max(timestamp, url, resultCode, user_Id) by operation_Name",
        "Q13": "requests | summarize c = count(), s = sum(duration) by cloud_RoleName, name "
               "| summarize rc = sum(c), best = max(s / c) by cloud_RoleName | top 5 by rc",
        "Q14": f"requests | where timestamp >= {a} and timestamp < {b} and success == 'False' | take 1000",
    }


def everyday(end):
    """Queries that people type in an investigation: small results out of much data."""
    day = (end - datetime.timedelta(days=1)).strftime("datetime(%Y-%m-%dT%H:%M:%SZ)")
    return {
        "E1": "requests | top 50 by duration desc | project timestamp, name, url, duration, resultCode, operation_Id",
        "E2": "requests | where customDimensions.plan == 'pro' and customDimensions.region == 'northeurope' "
              "| summarize c = count(), a = avg(duration) by name | top 10 by c",
        "E3": "traces | where severityLevel == 2 and message has 'deadlock' | top 100 by timestamp desc "
              "| project timestamp, message, operation_Id",
        "E4": "requests | where user_Id == 'u42' | top 50 by timestamp desc | project timestamp, name, url, duration, resultCode",
        "E5": "requests | summarize failed = countif(success == 'False'), total = count() by cloud_RoleName, bin(timestamp, 1h)",
        "E6": f"dependencies | where timestamp >= {day} | summarize p = percentile(duration, 95), c = count() by target | sort by p",
        "E7": "requests | where session_Id == 's42-2' | project timestamp, name, duration | sort by timestamp asc",
        "E8": "requests | where url contains '/api/42' | summarize u = dcount(user_Id) by client_CountryOrRegion",
    }


def operators():
    """Queries for operators and functions that neither of the others has."""
    return {
        "O1": "requests | join kind=inner (dependencies | project operation_Id, spent = duration) on operation_Id "
              "| summarize count(), avg(spent)",
        "O2": "requests | project timestamp, duration, id | sort by duration asc, id asc | extend gap = duration - prev(duration) "
              "| summarize max(gap)",
        "O3": "requests | summarize c = count() by user_Id, session_Id | summarize max(c), count()",
        "O4": "traces | parse message with * 'after ' ms:long ' ms' * | summarize sum(ms), count()",
        "O5": "requests | mv-expand key = bag_keys(customDimensions) to typeof(string) | summarize count() by key",
        "O6": "requests | make-series c = count() default=0 on timestamp step 1h by cloud_RoleName "
              "| extend smooth = series_fir(c, repeat(1, 5)) | project cloud_RoleName, total = toreal(series_stats_dynamic(smooth).sum)",
        "O7": "requests | extend part = tostring(split(tolower(url), '/')[3]) | summarize count(), dcount(part)",
        "O8": r"traces | where message matches regex @'after \d+7 ms' | count",
        "O9": "union requests, dependencies | summarize countif(success == 'True'), avg(duration) by itemType",
        "O10": "requests | distinct name, resultCode, cloud_RoleName, client_CountryOrRegion | count",
        "O11": "requests | take 5000",
        "O12": "requests | summarize arg_max(timestamp, *) by user_Id | count",
        "O13": "requests | extend answer = strcat(resultCode, ' in ', format_timespan(1ms * tolong(duration), 's.fff')) "
               "| summarize count() by answer | count",
    }


def everyday_peer(end, functions):
    """`everyday` in SQL; `functions` as for `peer`."""
    f = functions
    day = ticks(end - datetime.timedelta(days=1))
    hour = f"{f['div']('timestamp', HOUR)} * {HOUR}"
    plan, region = f["column"]("customDimensions.plan"), f["column"]("customDimensions.region")
    return {
        "E1": "select timestamp, name, url, duration, resultCode, operation_Id from requests order by duration desc limit 50",
        "E2": f"select name, count(*) c, avg(duration) a from requests where {plan} = 'pro' and {region} = 'northeurope' "
              "group by name order by c desc limit 10",
        "E3": f"select timestamp, message, operation_Id from traces where severityLevel = 2 and {f['word']('message', 'deadlock')} "
              "order by timestamp desc limit 100",
        "E4": "select timestamp, name, url, duration, resultCode from requests where user_Id = 'u42' "
              "order by timestamp desc limit 50",
        "E5": f"select cloud_RoleName, {hour} b, sum(case when success = 'False' then 1 else 0 end) failed, count(*) total "
              "from requests group by cloud_RoleName, b",
        "E6": f"select target, {f['percentile_95']} p, count(*) c from dependencies where timestamp >= {day} "
              "group by target order by p desc",
        "E7": "select timestamp, name, duration from requests where session_Id = 's42-2' order by timestamp",
        "E8": f"select client_CountryOrRegion, {f['dcount']('user_Id')} u from requests where url ilike '%/api/42%' "
              "group by client_CountryOrRegion",
    }


def peer(end, functions):
    """`kql` in SQL; `functions`: how a dialect writes what differs."""
    f = functions
    day = ticks(end - datetime.timedelta(days=1))
    six = ticks(end - datetime.timedelta(hours=6))
    a = ticks(end - datetime.timedelta(days=2))
    b = a + 5 * 600_000_000
    bins = lambda width: f"{f['div']('timestamp', width)} * {width}"
    return {
        "Q1": f"select {bins(HOUR)} b, count(*) c from requests group by b order by b",
        "Q2": f"select name, count(*) c from requests where success = 'False' and timestamp >= {day} "
              "group by name order by c desc limit 10",
        "Q3": f"select name, {bins(HOUR)} b, {f['percentiles']} from requests group by name, b",
        "Q4": f"select {bins(24 * HOUR)} b, {f['dcount']('user_Id')} u from requests group by b order by b",
        "Q5": f"select timestamp, message from traces where {f['word']('message', 'deadlock')}",
        "Q6": "select count(*) from traces where message ilike '%timed out after%'",
        "Q7": "select d.target t, count(*) c, avg(d.duration) a from requests r join dependencies d "
              f"on r.operation_Id = d.operation_Id where r.success = 'False' and r.timestamp >= {six} "
              f"and d.timestamp >= {six} group by t order by c desc limit 20",
        "Q8": f"select {f['column']('customDimensions.region')} g, count(*) c from requests "
              f"where {f['column']('customDimensions.tenantId')} = 'tenant-0007' group by g order by c desc",
        "Q9": "select * from requests order by timestamp desc limit 100",
        "Q10": f"select * from requests where id = '{EVIDENT_ID}'",
        "Q11": f"select cloud_RoleName, {bins(5 * 600_000_000)} b, count(*) c, avg(duration) a from requests "
               "group by cloud_RoleName, b",
        "Q12": "select operation_Name, max(timestamp) t, "
               + ", ".join(f"{f['arg_max']}({c}, timestamp) {c}_" for c in ("url", "resultCode", "user_Id"))
               + " from requests group by operation_Name",
        "Q13": "select cloud_RoleName, sum(c) rc, max(s / c) best from (select cloud_RoleName, name, count(*) c, "
               "sum(duration) s from requests group by cloud_RoleName, name) x group by cloud_RoleName "
               "order by rc desc limit 5",
        "Q14": f"select * from requests where timestamp >= {a} and timestamp < {b} and success = 'False' limit 1000",
    }
