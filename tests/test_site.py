"""The built site: self-contained, light, and right in a browser at two widths."""

import functools
import http.server
import io
import json
import re
import shutil
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

from papers.site import unused

SITE = Path(__file__).parents[1] / "_build" / "html"
PAGES = sorted(path.name for path in SITE.glob("*.html"))
BOOK = [name for name in PAGES if (SITE.parents[1] / "book" / name).with_suffix(".md").is_file()]


def test_the_site_is_built():
    assert {"index.html", "partition.html", "ledger.html", "notation.html"} <= set(BOOK), (
        "run `make book`"
    )


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_loaded_from_elsewhere(page):
    text = (SITE / page).read_text("utf-8")
    loaded = re.findall(r"<(?:script|img|iframe|source)[^>]*\bsrc=\"([^\"]+)\"", text)
    loaded += re.findall(r"<link(?=[^>]*(?:stylesheet|preload|icon))[^>]*\bhref=\"([^\"]+)\"", text)
    assert [link for link in loaded if re.match(r"(?:https?:)?//", link)] == []
    assert "unpkg" not in text
    assert "cdn" not in text.lower()


@pytest.mark.parametrize("page", BOOK)
def test_a_page_is_light(page):
    text = (SITE / page).read_text("utf-8")
    images = set(re.findall(r'src="(_images/[^"]+)"', text))
    assert len(text) + sum((SITE / image).stat().st_size for image in images) < 1_500_000


def test_the_site_is_light():
    files = [path for path in SITE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 15_000_000


def test_nothing_that_no_page_loads_is_left():
    assert unused(SITE / "_static") == []
    assert (SITE / "_static" / "mathjax" / "tex-chtml.js").is_file()


@pytest.mark.parametrize("page", BOOK)
def test_no_number_is_missing_from_the_prose(page):
    text = (SITE / page).read_text("utf-8")
    assert re.findall(r'<span class="pasted-text">\s*</span>', text) == []


# --- in a browser ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server():
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    binary = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    driver_path = shutil.which("chromedriver")
    if not (binary and driver_path):
        # `-rs` in the settings of pytest prints this at the end of the run.
        pytest.skip("THE BROWSER TESTS WERE SKIPPED: no Chromium with chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path))
    yield driver
    driver.quit()


def visit(browser, url, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(url)
    ready = "return window.MathJax ? MathJax.startup.promise.then(() => 1) : 1"
    browser.execute_script(ready)


def network_failures(browser):
    """Requests that failed or left for another host."""
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


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", BOOK)
def test_page_in_a_browser(browser, server, page, width):
    visit(browser, f"{server}/{page}", width)
    assert network_failures(browser) == []
    assert [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
    assert browser.find_elements(By.CSS_SELECTOR, "mjx-merror, .MathJax_Error") == []
    unrendered = browser.execute_script(
        "return [...document.querySelectorAll('.math')]"
        ".filter(e => !e.querySelector('mjx-container')).map(e => e.textContent)"
    )
    assert unrendered == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    images = browser.execute_script(
        "return [...document.querySelectorAll('main img')]"
        ".map(e => [e.naturalWidth, (e.alt || '').length, e.src])"
    )
    assert [source for size, alt, source in images if not size or alt < 40] == []
    if page == "partition.html":
        assert len(images) >= 6
        assert len(browser.find_elements(By.CSS_SELECTOR, "mjx-container")) > 100


@pytest.mark.parametrize(("mode", "paper"), [("light", "#ffffff"), ("dark", "#121212")])
def test_figures_follow_the_chosen_scheme(browser, server, mode, paper):
    """The first pixel of a figure is its background, in the colour of the chosen mode."""
    visit(browser, f"{server}/partition.html", 1280)
    browser.execute_script(f"document.documentElement.dataset.theme = '{mode}'")
    image = browser.find_elements(By.CSS_SELECTOR, "main img")[1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", image)
    shot = Image.open(io.BytesIO(image.screenshot_as_png)).convert("RGB")
    assert "#{:02x}{:02x}{:02x}".format(*shot.getpixel((3, 3))) == paper


@pytest.mark.parametrize(
    ("word", "page"), [("bottleneck", "partition.html"), ("Kantorovich", "inner_steps.html")]
)
def test_search_works_offline(browser, server, word, page):
    visit(browser, f"{server}/search.html?q={word}", 1280)
    browser.implicitly_wait(10)
    found = browser.find_elements(By.CSS_SELECTOR, "#search-results li a")
    browser.implicitly_wait(0)
    assert any(page in link.get_attribute("href") for link in found)


@pytest.mark.parametrize("page", BOOK)
def test_headings_and_text_of_a_page(browser, server, page):
    """One title, no level of headings left out, and no TeX that nobody rendered."""
    visit(browser, f"{server}/{page}", 1280)
    levels = browser.execute_script(
        "return [...document.querySelectorAll('article h1, article h2, article h3, article h4')]"
        ".map(e => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    text = browser.execute_script(
        "const copy = document.querySelector('article').cloneNode(true);"
        "copy.querySelectorAll('pre, code, script, mjx-container, .highlight')"
        ".forEach(e => e.remove()); return copy.textContent"
    )
    assert re.findall(r"\\[a-zA-Z]+|\$|\{[a-z:]+\}`", text) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_local_link_leads_somewhere(page):
    text = (SITE / page).read_text("utf-8")
    targets = {link.split("#")[0].split("?")[0] for link in re.findall(r'href="([^"]+)"', text)}
    local = {t for t in targets if t and not re.match(r"[a-z]+:|//", t)}
    assert [t for t in sorted(local) if not (SITE / t).is_file()] == []


@pytest.mark.parametrize("page", BOOK)
def test_every_anchor_exists(page):
    text = (SITE / page).read_text("utf-8")
    for target, anchor in re.findall(r'href="([\w.-]*)#([^"]+)"', text):
        other = text if not target else (SITE / target).read_text("utf-8")
        assert f'id="{anchor}"' in other, f"{target}#{anchor}"
