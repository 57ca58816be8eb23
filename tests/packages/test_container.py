"""The container's root as the Containerfile makes it, read-only and without rights; the compose file and the chart."""
import os
import re
import subprocess
import tarfile
import unittest

from packages import PACKAGING, Package, built, needs, needs_root

try:
    import yaml
except ImportError:
    yaml = None

needs_yaml = unittest.skipIf(yaml is None, "PyYAML is not installed")
#: In a mount namespace of its own: a read-only root, and the two folders that a container is given.
START = """set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -t tmpfs tmpfs "$1/tmp"
mount --bind "$2" "$1/data"
exec chroot --userspec=65532:65532 "$1" /usr/bin/hindsight serve"""


class Container(Package):
    @needs_root
    @needs("unshare", "chroot", "ldd")
    def test_it_serves_from_a_root_that_is_read_only(self):
        context = built() / "container"
        file = (context / "Containerfile").read_text()
        self.assertIn('USER 65532:65532', file)
        root, data = self.folder / "image", self.folder / "data"
        subprocess.check_call(["sh", context / "root.sh", context / "hindsight", root])
        data.mkdir()
        os.chown(data, 65532, 65532)
        settings = dict(re.findall(r"(HINDSIGHT_\w+)=(\S+)", file))
        self.assertEqual(settings["HINDSIGHT_DATA"], "/data")
        settings["HINDSIGHT_LISTEN"] = "0.0.0.0:0"
        self.check_it_serves(["unshare", "--mount", "sh", "-c", START, "sh", root, data], data, env={"PATH": os.environ["PATH"], **settings})
        self.assertEqual((data / "catalogue.db").stat().st_uid, 65532)

    @needs("docker")
    def test_docker_builds_the_image(self):
        if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no docker daemon is running")
        subprocess.check_call(["docker", "build", "--quiet", "--tag", "hindsight-package-test", built() / "container"])
        said = subprocess.check_output(["docker", "run", "--rm", "--read-only", "hindsight-package-test", "--version"], text=True)
        self.assertRegex(said, r"^hindsight \d")

    @needs_yaml
    def test_the_compose_file_fits_the_image_and_the_collector(self):
        folder = PACKAGING / "compose"
        services = yaml.safe_load((folder / "docker-compose.yaml").read_text())["services"]
        hindsight, collector = services["hindsight"], services["collector"]
        self.assertEqual((folder / hindsight["build"]).resolve(), PACKAGING.parent / "target" / "packages" / "container")
        self.assertTrue(hindsight["read_only"])
        self.assertEqual({port.rsplit(":", 2)[0] for port in hindsight["ports"] + collector["ports"]}, {"127.0.0.1"})
        config = yaml.safe_load((folder / "collector.yaml").read_text())
        self.assertEqual(config["exporters"]["otlphttp"]["endpoint"], "http://hindsight:2020")
        for signal, pipeline in config["service"]["pipelines"].items():
            for kind in ("receivers", "processors", "exporters"):
                self.assertLessEqual(set(pipeline[kind]), set(config[kind]), signal)


class Chart(Package):
    def unpacked(self):
        with tarfile.open(self.package("*-chart-*.tgz")) as archive:
            archive.extractall(self.folder, filter="data")
        return self.folder / "hindsight"

    @needs("helm")
    def test_helm_accepts_it(self):
        subprocess.check_call(["helm", "lint", "--strict", self.unpacked()], stdout=subprocess.DEVNULL)

    @needs_yaml
    def test_it_parses_and_names_values_that_there_are(self):
        chart = self.unpacked()
        about = yaml.safe_load((chart / "Chart.yaml").read_text())
        self.assertRegex(about["version"], r"^\d+\.\d+\.\d+$")
        values = yaml.safe_load((chart / "values.yaml").read_text())
        templates = sorted((chart / "templates").glob("*.yaml"))
        self.assertEqual([path.stem for path in templates], ["ingress", "nodes", "service", "statefulset"])
        for path in templates:
            text = path.read_text()
            for name in re.findall(r"\.Values\.([\w.]+)", text):
                value = values
                for part in name.split("."):
                    self.assertIn(part, value, f"{path.name}: {name}")
                    value = value[part]
            # Without its directives, a template is a document.
            plain = re.sub(r"^\s*\{\{-? (?:if|end|range|with|toYaml).*$", "", text, flags=re.M)
            self.assertIn(yaml.safe_load(re.sub(r"\{\{.*?\}\}", "x", plain))["kind"], ("Ingress", "Service", "StatefulSet"))


if __name__ == "__main__":
    unittest.main()
