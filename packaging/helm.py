"""The Helm chart `hindsight`, as `helm package` makes it: an archive of the chart's folder."""
from about import ROOT, compressed, tar


def make(program, folder):
    source = ROOT / "packaging" / "helm"
    files = sorted(path for path in source.rglob("*") if path.is_file())
    entries = [(f"hindsight/{path.relative_to(source)}", path.read_text().replace("{version}", program.version).encode(), 0o644) for path in files]
    path = folder / f"hindsight-chart-{program.version}.tgz"
    path.write_bytes(compressed(tar(entries)))
    return path
