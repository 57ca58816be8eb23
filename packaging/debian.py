"""The Debian package `hindsight`: the program, a hardened systemd unit, its user and its settings."""
from about import ROOT, SUMMARY, TIME, compressed, folders_of, tar, text

DEPENDS = "libc6 (>= {libc}), libgcc-s1, systemd | systemd-standalone-sysusers"
#: Files that the administrator may change, and that an upgrade keeps.
SETTINGS = "etc/hindsight/hindsight.toml"


def make(program, folder):
    version = program.version
    files = {
        "usr/bin/hindsight": (program.path.read_bytes(), 0o755),
        "usr/lib/systemd/system/hindsight.service": (text("systemd/hindsight.service"), 0o644),
        "usr/lib/sysusers.d/hindsight.conf": (text("systemd/sysusers.conf"), 0o644),
        SETTINGS: (text("debian/hindsight.toml"), 0o644),
        "usr/share/doc/hindsight/copyright": (copyright_of(), 0o644),
    }
    size = sum(len(content) for content, _ in files.values()) // 1024
    control = "\n".join([
        "Package: hindsight", f"Version: {version}", "Section: admin", "Priority: optional", "Architecture: amd64", f"Installed-Size: {size}",
        f"Depends: {DEPENDS.format(libc=program.libc.removeprefix('glibc '))}", "Maintainer: The Hindsight authors <hindsight@localhost>",
        f"Description: {SUMMARY.split(':')[0]}", " It takes telemetry of the Application Insights SDKs and of OpenTelemetry, keeps it in Parquet files,",
        " and answers KQL over the query API and in a portal.", ""])
    scripts = {name: text(f"debian/{name}") for name in ("postinst", "prerm", "postrm")}
    control_tar = tar([("./control", control.encode(), 0o644), ("./conffiles", f"/{SETTINGS}\n".encode(), 0o644),
                       *((f"./{name}", content, 0o755) for name, content in scripts.items())])
    data_tar = tar([("./", None, 0o755), *((f"./{name}/", None, 0o755) for name in folders_of(files)),
                    *((f"./{name}", content, mode) for name, (content, mode) in sorted(files.items()))])
    path = folder / f"hindsight_{version}_amd64.deb"
    path.write_bytes(archive([("debian-binary", b"2.0\n"), ("control.tar.gz", compressed(control_tar)), ("data.tar.gz", compressed(data_tar))]))
    return path


def copyright_of():
    head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Hindsight\n\nFiles: *\nCopyright: the Hindsight authors\nLicense: Apache-2.0\n"
    licence = (ROOT / "LICENSE").read_text()
    return (head + "".join(f" {line.strip() or '.'}\n" for line in licence.splitlines())).encode()


def archive(members):
    """An `ar` archive, which is what a Debian package is."""
    out = b"!<arch>\n"
    for name, content in members:
        out += f"{name:<16}{TIME:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)
    return out
