"""The browser of the tests: find one, or install one: ``python -m tests.book.browser``.

``make test`` calls this first. A Chromium or Chrome on the path is used as it is. If there
is none, Debian's packages are installed where we may (as root), and otherwise Selenium's
own manager loads a browser into the cache of the user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.selenium_manager import SeleniumManager

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Nothing but the tests' own server can be reached.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find() -> tuple[str, str] | None:
    """Return the paths of a browser and its driver, or None."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else _managed("--offline")


def _managed(*options: str) -> tuple[str, str] | None:
    """Ask Selenium's manager, which keeps what it loads."""
    try:
        paths = SeleniumManager().binary_paths(["--browser", "chrome", *options])
    except WebDriverException:
        return None
    found = (paths["browser_path"], paths["driver_path"])
    return found if all(found) else None


def install() -> bool:
    """Install a browser where there is none, and return whether there is one now."""
    if find():
        return True
    if shutil.which("apt-get") and os.geteuid() == 0:
        packages = ("chromium", "chromium-driver")
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
            with suppress(subprocess.TimeoutExpired):  # such as without a network
                subprocess.run(["apt-get", "-qq", *command], check=False, timeout=200)
    return bool(find() or _managed())


def start(profile: str) -> webdriver.Chrome | None:
    """Start a browser without a window, or return None if there is none.

    Parameters
    ----------
    profile : str
        An empty folder for its profile.
    """
    found = find()
    if found is None:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))


if __name__ == "__main__":
    if not install():
        print("NO BROWSER COULD BE INSTALLED: the browser tests will be skipped")
