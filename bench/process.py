"""What the benchmarks of limits share: the program's process, its documented memory limit, and probes from a process of their own."""
import http.client
import multiprocessing
import os
import pathlib
import sys
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
sys.path.insert(0, str(ROOT / "tests" / "sdk"))

MEBIBYTE = 1 << 20


def choose_program(build):
    """Makes `server.Server` run the program of this build, unless HINDSIGHT_PROGRAM names one."""
    os.environ.setdefault("HINDSIGHT_PROGRAM", str(TARGET / build / "hindsight"))


def mebibytes(text):
    """`64MiB` or `1GiB` as a number of mebibytes."""
    factor = {"MiB": 1, "GiB": 1024}[text[-3:]]
    return int(text[:-3]) * factor


def memory_limit(settings):
    """The documented memory limit of the process in mebibytes (docs/limits.md)."""
    value = {"query_memory": "2GiB", "cache_bytes": "128MiB", "http_body_memory": "512MiB", "store_memory": "1GiB",
             "store_footer_cache": "128MiB", "store_column_cache": "256MiB", **settings}
    parts = [mebibytes(value[name]) for name in ("query_memory", "cache_bytes", "http_body_memory", "store_footer_cache",
                                                 "store_column_cache")]
    connections = int(value.get("http_max_connections", 4096)) / 8
    return sum(parts) + 1.5 * mebibytes(value["store_memory"]) + connections + 256


def status(pid, name):
    """A line of the process's status in mebibytes, such as `VmRSS`."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def files(pid):
    return len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))


def percentile(values, share):
    values = sorted(values)
    return values[min(int(len(values) * share), len(values) - 1)] if values else float("nan")


class Probe:
    """Asks for /health over a new connection every 50 ms and samples memory and files, from a process of its own."""

    def __init__(self, server):
        self.results = multiprocessing.Queue()
        self.stopped = multiprocessing.Event()
        place = urllib.parse.urlsplit(server.url)
        arguments = (place.hostname, place.port, server.process.pid, self.results, self.stopped)
        self.process = multiprocessing.Process(target=probe, args=arguments, daemon=True)
        self.process.start()

    def stop(self):
        """`(milliseconds of each health check, failures, samples of (seconds, MiB, files))`."""
        self.stopped.set()
        found = self.results.get(timeout=60)
        self.process.join()
        return found


def probe(host, port, pid, results, stopped):
    times, failures, samples = [], 0, []
    begun = time.monotonic()
    while not stopped.is_set():
        since = time.perf_counter()
        try:
            connection = http.client.HTTPConnection(host, port, timeout=10)
            connection.request("GET", "/health")
            assert connection.getresponse().status == 200
            times.append(1000 * (time.perf_counter() - since))
            connection.close()
        except (OSError, AssertionError, http.client.HTTPException):
            failures += 1
        samples.append((time.monotonic() - begun, status(pid, "VmRSS"), files(pid)))
        time.sleep(0.05)
    results.put((times, failures, samples))


class Checks:
    """Figures with what they must be; the exit code says whether all are."""

    def __init__(self):
        self.failed = []

    def check(self, what, value, good, bound):
        print(f"{what:44} {value:>14}   {bound:<22} {'ok' if good else 'FAILED'}", flush=True)
        if not good:
            self.failed.append(what)

    def end(self):
        if self.failed:
            print("failed: " + ", ".join(self.failed))
        sys.exit(bool(self.failed))
