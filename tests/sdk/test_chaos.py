"""Three nodes of the real program, PostgreSQL and a server of S3 under telemetry and queries, while all of them and the network between them fail at random.

HINDSIGHT_TEST_CHAOS says how many failures there are (default 11, each kind once), HINDSIGHT_TEST_CHAOS_SEED which, and HINDSIGHT_TEST_CHAOS_KINDS of
which kinds, by the beginnings of their names with commas between.
"""
import collections
import contextlib
import http.client
import json
import os
import random
import signal
import statistics
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from links import Links
from object_server import BUCKET, Moto, is_installed
from postgres import Postgres, programs
from test_distributed import QUERIES, filled
from test_nodes import Node
from test_same_answers import same
from waiting import eventually

FAILURES = int(os.environ.get("HINDSIGHT_TEST_CHAOS", 11))
SEED = int(os.environ.get("HINDSIGHT_TEST_CHAOS_SEED", 20))
KINDS = tuple(os.environ.get("HINDSIGHT_TEST_CHAOS_KINDS", "").split(","))
# Replies that refuse a query or an item: they are no answers.
REFUSALS = {503, 504}
# The longest time after a failure until each node answers and takes telemetry again, seconds.
RECOVERY = 90
SETTINGS = {"store_replicas": "auto", "store_memory": "4MiB", "store_segment_cache": "4MiB", "store_compaction_interval": "1s"}


class Failures:
    """What can fail. Each kind is a context: it fails at the start and is whole again at the end."""

    def __init__(self, nodes, links, postgres, moto, chance):
        self.nodes, self.links, self.postgres, self.moto, self.chance = nodes, links, postgres, moto, chance
        self.kinds = {
            "kill -9": self.kill, "SIGSTOP": self.pause,
            "cut between two nodes": lambda: self.link("cut"), "black hole between two nodes": lambda: self.link("black hole"),
            "slow network between two nodes": lambda: self.link("slow"), "a node cut off from the others": self.isolate,
            "S3 replies 500": lambda: self.objects("error"), "S3 replies late": lambda: self.objects("slow"),
            "S3 breaks off replies": lambda: self.objects("cut"), "S3 does not reply": lambda: self.objects("silent"),
            "PostgreSQL crashes": self.database}
        self.kinds = {kind: failure for kind, failure in self.kinds.items() if kind.startswith(KINDS)}
        # What holds only one failure at a time.
        self.uses = {kind: "S3" if kind.startswith("S3") else "PostgreSQL" if kind.startswith("PostgreSQL") else
                     "process" if kind in ("kill -9", "SIGSTOP") else "network" for kind in self.kinds}

    @contextlib.contextmanager
    def kill(self):
        node = self.chance.choice(self.nodes)
        node.kill()
        yield
        threading.Thread(target=self.restart, args=(node,), daemon=True).start()

    @staticmethod
    def restart(node):
        """Starts a node as a service manager does: again if it ends, as it does while PostgreSQL is away."""
        deadline = time.monotonic() + RECOVERY
        while time.monotonic() < deadline:
            try:
                return node.start()
            except AssertionError:
                time.sleep(0.5)

    @contextlib.contextmanager
    def pause(self):
        node = self.chance.choice(self.nodes)
        node.process.send_signal(signal.SIGSTOP)
        yield
        node.process.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def link(self, fault):
        one, other = (node.name for node in self.chance.sample(self.nodes, 2))
        # One direction only is a failure of its own.
        pairs = [(one, other)] if self.chance.random() < 0.3 else [(one, other), (other, one)]
        self.links.faults = dict.fromkeys(pairs, fault)
        yield
        self.links.faults = {}

    @contextlib.contextmanager
    def isolate(self):
        alone = self.chance.choice(self.nodes).name
        others = [node.name for node in self.nodes if node.name != alone]
        fault = self.chance.choice(("cut", "black hole"))
        self.links.faults = {pair: fault for other in others for pair in ((alone, other), (other, alone))}
        yield
        self.links.faults = {}

    @contextlib.contextmanager
    def objects(self, fault):
        self.moto.fault = fault
        yield
        self.moto.fault = None

    @contextlib.contextmanager
    def database(self):
        self.postgres.stop()
        yield
        self.postgres.start()


