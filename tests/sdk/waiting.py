"""Waits until something is so, and says what was wrong last if it never is."""
import time
import urllib.error


def eventually(test, holds, seconds, passing=(urllib.error.HTTPError, AssertionError), statuses=(), otherwise="it did not happen"):
    """Calls `holds` until it answers true. The exceptions `passing` mean that it is not so yet, replies of servers only with one of `statuses`, if any
    are given."""
    deadline, last = time.monotonic() + seconds, None
    while time.monotonic() < deadline:
        try:
            if holds():
                return
            last = None
        except passing as error:
            if statuses and isinstance(error, urllib.error.HTTPError) and error.code not in statuses:
                raise
            last = described(error)
        time.sleep(0.05)
    test.fail(f"{otherwise} within {seconds} s" + (f"; last: {last}" if last else ""))


def described(error):
    """An exception, with what the server replied."""
    reply = error.read().decode(errors="replace")[:500] if isinstance(error, urllib.error.HTTPError) else ""
    return f"{error!r} {reply}".rstrip()
