"""Kills under load: senders at a server that is killed again and again, and what it has in the end."""
from test_crash import SENDERS, Sender


def kills_under_load(test, server, rounds, disturb, before_start=lambda round_: None):
    """In each round senders send, `disturb(round_, senders)` does what the test is about, and the server is killed and started again.
    Nothing that was acknowledged may be missing or doubled in the end. Answers how many items were acknowledged."""
    app, key = server.new_app("crash")
    acknowledged = {}
    for round_ in range(rounds):
        senders = [Sender(server.url, app["instrumentationKey"], round_, number) for number in range(SENDERS)]
        for sender in senders:
            sender.start()
        disturb(round_, senders)
        server.kill()
        for sender in senders:
            sender.join()
        acknowledged[round_] = [id_ for sender in senders for id_ in sender.acknowledged]
        before_start(round_)
        server.start()
    for round_, ids in acknowledged.items():
        rows = server.query(app, key, f"requests | where name == 'round {round_}' | summarize n = count() by id")
        stored = {row["id"]: row["n"] for row in rows}
        test.assertEqual([id_ for id_ in ids if id_ not in stored], [], f"round {round_}: acknowledged items were lost")
        test.assertEqual({id_: n for id_, n in stored.items() if n != 1}, {}, f"round {round_}: items are stored twice")
    items = sum(len(ids) for ids in acknowledged.values())
    test.assertGreater(items, 0)
    return items
