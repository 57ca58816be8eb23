"""The fixtures over the real program."""
import datetime
import threading
import time

import pytest
from envelopes import request, send

from pytest_hindsight import HindsightError
from pytest_hindsight.tables import customEvents, requests, traces


def test_what_was_sent_is_counted(hindsight, expect):
    send(hindsight, "RequestData", *[request("GET /")] * 3, request("GET /cart"))
    rows = expect(requests).where(name="GET /").count(3)
    assert [row["resultCode"] for row in rows] == ["200"] * 3
    expect(requests).count(4)
    expect(requests).at_least(2)
    expect(requests).where(name="POST /").none()
    expect("requests | where name has 'cart' // one").where("duration > 49", success=True).count(1)
    expect(traces).none()


def test_values_of_every_kind(hindsight, expect):
    send(hindsight, "EventData",
         {"name": 'say "hi"\\', "properties": {"lane": "4", "a b": "c"}, "measurements": {"coins": 12.5}})
    event = expect(customEvents)
    hour = datetime.timedelta(hours=1)
    event.where(name='say "hi"\\').count(1)
    event.where(customDimensions={"lane": "4", "a b": "c"}, customMeasurements={"coins": 12.5}).count(1)
    event.where(customDimensions={"lane": "5"}).none()
    event.where(user_Id=None, itemCount=1).count(1)
    event.where(name=None).none()
    event.where(timestamp=datetime.datetime.now(datetime.timezone.utc) + hour).none()
    with pytest.raises(TypeError, match="no time zone"):
        event.where(timestamp=datetime.datetime(2026, 1, 1))
    with pytest.raises(TypeError, match="no type"):
        event.where(name=object())


def test_a_late_item_is_waited_for(hindsight, expect):
    def later():
        time.sleep(0.3)
        send(hindsight, "RequestData", request("GET /"))
    sender = threading.Thread(target=later)
    sender.start()
    begun = time.monotonic()
    expect(requests).within(20).count(1)
    assert 0.2 < time.monotonic() - begun < 15
    sender.join()


def test_a_failure_shows_the_rows(hindsight, expect):
    send(hindsight, "RequestData", request("GET /", properties={"lane": "4"}), request("GET /", responseCode="500"))
    with pytest.raises(AssertionError) as failed:
        expect(requests).within(0.05).where(name="GET /").count(3)
    lines = str(failed.value).splitlines()
    assert lines[0] == "expected 3 rows of"
    assert [line.strip() for line in lines[1:3]] == ["requests", '| where name == "GET /"']
    assert lines[3].startswith("found 2 after 0.")
    assert lines[4].split()[:2] == ["timestamp", "name"]
    assert "500" in lines[5] + lines[6] and '{"lane":"4"}' in lines[5] + lines[6]
    with pytest.raises(AssertionError, match="expected 1 rows of"):
        expect(requests).where(name="GET /").count(1)
    with pytest.raises(AssertionError, match="expected at least 5 rows of"):
        expect(requests).within(0).at_least(5)


def test_a_failure_without_rows_shows_the_others(hindsight, expect):
    send(hindsight, "RequestData", *[request(f"GET /{number}") for number in range(12)])
    with pytest.raises(AssertionError) as failed:
        expect(requests).within(0).where(name="GET /none").count(1)
    text = str(failed.value)
    assert "found 0 after" in text and "without 'where' there are 12:" in text and "… and 2 more" in text, text
    hindsight.reset()
    with pytest.raises(AssertionError, match="without 'where' there are 0$"):
        expect(requests).within(0).where(name="GET /none").count(1)


def test_conditions_over_rows(hindsight):
    send(hindsight, "RequestData", request("GET /"), request("GET /", success=False))
    failed = "countif(success == false)"
    assert hindsight.wait("requests", condition=f"{failed} == 1").holds
    reply = hindsight.wait("requests", condition=f"{failed} > 1", timeout=0.05)
    assert not reply.holds and len(reply.rows) == 2 and reply.waited >= 0.05


def test_the_clock(hindsight, expect):
    utc = datetime.timezone.utc
    hindsight.clock.fix(datetime.datetime(2030, 2, 1, 12, tzinfo=utc))
    send(hindsight, "RequestData", request("GET /"), time="2030-02-01T12:00:00Z")
    expect("requests | where timestamp > ago(1h)").count(1)
    assert hindsight.clock.fix("2030-02-01T14:00:00Z") == "2030-02-01T14:00:00.0000000Z"
    expect("requests | where timestamp > ago(1h)").none()
    hindsight.clock.shift(datetime.timedelta(days=-1))
    yesterday = datetime.datetime.now(utc) - datetime.timedelta(days=1)
    assert hindsight.clock.now().startswith(yesterday.strftime("%Y-%m-"))
    hindsight.clock.shift("P1D")


def test_the_next_test_has_the_clock_of_the_machine(hindsight):
    today = datetime.datetime.now(datetime.timezone.utc)
    shown = datetime.datetime.fromisoformat(hindsight.clock.now()[:19] + "+00:00")
    assert abs(today - shown) < datetime.timedelta(minutes=1)


def test_snapshots(hindsight, expect):
    send(hindsight, "RequestData", request("GET /"))
    hindsight.snapshot("one")
    send(hindsight, "RequestData", request("GET /"))
    expect(requests).count(2)
    hindsight.restore("one")
    expect(requests).count(1)
    with pytest.raises(HindsightError, match="There is no snapshot 'two'; the snapshots are: one") as refused:
        hindsight.restore("two")
    assert refused.value.status == 404


def test_the_next_test_has_no_telemetry(expect):
    expect("union *").none()
