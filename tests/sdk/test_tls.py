"""TLS with a certificate of one's own, and what a local authority may vouch for."""
import datetime
import http.client
import os
import pathlib
import ssl
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request
from unittest import mock

from server import Server
from waiting import eventually


def self_signed(folder, serial=1):
    """A certificate for localhost and its key, as files, each put in its place at once."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "own")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                   .serial_number(serial).not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=1))
                   .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
                   .sign(key, hashes.SHA256()))
    paths = pathlib.Path(folder, "own.pem"), pathlib.Path(folder, "own-key.pem")
    put(paths[0], certificate.public_bytes(serialization.Encoding.PEM))
    put(paths[1], key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                    serialization.NoEncryption()))
    return paths


def put(path, content):
    """Replaces a file as programs that renew certificates do."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


def served(url):
    """The serial number of the certificate that a new connection gets."""
    from cryptography import x509
    place = urllib.parse.urlsplit(url)
    pem = ssl.get_server_certificate((place.hostname, place.port), timeout=30)
    return x509.load_pem_x509_certificate(pem.encode()).serial_number


def ask(url, authority):
    context = ssl.create_default_context(cafile=authority)
    with urllib.request.urlopen(url + "/version", context=context, timeout=30) as reply:
        return reply.status


class Tls(unittest.TestCase):
    def test_a_certificate_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = self_signed(folder)
            settings = {"HINDSIGHT_TLS_CERTIFICATE": str(certificate), "HINDSIGHT_TLS_KEY": str(key)}
            with mock.patch.dict(os.environ, settings), Server("--tls-listen", "127.0.0.1:0") as server:
                self.assertEqual(ask(server.tls_url, certificate), 200)
                self.assertFalse(os.path.exists(server.authority))

    def test_a_renewed_certificate_is_taken_up_while_running(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = self_signed(folder)
            settings = {"HINDSIGHT_TLS_CERTIFICATE": str(certificate), "HINDSIGHT_TLS_KEY": str(key),
                        "HINDSIGHT_TLS_RELOAD": "50ms"}
            with mock.patch.dict(os.environ, settings), Server("--tls-listen", "127.0.0.1:0") as server:
                self.assertEqual(served(server.tls_url), 1)
                place = urllib.parse.urlsplit(server.tls_url)
                context = ssl.create_default_context(cafile=certificate)
                kept = http.client.HTTPSConnection(place.hostname, place.port, context=context, timeout=30)
                self.addCleanup(kept.close)
                kept.request("GET", "/health")
                self.assertEqual(kept.getresponse().read(), b'{"status":"ok"}')

                self_signed(folder, serial=2)
                eventually(self, lambda: served(server.tls_url) == 2, 30)
                self.assertEqual(ask(server.tls_url, certificate), 200)
                # Who is connected stays so.
                kept.request("GET", "/health")
                self.assertEqual(kept.getresponse().read(), b'{"status":"ok"}')

                log = pathlib.Path(server.data + ".log")
                self.addCleanup(log.unlink)
                for problem, change in {
                    f"{certificate} holds no certificate": lambda: put(certificate, b"no certificate"),
                    f"cannot read the certificate {certificate}": certificate.unlink,
                    f"the private key {key} do not fit": lambda: put(certificate, self.of_another_key()),
                }.items():
                    change()
                    eventually(self, lambda: problem in log.read_text(), 30)
                    self.assertEqual(served(server.tls_url), 2)
                self.assertEqual(log.read_text().count("cannot read the certificate"), 1, "it is told once")

                self_signed(folder, serial=3)
                eventually(self, lambda: served(server.tls_url) == 3, 30)
                self.assertEqual(ask(server.tls_url, certificate), 200)

    def of_another_key(self):
        with tempfile.TemporaryDirectory() as folder:
            return self_signed(folder)[0].read_bytes()

    def test_the_local_authority_stays_and_is_needed(self):
        with Server("--dev-tls", "--tls-listen", "127.0.0.1:0") as server:
            kept = pathlib.Path(server.authority).read_bytes()
            self.assertEqual(ask(server.tls_url, server.authority), 200)
            self.assertEqual(ask(server.tls_url.replace("localhost", "127.0.0.1"), server.authority), 200)
            with self.assertRaises(urllib.error.URLError), mock.patch.dict(os.environ, SSL_CERT_FILE="/dev/null"):
                ask(server.tls_url, None)
            server.stop()
            server.start()
            self.assertEqual(pathlib.Path(server.authority).read_bytes(), kept)
            self.assertEqual(ask(server.tls_url, server.authority), 200)
            self.assertEqual(os.stat(server.authority.replace("ca.pem", "ca-key.pem")).st_mode & 0o777, 0o600)

    def test_one_port_takes_tls_and_plain_http(self):
        with Server("--dev-tls") as server:
            plain, encrypted = urllib.parse.urlsplit(server.url), urllib.parse.urlsplit(server.tls_url)
            self.assertEqual((plain.scheme, encrypted.scheme, plain.port), ("http", "https", encrypted.port))
            self.assertEqual(ask(server.tls_url, server.authority), 200)
            self.assertEqual(ask(server.url, server.authority), 200)
            app, _ = server.new_app("shop")
            self.assertIn(f"IngestionEndpoint={server.tls_url}/;LiveEndpoint={server.tls_url}/;", app["connectionString"])

    def test_a_port_for_tls_alone_takes_no_plain_http(self):
        with Server("--dev-tls", "--tls-listen", "127.0.0.1:0") as server:
            self.assertEqual(ask(server.tls_url, server.authority), 200)
            self.assertEqual(ask(server.url.replace("http:", "https:"), server.authority), 200)
            with self.assertRaises((urllib.error.URLError, ConnectionError, http.client.HTTPException)):
                ask(server.tls_url.replace("https:", "http:"), server.authority)

    def test_a_client_of_tls_is_told_of_in_the_log(self):
        with Server() as server:
            log = pathlib.Path(server.data + ".log")
            self.addCleanup(log.unlink)
            for _ in range(3):
                with self.assertRaises(urllib.error.URLError):
                    ask(server.url.replace("http:", "https:"), None)
            self.assertEqual(log.read_text().count("the server has no certificate"), 1, "it is told once a minute")

    def test_the_authority_vouches_for_this_machine_only(self):
        from cryptography import x509
        with Server("--dev-tls", "--tls-listen", "127.0.0.1:0") as server:
            certificate = x509.load_pem_x509_certificate(pathlib.Path(server.authority).read_bytes())
        constraints = certificate.extensions.get_extension_for_class(x509.NameConstraints)
        self.assertTrue(constraints.critical)
        self.assertEqual({str(name.value) for name in constraints.value.permitted_subtrees},
                         {"localhost", "127.0.0.0/8", "::1/128"})


if __name__ == "__main__":
    unittest.main()
