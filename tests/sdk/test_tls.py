"""TLS with a certificate of one's own, and what a local authority may vouch for."""
import datetime
import os
import pathlib
import ssl
import tempfile
import unittest
import urllib.error
import urllib.request
from unittest import mock

from server import Server


def self_signed(folder):
    """A certificate for localhost and its key, as files."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "own")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                   .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=1))
                   .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
                   .sign(key, hashes.SHA256()))
    paths = pathlib.Path(folder, "own.pem"), pathlib.Path(folder, "own-key.pem")
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                           serialization.NoEncryption()))
    return paths


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
