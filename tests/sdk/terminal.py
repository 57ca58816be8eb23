"""A terminal of a size, for tests: a program runs on it, and what a person would see and press is text."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

from server import PROGRAM

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def plain(text):
    """Without the sequences that move the cursor or set colours."""
    return ANSI.sub("", text).replace("\r\n", "\n")


def width(line):
    """The columns that a line takes."""
    wide = {"W": 2, "F": 2}
    return sum(0 if unicodedata.combining(c) else wide.get(unicodedata.east_asian_width(c), 1) for c in line)


def wait_until_caught(pid, number, seconds=60):
    """Waits until the program handles a signal itself. Before, the process is a copy of this one."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        started = os.readlink(f"/proc/{pid}/exe") == str(PROGRAM.resolve())
        with open(f"/proc/{pid}/status") as status:
            caught = int(re.search(r"SigCgt:\s*(\w+)", status.read())[1], 16)
        if started and caught >> (number - 1) & 1:
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} does not handle signal {number}")


class Terminal:
    """`with Terminal([…], columns=80) as terminal: …`"""

    def __init__(self, arguments, columns=80, rows=24, cwd=None, **environment):
        self.arguments, self.size, self.cwd = [str(argument) for argument in arguments], (rows, columns), cwd
        self.environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TERM": "xterm-256color", **environment}
        self.text, self.seen, self.code = "", 0, None
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def __enter__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *self.size, 0, 0))
                if self.cwd:
                    os.chdir(self.cwd)
                os.execve(self.arguments[0], self.arguments, self.environment)
            finally:
                os._exit(127)
        return self

    def __exit__(self, *_):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, seconds):
        """Reads what is there within some time; false at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.text += self.decoder.decode(data)
        return bool(data)

    def expect(self, pattern, seconds=60):
        """Waits until what was written since the last match has the pattern; answers the match."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, plain(self.text[self.seen:]), re.S)
            if found:
                self.seen = len(self.text)
                return found
            if time.monotonic() > deadline or not self.read(0.2):
                raise AssertionError(f"no {pattern!r} in {plain(self.text[self.seen:])!r}")

    def send(self, text):
        os.write(self.fd, text.encode())

    def interrupt(self):
        """Ctrl-C, as the terminal makes of it what its mode says."""
        self.send("\x03")

    def end(self, seconds=60):
        """Waits for the end of the program; answers its exit code."""
        deadline = time.monotonic() + seconds
        while self.read(0.2):
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.arguments} does not end: {plain(self.text)!r}")
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


def run(arguments, **options):
    """Runs a program to its end; answers its exit code and what it wrote, with and without sequences."""
    with Terminal(arguments, **options) as terminal:
        code = terminal.end()
        return code, terminal.text, plain(terminal.text)
