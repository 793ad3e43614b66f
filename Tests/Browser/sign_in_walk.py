"""Signs in to a running console at its identity provider in Chromium, and out again.

    sign_in_walk.py --console URL --person SUB --name NAME --stranger SUB

The first person has a role. The second one has none, and must be refused. Also goes back to the answer of the provider after
signing out, which must not sign in again. Exits with status 1 if anything is wrong.
"""

import argparse
import sys
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


class Walk:
    def __init__(self, arguments):
        self.arguments = arguments
        self.checks = 0
        self.faults = []

    def browser(self):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
            options.add_argument(argument)
        # The certificates are made for the test.
        options.accept_insecure_certs = True
        return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def expect(self, what, holds):
        self.checks += 1
        if not holds:
            self.faults.append(what)
            print("fault:", what)

    def wait(self, driver, what, condition):
        try:
            WebDriverWait(driver, 20).until(condition)
        except TimeoutException:
            print(driver.current_url, driver.page_source[:2000])
        self.expect(what, condition(driver))

    def wait_for_text(self, driver, what, text):
        self.wait(driver, what, lambda driver: text in driver.page_source)

    def go_to_provider(self, driver):
        driver.get(self.arguments.console + "/find?q=1")
        self.wait_for_text(driver, "without a session, the sign-in page appears", "Sign in with")
        driver.find_element(By.CSS_SELECTOR, "main a.primary").send_keys(Keys.ENTER)
        self.wait_for_text(driver, "the browser is at the provider", "Authorize Client")
        self.expect("the provider is another site", not driver.current_url.startswith(self.arguments.console))

    def authorise(self, driver, person):
        driver.find_element(By.NAME, "sub").send_keys(person + Keys.ENTER)
        self.wait(driver, "the browser comes back", lambda driver: driver.current_url.startswith(self.arguments.console))

    def run(self):
        driver = self.browser()
        try:
            self.go_to_provider(driver)
            self.authorise(driver, self.arguments.person)
            self.wait_for_text(driver, "the person is signed in", "Sign out")
            self.expect("the name is the provider's", self.arguments.name in driver.page_source)
            self.expect("the start page opens a section", urlsplit(driver.current_url).path == "/find")
            cookies = {cookie["name"]: cookie for cookie in driver.get_cookies()}
            session = cookies.get("__Host-console", {})
            self.expect("the session is in a secure cookie", session.get("secure") and session.get("httpOnly"))
            self.expect("the cookie of the sign-in is gone", "__Host-console-sign-in" not in cookies)
            sections = [link.text for link in driver.find_elements(By.CSS_SELECTOR, "nav a")]
            self.expect(f"the groups give the roles: {sections}", sections == ["Find", "Offers", "Lists", "Grants", "Audit"])
            driver.get(self.arguments.console + "/health")
            self.wait_for_text(driver, "other pages stay closed", "It needs the role")
            driver.get(self.arguments.console + "/audit")
            self.wait_for_text(driver, "the sign-in is in the audit trail", "console_sign_in")
            driver.find_element(By.CSS_SELECTOR, "form.account button").send_keys(Keys.ENTER)
            self.wait_for_text(driver, "the person is signed out", "You are signed out")
            driver.get(self.arguments.console + "/find")
            self.wait_for_text(driver, "the session has ended", "Sign in with")
            driver.get(self.arguments.console + "/sign-in/return?code=stolen&state=stolen")
            self.wait_for_text(driver, "an answer without a sign-in is refused", "The sign-in failed.")

            self.go_to_provider(driver)
            driver.find_element(By.CSS_SELECTOR, "button[value=deny]").send_keys(Keys.ENTER)
            self.wait_for_text(driver, "who declines is not signed in", "The sign-in failed.")
            self.go_to_provider(driver)
            self.authorise(driver, self.arguments.stranger)
            self.wait_for_text(driver, "a person without a role is not signed in", "The sign-in failed.")
            self.expect("there is no session", "__Host-console" not in {c["name"] for c in driver.get_cookies()})
        finally:
            driver.quit()
        print(f"{self.checks} checks, {len(self.faults)} faults")
        return 1 if self.faults else 0


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--console", required=True, help="the URL of the console")
parser.add_argument("--person", required=True, help="the sub of a person with the role support")
parser.add_argument("--name", required=True, help="the name of that person")
parser.add_argument("--stranger", required=True, help="the sub of a person without a role")
sys.exit(Walk(parser.parse_args()).run())
