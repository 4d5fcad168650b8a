"""Visits of pages in a browser: at a width, until all mathematics is there, and what failed."""

import json

from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

WIDE, TABLET, PHONE = 1280, 768, 390
MODES = {"light": "#ffffff", "dark": "#121212"}  # and the paper of the figures
SECONDS = 5  # until a page must have done what it was asked


def visit(browser, url, width=WIDE):
    """Open a page in a window of some width, and wait for its mathematics."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(url)
    ready = "return window.MathJax ? MathJax.startup.promise.then(() => 1) : 1"
    browser.execute_script(ready)


def choose(browser, mode):
    """As the button at the top of a page does."""
    browser.execute_script(f"document.documentElement.dataset.theme = '{mode}'")


def prefer(browser, mode=None):
    """As the settings of the reader's system do."""
    features = [{"name": "prefers-color-scheme", "value": mode}] if mode else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def failed_requests(browser):
    """Requests since the visit began that failed or left for another host."""
    problems = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        params = message.get("params", {})
        if message["method"] == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("http://127.0.0.1", "data:", "blob:", "chrome")):
                problems.append(url)
        if message["method"] == "Network.responseReceived" and params["response"]["status"] >= 400:
            problems.append(params["response"]["url"])
        if message["method"] == "Network.loadingFailed" and not params.get("canceled"):
            problems.append(params["errorText"])
    return problems


def shown(browser, selector):
    """The elements of a selector that are displayed."""
    return [x for x in browser.find_elements(By.CSS_SELECTOR, selector) if x.is_displayed()]


def until(browser, condition, *arguments):
    """Wait for a condition, or fail."""
    wait = WebDriverWait(browser, SECONDS, poll_frequency=0.05)
    return wait.until(lambda _: condition(*arguments))


# Whether a point of an element can be pressed: it is in the window and nothing lies above it.
IN_FRONT = """
return [...document.querySelectorAll(arguments[0])].some(e => {
  const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2;
  return r.width > 0 && r.left >= 0 && r.right <= innerWidth && y > 0 && y < innerHeight
    && e.contains(document.elementFromPoint(x, y)) && e.checkVisibility({visibilityProperty: true});
})
"""


def in_front(browser, selector):
    return browser.execute_script(IN_FRONT, selector)


def hidden(browser, selector):
    return not in_front(browser, selector)


def bring_into_view(browser, element):
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    return element