class Items:
    """What was sent, by the number of the failure during which it was."""

    def __init__(self):
        self.sent = collections.defaultdict(set)
        self.acknowledged = collections.defaultdict(set)
        # The first and the last time of those that were acknowledged.
        self.times = {}
        self.lock = threading.Lock()

    def acknowledge(self, round_, ids, moment):
        with self.lock:
            self.acknowledged[round_].update(ids)
            first, last = self.times.get(round_, (moment, moment))
            self.times[round_] = min(first, moment), max(last, moment)

    def known(self, round_):
        """The items that were acknowledged, and a condition that all of them meet. Of other items it may be true or not."""
        with self.lock:
            first, last = self.times.get(round_, ("2000-01-01", "2000-01-01"))
            return set(self.acknowledged[round_]), f"timestamp between (datetime({first}) .. datetime({last})) and name == 'failure {round_}'"

    def wrong(self, round_, acknowledged, rows):
        """What is wrong with an answer: `acknowledged` are the items that were when the query was sent."""
        counts = {row["id"]: row["n"] for row in rows}
        with self.lock:
            unknown = set(counts) - self.sent[round_]
        lost, doubled = acknowledged - set(counts), {id_: n for id_, n in counts.items() if n != 1}
        return {name: sorted(what)[:5] for name, what in (("lost", lost), ("doubled", doubled), ("never sent", unknown)) if what}


class Refused(Exception):
    """No answer: the node refuses, fails or is away."""


@contextlib.contextmanager
def refusals(counts):
    """Turns what a node in trouble may do into `Refused`. Any other status is a failure of the test."""
    try:
        yield
    except urllib.error.HTTPError as error:
        if error.code not in REFUSALS:
            raise AssertionError(f"status {error.code}: {error.read()[:500]}") from None
        counts[str(error.code)] += 1
        raise Refused from None
    except (OSError, http.client.HTTPException):
        counts["connection"] += 1
        raise Refused from None


