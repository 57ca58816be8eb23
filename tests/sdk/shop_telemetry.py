"""Telemetry of every type, small enough to know every figure of it, and those figures.

`envelopes` is what is sent; `METRICS` and `EVENTS` are what must be answered.
"""
import datetime

CITY = "Oslo"


def envelopes(key, now=None):
    """Items of the last two hours for the application with this instrumentation key."""
    now = now or datetime.datetime.now(datetime.timezone.utc)

    def item(minutes, base_type, sample_rate=100, tags=(), **data):
        time = now - datetime.timedelta(minutes=minutes)
        return {"name": base_type, "time": time.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "iKey": key, "sampleRate": sample_rate,
                "tags": {"ai.location.city": CITY, "ai.location.ip": "10.1.2.3", "ai.cloud.role": "web",
                         "ai.cloud.roleInstance": "web-1", "ai.operation.id": f"op{minutes}", "ai.operation.name": "GET /",
                         "ai.user.id": "ann", "ai.session.id": "s1", "ai.application.ver": "1.2", **dict(tags)},
                "data": {"baseType": base_type, "baseData": {"ver": 2, **data}}}

    def counter(minutes, category, name, value, instance="web"):
        return item(minutes, "PerformanceCounterData", categoryName=category, counterName=name, instanceName=instance,
                    value=value)

    frame = {"level": 0, "method": "Shop.Cart.Add", "assembly": "Shop", "fileName": "Cart.cs", "line": 7}
    browser = {"ai.device.type": "Browser", "ai.device.browser": "Chrome 120.0", "ai.device.osVersion": "Windows 10"}
    return [
        item(10, "RequestData", id="r1", name="GET /a", duration="00:00:00.100", success=True, responseCode="200",
             url="http://shop/a", source="edge", properties={"plan": "gold"}, measurements={"rows": 3}),
        item(30, "RequestData", sample_rate=50, id="r2", name="GET /b", duration="00:00:00.400", success=False,
             responseCode="500", url="http://shop/b", tags={"ai.user.id": "bob", "ai.user.authUserId": "bob@shop"}),
        item(90, "RequestData", id="r3", name="GET /a", duration="00:00:00.300", success=True, responseCode="200",
             url="http://shop/a", tags={"ai.session.id": "s2"}),
        item(11, "RemoteDependencyData", id="d1", name="find a product", target="db", type="SQL", data="select 1",
             duration="00:00:00.010", success=True, resultCode="0"),
        item(12, "RemoteDependencyData", id="d2", name="pay a bill", target="bank", type="HTTP", data="http://bank/pay",
             duration="00:00:00.030", success=False, resultCode="503"),
        item(13, "MessageData", message="a cart is empty", severityLevel=2, properties={"shelf": "4"}),
        item(14, "ExceptionData", handledAt="UserCode", severityLevel=3, tags=browser, exceptions=[
            {"id": 1, "outerId": 0, "typeName": "CartError", "message": "a cart broke", "hasFullStack": True,
             "parsedStack": [frame]},
            {"id": 2, "outerId": 1, "typeName": "WheelError", "message": "a wheel is off", "parsedStack": [frame]}]),
        item(15, "ExceptionData", sample_rate=25, exceptions=[{"id": 1, "typeName": "IOError", "message": "a disk is full"}]),
        item(16, "EventData", name="Order a cake", properties={"plan": "gold"}, measurements={"basket": 3, "weight": 1.5}),
        item(17, "EventData", sample_rate=50, name="Look at a cake", measurements={"basket": 6}),
        item(18, "PageViewData", id="p1", name="Home a", url="http://shop/home", duration="00:00:00.250", tags=browser),
        item(19, "PageViewPerfData", name="Home a", url="http://shop/home?x=1", tags=browser, perfTotal="00:00:00.900",
             networkConnect="00:00:00.100", sentRequest="00:00:00.200", receivedResponse="00:00:00.150",
             domProcessing="00:00:00.450"),
        item(20, "AvailabilityData", id="a1", name="Front a", duration="00:00:00.120", success=True, runLocation="Rome",
             message="Passed"),
        item(21, "AvailabilityData", id="a2", name="Front a", duration="00:00:00.080", success=False, runLocation="Bern",
             message="Failed"),
        item(22, "MetricData", metrics=[{"name": "queue a", "value": 12, "count": 3, "min": 2, "max": 6, "stdDev": 1.5}]),
        item(23, "MetricData", metrics=[{"name": "queue a", "value": 4}]),
        counter(24, "Process", "Private Bytes", 1000),
        counter(25, "Process", "Private Bytes", 3000),
        counter(26, "Process", "% Processor Time", 80),
        counter(26, "Process", "% Processor Time Normalized", 20),
        counter(26, "Process", "IO Data Bytes/sec", 500),
        counter(26, "Processor", "% Processor Time", 40, instance="_Total"),
        counter(26, "Memory", "Available Bytes", 9000),
        counter(26, ".NET CLR Exceptions", "# of Exceps Thrown / sec", 0.5),
        counter(26, "ASP.NET Applications", "Request Execution Time", 70),
        counter(26, "ASP.NET Applications", "Requests/Sec", 8),
        counter(26, "ASP.NET Applications", "Requests In Application Queue", 2),
        counter(26, "Cake", "a slices", 12),
    ]


