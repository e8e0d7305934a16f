"""Chromium without a window, for the tests of pages."""

import os
import shutil
from contextlib import contextmanager

import pytest

DESKTOP, PHONE = (1440, 900), (390, 844)


@contextmanager
def chromium(profile, *arguments):
    """A driver of Chromium; the test is skipped where Chromium, its driver or Selenium is missing."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or (driver := shutil.which("chromedriver")) is None:
        pytest.skip("needs Chromium and its driver; on Debian: sudo apt-get install chromium chromium-driver")
    selenium = pytest.importorskip("selenium.webdriver", reason="needs selenium; ./reproduce test brings it")
    options = selenium.ChromeOptions()
    options.binary_location = browser
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    for argument in ("--headless=new", "--disable-dev-shm-usage", f"--user-data-dir={profile}", *root, *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        yield opened
    finally:
        opened.quit()


@contextmanager
def screen(driver, size):
    """A screen of this width and height; a phone's below 900 pixels."""
    shape = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 900}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
