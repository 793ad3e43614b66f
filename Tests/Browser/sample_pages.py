"""Opens the sample pages of the console in Chromium, with the headers and the style sheet of a running console, and checks each.

    sample_pages.py --folder FOLDER --console URL [--screenshots FOLDER] [--axe FILE]

The folder has a file NAME.html for each page and state: errors, empty lists, refused forms, hostile texts, reports in the making. In light, dark
and forced colours, at 1,280 and 320 pixels and in print, axe-core must find no violation, nothing may be wider than the page, and the browser must
report no error. Tab reaches each link, button and field in the order of the page, and the focus is seen. Exits with status 1 if anything is wrong.
"""

import argparse
import http.client
import pathlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from console_walk import Walk

KEPT = ("content-security-policy", "x-content-type-options", "referrer-policy", "cross-origin-opener-policy",
        "cross-origin-resource-policy", "content-type")


class Page(BaseHTTPRequestHandler):
    folder = None
    console = None

    def do_GET(self):
        file = self.folder / (self.path[1:] + ".html")
        # The console itself serves the style sheet and the icon, and says with which headers pages are served.
        connection = http.client.HTTPConnection(self.console, timeout=30)
        connection.request("GET", "/sign-in" if file.is_file() else self.path)
        answer = connection.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() in KEPT:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(file.read_bytes() if file.is_file() else body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--console", required=True, help="the URL of a running console")
    parser.add_argument("--screenshots", help="a folder for a picture of each page")
    parser.add_argument("--axe", help="the file axe.min.js")
    arguments = parser.parse_args()
    Page.folder, Page.console = pathlib.Path(arguments.folder), urlsplit(arguments.console).netloc
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    walk = Walk(arguments)
    driver = walk.browser()
    try:
        names = sorted(file.stem for file in Page.folder.glob("*.html"))
        for name in names:
            driver.get(f"http://127.0.0.1:{server.server_port}/{name}")
            walk.expect(f"{name} has a heading", driver.execute_script("return document.querySelectorAll('h1').length") == 1)
            walk.expect(f"{name} has its style", driver.execute_script("return document.styleSheets[0].cssRules.length") > 50)
            walk.check(driver, name)
            walk.check_tab(driver, name)
    finally:
        driver.quit()
        server.shutdown()
    print(f"{len(names)} pages, {walk.checks} checks, {len(walk.faults)} faults")
    return 1 if walk.faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