def duration(avg, least, most, total, count):
    return {"avg": avg, "min": least, "max": most, "sum": total, "count": count}


def level(value, count=1):
    return {"avg": value, "min": value, "max": value, "count": count}


# Every standard metric with every aggregation that it supports. Items weigh by what they stand for after sampling.
METRICS = {
    "requests/count": {"sum": 4},
    "requests/duration": duration(300, 100, 400, 1200, 4),
    "requests/failed": {"sum": 2},
    "pageViews/count": {"sum": 1},
    "pageViews/duration": duration(250, 250, 250, 250, 1),
    "browserTimings/networkDuration": duration(100, 100, 100, 100, 1),
    "browserTimings/sendDuration": duration(200, 200, 200, 200, 1),
    "browserTimings/receiveDuration": duration(150, 150, 150, 150, 1),
    "browserTimings/processingDuration": duration(450, 450, 450, 450, 1),
    "browserTimings/totalDuration": duration(900, 900, 900, 900, 1),
    "users/count": {"unique": 2},
    "users/authenticated": {"unique": 1},
    "sessions/count": {"unique": 2},
    "customEvents/count": {"sum": 3},
    "dependencies/count": {"sum": 2},
    "dependencies/failed": {"sum": 1},
    "dependencies/duration": duration(20, 10, 30, 40, 2),
    "exceptions/count": {"sum": 5},
    "exceptions/browser": {"sum": 1},
    "exceptions/server": {"sum": 4},
    "availabilityResults/count": {"sum": 2},
    "availabilityResults/duration": duration(100, 80, 120, 200, 2),
    "availabilityResults/availabilityPercentage": {"avg": 50, "count": 2},
    "performanceCounters/requestExecutionTime": {**level(70), "sum": 70},
    "performanceCounters/requestsPerSecond": level(8),
    "performanceCounters/requestsInQueue": level(2),
    "performanceCounters/memoryAvailableBytes": level(9000),
    "performanceCounters/exceptionsPerSecond": level(0.5),
    "performanceCounters/processCpuPercentage": level(20),
    "performanceCounters/processCpuPercentageTotal": level(80),
    "performanceCounters/processIOBytesPerSecond": level(500),
    "performanceCounters/processPrivateBytes": {"avg": 2000, "min": 1000, "max": 3000, "count": 2},
    "performanceCounters/processorCpuPercentage": level(40),
    "traces/count": {"sum": 1},
    # An application's own.
    "performanceCounters/a slices": level(12),
    "customMetrics/queue a": {"avg": 4, "min": 2, "max": 6, "sum": 16, "count": 4, "unique": 1},
    "customEvents/custom/basket": {"avg": 5, "min": 3, "max": 6, "sum": 15, "count": 3, "unique": 2},
    "customEvents/custom/weight": {"avg": 1.5, "min": 1.5, "max": 1.5, "sum": 1.5, "count": 1, "unique": 1},
}
# The specification's other names for the same.
for part in ("networkDuration", "sendDuration", "receiveDuration", "processingDuration", "totalDuration"):
    METRICS["client/" + part] = METRICS["browserTimings/" + part]

