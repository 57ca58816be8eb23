"""A private server of PostgreSQL for a test."""
import glob
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time


def programs():
    """The folder of PostgreSQL's programs; None where it is not installed."""
    found = shutil.which("initdb")
    folders = [os.path.dirname(os.path.realpath(found))] if found else sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return next((pathlib.Path(folder) for folder in folders if os.path.exists(os.path.join(folder, "postgres"))), None)


class Running:
    """A server that runs already, reached by a socket in its folder."""

    def __init__(self, folder):
        self.programs = programs()
        self.folder = folder
        self.account = []
        if os.getuid() == 0:
            # PostgreSQL refuses to run as root.
            owner = os.stat(folder)
            self.account = ["setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups"]

    @property
    def url(self):
        return f"postgres://hindsight@/hindsight?host={self.folder}"

    def run(self, program, *arguments):
        return subprocess.check_output([*self.account, self.programs / program, *arguments], text=True, cwd="/")

    def sql(self, statement, database="hindsight"):
        return self.run("psql", "--no-psqlrc", "--tuples-only", "--no-align", "--username", "hindsight",
                        "--host", self.folder, "--dbname", database, "--command", statement).strip()


class Postgres(Running):
    """A server of its own with an empty database. `with Postgres() as postgres: …`"""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hindsight-postgres-")
        self.process = None
        if os.getuid() == 0:
            names = {entry.pw_name: entry for entry in pwd.getpwall()}
            entry = names.get("postgres") or names["nobody"]
            os.chown(self.temporary.name, entry.pw_uid, entry.pw_gid)
        super().__init__(self.temporary.name)

    def __enter__(self):
        self.run("initdb", "--username=hindsight", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale",
                 "--pgdata", os.path.join(self.folder, "data"))
        self.start()
        self.sql("CREATE DATABASE hindsight", "postgres")
        return self

    def __exit__(self, *_):
        if self.process:
            self.stop()
        self.temporary.cleanup()

    def start(self):
        log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(
            [*self.account, self.programs / "postgres", "-D", os.path.join(self.folder, "data"),
             "-c", f"unix_socket_directories={self.folder}", "-c", "listen_addresses="],
            stdout=log, stderr=log, cwd="/")
        log.close()
        deadline = time.monotonic() + 60
        while subprocess.call([self.programs / "pg_isready", "--quiet", "--host", self.folder]) != 0:
            assert time.monotonic() < deadline, "PostgreSQL does not start"
            time.sleep(0.05)

    def stop(self, how=signal.SIGQUIT):
        """Ends the server, by default at once as a crash does: it recovers at the next start."""
        self.process.send_signal(how)
        self.process.wait(timeout=60)
        self.process = None
