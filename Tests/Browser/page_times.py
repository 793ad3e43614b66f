"""Requests the pages of a running console, without a browser, and measures them: see scripts/bench-console.

    page_times.py --console URL --cookie NAME=VALUE --customers N [--requests N | --people N --seconds N]

With --requests, it requests each page so many times, after one request that does not count, and prints the median and the worst
time. With --people, so many people open random pages, each two a second at most, and it prints the number of pages and of failures.
Exits with status 1 if a page fails, or if the median of a page is 50 ms or longer. A part of a list is read for up to two seconds, so it is only
measured.
"""

import argparse
import http.client
import random
import statistics
import sys
import threading
import time
from urllib.parse import urlencode, urlsplit

# A part of a list takes as long as it takes to find enough customers, up to two seconds.
LIST = "lists, a part of one"
OFFER = {"app": "com.example.app", "product": "monthly", "offer": "first"}
RULES = """\
apps:
  - bundleID: com.example.app
    products:
      - {productID: monthly, offers: [{offerID: first, rule: {subscription: {status: active}}}]}
"""


def customer(number):
    token = "00000000-0000-abcd-0000-%012x" % number
    return {"app": "com.example.app", "environment": "Production", "kind": "appAccountToken", "id": token}


class Person:
    """A signed-in person with a connection of their own."""

    def __init__(self, arguments):
        self.cookie = arguments.cookie
        self.customers = arguments.customers
        self.connection = http.client.HTTPConnection(urlsplit(arguments.console).netloc, timeout=60)

    def random_customer(self):
        return customer(random.randrange(self.customers))

    def get(self, path, fields=None):
        query = "?" + urlencode(fields) if fields else ""
        self.connection.request("GET", path + query, headers={"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"})
        return self.answer()

    def upload(self, path, fields):
        parts = "".join(
            f"--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n" for name, value in fields.items())
        self.connection.request("POST", path, parts + "--b--\r\n", {
            "Cookie": self.cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "multipart/form-data; boundary=b"})
        return self.answer()

    def answer(self):
        response = self.connection.getresponse()
        return response.status, response.read().decode()

    def pages(self):
        """Every page, by name. A search leads to a page of its own."""
        report = {**OFFER, "sample": "s"}
        return {
            "find": lambda: self.get("/find"),
            "find, a search": lambda: self.get("/find", {"q": self.random_customer()["id"]}),
            "customer": lambda: self.get("/customer", self.random_customer()),
            "customer, what if": lambda: self.get("/customer", {**self.random_customer(), "autoRenew": "off"}),
            "customer.csv": lambda: self.get("/customer.csv", {**self.random_customer(), "table": "timeline"}),
            "grant": lambda: self.get("/grant", {**self.random_customer(), "product": "monthly", "offer": "offer7"}),
            "grants": lambda: self.get("/grants"),
            "offers": lambda: self.get("/offers"),
            "offers, one": lambda: self.get("/offers", OFFER),
            "offers.csv": lambda: self.get("/offers.csv"),
            "lists": lambda: self.get("/lists"),
            LIST: lambda: self.get("/lists", {**OFFER, "environment": "Production"}),
            "reports": lambda: self.get("/reports"),
            "reports/offer": lambda: self.get("/reports/offer", report),
            "reports/offer.csv": lambda: self.get("/reports/offer.csv", report),
            "rules": lambda: self.get("/rules"),
            "rules, a check": lambda: self.upload("/rules", {"text": RULES, "do": "check"}),
            "alarms": lambda: self.get("/alarms"),
            "deliveries": lambda: self.get("/deliveries"),
            "health": lambda: self.get("/health"),
            "audit": lambda: self.get("/audit"),
            "audit, one person": lambda: self.get("/audit", {"person": "Bench"}),
            "sign-in": lambda: self.get("/sign-in"),
            "console.css": lambda: self.get("/console.css"),
        }


def measure(arguments):
    person = Person(arguments)
    pages = person.pages()
    end = time.monotonic() + 1800
    while pages["reports/offer.csv"]()[0] != 200:
        pages["reports/offer"]()
        if time.monotonic() > end:
            sys.exit("the report was not made within half an hour")
        time.sleep(2)
    slow = 0
    for name, page in pages.items():
        times, size = [], 0
        for number in range(arguments.requests + 1):
            began = time.perf_counter()
            status, text = page()
            if status not in (200, 303):
                sys.exit(f"the page {name} has the status {status}: {text[:2000]}")
            if number:
                times.append((time.perf_counter() - began) * 1000)
            size = len(text)
        slow += statistics.median(times) >= 50 and name != LIST
        print(f"  {name:40} {statistics.median(times):10.1f} ms, worst {max(times):.1f} ms, {size} bytes")
    print(f"  {slow} of {len(pages) - 1} pages take 50 ms or longer, without the part of a list")
    sys.exit(1 if slow else 0)


def click(arguments):
    end = time.monotonic() + arguments.seconds
    counts = [0, 0]
    lock = threading.Lock()

    def live():
        person = Person(arguments)
        pages = list(person.pages().values())
        while time.monotonic() < end:
            status, _ = random.choice(pages)()
            with lock:
                counts[status not in (200, 303, 404)] += 1
            time.sleep(random.uniform(0.5, 1.5))

    people = [threading.Thread(target=live) for _ in range(arguments.people)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    print(*counts)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--console", required=True)
parser.add_argument("--cookie", required=True)
parser.add_argument("--customers", type=int, required=True)
parser.add_argument("--requests", type=int)
parser.add_argument("--people", type=int)
parser.add_argument("--seconds", type=int)
options = parser.parse_args()
measure(options) if options.requests else click(options)
