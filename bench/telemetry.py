"""Generates realistic request, dependency and trace envelopes: the same in every run except for the time at which they end."""
import datetime
import json
import random

ROLES = ["web-frontend", "api-gateway", "orders-api", "catalog-api", "payments", "identity", "search", "inventory"]
RESOURCES = ["Orders", "Items", "Users", "Carts", "Invoices", "Payments", "Sessions", "Products", "Search", "Stock"]
VERBS = [("GET", "Get"), ("POST", "Create"), ("PUT", "Update"), ("DELETE", "Remove"), ("GET", "List")]
NAMES = [f"{verb} {resource}/{action}" for verb, action in VERBS for resource in RESOURCES]
COUNTRIES = ["Germany", "India", "Brazil", "France", "Japan", "Canada", "Spain", "Italy"]
REGIONS = ["westeurope", "northeurope", "eastus", "westus2", "southeastasia", "brazilsouth"]
PLANS = ["free", "pro", "enterprise", "trial"]
TARGETS = [f"{kind}-{i:02d}.shop.example" for kind in ("sql", "api", "blob", "redis") for i in range(8)]
WORDS = ("request response cache miss hit token refresh started finished retry queue message worker lease acquired "
         "released blob upload download index rebuild user order payment customer invoice catalog price stock").split()
TEMPLATES = [" ".join(random.Random(i).choices(WORDS, k=6)).capitalize() for i in range(200)]
EVIDENT_ID = "benchmark-request-to-find"


def duration_text(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    return f"00:00:{int(seconds) % 60:02d}.{int(rest * 10000):07d}"


def envelope(time, key, tags, base_type, base_data):
    return {"name": f"Microsoft.ApplicationInsights.{base_type}", "time": time, "iKey": key, "tags": tags,
            "data": {"baseType": base_type, "baseData": base_data}}


def batches(key, requests, days, end, size=1000, seed=1):
    """Yields NDJSON bodies: `requests` requests, half as many dependencies and traces, spread over `days` up to `end`."""
    rng = random.Random(seed)
    start = end - datetime.timedelta(days=days)
    step = datetime.timedelta(days=days) / requests
    lines = []
    for i in range(requests):
        at = start + step * i
        time = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        name = NAMES[min(int(rng.paretovariate(0.8)) - 1, len(NAMES) - 1)]
        role = ROLES[hash_of(name) % len(ROLES)]
        user = int(rng.paretovariate(0.5)) % 50_000
        failed = rng.random() < 0.02
        took = round(rng.lognormvariate(3.5, 0.9) * (2.5 if failed else 1), 4)
        operation = f"{rng.getrandbits(128):032x}"
        span = f"{rng.getrandbits(64):016x}" if i != requests // 3 else EVIDENT_ID
        tags = {"ai.operation.id": operation, "ai.operation.name": name, "ai.operation.parentId": operation[:16],
                "ai.cloud.role": role, "ai.cloud.roleInstance": f"{role}-{user % 6}", "ai.application.ver": "2.4.1",
                "ai.user.id": f"u{user}", "ai.session.id": f"s{user}-{i % 5}", "ai.location.ip": "10.1.2.3",
                "ai.location.country": COUNTRIES[user % len(COUNTRIES)], "ai.device.type": "PC",
                "ai.internal.sdkVersion": "dotnet:2.22.0"}
        properties = {"region": REGIONS[user % len(REGIONS)], "plan": PLANS[user % len(PLANS)],
                      "tenantId": f"tenant-{user % 500:04d}", "featureFlag": f"exp-{i % 20:02d}",
                      "AspNetCoreEnvironment": "Production"}
        lines.append(envelope(time, key, tags, "RequestData", {
            "ver": 2, "id": span, "name": name, "duration": duration_text(took), "success": not failed,
            "responseCode": rng.choice(["500", "503", "404"]) if failed else "200",
            "url": f"https://{role}.shop.example/api/{i % 9973}", "properties": properties}))
        if i % 2:
            lines.append(envelope(time, key, tags, "RemoteDependencyData", {
                "ver": 2, "id": f"{rng.getrandbits(64):016x}", "name": "SELECT", "type": "SQL", "success": not failed,
                "target": TARGETS[user % len(TARGETS)], "data": "SELECT a FROM t WHERE b = @p0", "resultCode": "0",
                "duration": duration_text(took / 4), "properties": properties}))
        else:
            text = TEMPLATES[i % len(TEMPLATES)] + f" order={rng.randrange(10**7)} elapsed={rng.randrange(5000)}ms"
            if i % 331 == 0:
                text += ": operation timed out after 3000ms"
            if i % 100_003 == 0:
                text += " Transaction was chosen as deadlock victim"
            lines.append(envelope(time, key, tags, "MessageData", {
                "ver": 2, "message": text, "severityLevel": i % 4, "properties": properties}))
        if len(lines) >= size:
            yield len(lines), body(lines)
            lines = []
    if lines:
        yield len(lines), body(lines)


def body(lines):
    return "\n".join(json.dumps(line, separators=(",", ":")) for line in lines).encode()


def hash_of(text):
    return sum(ord(c) * 31 ** i for i, c in enumerate(text)) & 0xFFFF
