"""Runs the benchmark queries in DuckDB and chDB over the segment files, with two threads each. `run.py --peers` installs both from
PyPI."""
import statistics
import time

import queries

TABLES = ("requests", "dependencies", "traces")


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
               "dcount": lambda c: f"approx_count_distinct({c})", "arg_max": "arg_max", "column": lambda c: f'"{c}"'}
    run = lambda query: connection.execute(query).fetchall()
    return {name: timed(run, text, runs) for name, text in queries.peer(end, dialect).items()}


def chdb(folder, end, runs):
    from chdb import session as engine
    session = engine.Session()
    for table in TABLES:
        session.query(f"create database if not exists pq engine=Atomic")
        session.query(f"create view pq.{table} as select * from file('{folder}/{table}/**/*.parquet', Parquet)")
    dialect = {"div": lambda c, w: f"intDiv({c}, {w})", "percentiles": "quantilesTDigest(0.5, 0.95, 0.99)(duration)",
               "dcount": lambda c: f"uniqCombined({c})", "arg_max": "argMax", "column": lambda c: f"`{c}`"}

    def run(query):
        for table in TABLES:
            query = query.replace(f"from {table}", f"from pq.{table}").replace(f"join {table}", f"join pq.{table}")
        session.query(query + " settings max_threads=2, schema_inference_make_columns_nullable=1", "Arrow").bytes()

    return {name: timed(run, text, runs) for name, text in queries.peer(end, dialect).items()}
