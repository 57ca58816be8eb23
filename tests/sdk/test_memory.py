"""Memory of the server's process: what a query took goes back to the system when it has ended."""
import pathlib
import time
import unittest

from hostile import MEBIBYTE, memory
from server import Server

#: The least memory of the process above which freed memory is purged at once: a quarter of `store.memory`, both caches, and 128 MiB.
BOUND = (64 // 4 + 0 + 16 + 128) * MEBIBYTE


@unittest.skipUnless(pathlib.Path("/proc/self/status").exists(), "memory is read from /proc")
class Memory(unittest.TestCase):
    def test_memory_of_a_query_goes_back_while_the_server_is_idle(self):
        settings = Server(store_memory="64MiB", store_column_cache="0", store_footer_cache="16MiB")
        # The allocator by itself would purge freed memory after an hour.
        settings.environment["MIMALLOC_PURGE_DELAY"] = "3600000"
        with settings as server:
            app, key = server.new_app("shop")
            query = "range x from 1 to 6000000 step 1 | summarize count() by name = strcat('a name of some length ', x) | count"
            self.assertEqual(server.query(app, key, query), [{"Count": 6_000_000}])
            self.assertGreater(memory(server, "VmHWM"), BOUND + 256 * MEBIBYTE)
            # The server looks four times a second.
            deadline = time.monotonic() + 10
            while memory(server) > BOUND and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertLess(memory(server), BOUND)


if __name__ == "__main__":
    unittest.main()
