"""The network between the nodes of a test: a TCP proxy before each node, whose connections from one node or from all others can fail."""
import collections
import os
import socket
import socketserver
import threading
import time

DELAY = 0.2


class Links:
    """`faults` has a fault by the pair (name of the node that calls, name of the node that is called):

    - "cut": connections are closed, and new ones are closed at once;
    - "black hole": connections stay open, and no byte arrives until the fault is over, as where packets are lost;
    - "slow": each piece of up to 64 KiB arrives `DELAY` seconds late.

    `felt` counts the connections and pieces that met each of them. The node that calls is found by its process: `nodes` must have all nodes by their names.
    """

    def __init__(self):
        self.nodes = {}
        self.faults = {}
        self.felt = collections.Counter()
        self.proxies = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.faults = {}
        for proxy in self.proxies:
            proxy.shutdown()
            proxy.server_close()

    def address_of(self, name):
        """The URL at which the other nodes reach the node `name`, which need not run yet."""
        proxy = Proxy(("127.0.0.1", 0), type("To" + name, (Connection,), {"links": self, "target": name}))
        self.proxies.append(proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{proxy.server_address[1]}"

    def caller(self, port):
        """The name of the node with a connection from this local port (`/proc/net/tcp`); None if there is none any more."""
        with open("/proc/net/tcp") as connections:
            fields = [line.split() for line in connections]
        inodes = {f"socket:[{field[9]}]" for field in fields if field[1] == f"0100007F:{port:04X}"}
        for name, node in self.nodes.items():
            try:
                folder = f"/proc/{node.process.pid}/fd"
                if any(os.readlink(os.path.join(folder, number)) in inodes for number in os.listdir(folder)):
                    return name
            except OSError:
                continue
        return None


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    # Connections that wait to be accepted.
    request_queue_size = 128


class Connection(socketserver.BaseRequestHandler):
    links = None
    target = None

    def handle(self):
        self.pair = (self.links.caller(self.client_address[1]), self.target)
        if self.pair[0] is None or self.meets("cut"):
            return
        try:
            self.there = socket.create_connection(("127.0.0.1", self.links.nodes[self.target].port))
        except OSError:
            return
        self.is_open = True
        with self.there:
            back = threading.Thread(target=self.pass_on, args=(self.there, self.request), daemon=True)
            back.start()
            threading.Thread(target=self.close_at_cut, daemon=True).start()
            self.pass_on(self.request, self.there)
            back.join()

    def meets(self, fault):
        """Whether the connection has this fault now."""
        if self.links.faults.get(self.pair) != fault:
            return False
        self.links.felt[fault] += 1
        return True

    def pass_on(self, source, sink):
        try:
            while data := source.recv(65536):
                if self.meets("slow"):
                    time.sleep(DELAY)
                while self.is_open and self.meets("black hole"):
                    time.sleep(0.05)
                sink.sendall(data)
        except OSError:
            pass
        self.close()

    def close_at_cut(self):
        while self.is_open:
            if self.meets("cut"):
                self.close()
            time.sleep(0.05)

    def close(self):
        self.is_open = False
        for end in (self.request, self.there):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
