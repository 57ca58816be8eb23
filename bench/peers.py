"""Runs the benchmark queries in DuckDB and chDB over the segment files, and in ClickHouse's own MergeTree over the same rows, with two
threads each. `run.py --peers` installs both packages from PyPI."""
import glob
import os
import statistics
import time

import queries

TABLES = ("requests", "dependencies", "traces")
# Columns of many distinct texts; MergeTree stores the other texts as LowCardinality.
DISTINCT = {"operation_Id", "itemId", "id", "operation_ParentId", "customDimensions", "message", "url", "data", "customMeasurements",
            "session_Id", "user_Id"}


def every_query(end, dialect):
    return {**queries.peer(end, dialect), **queries.everyday_peer(end, dialect)}


def timed(run, query, runs):
    times = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        run(query)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[1:])


def duckdb(folder, end, runs):
    import duckdb as engine
    connection = engine.connect(":memory:")
    connection.execute("set threads=2; set enable_progress_bar=false")
    for table in TABLES:
        connection.execute(f"create view {table} as select * from read_parquet('{folder}/{table}/**/*.parquet', union_by_name=true)")
    dialect = {"div": lambda c, w: f"({c} // {w})", "percentiles": "approx_quantile(duration, [0.5, 0.95, 0.99])",
               "percentile_95": "approx_quantile(duration, 0.95)", "word": lambda c, w: f"{c} ilike '%{w}%'",
               "dcount": lambda c: f"approx_count_distinct({c})", "arg_max": "arg_max", "column": lambda c: f'"{c}"'}
    run = lambda query: connection.execute(query).fetchall()
    return {name: timed(run, text, runs) for name, text in every_query(end, dialect).items()}


def clickhouse_dialect(word):
    return {"div": lambda c, w: f"intDiv({c}, {w})", "percentiles": "quantilesTDigest(0.5, 0.95, 0.99)(duration)",
            "percentile_95": "quantileTDigest(0.95)(duration)", "word": word, "dcount": lambda c: f"uniqCombined({c})",
            "arg_max": "argMax", "column": lambda c: f"`{c}`"}


def clickhouse(session, database, settings=""):
    """Runs a query over the tables of a database of chDB."""
    def run(query):
        for table in TABLES:
            query = query.replace(f"from {table}", f"from {database}.{table}").replace(f"join {table}", f"join {database}.{table}")
        session.query(query + " settings max_threads=2" + settings, "Arrow").bytes()

    return run


def chdb(session, folder, end, runs):
    session.query("create database if not exists pq engine=Atomic")
    for table in TABLES:
        session.query(f"create view pq.{table} as select * from file('{folder}/{table}/**/*.parquet', Parquet)")
    dialect = clickhouse_dialect(lambda c, w: f"{c} ilike '%{w}%'")
    run = clickhouse(session, "pq", ", schema_inference_make_columns_nullable=1")
    return {name: timed(run, text, runs) for name, text in every_query(end, dialect).items()}


def mergetree(session, folder, end):
    """Loads the rows of the segments into MergeTree as its users would: ordered by time, a partition for each day, LowCardinality, the
    keys of bags that segments hold as columns, a bloom filter on `id` and one on the tokens of `message`; then merges all parts. Returns
    a function that runs a query, and all queries."""
    session.query("create database if not exists mt engine=Atomic")
    for table in TABLES:
        if not glob.glob(os.path.join(folder, table, "**", "*.parquet"), recursive=True):
            continue
        rows = f"file('{folder}/{table}/**/*.parquet', Parquet)"
        described = str(session.query(f"describe table {rows}", "TSV")).strip().split("\n")
        columns = [f"`{name}` {column_type(name, parquet)}" for name, parquet, *_ in (line.split("\t") for line in described)]
        index = "ix_id id type bloom_filter(0.01)" if table != "traces" else "ix_message lower(message) type tokenbf_v1(32768, 3, 0)"
        session.query(f"create table mt.{table} ({', '.join(columns)}, index {index} granularity 1) engine=MergeTree "
                      f"partition by intDiv(timestamp, {24 * queries.HOUR}) order by timestamp")
        session.query(f"insert into mt.{table} select * from {rows} settings max_threads=2, input_format_null_as_default=1, "
                      "max_partitions_per_insert_block=0")
        session.query(f"optimize table mt.{table} final")
    dialect = clickhouse_dialect(lambda c, w: f"hasToken(lower({c}), '{w}')")
    return clickhouse(session, "mt"), every_query(end, dialect)


def column_type(name, parquet):
    if name == "timestamp":
        return "Int64"
    if "String" in parquet and name not in DISTINCT:
        return "LowCardinality(String)"
    return parquet.replace("Nullable(String)", "String")
