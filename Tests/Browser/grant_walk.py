"""Goes from an order ID to a granted offer in Chromium, with the keyboard, and counts the pages.

    grant_walk.py --link URL --order ID

Signs in with the link, which shows the page Find. From there, the offer must be granted on the third page, with nothing filled in except
the order ID. Exits with status 1 if it takes more pages, or if the customer does not have the offer.
"""

import argparse
import sys
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--link", required=True, help="a sign-in link with the role support")
    parser.add_argument("--order", required=True, help="the order ID of a customer who is refused an offer")
    arguments = parser.parse_args()
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    pages = []

    def see(path, text):
        WebDriverWait(driver, 60).until(
            lambda driver: urlsplit(driver.current_url).path == path and text in driver.page_source)
        pages.append(path)

    try:
        driver.get(arguments.link)
        driver.find_element(By.CSS_SELECTOR, "main button").send_keys(Keys.ENTER)
        see("/find", "Find a customer")
        driver.switch_to.active_element.send_keys(arguments.order + Keys.ENTER)
        see("/customer", "not eligible</span>")
        driver.find_element(By.PARTIAL_LINK_TEXT, "to this customer").send_keys(Keys.ENTER)
        see("/grant", "Always in force")
        print("pages:", " ".join(pages))
        driver.find_element(By.CSS_SELECTOR, "form[action='/grant'] button").send_keys(Keys.ENTER)
        see("/customer", "by the rule <bdi>grant</bdi>")
    finally:
        driver.quit()
    sys.exit(0 if pages == ["/find", "/customer", "/grant", "/customer"] else 1)


main()