# One event of each type: how to find it, and what it holds.
CLIENT = {"type": "PC", "ip": "10.1.2.0", "city": CITY}
BROWSER = {"type": "Browser", "browser": "Chrome 120.0", "os": "Windows 10", "ip": "10.1.2.0", "city": CITY}
EVENTS = {
    "requests": ("request/id eq 'r2'", {
        "type": "request", "count": 2, "user": {"id": "bob", "authenticatedId": "bob@shop"}, "operation": {"id": "op30"},
        "request": {"id": "r2", "name": "GET /b", "url": "http://shop/b", "success": "False", "resultCode": "500",
                    "duration": 400, "performanceBucket": "250ms-500ms", "source": ""}, "client": CLIENT}),
    "dependencies": ("dependency/success eq false", {
        "type": "dependency", "count": 1, "dependency": {
            "id": "d2", "name": "pay a bill", "target": "bank", "type": "HTTP", "data": "http://bank/pay", "success": "False",
            "resultCode": "503", "duration": 30, "performanceBucket": "<250ms"}}),
    "traces": ("trace/severityLevel eq 2", {
        "type": "trace", "trace": {"message": "a cart is empty", "severityLevel": 2}, "customDimensions": {"shelf": "4"}}),
    "exceptions": ("exception/type eq 'CartError'", {
        "type": "exception", "client": BROWSER, "exception": {
            "type": "CartError", "outerType": "CartError", "outerMessage": "a cart broke", "outerMethod": "Shop.Cart.Add",
            "innermostType": "WheelError", "innermostMessage": "a wheel is off", "problemId": "CartError at Shop.Cart.Add",
            "handledAt": "UserCode", "severityLevel": 3, "assembly": "Shop", "method": "Shop.Cart.Add"}}),
    "customEvents": ("customMeasurements/weight gt 1", {
        "type": "customEvent", "customEvent": {"name": "Order a cake"}, "customDimensions": {"plan": "gold"},
        "customMeasurements": {"basket": 3, "weight": 1.5}}),
    "pageViews": ("pageView/duration ge 250", {
        "type": "pageView", "client": BROWSER,
        "pageView": {"name": "Home a", "url": "http://shop/home", "duration": 250, "performanceBucket": "250ms-500ms"}}),
    "browserTimings": ("browserTiming/urlPath eq '/home'", {
        "type": "browserTiming", "clientPerformance": {"name": "Home a"}, "browserTiming": {
            "name": "Home a", "url": "http://shop/home?x=1", "urlHost": "shop", "urlPath": "/home", "totalDuration": 900,
            "networkDuration": 100, "sendDuration": 200, "receiveDuration": 150, "processingDuration": 450,
            "performanceBucket": "500ms-1sec"}}),
    "availabilityResults": ("availabilityResult/location eq 'Bern'", {
        "type": "availabilityResult", "availabilityResult": {
            "id": "a2", "name": "Front a", "success": "0", "duration": 80, "message": "Failed", "location": "Bern",
            "size": None}}),
    "performanceCounters": ("performanceCounter/value eq 12", {
        "type": "performanceCounter", "performanceCounter": {
            "name": "a slices", "category": "Cake", "counter": "a slices", "instance": "web", "instanceName": "web",
            "value": 12}}),
    "customMetrics": ("customMetric/valueCount eq 3", {
        "type": "customMetric", "customMetric": {
            "name": "queue a", "value": 4, "valueSum": 12, "valueCount": 3, "valueMin": 2, "valueMax": 6,
            "valueStdDev": 1.5}}),
}
