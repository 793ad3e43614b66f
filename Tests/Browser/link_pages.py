"""Opens the pages of campaign links in Chromium as on a phone, and reads the association file as Apple describes it.

    link_pages.py --links URL --app-id TEAM.BUNDLE --page PATH ... [--axe FILE] [--screenshots FOLDER]

Each page must have no axe-core violation, no script, nothing wider than the screen and no error in the browser, in light, dark and
forced colours, at 390 and 320 pixels. Exits with status 1 if anything is wrong.
"""

import argparse
import base64
import fnmatch
import http.client
import json
import pathlib
import re
import sys
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

MODES = {
    "light": [("forced-colors", "none"), ("prefers-color-scheme", "light")],
    "dark": [("forced-colors", "none"), ("prefers-color-scheme", "dark")],
    "forced": [("forced-colors", "active"), ("prefers-color-scheme", "dark")],
}


class Checks:
    def __init__(self):
        self.count = 0
        self.faults = []

    def expect(self, what, holds):
        self.count += 1
        if not holds:
            self.faults.append(what)
            print("fault:", what)


def get(url, path, method="GET"):
    """Does not follow redirects, as Apple's cache does not."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer, answer.read()


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a member occurs twice")
    return dict(pairs)


def check_association(checks, url, app_id, paths):
    """The rules of https://developer.apple.com/documentation/xcode/supporting-associated-domains."""
    answer, body = get(url, "/.well-known/apple-app-site-association")
    checks.expect("the file is served without a redirect", answer.status == 200)
    checks.expect("its type is application/json", answer.getheader("Content-Type") == "application/json")
    checks.expect("it has at most 128 kB", 0 < len(body) <= 128 * 1024)
    file = json.loads(body.decode("utf-8"), object_pairs_hook=unique)
    checks.expect("it has no byte order mark and only applinks", list(file) == ["applinks"])
    details = file["applinks"]["details"]
    checks.expect("details is a list", isinstance(details, list) and details)
    for detail in details:
        checks.expect("every app ID is a team ID and a bundle ID",
                      all(re.fullmatch(r"[A-Z0-9]{10}\.[A-Za-z0-9.-]+", name) for name in detail["appIDs"]))
        for component in detail["components"]:
            checks.expect("a component has only known keys",
                          set(component) <= {"/", "?", "#", "exclude", "comment", "caseSensitive", "percentEncoded"})
    checks.expect("the app is in it", any(app_id in detail["appIDs"] for detail in details))
    for path in paths:
        # In a component, * stands for any characters, and ? for one.
        opens = any(fnmatch.fnmatchcase(path, component["/"])
                    for detail in details if app_id in detail["appIDs"] for component in detail["components"])
        checks.expect("the app opens " + path, opens)
    opened = [component["/"] for detail in details for component in detail["components"]]
    checks.expect("the app opens nothing else", not any(fnmatch.fnmatchcase("/.well-known/x", path) for path in opened))
    head, nothing = get(url, "/.well-known/apple-app-site-association", "HEAD")
    checks.expect("HEAD is answered", head.status == 200 and nothing == b"")


def check_page(checks, driver, url, path, axe, screenshots, name):
    driver.get(url + path)
    for mode, features in MODES.items():
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": key, "value": value} for key, value in features]})
        for width in (390, 320):
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 844, "deviceScaleFactor": 2, "mobile": True})
            if axe:
                driver.execute_script(axe)
                result = driver.execute_async_script(
                    "const done = arguments[0]; axe.run({resultTypes: ['violations']}).then(done)")
                for violation in result["violations"]:
                    nodes = [node["target"] for node in violation["nodes"][:3]]
                    checks.expect(f"{name} {width} {mode}: {violation['id']} {json.dumps(nodes)}", False)
                checks.expect(f"{name} {width} {mode}: axe ran", len(result["passes"]) > 0)
            wide = driver.execute_script("return document.documentElement.scrollWidth > innerWidth")
            checks.expect(f"{name} {width} {mode}: nothing is wider than the screen", not wide)
            if screenshots:
                shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
                (pathlib.Path(screenshots) / f"{name}-{width}-{mode}.png").write_bytes(base64.b64decode(shot["data"]))
    checks.expect(f"{name}: the style sheet is in force",
                  driver.execute_script("return getComputedStyle(document.body).display") == "flex")
    checks.expect(f"{name}: there is no script", driver.execute_script("return document.scripts.length") == 0)
    checks.expect(f"{name}: nothing was loaded from elsewhere", driver.execute_script(
        "return performance.getEntriesByType('resource').filter(e => !e.name.endsWith('/favicon.ico')).length") == 0)
    for entry in driver.get_log("browser"):
        # Chromium asks for an icon, and reports the status of a page that is gone.
        expected = "favicon.ico" in entry["message"] or "404" in entry["message"] or "410" in entry["message"]
        checks.expect(f"{name}: the browser reports {entry['message']}", expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", required=True)
    parser.add_argument("--app-id", required=True)
    parser.add_argument("--page", action="append", required=True)
    parser.add_argument("--axe", help="the file axe.min.js")
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    checks = Checks()
    check_association(checks, arguments.links, arguments.app_id, [urlsplit(page).path for page in arguments.page])
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    axe = pathlib.Path(arguments.axe).read_text() if arguments.axe else None
    try:
        for number, page in enumerate(arguments.page):
            check_page(checks, driver, arguments.links, page, axe, arguments.screenshots, f"page-{number}")
    finally:
        driver.quit()
    print(f"{checks.count} checks, {len(checks.faults)} faults")
    sys.exit(1 if checks.faults else 0)


main()
