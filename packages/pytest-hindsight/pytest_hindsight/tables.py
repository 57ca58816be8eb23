"""The tables of telemetry, by their names in KQL."""


class Table:
    """A table. Where a query is expected, it stands for all of its rows."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"<table {self.name}>"


availabilityResults = Table("availabilityResults")
browserTimings = Table("browserTimings")
customEvents = Table("customEvents")
customMetrics = Table("customMetrics")
dependencies = Table("dependencies")
exceptions = Table("exceptions")
pageViews = Table("pageViews")
performanceCounters = Table("performanceCounters")
requests = Table("requests")
traces = Table("traces")
