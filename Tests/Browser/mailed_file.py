"""Opens reports as their readers do: the HTML in Chromium without a network, and the CSV with a strict reader.

    mailed_file.py [FILE.html | FILE.csv] ...

A page must have its style, its heading and its tables, fit a narrow window, and make no request other than for itself; the browser resolves no name
and has no network. A table must be UTF-8 by RFC 4180, with lines of the same length, and with numbers in the columns of numbers; no cell
may begin a formula. Exits with status 1 if anything is wrong.
"""

import csv
import io
import json
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

NUMBERS = ("value", "lower", "upper", "customers", "subscriptions")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Checks:
    count = 0
    faults = 0

    def expect(self, what, holds, found=""):
        self.count += 1
        if not holds:
            self.faults += 1
            print("fault:", what, found)


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                           {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    return driver


def requests(driver):
    """The addresses of all requests since the last call, also of those that were refused."""
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]


def check_page(driver, file, checks):
    driver.get_log("browser")
    requests(driver)
    address = file.resolve().as_uri()
    driver.get(address)
    # Whatever is loaded late.
    driver.execute_async_script("const done = arguments[0]; requestIdleCallback(() => requestAnimationFrame(() => done()))")

    def count(selector):
        return driver.execute_script("return document.querySelectorAll(arguments[0]).length", selector)

    made = requests(driver)
    checks.expect("%s makes no request" % file.name, made == [address], made)
    log = [entry["message"] for entry in driver.get_log("browser")]
    checks.expect("%s has no error" % file.name, log == [], log)
    checks.expect("%s has its style" % file.name,
                  driver.execute_script("return document.styleSheets.length && document.styleSheets[0].cssRules.length") > 50)
    checks.expect("%s has one heading" % file.name, count("h1") == 1)
    checks.expect("%s has tables with numbers" % file.name, count("table td") > 10, count("table td"))
    active = count("script, link, img, iframe, object, embed, [src], [href], [onload], [onclick]")
    checks.expect("%s has nothing that loads or runs" % file.name, active == 0, active)
    driver.set_window_size(500, 900)
    wide = driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    checks.expect("%s fits a narrow window" % file.name, wide <= 0, wide)


def check_table(file, checks):
    data = file.read_bytes()
    checks.expect("%s ends each line as RFC 4180 says" % file.name, data.endswith(b"\r\n") and data.count(b"\n") == data.count(b"\r\n"))
    lines = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    head = lines[0]
    checks.expect("%s has columns" % file.name, len(set(head)) == len(head) > 5 and "value" in head, head)
    checks.expect("%s has lines" % file.name, len(lines) > 20, len(lines))
    for number, line in enumerate(lines[1:], 2):
        where = "%s, line %d" % (file.name, number)
        checks.expect("%s has each column" % where, len(line) == len(head), line)
        for name, cell in zip(head, line):
            if name in NUMBERS and cell:
                try:
                    float(cell)
                except ValueError:
                    checks.expect("%s has a number" % where, False, line)
            elif cell.startswith(FORMULA):
                checks.expect("%s has no formula" % where, False, line)


def main():
    files = [pathlib.Path(name) for name in sys.argv[1:]]
    checks = Checks()
    pages = [file for file in files if file.suffix == ".html"]
    for file in files:
        if file.suffix == ".csv":
            check_table(file, checks)
    if pages:
        driver = browser()
        try:
            for file in pages:
                check_page(driver, file, checks)
        finally:
            driver.quit()
    print("%d files, %d checks, %d faults" % (len(files), checks.count, checks.faults))
    return 1 if checks.faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
