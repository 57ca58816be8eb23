"""Writes addresses.mmdb, the database of addresses of the conformance cases, in the format of GeoLite2-City.

Needs the packages mmdb_writer and netaddr. The first two networks hold what the documentation's examples were recorded with; the others are
reserved for documentation (RFC 5737, RFC 3849) and hold what is made up.
"""

from pathlib import Path

from mmdb_writer import MMDBWriter
from netaddr import IPSet


def record(country, states=(), city=None, latitude=None, longitude=None):
    """A record in the form of GeoLite2-City, with only what is given."""
    names = lambda name: {"names": {"en": name, "de": name.upper()}}
    content = {"country": {"iso_code": "XX", **names(country)}}
    if states:
        content["subdivisions"] = [names(state) for state in states]
    if city is not None:
        content["city"] = names(city)
    if latitude is not None:
        content["location"] = {"latitude": latitude, "longitude": longitude}
    return content


RECORDS = {
    "20.53.203.0/24": record("Australia", ["New South Wales"], "Sydney", -33.8672, 151.1997),
    "2a03:2880:f12c::/48": record("United States", ["Florida"], "Miami", 25.7701, -80.1928),
    "198.51.100.0/24": record("United States", latitude=37.751, longitude=-97.822),
    "203.0.113.0/24": record("United Kingdom", ["England", "Oxfordshire"], "Oxford", 51.75, -1.25),
    "2001:db8::/32": record("Norway"),
}

writer = MMDBWriter(ip_version=6, ipv4_compatible=True, database_type="Hindsight-Test-City", languages=["en"], float_type="f64")
for network, content in RECORDS.items():
    writer.insert_network(IPSet([network]), content)
writer.to_db_file(str(Path(__file__).with_name("addresses.mmdb")))
