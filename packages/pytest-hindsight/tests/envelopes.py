"""What an SDK sends, without an SDK."""
import datetime
import json
import urllib.request


def send(hindsight, base_type, *data, time=None):
    """Sends an item for each of `data`; returns when they are acknowledged."""
    time = time or datetime.datetime.now(datetime.timezone.utc).isoformat()
    items = [{"time": time, "iKey": hindsight.instrumentation_key, "data": {"baseType": base_type, "baseData": item}}
             for item in data]
    request = urllib.request.Request(hindsight.url + "/v2.1/track", json.dumps(items).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        assert json.load(reply)["itemsAccepted"] == len(items)


def request(name, **more):
    return {"id": "1", "name": name, "duration": "00:00:00.0500000", "responseCode": "200", "success": True, **more}
