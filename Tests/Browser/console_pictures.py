"""Takes the pictures of docs/console.md from a running demonstration, and acts as its last lines suggest.

    console_pictures.py --link URL --customer ORDER --folder FOLDER

Signs in with the link, finds a customer, reads why an offer is refused, grants the offer, and waits until the customer's app has
redeemed it. Then it opens the alarms and the offers. Exits with status 1 if something does not happen.
"""

import argparse
import pathlib
import sys
import time
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,900"):
        options.add_argument(argument)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Pictures:
    def __init__(self, arguments):
        self.arguments = arguments
        self.driver = browser()
        self.origin = "{0.scheme}://{0.netloc}".format(urlsplit(arguments.link))

    def wait(self, text, seconds=60):
        WebDriverWait(self.driver, seconds).until(lambda driver: text in driver.page_source)

    def take(self, name, height=900):
        self.driver.set_window_size(1280, height)
        self.driver.save_screenshot(str(pathlib.Path(self.arguments.folder) / f"console-{name}.png"))

    def find(self, customer):
        self.driver.get(self.origin + "/find")
        self.driver.find_element(By.NAME, "q").send_keys(customer + Keys.ENTER)
        self.wait(">Timeline")

    def run(self):
        driver = self.driver
        driver.get(self.arguments.link)
        driver.find_element(By.CSS_SELECTOR, "main button").send_keys(Keys.ENTER)
        self.wait("Sign out")
        self.find(self.arguments.customer)
        self.wait("not eligible</span>")
        self.take("customer", 1100)
        link = next(
            link for link in driver.find_elements(By.CSS_SELECTOR, "a[href^='/grant?']")
            if "comeback_1m_free" in link.get_attribute("href"))
        driver.get(link.get_attribute("href"))
        driver.find_element(By.NAME, "ticket").send_keys("T-4711")
        self.take("grant")
        driver.find_element(By.CSS_SELECTOR, "form[action='/grant'] button").send_keys(Keys.ENTER)
        self.wait(">Timeline")
        customer = driver.current_url
        end = time.monotonic() + 120
        while "redeemed</span>" not in driver.page_source:
            if time.monotonic() > end:
                sys.exit("the grant is not redeemed after two minutes")
            time.sleep(2)
            driver.get(customer)
        for section in ("alarms", "offers", "audit"):
            driver.get(f"{self.origin}/{section}")
            self.take(section)
        driver.quit()


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--link", required=True, help="a sign-in link with every role")
parser.add_argument("--customer", required=True, help="the order ID of the customer who gets a grant")
parser.add_argument("--folder", required=True, help="the folder for the pictures")
Pictures(parser.parse_args()).run()
