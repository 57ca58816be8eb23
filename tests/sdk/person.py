"""A person at a browser without scripts: signs in, follows redirects by hand, reads forms."""
import html.parser
import urllib.parse

import requests


class Form(html.parser.HTMLParser):
    """The first form of a page: where it goes and what it carries."""

    def __init__(self, text):
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = attributes.get("action", "")
        if tag == "input" and attributes.get("name"):
            self.fields.setdefault(attributes["name"], attributes.get("value", ""))


class Person:
    def __init__(self, url, authority, name, password):
        self.url, self.name, self.password = url, name, password
        self.session = requests.Session()
        self.session.verify = authority
        # An authority that the environment names would win over this one.
        self.session.trust_env = False

    def get(self, path, **parameters):
        return self.session.get(urllib.parse.urljoin(self.url, path), params=parameters, allow_redirects=False, timeout=30)

    def submit(self, page, **values):
        """Sends a page's form with some fields filled in."""
        form = Form(page.text)
        return self.session.post(urllib.parse.urljoin(page.url, form.action), data={**form.fields, **values},
                                 allow_redirects=False, timeout=30)

    def authorize(self, path, **parameters):
        """Signs in where that is asked; answers what the client is told."""
        reply = self.get(path, **parameters)
        if reply.status_code == 200:
            reply = self.submit(reply, username=self.name, password=self.password)
        assert reply.status_code == 303, (reply.status_code, reply.text)
        place = urllib.parse.urlsplit(reply.headers["location"])
        return dict(urllib.parse.parse_qsl(place.fragment or place.query))

    def approve_device(self, user_code, decision="yes"):
        """Types a device's code in and decides."""
        page = self.submit(self.get("/devicelogin"), user_code=user_code)
        assert user_code in page.text, page.text
        fields = {"decision": decision}
        if 'name="password"' in page.text:
            fields.update(username=self.name, password=self.password)
        reply = self.submit(page, **fields)
        assert reply.status_code == 200, (reply.status_code, reply.text)
        return reply.text
