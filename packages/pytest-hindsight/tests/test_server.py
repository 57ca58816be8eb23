"""Starting and stopping the program."""
import json
import os
import pathlib
import signal
import subprocess
import urllib.error
import urllib.request

import pytest
from envelopes import request, send

from pytest_hindsight import Hindsight, HindsightError
from pytest_hindsight.tables import requests

PROGRAM = os.environ.get("HINDSIGHT_PROGRAM", "hindsight")


def run(*arguments):
    return subprocess.run([PROGRAM, "serve", *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def test_data_in_a_folder_goes_with_the_server():
    with Hindsight(in_memory=False) as hindsight:
        data = pathlib.Path(hindsight.info["data"])
        assert (data / "catalogue.db").exists() and data.stat().st_mode & 0o777 == 0o700
        send(hindsight, "RequestData", request("GET /"))
        hindsight.expect(requests).count(1)
    assert not data.exists()


def test_a_server_that_is_stopped_at_once_leaves_nothing():
    for in_memory in [True, False] * 3:
        with Hindsight(in_memory=in_memory) as hindsight:
            process, data = hindsight._process, hindsight.info["data"]
        assert process.returncode == 0 and (in_memory or not pathlib.Path(data).exists())


def test_telemetry_in_memory_has_no_folder():
    with Hindsight() as hindsight:
        assert hindsight.info["data"] is None
        assert {"url", "apiKey", "connectionString", "pid", "version", "issuer"} <= hindsight.info.keys()
        assert hindsight.connection_string.startswith(f"InstrumentationKey={hindsight.instrumentation_key};")
        assert f"IngestionEndpoint={hindsight.url}/" in hindsight.connection_string


def test_two_servers_have_ports_and_telemetry_of_their_own():
    with Hindsight() as first, Hindsight() as second:
        assert first.url != second.url
        send(first, "RequestData", request("GET /"))
        first.expect(requests).count(1)
        second.expect(requests).none()


def test_a_server_that_stops_ends_what_waits():
    with Hindsight() as hindsight:
        process = hindsight._process
        body = json.dumps({"query": "requests", "timeout": 60}).encode()
        waiting = urllib.request.Request(hindsight.url + "/test/wait", body, {"Content-Type": "application/json"})
        import threading
        threading.Timer(0.3, lambda: process.send_signal(signal.SIGTERM)).start()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(waiting, timeout=30)
        assert refused.value.code == 503 and refused.value.headers["Retry-After"]
        assert process.wait(20) == 0


def test_a_program_that_does_not_start_says_why():
    with pytest.raises(HindsightError, match="cannot start /nowhere/hindsight"):
        Hindsight(program="/nowhere/hindsight").start()
    with pytest.raises(HindsightError, match="did not start:\n.*unexpected argument '--nonsense'"):
        Hindsight(arguments=["--nonsense"]).start()


@pytest.mark.parametrize("arguments, message", [
    (["--test", "--listen", "0.0.0.0:0"], "test mode does not listen on 0.0.0.0:0"),
    (["--test", "--listen", "[::]:0"], "--test-insecure permits it"),
    (["--test", "--dev-tls", "--tls-listen", "0.0.0.0:0"], "test mode does not listen on 0.0.0.0:0"),
    (["--test", "--data", "x"], "cannot be used with '--data"),
    (["--clock", "2026-03-01T12:00:00Z"], "--test"),
    (["--in-memory"], "--test"),
    (["--test-insecure"], "--test"),
])
def test_what_test_mode_refuses(arguments, message):
    ended = run(*arguments)
    assert ended.returncode != 0 and message in ended.stderr, ended


def test_other_machines_reach_it_only_if_that_is_said():
    with Hindsight(arguments=["--listen", "0.0.0.0:0", "--test-insecure"]) as hindsight:
        assert hindsight.url.startswith("http://0.0.0.0:")
        assert hindsight.query("print 1") == [{"print_0": 1}]


def test_settings_are_followed():
    with Hindsight(arguments=["--dev-tls", "--tls-listen", "127.0.0.1:0"]) as hindsight:
        assert hindsight.info["tlsUrl"].startswith("https://localhost:")
