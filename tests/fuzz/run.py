#!/usr/bin/env python3
"""Asks the program whatever its own `/openapi.json` permits, and much that it does not, with Schemathesis.

usage: run.py [--seconds N] [--seed N] [schemathesis arguments]
A server with telemetry of every kind runs for the time; Schemathesis is installed into `target/api-fuzz`. It fails where the
server answers 5xx, a status, a type or a shape that the document does not name, a method that it should not have, or anything
without a credential that needs one.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sdk"))
from server import TARGET, Server  # noqa: E402

FOLDER = TARGET / "api-fuzz"
TELEMETRY = HERE.parents[1] / "conformance" / "specification" / "telemetry.ndjson"
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "unsupported_method",
    "ignored_auth",
]
SETTINGS = """[query]
rate = 1000000
timeout = "20s"
max_wait = "20s"
memory = "512MiB"
[auth]
failed_sign_ins = 1000000
failures_per_minute = 1000000
"""


def tool():
    """Schemathesis, installed once for these requirements."""
    requirements = HERE / "requirements.txt"
    stamp = FOLDER / ".installed-from"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    program = FOLDER / "venv" / "bin" / "schemathesis"
    if not (stamp.exists() and stamp.read_text() == digest):
        print("installing Schemathesis …", flush=True)
        venv.create(FOLDER / "venv", with_pip=True, clear=True)
        python = FOLDER / "venv" / "bin" / "python"
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements])
        stamp.write_text(digest)
    return program


def telemetry(ikey):
    """Items of every kind, of the last half hour."""
    now = datetime.datetime.now(datetime.timezone.utc)
    items = [json.loads(line) for line in TELEMETRY.read_text().splitlines()]
    for age, item in enumerate(items):
        item["time"] = (now - datetime.timedelta(minutes=age)).isoformat()
        item["iKey"] = ikey
    return items


def configuration(app, key):
    """Schemathesis' own file: the application's id and key, so that most requests get past the door."""
    return f"""[auth.openapi.apiKey]
api_key = "{key}"
[parameters]
"path.appId" = "{app}"
"path.tenant" = "common"
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    args, more = parser.parse_known_args()
    program = tool()
    settings = FOLDER / "server.toml"
    settings.write_text(SETTINGS)
    with Server("--config", str(settings)) as server:
        app, key = server.new_app("fuzzed")
        client = server.command("client", "create", "fuzzer", "--public", "--redirect", "http://localhost:8400/cb", "--app", "fuzzed")
        status, verdict = server.track(telemetry(app["instrumentationKey"]))
        assert status == 200, verdict
        config = FOLDER / "schemathesis.toml"
        config.write_text(configuration(app["appId"], key))
        arguments = [
            program, "--config-file", config, "run", server.url + "/openapi.json", "--url", server.url,
            "--checks", ",".join(CHECKS), "--max-time", str(args.seconds), "--seed", str(args.seed),
            "--request-timeout", "60", "--continue-on-failure", "--max-examples", "1000000", *more,
        ]
        ended = subprocess.call(arguments, cwd=FOLDER, env={
            **os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(FOLDER), "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE),
            "FUZZED_CLIENT": client["clientId"], "FUZZED_SECRET": client["secret"]})
        if server.process.poll() is not None:
            sys.exit(f"the server ended with {server.process.returncode}")
    sys.exit(ended)


if __name__ == "__main__":
    main()
