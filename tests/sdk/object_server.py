"""Local servers with the interfaces of S3, Azure Blob Storage and Google Cloud Storage, and a proxy in front of them that fails as it is asked to."""
import base64
import functools
import hashlib
import hmac
import http.client
import http.server
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

BUCKET = "telemetry"


def is_installed():
    """Whether `moto[server]` is there."""
    return shutil.which("moto_server") is not None or importlib.util.find_spec("moto.server") is not None


def azurite_is_installed():
    """Whether the package `azurite` of npm is there (`run.py` installs it)."""
    return shutil.which("node") is not None and os.path.exists(Azurite.program())


class ObjectServer:
    """A server with an empty bucket, behind a proxy. `with Moto() as objects: …`

    `fault` is what happens to the next requests: None, "error" (500), "slow" (an answer after `delay` seconds), "cut" (the connection is closed
    in the middle of the answer) or "silent" (no answer while the fault is set). `methods` says of which requests.
    """
    # What its addresses begin with.
    scheme = None
    # The header that makes a put conditional, and its value.
    condition = ("if-none-match", "*")

    def __init__(self):
        self.fault = None
        self.methods = {"GET", "PUT", "DELETE", "HEAD", "POST"}
        self.delay = 1.0
        self.requests = []
        self.process = None
        self.proxy = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def __enter__(self):
        self.process = subprocess.Popen(self.command(), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.create_bucket()
                break
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, f"{type(self).__name__} does not start"
                time.sleep(0.1)
        self.proxy = Proxy(("127.0.0.1", 0), type("Handler", (Handler,), {"objects": self}))
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
    def url(self):
        """The address of the proxy."""
        return f"http://127.0.0.1:{self.proxy.server_address[1]}"

    @property
    def address(self):
        """Where the tests keep their segments."""
        return f"{self.scheme}://{BUCKET}/hindsight/test"

    def segments(self):
        return [key for key in self.keys() if "/segments/" in key]

    def direct(self, method, path, body=None, headers=None):
        """The answer of the server itself, which does not fail."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", body, headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read()

    def passed(self, headers):
        """The headers of a request as the server gets them from the proxy."""
        return headers


class Moto(ObjectServer):
    """S3."""
    scheme = "s3"
    secrets = ("the-secret-key", "the-key-id", "X-Amz-")

    def command(self):
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]

    def create_bucket(self):
        self.direct("PUT", BUCKET)

    @property
    def environment(self):
        """What a server needs to reach it, through the proxy."""
        return {"AWS_ENDPOINT_URL": self.url, "AWS_ALLOW_HTTP": "true",
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

    def read(self, key):
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def write(self, key, content):
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)


class Azurite(ObjectServer):
    """Azure Blob Storage."""
    scheme = "az"
    ACCOUNT = "hindsight"
    KEY = base64.b64encode(b"the key of the account in tests").decode()
    secrets = (KEY, "SharedKey")

    @staticmethod
    def program():
        modules = os.environ.get("HINDSIGHT_AZURITE_MODULES", "")
        return os.path.join(modules, "azurite", "dist", "src", "blob", "main.js")

    def command(self):
        return ["env", f"AZURITE_ACCOUNTS={self.ACCOUNT}:{self.KEY}", "node", self.program(), "--inMemoryPersistence", "--skipApiVersionCheck",
                "--disableTelemetry", "--silent", "--blobHost", "127.0.0.1", "--blobPort", str(self.port)]

    def create_bucket(self):
        self.signed("PUT", "?restype=container")

    @property
    def environment(self):
        return {"AZURE_STORAGE_ENDPOINT": f"{self.url}/{self.ACCOUNT}", "AZURE_ALLOW_HTTP": "true",
                "AZURE_STORAGE_ACCOUNT_NAME": self.ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": self.KEY}

    @property
    def token(self):
        """A shared access signature of the account (https://learn.microsoft.com/rest/api/storageservices/create-account-sas)."""
        fields = {"sp": "rwdlac", "ss": "b", "srt": "sco", "st": "", "se": "2099-01-01T00:00:00Z", "sip": "", "spr": "", "sv": "2020-08-04"}
        text = "\n".join([self.ACCOUNT, *fields.values()]) + "\n"
        signature = hmac.new(base64.b64decode(self.KEY), text.encode(), hashlib.sha256).digest()
        return urllib.parse.urlencode({**{name: value for name, value in fields.items() if value}, "sig": base64.b64encode(signature).decode()})

    def signed(self, method, path, body=None, headers=None):
        mark = "&" if "?" in path else "?"
        return self.direct(method, f"{self.ACCOUNT}/{BUCKET}{path}{mark}{self.token}", body, headers)

    def keys(self):
        return re.findall("<Name>(.*?)</Name>", self.signed("GET", "?restype=container&comp=list").decode())

    def read(self, key):
        return self.signed("GET", "/" + key)

    def write(self, key, content):
        self.signed("PUT", "/" + key, content, {"x-ms-blob-type": "BlockBlob", "Content-Type": "application/octet-stream"})


class Google(Moto):
    """The XML interface of Google Cloud Storage.

    None of its emulators has conditional puts there: `gcp-storage-emulator` ignores the condition and lists and deletes by JSON alone, and
    `fake-gcs-server` refuses the put. The interface is that of S3 but for credentials and the name of the condition, so the proxy replaces the
    former and renames the latter.
    """
    scheme = "gs"
    condition = ("x-goog-if-generation-match", "0")
    secrets = ("PRIVATE KEY", "Bearer ")

    @functools.cached_property
    def account(self):
        """The key of a service account."""
        key = subprocess.check_output(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], text=True, stderr=subprocess.DEVNULL)
        return json.dumps({"type": "service_account", "client_email": "hindsight@test.example", "private_key": key, "private_key_id": "1"})

    @property
    def environment(self):
        return {"GOOGLE_BASE_URL": self.url, "GOOGLE_ALLOW_HTTP": "true", "GOOGLE_SERVICE_ACCOUNT_KEY": self.account}

    def passed(self, headers):
        name, value = self.condition
        token = headers.pop("authorization", "")
        assert token.startswith("Bearer ey"), f"no token: {token}"
        # The server of S3 reads the account and the region, and verifies no signature.
        headers["authorization"] = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none"
        if name in headers:
            assert headers.pop(name) == value
            headers["if-none-match"] = "*"
        return headers


class Proxy(http.server.ThreadingHTTPServer):
    # Connections that wait to be accepted. With the default of five, those of three nodes are dropped.
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # Tests kill the clients.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """Passes requests on to the server."""
    protocol_version = "HTTP/1.1"
    objects = None

    def log_message(self, *_):
        pass

    def forward(self):
        objects = self.objects
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        objects.requests.append((self.command, urllib.parse.urlsplit(self.path).path, dict(self.headers)))
        fault = objects.fault if self.command in objects.methods else None
        if fault == "error":
            return self.reply(500, {}, b"<Error><Code>InternalError</Code></Error>")
        while fault == "silent" and objects.fault == "silent":
            time.sleep(0.1)
        if fault == "slow":
            time.sleep(objects.delay)
        connection = http.client.HTTPConnection("127.0.0.1", objects.port, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        connection.request(self.command, self.path, body, objects.passed(headers))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        kept = ("content-type", "content-range", "etag", "last-modified", "accept-ranges", "x-ms-error-code")
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
