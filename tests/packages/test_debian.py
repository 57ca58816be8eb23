"""The Debian package on a root that has a shell, dpkg's database and systemd-sysusers, and nothing else; and its unit."""
import ctypes
import errno
import os
import shutil
import subprocess
import unittest

from packages import PACKAGING, Package, built, needs, needs_root, put

UNIT = PACKAGING / "systemd" / "hindsight.service"
#: What `systemd-analyze security` may say at most, from 0, which is safest, to 10.
MOST_EXPOSED = 1.5
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


class Debian(Package):
    def clean_root(self):
        root = self.folder / "root"
        for folder in ("etc", "tmp", "dev", "var/lib/dpkg/info", "var/lib/dpkg/updates", "usr/sbin", "usr/bin", "usr/lib", "usr/lib64"):
            (root / folder).mkdir(parents=True)
        # As Debian has them.
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        for name in ("status", "available"):
            (root / "var/lib/dpkg" / name).touch()
        for name, line in (("passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("group", "root:x:0:\n")):
            (root / "etc" / name).write_text(line)
        put(root, "/bin/sh", "/usr/bin/systemd-sysusers")
        return root

    def dpkg(self, root, *arguments):
        subprocess.check_call(["dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--log=/dev/null", *arguments],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @needs_root
    @needs("dpkg", "systemd-sysusers", "chroot")
    def test_it_is_installed_serves_as_its_user_and_is_removed(self):
        package = self.package("*.deb")
        root = self.clean_root()
        self.dpkg(root, "--install", package)
        fields = (root / "etc/passwd").read_text().splitlines()[-1].split(":")
        self.assertEqual((fields[0], fields[5]), ("hindsight", "/var/lib/hindsight"))
        uid, gid = int(fields[2]), int(fields[3])
        self.assertNotEqual(uid, 0)
        # The libraries are those of its dependencies; the folder is what systemd makes for the unit.
        put(root, str(root / "usr/bin/hindsight"))
        data = root / "var/lib/hindsight"
        data.mkdir(mode=0o700)
        os.chown(data, uid, gid)

        [line] = [line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart=")]
        command = line.removeprefix("ExecStart=").split()
        self.check_it_serves(["chroot", f"--userspec={uid}:{gid}", root, *command, "--listen", "127.0.0.1:0"], data)
        self.assertEqual((data / "catalogue.db").stat().st_uid, uid)
        (root / "etc/hindsight/hindsight.toml").write_text("# mine\n")
        self.dpkg(root, "--remove", "hindsight")
        self.assertFalse((root / "usr/bin/hindsight").exists())
        self.assertEqual((root / "etc/hindsight/hindsight.toml").read_text(), "# mine\n")
        self.dpkg(root, "--purge", "hindsight")
        self.assertFalse((root / "etc/hindsight/hindsight.toml").exists())
        self.assertTrue((data / "catalogue.db").exists(), "data stay")

    @needs("dpkg-deb")
    def test_everything_belongs_to_root_and_settings_are_kept(self):
        package = self.package("*.deb")
        listed = subprocess.check_output(["dpkg-deb", "--contents", package], text=True)
        self.assertEqual({line.split()[1] for line in listed.splitlines()}, {"root/root"})
        shown = subprocess.check_output(["dpkg-deb", "--info", package, "conffiles"], text=True)
        self.assertEqual(shown, "/etc/hindsight/hindsight.toml\n")

    @needs("systemd-analyze")
    def test_the_unit_is_hardened(self):
        ran = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", f"--threshold={int(MOST_EXPOSED * 10)}", UNIT],
                             capture_output=True, text=True, check=False)
        overall = (ran.stdout.strip().splitlines() or [ran.stderr])[-1]
        print(overall.strip(), end=" ", flush=True)
        self.assertEqual(ran.returncode, 0, overall)

    @needs("systemd-analyze")
    def test_the_program_needs_no_system_call_that_the_unit_refuses(self):
        allowed = permitted()
        probe = ["python3", "-c", "import os; os.chroot('/')"]
        refused = subprocess.run(probe, capture_output=True, text=True, check=False, preexec_fn=lambda: refuse_others(allowed))
        self.assertIn("PermissionError", refused.stderr, "the filter refuses what it should")
        data = self.folder / "data"
        self.check_it_serves([shutil.which("env"), built() / "hindsight", "serve", "--demo", "--data", data, "--listen", "127.0.0.1:0"], data,
                             preexec_fn=lambda: refuse_others(allowed))


def permitted():
    """The names of the system calls that the unit's filters permit."""
    filters = [line.removeprefix("SystemCallFilter=") for line in UNIT.read_text().splitlines() if line.startswith("SystemCallFilter=")]
    calls = expanded("@default")
    for line in filters:
        names = set().union(*(expanded(name) for name in line.lstrip("~").split()))
        calls = calls - names if line.startswith("~") else calls | names
    return calls


def expanded(name):
    if not name.startswith("@"):
        return {name}
    said = subprocess.check_output(["systemd-analyze", "--no-pager", "syscall-filter", name], text=True)
    lines = [line.strip() for line in said.splitlines()[1:]]
    return set().union(*(expanded(line) for line in lines if line and not line.startswith("#")))


def refuse_others(allowed):
    """In the new process: a filter of system calls as systemd makes it."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(REFUSE)))
    for name in allowed:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, ctypes.c_uint32(ALLOW), number, 0)
    if library.seccomp_load(context) != 0:
        os._exit(70)


if __name__ == "__main__":
    unittest.main()
