"""Walks through a running console in Chromium, as a person would, and checks every page.

    console_walk.py --link URL --transaction ID [--second-link URL] [--hostile NAME] [--screenshots FOLDER] [--axe FILE]

Signs in with the link, finds a customer, tries new rules, opens every section, and signs out. On each page, in light, dark and forced colours
and at 1,280 and 320 pixels, axe-core must find no violation, nothing may be wider than the page, and the browser must report
no error. The same holds in print. Then the same way works with JavaScript turned off. Exits with status 1 if anything is wrong.

With a second link, of another person, the two approve a grant above the daily budget of two, and acknowledge an alarm. Then the keyboard
alone grants an offer, takes it back, reads the audit trail and changes the offset of times: nothing gets the focus except by Tab. With a
hostile name, the page of that customer is checked too.
"""

import argparse
import base64
import json
import pathlib
import sys
import tempfile
import time
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

MODES = {
    "light": [("forced-colors", "none"), ("prefers-color-scheme", "light")],
    "dark": [("forced-colors", "none"), ("prefers-color-scheme", "dark")],
    "forced": [("forced-colors", "active"), ("prefers-color-scheme", "dark")],
    "print": [("forced-colors", "none"), ("prefers-color-scheme", "dark")],
}
WIDER = """
const wide = [];
if (document.documentElement.scrollWidth > innerWidth)
  for (const e of document.querySelectorAll('body *'))
    if (e.getBoundingClientRect().right > innerWidth + 1 && !e.parentElement.closest('.scroll, .command'))
      wide.push(e.tagName + '.' + (e.getAttribute('class') || ''));
return wide.slice(0, 5);
"""

# Returns every control that Tab must reach, in the order of the page. Of radio buttons with one name, Tab reaches one.
CONTROLS = """
const names = new Set();
return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')].filter(e => {
  if (!e.checkVisibility() || e.disabled) return false;
  if (e.type !== 'radio') return true;
  return names.has(e.name) ? false : names.add(e.name);
});
"""
# Returns the focused element, and what is wrong with how it shows that.
FOCUSED = """
const e = document.activeElement, faults = [];
if (e === null || e === document.body || e === document.documentElement) return [null, '', faults];
const style = getComputedStyle(e), box = e.getBoundingClientRect();
if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) faults.push('no outline');
if (box.width < 1 || box.height < 1 || box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth)
  faults.push('outside of the window');
return [e, e.tagName.toLowerCase() + ' ' + (e.name || e.innerText || '').trim().slice(0, 40), faults];
"""

RULES = """\
apps:
  - bundleID: com.example.app
    appAppleID: 1234567890
    products:
      - productID: com.example.app.pro.weekly
        offers:
          - {offerID: stay_30off_6m, rule: everybody}
          - {offerID: =1+1, rule: everybody}
rules:
  everybody: {subscription: {status: active}}
"""
BROKEN_RULES = RULES.replace("=1+1, rule: everybody", "=1+1, rule: evrybody")


