"""Opens web pages in Chromium that request offers from a running service.

    web_page.py --service URL --port PORT --script FILE --transaction JWS

The service permits the origin http://127.0.0.1:PORT, where this program serves a page. A page at another port must get nothing.
The script is the TypeScript of docs/client.md, compiled. It talks to the service through a relay that loses answers. The transaction shows that its customer has subscribed.
Exits with status 1 if anything is wrong.
"""

import argparse
import http.client
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FETCH = """
const [url, body, done] = arguments;
const headers = {"Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID()};
fetch(url, {method: "POST", headers, body: JSON.stringify(body)})
    .then(async (answer) => done([answer.status, await answer.json(), answer.headers.get("date")]))
    .catch((error) => done([0, String(error), null]));
"""
PRODUCT = "com.example.app.pro.monthly"
OFFER = {"appBundleID": "com.example.app", "productIdentifier": PRODUCT, "offerID": "plain", "applicationUsername": "u"}

# Keeps one customer's offers for the page, and returns a result or the code and the reasons of an error.
CALL = """
const [server, transaction, call, done] = arguments;
window.offers ??= new Offers(server, "com.example.app", {appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138"});
window.known = {proofs: {signedTransactions: [transaction]}};
new (async () => {}).constructor("offers", "return " + call)(window.offers)
    .then((result) => done({result: result ?? null}))
    .catch(({code, status, reasons, message}) => done({code, status, reasons, message}));
"""


class Page(BaseHTTPRequestHandler):
    script = b""

    def do_GET(self):
        isScript = self.path == "/offers.js"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if isScript else "text/html")
        self.end_headers()
        self.wfile.write(self.script if isScript else b"<!doctype html><title>A shop</title><script src=offers.js></script>")

    def log_message(self, *_):
        pass


class Relay(BaseHTTPRequestHandler):
    """Passes requests to the service. The next `lost` answers to requests for signatures reach nobody."""

    service = None
    lost = 0
    keys = []
    statuses = []

    def relay(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.service.hostname, self.service.port)
        connection.request(self.command, self.path, body, {name: value for name, value in self.headers.items() if name != "Host"})
        answer = connection.getresponse()
        content = answer.read()
        if self.command == "POST":
            Relay.statuses.append(answer.status)
        if self.command == "POST" and self.path == "/v1/promotional-offers":
            Relay.keys.append(self.headers["Idempotency-Key"])
            if Relay.lost > 0:
                Relay.lost -= 1
                self.close_connection = True
                return
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_OPTIONS = do_POST = relay

    def log_message(self, *_):
        pass


def serve(handler, port):
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d/" % server.server_address[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--service", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--script", required=True)
    parser.add_argument("--transaction", required=True)
    arguments = parser.parse_args()
    with open(arguments.script, "rb") as file:
        Page.script = file.read()
    Relay.service = urlsplit(arguments.service)
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    checks = []

    def expect(what, holds, found):
        checks.append(bool(holds))
        if not holds:
            print("fault:", what, found)

    try:
        driver.get(serve(Page, arguments.port))
        status, body, date = answer = driver.execute_async_script(FETCH, arguments.service + "/offer", OFFER)
        expect("a listed origin gets an offer", status == 200 and body["signature"].startswith("ME"), answer)
        expect("it can read the service's clock", bool(date), answer)
        answer = driver.execute_async_script(FETCH, arguments.service + "/offer", {"appBundleID": ""})
        expect("it can read a refusal", answer[0] == 400 and "code" in answer[1], answer)
        answer = driver.execute_async_script(FETCH, arguments.service + "/v1/customers/lookup", {})
        expect("it cannot call a route for backends", answer[0] == 0, answer)

        relay = serve(Relay, 0).rstrip("/")

        def call(text):
            return driver.execute_async_script(CALL, relay, arguments.transaction, text)

        answer = call("offers.list('cancel', known).then((list) => (window.list = list))")
        listed = [offer.get("offerID") for offer in answer.get("result") or []]
        expect("the script lists an offer", listed == ["once"], answer)
        answer = call("offers.report({event: 'shown', productID: '%s', offerID: 'once'})" % PRODUCT)
        expect("it reports an event", answer == {"result": None} and Relay.statuses[-1] == 204, Relay.statuses)
        Relay.lost = 3
        answer = call("offers.sign(list[0], known)")
        expect("three lost answers are no answer", answer.get("code") == "no_answer", answer)
        Relay.lost = 2
        answer = call("offers.sign(list[0], known)")
        nonce = ((answer.get("result") or {}).get("signature") or {}).get("nonce")
        expect("the next tap repeats the request until it is answered", bool(nonce), answer)
        expect("all of them have one key", len(Relay.keys) == 6 and len(set(Relay.keys)) == 1, Relay.keys)
        answer = call("offers.report({event: 'pending', nonce: '%s'})" % nonce)
        expect("it reports what became of a signature", Relay.statuses[-1] == 204, Relay.statuses)
        answer = call("offers.sign(list[0], known)")
        reasons = [reason["code"] for reason in answer.get("reasons") or []]
        expect("a refusal has its code and reasons", answer.get("code") == "not_eligible" and reasons == ["outstanding"], answer)
        expect("the refused request had a new key", len(set(Relay.keys)) == 2, Relay.keys)
        answer = call("Promise.allSettled([1, 2].map(() => offers.sign({productID: '%s', offerID: 'plain'})))" % PRODUCT +
                      ".then((all) => all.map(({status, reason}) => reason?.code ?? status))")
        expect("a double tap gets one signature", answer.get("result") == ["fulfilled", "in_progress"], answer)

        driver.get(serve(Page, 0))
        answer = driver.execute_async_script(FETCH, arguments.service + "/offer", OFFER)
        expect("another origin gets nothing", answer[0] == 0 and "Failed to fetch" in answer[1], answer)
    finally:
        driver.quit()
    faults = checks.count(False)
    print("%d checks, %d faults" % (len(checks), faults))
    sys.exit(1 if faults else 0)


main()
