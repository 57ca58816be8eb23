"""Credentials that no client library would send, byte by byte (`attacks.md` 7 and 9)."""
import socket
import unittest
import urllib.parse

from server import Server


class RawHeaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")

    def status(self, header):
        place = urllib.parse.urlsplit(self.server.url)
        head = f"GET /v1/apps/{self.app['appId']}/query?query=print+1 HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
        with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
            try:
                connection.sendall(head.encode() + header + b"\r\n\r\n")
            except OSError:
                pass  # The server need not read all of what it refuses.
            line = connection.makefile("rb").readline()
        return int(line.split()[1])

    def test_one_good_header(self):
        self.assertEqual(self.status(b"X-API-KEY: " + self.key.encode()), 200)

    def test_twice_folded_or_with_control_characters(self):
        key = self.key.encode()
        half = len(key) // 2
        for name, header in {
            "twice": b"X-Api-Key: " + key + b"\r\nx-api-key: " + key,
            "folded": b"X-Api-Key: " + key[:half] + b"\r\n " + key[half:],
            "NUL": b"X-Api-Key: " + key + b"\0",
            "a bare CR": b"X-Api-Key: " + key[:half] + b"\r" + key[half:],
            "a space before the colon": b"X-Api-Key : " + key,
        }.items():
            self.assertEqual(self.status(header), 400, name)
        self.assertIn(self.status(b"X-Api-Key: \xff" + key), (400, 401), "bytes that are no text")

    def test_a_token_of_a_megabyte(self):
        self.assertIn(self.status(b"Authorization: Bearer " + b"a" * (1 << 20)), (400, 431))
        self.assertEqual(self.status(b"Authorization: Bearer " + b"a" * 20_000), 401)


if __name__ == "__main__":
    unittest.main()
