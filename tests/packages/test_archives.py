"""The archives themselves: the same bytes each time, and sums that are right."""
import base64
import csv
import hashlib
import io
import pathlib
import sys
import types
import unittest
import zipfile

from packages import PACKAGING, Package

sys.path.insert(0, str(PACKAGING))


class Archives(Package):
    def made(self, name):
        """Packages of a small program, in a folder of their own."""
        import debian
        import helm
        import npm
        import wheel
        folder = self.folder / name
        folder.mkdir()
        program = folder / "hindsight"
        program.write_bytes(b"\x7fELF of a test")
        about = types.SimpleNamespace(path=program, version="1.2.3", libc="glibc 2.35", libc_tag="2_35")
        return [make(about, folder) for make in (wheel.make, npm.make_platform, npm.make_launcher, debian.make, helm.make)]

    def test_the_least_glibc_is_that_of_symbols_and_of_relocations(self):
        import about
        symbols = b"GLIBC_2.4\0GLIBC_2.35\0GLIBC_2.17\0"
        self.assertEqual(about.libc_of(symbols), "glibc 2.35")
        self.assertEqual(about.libc_of(symbols + b"GLIBC_ABI_DT_RELR\0"), "glibc 2.36")
        self.assertEqual(about.libc_of(symbols + b"GLIBC_ABI_DT_RELR\0GLIBC_2.38\0"), "glibc 2.38")

    def test_the_same_program_gives_the_same_bytes(self):
        first, second = self.made("first"), self.made("second")
        self.assertEqual([path.name for path in first], [path.name for path in second])
        for one, other in zip(first, second):
            self.assertEqual(one.read_bytes(), other.read_bytes(), one.name)

    def test_the_record_of_the_wheel_has_every_file_and_its_sum(self):
        with zipfile.ZipFile(self.made("wheel")[0]) as archive:
            [record] = [name for name in archive.namelist() if name.endswith("/RECORD")]
            rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
            self.assertEqual(set(rows), set(archive.namelist()))
            for name, (digest, size) in rows.items():
                if name == record:
                    continue
                content = archive.read(name)
                sum_of = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={sum_of}", len(content)))
            [program] = [info for info in archive.infolist() if info.filename.endswith("/scripts/hindsight")]
            self.assertEqual(program.external_attr >> 16, 0o100755)
        self.assertTrue(pathlib.PurePosixPath(program.filename).parts[0].endswith(".data"))


if __name__ == "__main__":
    unittest.main()
