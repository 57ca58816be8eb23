"""Clients that do not finish what they begin: raw connections, and what the server's process holds meanwhile."""
import gzip
import json
import pathlib
import resource
import socket
import time
import urllib.error
import urllib.parse
import urllib.request

MEBIBYTE = 1 << 20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, SETTINGS, END_HEADERS = 1, 4, 4
# POST http://x/v2/track: indexed fields, then the path and the authority as literals (RFC 7541).
POST_TRACK = b"\x83\x86\x04\x09/v2/track\x41\x01x"
# 90 bytes, and no body.
HEAD = b"POST /v2/track HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"


def memory(server, name="VmRSS"):
    """Bytes of memory that the server has (`VmRSS`), or had at most (`VmHWM`)."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def files(server):
    """Files that the server has open."""
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


def allow_files(wanted):
    """Raises this process's limit of open files; says whether that was possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return True


def connect(server, timeout=30):
    place = urllib.parse.urlsplit(server.url)
    return socket.create_connection((place.hostname, place.port), timeout=timeout)


def frame(kind, flags, stream, payload=b""):
    """A frame of HTTP/2 (RFC 9113 §4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def unfinished_streams(server, count):
    """A connection of HTTP/2 with so many posts whose bodies do not come."""
    connection = connect(server)
    begun = b"".join(frame(HEADERS, END_HEADERS, 2 * number + 1, POST_TRACK) for number in range(count))
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0) + begun)
    return connection


def unfinished(server, head=HEAD, body=b""):
    """A connection with a post whose body does not end."""
    connection = connect(server)
    try:
        connection.sendall(head + body)
    except OSError:
        pass  # The server has closed it to make room.
    return connection


def event(app, name="good", at=None):
    """An envelope of an event `at` a time in seconds since 1970, or now."""
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    return {"time": text, "iKey": app["instrumentationKey"], "data": {"baseType": "EventData", "baseData": {"name": name}}}


def packed(app, items, name="load", at=None):
    """A gzip body of so many events `at` a time in seconds since 1970, or now."""
    return gzip.compress(b"\n".join(json.dumps(event(app, f"{name}{number % 97}", at)).encode() for number in range(items)), 6)


def post(server, path, body, timeout=60, **headers):
    """The status of a post, and the seconds that it took."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(server.url + path, body, headers)
    begun = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            reply.read()
            return reply.status, time.monotonic() - begun
    except urllib.error.HTTPError as error:
        error.read()
        return error.code, time.monotonic() - begun


def track(server, app, timeout=20):
    return post(server, "/v2.1/track", json.dumps(event(app)).encode(), timeout)


def health(server, timeout=20):
    """Seconds until the server has said that it lives, over a connection of its own."""
    begun = time.monotonic()
    with urllib.request.urlopen(server.url + "/health", timeout=timeout) as reply:
        assert reply.status == 200
        reply.read()
    return time.monotonic() - begun
