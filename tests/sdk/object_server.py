"""A local server with the interface of S3, and a proxy in front of it that fails as it is asked to."""
import http.client
import http.server
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

BUCKET = "telemetry"


def is_installed():
    """Whether `moto[server]` is there."""
    return shutil.which("moto_server") is not None or importlib.util.find_spec("moto.server") is not None


class Moto:
    """A server with an empty bucket, behind a proxy. `with Moto() as objects: …`

    `fault` is what happens to the next requests: None, "error" (500), "slow" (an answer after `delay` seconds), "cut" (the connection is closed
    in the middle of the answer) or "silent" (no answer while the fault is set). `methods` says of which requests.
    """

    def __init__(self):
        self.fault = None
        self.methods = {"GET", "PUT", "DELETE", "HEAD"}
        self.delay = 1.0
        self.requests = []
        self.process = None
        self.proxy = None

    def __enter__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)], cwd="/",
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}/{BUCKET}", method="PUT"), timeout=10).close()
                break
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "moto_server does not start"
                time.sleep(0.1)
        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"moto": self}))
        self.proxy.daemon_threads = True
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.fault = None
        self.proxy.shutdown()
        self.proxy.server_close()
        self.process.terminate()
        self.process.wait()

    @property
    def environment(self):
        """What a server needs to reach it, through the proxy."""
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.proxy.server_address[1]}", "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": "the-key-id", "AWS_SECRET_ACCESS_KEY": "the-secret-key", "AWS_REGION": "us-east-1"}

    @property
    def client(self):
        """A client of the server itself, which does not fail."""
        import boto3
        return boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}", aws_access_key_id="test", aws_secret_access_key="test",
                            region_name="us-east-1")

    def keys(self):
        """The keys of all objects."""
        return [known["Key"] for known in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def segments(self):
        return [key for key in self.keys() if "/segments/" in key]

    def read(self, key):
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def write(self, key, content):
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)


class Handler(http.server.BaseHTTPRequestHandler):
    """Passes requests on to the server of `moto`."""
    protocol_version = "HTTP/1.1"
    moto = None

    def log_message(self, *_):
        pass

    def forward(self):
        moto = self.moto
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        moto.requests.append((self.command, urllib.parse.urlsplit(self.path).path, dict(self.headers)))
        fault = moto.fault if self.command in moto.methods else None
        if fault == "error":
            return self.reply(500, {}, b"<Error><Code>InternalError</Code></Error>")
        while fault == "silent" and moto.fault == "silent":
            time.sleep(0.1)
        if fault == "slow":
            time.sleep(moto.delay)
        connection = http.client.HTTPConnection("127.0.0.1", moto.port, timeout=60)
        connection.request(self.command, self.path, body, {name: value for name, value in self.headers.items() if name.lower() != "connection"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        kept = ("content-type", "content-range", "etag", "last-modified", "accept-ranges")
        headers = {name: value for name, value in answer.getheaders() if name.lower() in kept}
        self.reply(answer.status, headers, content, fault == "cut")

    def reply(self, status, headers, content, is_cut=False):
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            if is_cut:
                # The length of an answer that does not come.
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content[:len(content) // 2] if is_cut else content)
            self.wfile.flush()
            if is_cut:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
        except OSError:
            self.close_connection = True

    do_GET = do_PUT = do_DELETE = do_HEAD = do_POST = forward