def ask(node, app, key, text, counts, timeout=60):
    """The rows of a query. A reply with an error beside its tables is a refusal, too."""
    url = f"{node.url}/v1/apps/{app['appId']}/query?" + urllib.parse.urlencode({"query": text})
    with refusals(counts):
        with urllib.request.urlopen(urllib.request.Request(url, headers={"X-Api-Key": key, "Cache-Control": "no-cache"}),
                                    timeout=timeout) as reply:
            answer = json.load(reply)
    if "error" in answer:
        counts["partial"] += 1
        raise Refused
    table = answer["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


@unittest.skipUnless(programs(), "PostgreSQL is not installed")
@unittest.skipUnless(is_installed(), "moto[server] is not installed")
class Chaos(unittest.TestCase):
    def test_random_failures(self):
        with Postgres() as postgres, Moto() as moto, Links() as links, contextlib.ExitStack() as stack:
            nodes = [Node(postgres, f"s3://{BUCKET}/hindsight", name, environment=moto.environment, node_address=links.address_of(name), **SETTINGS)
                     for name in ("one", "two", "three")]
            links.nodes = {node.name: node for node in nodes}
            for node in nodes:
                stack.enter_context(node)
            self.nodes, self.items, self.round = nodes, Items(), 0
            self.fixed, self.fixed_key = filled(self, nodes)
            self.expected = [nodes[0].query(self.fixed, self.fixed_key, query) for query in QUERIES]
            self.assertTrue(all(self.expected), "no query is empty")
            self.app, self.key = nodes[0].new_app("chaos")
            self.eventually(lambda: all(ask(node, self.app, self.key, "requests | count", collections.Counter()) for node in nodes))
            self.refused, self.answers, self.wrong, self.stop = collections.Counter(), 0, [], threading.Event()
            threads = [threading.Thread(target=work, args=(number,), daemon=True)
                       for work in (self.sending, self.querying) for number in range(3)]
            for thread in threads:
                thread.start()
            try:
                recovered = self.disturb(Failures(nodes, links, postgres, moto, random.Random(SEED)))
            finally:
                self.stop.set()
                for thread in threads:
                    thread.join()
            self.finish(recovered, links)

    def disturb(self, failures):
        """Lets things fail, one or two at a time, and answers the seconds until all nodes work again, by kind."""
        chance, recovered, waiting = failures.chance, collections.defaultdict(list), []
        while self.round < FAILURES and not self.wrong:
            chosen = {}
            for _ in range(min(chance.choice((1, 1, 1, 2)), FAILURES - self.round)):
                if not waiting:
                    waiting = chance.sample(list(failures.kinds), len(failures.kinds))
                kind = waiting.pop()
                if failures.uses[kind] not in map(failures.uses.get, chosen):
                    chosen[kind] = failures.kinds[kind]()
                else:
                    waiting.insert(0, kind)
            self.round += len(chosen)
            # One in ten lasts for longer than a node counts as live.
            lasts = 20 if chance.random() < 0.1 else chance.uniform(0.5, 6)
            with contextlib.ExitStack() as failing:
                for failure in chosen.values():
                    failing.enter_context(failure)
                time.sleep(lasts)
            took = self.recovery(f"{' and '.join(chosen)} for {lasts:.1f} s")
            for kind in chosen:
                recovered[kind].append(took)
            print(f"{self.round:4} {' and '.join(chosen)} for {lasts:.1f} s: all nodes work {took:.1f} s later", flush=True)
            time.sleep(chance.uniform(0, 1))
        return recovered

    def recovery(self, failure):
        """The seconds until each node has answered a query and acknowledged an item."""
        began = time.monotonic()
        for node in self.nodes:
            self.eventually(lambda: ask(node, self.fixed, self.fixed_key, "requests | count", collections.Counter()), RECOVERY,
                            f"{failure}: node {node.name} answers no query; see {node.data}.log")
            self.eventually(lambda: self.sends(node, [f"probe-{node.name}-{time.monotonic_ns()}"]), RECOVERY,
                            f"{failure}: node {node.name} takes no telemetry; see {node.data}.log")
        return time.monotonic() - began

    def sends(self, node, ids):
        """Whether all items were acknowledged."""
        round_ = self.round
        with self.items.lock:
            self.items.sent[round_].update(ids)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        items = [{"name": "r", "time": moment, "iKey": self.app["instrumentationKey"], "data": {"baseType": "RequestData", "baseData": {
            "ver": 2, "id": id_, "name": f"failure {round_}", "duration": "00:00:00.001", "success": True, "responseCode": "200"}}} for id_ in ids]
        request = urllib.request.Request(node.url + "/v2.1/track", json.dumps(items).encode(), {"Content-Type": "application/json"})
        with refusals(self.refused):
            with urllib.request.urlopen(request, timeout=60) as reply:
                verdict = json.load(reply)
        if verdict["itemsAccepted"] != len(ids):
            self.refused[str(reply.status)] += 1
            return False
        self.items.acknowledge(round_, ids, moment)
        return True

    def sending(self, number):
        chance, count = random.Random(number), 0
        while not self.stop.is_set():
            ids = [f"{number}-{count + offset}" for offset in range(chance.randint(1, 20))]
            count += len(ids)
            try:
                self.sends(chance.choice(self.nodes), ids)
            except Refused:
                time.sleep(0.05)
            except Exception as error:
                self.wrong.append(("sending", repr(error)))
            # The rate of a small service, so that the program is not what the test measures.
            time.sleep(0.02)

    def querying(self, number):
        chance = random.Random(100 + number)
        while not self.stop.is_set():
            node = chance.choice(self.nodes)
            try:
                if chance.random() < 0.4:
                    index = chance.randrange(len(QUERIES))
                    found = ask(node, self.fixed, self.fixed_key, QUERIES[index], self.refused)
                    wrong = not same(found, self.expected[index], in_order=True) and (found, self.expected[index])
                else:
                    round_ = max(0, self.round - chance.choice((0, 0, 1, 5, 20)))
                    acknowledged, condition = self.items.known(round_)
                    found = ask(node, self.app, self.key, f"requests | where {condition} | summarize n = count() by id", self.refused)
                    wrong = self.items.wrong(round_, acknowledged, found)
                self.answers += 1
                if wrong:
                    self.wrong.append((f"failure {self.round}, node {node.name}", wrong))
            except Refused:
                time.sleep(0.05)
            except Exception as error:
                self.wrong.append(("querying", node.name, repr(error)))

    def finish(self, recovered, links):
        self.assertEqual(self.wrong[:3], [])
        for node in self.nodes:
            # The segments of this hour are not merged yet, and the cache of segments has room for few of them.
            rows = ask(node, self.app, self.key, "requests | summarize n = count() by name, id", self.refused, timeout=600)
            of_round = collections.defaultdict(list)
            for row in rows:
                of_round[row["name"]].append(row)
            self.assertLessEqual(set(of_round), {f"failure {round_}" for round_ in self.items.sent}, f"node {node.name}")
            for round_ in list(self.items.sent):
                acknowledged, _ = self.items.known(round_)
                wrong = self.items.wrong(round_, acknowledged, of_round[f"failure {round_}"])
                self.assertEqual(wrong, {}, f"failure {round_}, node {node.name}")
        acknowledged = sum(map(len, self.items.acknowledged.values()))
        self.assertGreater(acknowledged, 50 * FAILURES)
        self.assertGreater(self.answers, 5 * FAILURES)
        if any("between" in kind for kind in recovered):
            self.assertGreater(links.felt.total(), 0, "no connection met a fault")
        print(f"{self.round} failures: {acknowledged} items acknowledged, none lost or doubled; {self.answers} answers, none wrong or short; "
              f"refused: {dict(self.refused)}; faults met by connections: {dict(links.felt)}")
        for kind, took in sorted(recovered.items()):
            print(f"{kind}: {len(took)} times; works again after {statistics.median(took):.1f} s (median), {max(took):.1f} s (longest)")

    def eventually(self, holds, seconds=60, otherwise="it did not happen"):
        eventually(self, holds, seconds, (Refused, urllib.error.HTTPError, AssertionError), otherwise=otherwise)


if __name__ == "__main__":
    unittest.main()
