"""Opens web pages in Chromium that request an offer from a running service with fetch.

    web_page.py --service URL --port PORT

The service permits the origin http://127.0.0.1:PORT, where this program serves a page. A page at another port must get nothing.
Exits with status 1 if anything is wrong.
"""

import argparse
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FETCH = """
const [url, body, done] = arguments;
const headers = {"Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID()};
fetch(url, {method: "POST", headers, body: JSON.stringify(body)})
    .then(async (answer) => done([answer.status, await answer.json(), answer.headers.get("date")]))
    .catch((error) => done([0, String(error), null]));
"""
OFFER = {"appBundleID": "a", "productIdentifier": "p", "offerID": "o", "applicationUsername": "u"}


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>A shop</title>")

    def log_message(self, *_):
        pass


def serve(port):
    server = ThreadingHTTPServer(("127.0.0.1", port), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d/" % server.server_address[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--service", required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    faults = []

    def expect(what, holds, found):
        if not holds:
            faults.append(what)
            print("fault:", what, found)

    try:
        driver.get(serve(arguments.port))
        status, body, date = answer = driver.execute_async_script(FETCH, arguments.service + "/offer", OFFER)
        expect("a listed origin gets an offer", status == 200 and body["signature"].startswith("ME"), answer)
        expect("it can read the service's clock", bool(date), answer)
        answer = driver.execute_async_script(FETCH, arguments.service + "/offer", {"appBundleID": ""})
        expect("it can read a refusal", answer[0] == 400 and "code" in answer[1], answer)
        answer = driver.execute_async_script(FETCH, arguments.service + "/v1/customers/lookup", {})
        expect("it cannot call a route for backends", answer[0] == 0, answer)
        driver.get(serve(0))
        answer = driver.execute_async_script(FETCH, arguments.service + "/offer", OFFER)
        expect("another origin gets nothing", answer[0] == 0 and "Failed to fetch" in answer[1], answer)
    finally:
        driver.quit()
    print("5 checks, %d faults" % len(faults))
    sys.exit(1 if faults else 0)


main()
