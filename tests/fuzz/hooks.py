"""Lets half of what is sent to the issuer come from a client that there is: Schemathesis makes names up otherwise."""
import os

import schemathesis

CLIENT, SECRET = os.environ["FUZZED_CLIENT"], os.environ["FUZZED_SECRET"]
REDIRECT = "http://localhost:8400/cb"


def chosen(values):
    """Half of the cases, by what they hold, so that a seed means the same cases each time."""
    return sum(map(len, map(str, values.values()))) % 2 == 0


@schemathesis.hook
def map_body(context, body):
    path = context.operation.path
    if not isinstance(body, dict) or not path.endswith(("/token", "/devicecode", "/authorize")) or not chosen(body):
        return body
    resource = "https://api.applicationinsights.io"
    body = {**body, "client_id": CLIENT, "resource": resource, "scope": resource + "/.default"}
    if path.endswith("/token"):
        body["client_secret"] = SECRET
    else:
        body["redirect_uri"] = REDIRECT
    return body


@schemathesis.hook
def map_query(context, query):
    if query and "client_id" in query and chosen(query):
        query = {**query, "client_id": CLIENT}
        if not isinstance(query.get("redirect_uri"), str) or len(query["redirect_uri"]) % 3:
            query["redirect_uri"] = REDIRECT
    return query