class Walk:
    def __init__(self, arguments):
        self.arguments = arguments
        self.faults = []
        self.checks = 0
        self.axe = pathlib.Path(arguments.axe).read_text() if arguments.axe else None

    def browser(self, scripts=True):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(argument)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def expect_text(self, driver, what, text, path=None, seconds=30):
        """Waits until the page has a text. With a path, the previous page does not count."""
        def holds(driver):
            return path in (None, urlsplit(driver.current_url).path) and text in driver.page_source
        try:
            WebDriverWait(driver, seconds).until(holds)
            self.expect(what, True)
        except TimeoutException:
            self.expect(what, False)

    def expect(self, what, holds):
        self.checks += 1
        if not holds:
            self.faults.append(what)
            print("fault:", what)

    def check(self, driver, name):
        """Checks the open page in every mode and at both widths."""
        for mode, features in MODES.items():
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "media": "print" if mode == "print" else "screen",
                "features": [{"name": key, "value": value} for key, value in features]})
            # A sheet of A4 is as wide as 718 pixels between its margins.
            for width in (718,) if mode == "print" else (1280, 320):
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
                driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
                if self.axe:
                    driver.execute_script(self.axe)
                    result = driver.execute_async_script(
                        "const done = arguments[0]; axe.run({resultTypes: ['violations']}).then(done)")
                    for violation in result["violations"]:
                        nodes = [node["target"] for node in violation["nodes"][:3]]
                        self.expect(f"{name} {width} {mode}: {violation['id']} {json.dumps(nodes)}", False)
                    self.expect(f"{name} {width} {mode}: axe ran", len(result["passes"]) > 0)
                wide = driver.execute_script(WIDER)
                self.expect(f"{name} {width} {mode}: wider than the page: {wide}", not wide)
                driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = false); scrollTo(0, 0)")
                if self.arguments.screenshots:
                    self.screenshot(driver, f"{name}-{width}-{mode}", width)
        for entry in driver.get_log("browser"):
            status = {"not-found": "404", "rules-problems": "400", "grant-refused": "400"}.get(name)
            expected = status is not None and status in entry["message"]
            self.expect(f"{name}: the browser reports {entry['message']}", expected)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def check_tab(self, driver, name):
        """Presses Tab through the open page: every control is reached, in the order of the page, and is seen to have the focus."""
        controls = driver.execute_script(CONTROLS)
        # Tab begins at the top, wherever the page has put the focus.
        driver.execute_script("const b = document.body; b.tabIndex = -1; b.focus(); b.removeAttribute('tabindex'); scrollTo(0, 0)")
        reached = []
        for _ in range(2 * len(controls) + 20):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            element, label, faults = driver.execute_script(FOCUSED)
            if reached and element == reached[-1]:
                # A date has a part for the day, the month and the year each.
                continue
            if element is None or element in reached:
                break
            reached.append(element)
            if faults:
                self.expect(f"{name}: the focus on '{label}': {', '.join(faults)}", False)
        # A region that scrolls has the focus too.
        self.expect(f"{name}: Tab reaches each control in order", [one for one in reached if one in controls] == controls)

    def tab_to(self, driver, css, text=""):
        """Presses Tab until an element has the focus that a selector matches and that has a text."""
        for _ in range(200):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            element, label, faults = driver.execute_script(FOCUSED)
            if element is not None and text in element.text and driver.execute_script(
                    "return arguments[0].matches(arguments[1])", element, css):
                self.expect(f"the focus on '{label}' is seen: {faults}", not faults)
                return
        self.expect(f"Tab reaches {css} {text}", False)

    def press(self, driver, *keys):
        ActionChains(driver).send_keys(*keys).perform()

    def by_keyboard(self, driver):
        """Does the acts of support with the keyboard alone, from the search box on."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.arguments.link))
        driver.get(origin + "/find")
        box = driver.find_element(By.NAME, "q")
        WebDriverWait(driver, 30).until(lambda driver: box == driver.switch_to.active_element)
        self.press(driver, self.arguments.transaction, Keys.ENTER)
        self.expect_text(driver, "the keyboard finds the customer", ">Timeline", path="/customer")
        self.tab_to(driver, "form[action='/grants/withdraw'] button")
        self.press(driver, Keys.SPACE)
        self.expect_text(driver, "the keyboard withdraws the grant", "not eligible</span>", path="/customer")
        self.tab_to(driver, "a", "to this customer")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the keyboard opens the form", "Lift the limits of the customer", path="/grant")
        self.tab_to(driver, "textarea[name=note]")
        self.press(driver, "By keyboard alone.")
        self.tab_to(driver, "input[name=days]")
        # Tab selects the text of the field.
        self.press(driver, "0", Keys.ENTER)
        self.expect_text(driver, "the form says what is wrong", "The number of days must be from 1 to 366.", path="/grant")
        self.check(driver, "grant-refused")
        self.tab_to(driver, "input[name=days]")
        self.press(driver, Keys.BACKSPACE, "3")
        self.tab_to(driver, "input[name=liftsLimits]")
        self.press(driver, Keys.SPACE)
        self.tab_to(driver, "button", "Grant the offer")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the keyboard grants the offer", "those of the customer are lifted", path="/customer")
        self.check(driver, "customer-limits-lifted")
        self.tab_to(driver, "nav a", "Grants")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the keyboard opens the grants", "By keyboard alone.", path="/grants")
        self.tab_to(driver, "form[action='/grants/withdraw'] button")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the grant is withdrawn from the list", "No grant waits", path="/grants")
        self.tab_to(driver, "nav a", "Audit")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the keyboard opens the audit trail", "Lines of the audit trail", path="/audit")
        self.tab_to(driver, "input[name=customer]")
        self.press(driver, self.arguments.transaction)
        self.tab_to(driver, "select[name=act]")
        self.press(driver, "console_grant_withdrawn")
        self.tab_to(driver, "form.filter button")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the filter is in the address", "Clear</a>", path="/audit")
        # The trail names the customer of a grant by the account.
        self.expect("the grants of the customer are found", len(driver.find_elements(By.CSS_SELECTOR, "table.trail tbody tr")) > 1)
        self.check(driver, "audit-filtered")
        self.tab_to(driver, "details.clock summary")
        self.press(driver, Keys.ENTER)
        self.tab_to(driver, "form[action='/clock'] select")
        self.press(driver, Keys.DOWN)
        self.tab_to(driver, "form[action='/clock'] button")
        self.press(driver, Keys.ENTER)
        self.expect_text(driver, "the offset is changed", "Times are in UTC+", path="/audit")
        self.expect("the page is the same", "customer=" + self.arguments.transaction in driver.current_url)
        self.check_tab(driver, "audit")

    def download(self, driver, what, link):
        """Follows a link or a button to a table, and waits for the file."""
        with tempfile.TemporaryDirectory() as folder:
            driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
            link.send_keys(Keys.ENTER)
            end = time.monotonic() + 60
            files = []
            while time.monotonic() < end and not files:
                time.sleep(0.05)
                files = [file for file in pathlib.Path(folder).glob("*.csv") if file.stat().st_size]
            text = files[0].read_text() if files else ""
            self.expect(f"{what} is downloaded as a table", "," in text.split("\n")[0])

    def download_tables(self, driver, what):
        """Downloads every table of the open page."""
        driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        links = driver.find_elements(By.CSS_SELECTOR, "main a[href*='.csv'], main form[action$='.csv'] button")
        self.expect(f"{what} has tables", len(links) > 0)
        for number, link in enumerate(links):
            self.download(driver, f"{what} {number}", link)

    def screenshot(self, driver, name, width):
        size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "format": "png",
            "clip": {"x": 0, "y": 0, "width": width, "height": min(size["height"], 6000), "scale": 1}})
        (pathlib.Path(self.arguments.screenshots) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def grant(self, driver, check):
        """Grants a refused offer to the open customer, and takes the grant back."""
        driver.find_element(By.PARTIAL_LINK_TEXT, "to this customer").send_keys(Keys.ENTER)
        self.expect_text(driver, "the form says what holds", "Always in force")
        check(driver, "grant")
        driver.find_element(By.NAME, "note").send_keys("The video stopped <b>twice</b>.")
        driver.find_element(By.NAME, "ticket").send_keys("T-4711" + Keys.ENTER)
        self.expect_text(driver, "the offer is granted", "by the rule <bdi>grant</bdi>", path="/customer")
        check(driver, "customer-granted")
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.arguments.link))
        customer = driver.current_url
        driver.get(origin + "/grants")
        self.expect_text(driver, "the grant is listed", "T-4711")
        check(driver, "grants")
        driver.get(customer)
        driver.find_element(By.CSS_SELECTOR, "form[action='/grants/withdraw'] button").send_keys(Keys.ENTER)
        # In the second pass, an earlier grant is withdrawn too.
        self.expect_text(driver, "the grant is withdrawn", "not eligible</span>", path="/customer")

    def decide_together(self, driver):
        """One person asks for a grant above the budget and handles an alarm, and another person approves the grant."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.arguments.link))
        driver.get(f"{origin}/find?q={self.arguments.transaction}")
        driver.find_element(By.PARTIAL_LINK_TEXT, "to this customer").send_keys(Keys.ENTER)
        self.expect_text(driver, "the form says who must approve", "another person must approve this grant")
        driver.find_element(By.CSS_SELECTOR, "form[action='/grant'] button").send_keys(Keys.ENTER)
        self.expect_text(driver, "the grant waits", "not eligible</span>", path="/customer")
        self.check(driver, "customer-waiting")
        driver.get(origin + "/grants")
        self.expect_text(driver, "the person cannot approve it", "Another person must approve it.")
        self.check(driver, "grants-waiting")
        other = self.browser()
        try:
            other.get(self.arguments.second_link)
            other.find_element(By.CSS_SELECTOR, "main button").send_keys(Keys.ENTER)
            self.expect_text(other, "the second person is signed in", "Sign out")
            other.get(origin + "/grants")
            other.find_element(By.CSS_SELECTOR, "form[action='/grants/approve'] button").send_keys(Keys.ENTER)
            self.expect_text(other, "the grant is approved", "open</span>", path="/grants")
            self.check(other, "grants-of-marketing")
            other.get(origin + "/health")
            self.expect_text(other, "the second person has another role", "It needs the role")
        finally:
            other.quit()
        driver.get(f"{origin}/find?q={self.arguments.transaction}")
        self.expect_text(driver, "the customer has the offer", "by the rule <bdi>grant</bdi>")

        driver.get(origin + "/alarms")
        self.check(driver, "alarms-open")
        driver.find_element(By.CSS_SELECTOR, "form[action='/alarms/acknowledge'] [name=note]").send_keys(
            "An old server <b>signed</b> it." + Keys.TAB + Keys.ENTER)
        self.expect_text(driver, "the alarm is acknowledged", "An old server &lt;b&gt;signed&lt;/b&gt; it.", path="/alarms")
        self.check(driver, "alarms-acknowledged")
        driver.get(origin + "/deliveries")
        self.check(driver, "deliveries")

    def look_at_hostile_customer(self, driver):
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.arguments.link))
        driver.get(origin + "/find")
        driver.find_element(By.NAME, "q").send_keys(self.arguments.hostile + Keys.ENTER)
        self.expect_text(driver, "the hostile customer is found", ">Timeline", path="/customer")
        self.expect("no script of a customer runs", driver.title != "hacked" and "&lt;script&gt;" in driver.page_source)
        self.check(driver, "customer-hostile")

    def sections(self, driver):
        return [link.get_attribute("href") for link in driver.find_elements(By.CSS_SELECTOR, "nav a")]

    def walk(self, driver, check):
        """Goes through the console with the keyboard. The driver is signed in, on the start page."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.arguments.link))
        addresses = self.sections(driver)
        self.expect("there are ten sections", len(addresses) == 10)
        driver.get(origin + "/find")
        box = driver.find_element(By.NAME, "q")
        # The browser moves the focus after the page has loaded.
        try:
            WebDriverWait(driver, 30).until(lambda driver: box == driver.switch_to.active_element)
            self.expect("the search box has the focus", True)
        except TimeoutException:
            self.expect("the search box has the focus", False)
        check(driver, "find")
        box.send_keys("no-such-customer" + Keys.ENTER)
        self.expect_text(driver, "an unknown customer is not found", "No customer has this identifier")
        check(driver, "find-nothing")
        box = driver.find_element(By.NAME, "q")
        box.clear()
        box.send_keys(self.arguments.transaction + Keys.ENTER)
        for heading in ("Subscriptions", "Offers", "Timeline"):
            self.expect_text(driver, f"the customer has {heading}", f">{heading}")
        self.expect("one hit opens the customer", urlsplit(driver.current_url).path == "/customer")
        check(driver, "customer")
        if check == self.check:
            self.download_tables(driver, "the customer")
        self.grant(driver, check)
        summary = driver.find_element(By.CSS_SELECTOR, ".what-if summary")
        summary.send_keys(Keys.ENTER)
        select = driver.find_element(By.NAME, "autoRenew")
        select.send_keys("off")
        select.submit() if check is self.check else driver.find_element(By.CSS_SELECTOR, ".what-if button").send_keys(
            Keys.ENTER)
        self.expect_text(driver, "the what-if is named", "This shows the offers if")
        check(driver, "customer-what-if")
        for address in addresses:
            driver.get(address)
            name = urlsplit(address).path[1:]
            self.expect(f"{name} opens", driver.find_element(By.TAG_NAME, "h1").text != "" and "Error" not in driver.title)
            if name != "find":
                check(driver, name)
            if name == "offers" and check == self.check:
                self.download_tables(driver, "the list of offers")
        self.read_list(driver, check, origin)
        self.read_report(driver, check, origin)
        self.try_rules(driver, check, origin)
        driver.get(origin + "/nothing")
        self.expect_text(driver, "an unknown address has a page", "There is no such page")
        check(driver, "not-found")

    def read_list(self, driver, check, origin):
        """Opens each list until one has customers, and sees that it can be downloaded."""
        driver.get(origin + "/lists")
        lists = [link.get_attribute("href") for link in driver.find_elements(By.CSS_SELECTOR, "main td a")]
        self.expect("there are lists", len(lists) > 2)
        for address in lists:
            driver.get(address)
            self.expect_text(driver, "the list is read", "<h1>Customers ", path="/lists")
            if driver.find_elements(By.CSS_SELECTOR, "form[action='/lists.csv'] button"):
                break
        self.expect("a list has customers", "Download as CSV" in driver.page_source)
        check(driver, "list")
        if check == self.check:
            self.download_tables(driver, "the list of customers")

    def read_report(self, driver, check, origin):
        """Opens the overview of all offers, sorts it, and reads the report of the first offer."""
        driver.get(origin + "/reports")
        driver.find_element(By.CSS_SELECTOR, "th[scope=col] a").send_keys(Keys.ENTER)
        self.expect_text(driver, "a heading sorts the offers", 'aria-sort="ascending"', path="/reports")
        self.expect("the address has the order", "sort=offer" in driver.current_url)
        driver.find_element(By.CSS_SELECTOR, "th[scope=row] a").send_keys(Keys.ENTER)
        # Nobody reloads the page. Idle threads count, and wait while the machine is busy.
        self.expect_text(driver, "the report is made", "As of</dt>", path="/reports/offer", seconds=300)
        check(driver, "report")
        if check == self.check:
            self.download_tables(driver, "the report")
        driver.find_element(By.CSS_SELECTOR, "form.buttons button").send_keys(Keys.ENTER)
        self.expect_text(driver, "the page is there again", "As of</dt>", path="/reports/offer")
        driver.get(origin + "/reports?sort=effect")
        self.expect_text(driver, "the offers are compared", "Verdict")
        check(driver, "reports-sorted")

    def try_rules(self, driver, check, origin):
        """Checks a file with an error, and tries one without, on all customers."""
        driver.get(origin + "/rules")
        driver.find_element(By.NAME, "text").send_keys(BROKEN_RULES)
        driver.find_element(By.CSS_SELECTOR, "button[value=check]").send_keys(Keys.ENTER)
        self.expect_text(driver, "the error is found", "The file has 1 problem.")
        self.expect("the error is at its line", driver.find_element(By.CSS_SELECTOR, ".source-line .number").text == "Line 8")
        text = driver.find_element(By.NAME, "text").get_property("value") if check == self.check else BROKEN_RULES
        self.expect("the form keeps the file", text == BROKEN_RULES)
        check(driver, "rules-problems")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(RULES)
            file.flush()
            driver.find_element(By.NAME, "file").send_keys(file.name)
            driver.find_element(By.CSS_SELECTOR, "button[value=check]").send_keys(Keys.ENTER)
            self.expect_text(driver, "the file comes before the text", "The rules are consistent")
            check(driver, "rules-checked")
            driver.find_element(By.NAME, "file").send_keys(file.name)
            driver.find_element(By.CSS_SELECTOR, "button[value=try]").send_keys(Keys.ENTER)
            # Nobody reloads the page: the trial runs, and the page refreshes itself.
            # The previous page may list an earlier trial. Idle threads decide, and wait while the machine is busy.
            self.expect_text(driver, "the trial ends", "finished</span>", path="/rules/trial", seconds=300)
        self.expect_text(driver, "the result is a table", "Eligible then")
        check(driver, "rules-trial")
        if check == self.check:
            self.download_tables(driver, "the trial")
        driver.get(origin + "/rules")
        self.expect_text(driver, "the trial is listed", "finished</span>")

    def sign_in(self, driver):
        driver.get(self.arguments.link)
        self.expect_text(driver, "the link names the person", "Sign in as")
        driver.find_element(By.CSS_SELECTOR, "main button").send_keys(Keys.ENTER)
        self.expect_text(driver, "the person is signed in", "Sign out")

    def run(self):
        driver = self.browser()
        try:
            self.sign_in(driver)
            self.walk(driver, self.check)
            if self.arguments.hostile:
                self.look_at_hostile_customer(driver)
            cookies = driver.get_cookies()
        finally:
            driver.quit()
        plain = self.browser(scripts=False)
        try:
            plain.get(self.arguments.link)
            self.expect_text(plain, "the link works once", "This sign-in link is invalid")
            for cookie in cookies:
                plain.add_cookie({key: cookie[key] for key in ("name", "value", "path", "httpOnly", "secure")})
            plain.get("{0.scheme}://{0.netloc}/".format(urlsplit(self.arguments.link)))
            self.walk(plain, lambda driver, name: None)
            if self.arguments.second_link:
                # The two walks have used up the budget.
                third = self.browser()
                try:
                    third.get("{0.scheme}://{0.netloc}/sign-in".format(urlsplit(self.arguments.link)))
                    for cookie in cookies:
                        third.add_cookie({key: cookie[key] for key in ("name", "value", "path", "httpOnly", "secure")})
                    self.decide_together(third)
                    self.by_keyboard(third)
                finally:
                    third.quit()
            plain.find_element(By.CSS_SELECTOR, "form.account button").send_keys(Keys.ENTER)
            self.expect_text(plain, "the person is signed out", "You are signed out")
            plain.get("{0.scheme}://{0.netloc}/find".format(urlsplit(self.arguments.link)))
            self.expect("the session has ended", urlsplit(plain.current_url).path == "/sign-in")
            for cookie in cookies:
                plain.add_cookie({key: cookie[key] for key in ("name", "value", "path", "httpOnly", "secure")})
            plain.get("{0.scheme}://{0.netloc}/find".format(urlsplit(self.arguments.link)))
            self.expect("a stolen cookie of an ended session is useless", urlsplit(plain.current_url).path == "/sign-in")
        finally:
            plain.quit()
        print(f"{self.checks} checks, {len(self.faults)} faults")
        return 1 if self.faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--link", required=True, help="a sign-in link with every role")
    parser.add_argument("--transaction", required=True, help="a transaction ID of a customer")
    parser.add_argument("--second-link", help="a sign-in link of another person, with the role marketing")
    parser.add_argument("--hostile", help="a username with markup")
    parser.add_argument("--screenshots", help="a folder for a picture of each page")
    parser.add_argument("--axe", help="the file axe.min.js")
    sys.exit(Walk(parser.parse_args()).run())


if __name__ == "__main__":
    main()
