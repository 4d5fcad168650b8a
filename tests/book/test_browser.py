"""The site in a browser: each page at two widths, light and dark, without a network."""

import base64
import inspect
import io
import json
import re
import time
from collections import namedtuple
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from tests.book.test_site import BOOK, SITE

WIDTHS = (1280, 390)
TEX = re.compile(r"\\[a-zA-Z]+|\$|\{[a-z:]+\}`")
MODES = {"light": "#ffffff", "dark": "#121212"}  # and the paper of the figures


def visit(browser, url, width=1280):
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


Opened = namedtuple("Opened", "page width failures messages run")


@pytest.fixture(
    scope="module",
    params=[(page, width) for page in BOOK for width in WIDTHS],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def opened(browser, server, request):
    """A page, opened once for all tests of it."""
    page, width = request.param
    visit(browser, f"{server}/{page}", width)
    return snapshot(browser, page, width)


def snapshot(browser, page, width):
    """The present state of a page that was visited."""
    return Opened(
        page,
        width,
        failures=network_failures(browser),
        messages=[e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"],
        run=browser.execute_script,
    )


class TestPage:
    def test_it_loads_without_a_failure(self, opened):
        assert opened.failures == []
        assert opened.messages == []

    def test_all_mathematics_is_rendered(self, opened):
        assert opened.run("return document.querySelectorAll('mjx-merror').length") == 0
        unrendered = opened.run(
            "return [...document.querySelectorAll('.math')]"
            ".filter(e => !e.querySelector('mjx-container')).map(e => e.textContent)"
        )
        assert unrendered == []

    def test_no_tex_is_left_in_the_text(self, opened):
        text = opened.run(
            "const copy = document.querySelector('article').cloneNode(true);"
            "copy.querySelectorAll('pre, code, script, mjx-container, .highlight')"
            ".forEach(e => e.remove()); return copy.textContent"
        )
        assert TEX.findall(text) == []

    @pytest.mark.parametrize("mode", MODES)
    def test_nothing_is_wider_than_the_window(self, browser, opened, mode):
        choose(browser, mode)
        assert opened.run("return document.documentElement.scrollWidth") <= opened.width

    def test_wide_tables_scroll_inside_themselves(self, opened):
        wide = opened.run(
            "return [...document.querySelectorAll('article table')].filter(t => {"
            "  for (let e = t.parentElement; e.tagName !== 'ARTICLE'; e = e.parentElement)"
            "    if (['auto', 'scroll'].includes(getComputedStyle(e).overflowX)) return false;"
            "  return t.getBoundingClientRect().right > innerWidth"
            "}).map(t => t.textContent.slice(0, 80))"
        )
        assert wide == []

    def test_every_picture_has_an_alternative_text(self, opened):
        images = opened.run(
            "return [...document.querySelectorAll('main img')]"
            ".map(e => [e.naturalWidth, e.alt || '', e.src])"
        )
        # Without a text of ours the builder puts in the name of the file.
        words = [len(re.findall(r"[a-z]+ ", alt)) for _, alt, _ in images]
        assert [x[2] for x, n in zip(images, words, strict=True) if not x[0] or n < 8] == []

    def test_headings_are_in_order(self, opened):
        levels = opened.run(
            "return [...document.querySelectorAll("
            "'article h1, article h2, article h3, article h4')].map(e => +e.tagName[1])"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_a_line_under_the_title_offers_the_sources(self, opened):
        line, links = opened.run(
            "const line = document.querySelector('h1 + p.masthead');"
            "return [line.innerText, [...line.querySelectorAll('a')].map(e => e.textContent)]"
        )
        name = opened.page.removesuffix(".html")
        runs = (SITE.parents[1] / "notebooks" / f"{name}.ipynb").is_file()
        assert re.match(r"\d+ min read", line)
        assert links == ([".ipynb", ".md"] if runs else [".md"])
        assert (f"make run PAGE={name}" in line) == runs


APPEND = "const e = document.createElement('div'); e.innerHTML = `{}`;"
APPEND += "document.querySelector('article').append(e);"
FAULTS = {
    "an outside request": ("test_it_loads_without_a_failure", "fetch('http://example.org/x')"),
    "a missing file": ("test_it_loads_without_a_failure", "fetch('gone.js')"),
    "an error": ("test_it_loads_without_a_failure", "setTimeout(() => { throw Error('odd') })"),
    "mathematics that is not rendered": (
        "test_all_mathematics_is_rendered",
        APPEND.format("<span class='math'>x</span>"),
    ),
    "raw TeX": ("test_no_tex_is_left_in_the_text", APPEND.format("<p>It is $x$.</p>")),
    "a wide table": (
        "test_wide_tables_scroll_inside_themselves",
        APPEND.format("<table style='width: 3000px'><tr><td>x</td></tr></table>"),
    ),
    "a wide block": (
        "test_nothing_is_wider_than_the_window",
        "document.body.style.width = '3000px'",
    ),
    "a picture without a text": (
        "test_every_picture_has_an_alternative_text",
        APPEND.format("<img src='_static/favicon.svg' alt='_images/0123456789abcdef.svg'>"),
    ),
    "a second title": ("test_headings_are_in_order", APPEND.format("<h1>x</h1>")),
    "a level left out": ("test_headings_are_in_order", APPEND.format("<h4>x</h4>")),
    "no line under the title": (
        "test_a_line_under_the_title_offers_the_sources",
        "document.querySelector('p.masthead a').remove()",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_turns_a_test_red(browser, server, fault):
    name, script = FAULTS[fault]
    visit(browser, f"{server}/library.html")
    browser.execute_script(script)
    time.sleep(0.5)
    page = snapshot(browser, "library.html", 1280)
    arguments = {"browser": browser, "opened": page, "mode": "light"}
    test = getattr(TestPage, name)
    wanted = {key: arguments[key] for key in inspect.signature(test).parameters if key != "self"}
    with pytest.raises(AssertionError):
        test(TestPage(), **wanted)


def test_the_papers_are_what_was_opened(browser, server):
    """The tests above would pass on an empty page."""
    visit(browser, f"{server}/partition.html")
    assert len(browser.find_elements(By.CSS_SELECTOR, "main img")) >= 6
    assert len(browser.find_elements(By.CSS_SELECTOR, "mjx-container")) > 100


# --- figures --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_figures_follow_the_chosen_scheme(browser, server, mode):
    """The first pixel of a figure is its background, in the colour of the chosen mode."""
    visit(browser, f"{server}/partition.html")
    choose(browser, mode)
    image = browser.find_elements(By.CSS_SELECTOR, "main img")[1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", image)
    shot = Image.open(io.BytesIO(image.screenshot_as_png)).convert("RGB")
    assert "#{:02x}{:02x}{:02x}".format(*shot.getpixel((3, 3))) == MODES[mode]


def luminance(colours):
    """Relative luminance of sRGB colours, as WCAG 2 defines it."""
    share = np.asarray(colours, float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    lighter, darker = np.maximum(one, other), np.minimum(one, other)
    return (lighter + 0.05) / (darker + 0.05)


INLINE = """
const images = [...document.querySelectorAll('article figure img')];
const text = image => fetch(image.src).then(answer => answer.text());
return Promise.all(images.map(text)).then(texts => {
  document.body.innerHTML = texts.join('');
  const letters = e => e.querySelector('use, path');
  const colour = e => getComputedStyle(letters(e)).fill.match(/[0-9]+/g).map(Number);
  const box = e => {
    const r = e.getBoundingClientRect();
    return [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY];
  };
  return [...document.querySelectorAll('body > svg')].map(svg => {
    const words = [...svg.querySelectorAll('g[id^=text_]')].filter(letters);
    const found = words.map(e => [...box(e), ...colour(e)]);
    words.forEach(e => e.style.visibility = 'hidden');
    return [box(svg), found];
  });
});
"""


def words_that_are_hard_to_read(browser, least=4.5):
    """Boxes of figure texts of which a tenth or more has too little contrast behind the letters.

    The figures are put into the page, their letters hidden, and what is behind them photographed.
    """
    poor = []
    for (left, top, right, bottom), words in browser.execute_script(INLINE):
        size = {"width": right - left, "height": bottom - top, "scale": 1}
        clip = {"x": left, "y": top, **size}
        options = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        data = browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
        shot = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
        assert words, "a figure without words"
        for x0, y0, x1, y1, *colour in words:
            rows = slice(int(y0 - top), int(y1 - top) + 1)
            behind = luminance(shot[rows, int(x0 - left) : int(x1 - left) + 1])
            if np.mean(contrast(luminance(colour), behind) < least) > 0.1:
                poor.append((round(x0 - left), round(y0 - top), tuple(colour)))
    return poor


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("page", [page for page in BOOK if "<figure" in (SITE / page).read_text()])
def test_words_on_figures_stand_out(browser, server, page, mode):
    scheme = [{"name": "prefers-color-scheme", "value": mode}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    visit(browser, f"{server}/{page}")
    poor = words_that_are_hard_to_read(browser)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert poor == []


def test_black_on_white_has_the_greatest_contrast():
    assert contrast(luminance([0, 0, 0]), luminance([255, 255, 255])) == pytest.approx(21)
    assert contrast(luminance([118, 118, 118]), luminance([255, 255, 255])) == pytest.approx(
        4.54, abs=0.005
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_a_figure_enlarges_and_closes(browser, server, width):
    visit(browser, f"{server}/partition.html", width)
    figure = browser.find_element(By.CSS_SELECTOR, "article figure button.enlarge")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
    before = figure.find_element(By.TAG_NAME, "img").rect["width"]
    figure.send_keys(Keys.ENTER)
    large = browser.find_element(By.CSS_SELECTOR, "dialog[open].enlarged img")
    assert large.rect["width"] > 1.2 * before
    assert large.get_attribute("alt")
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert browser.find_elements(By.CSS_SELECTOR, "dialog.enlarged") == []


# --- links ----------------------------------------------------------------------------------

PREVIEWS = {
    "a theorem of another page": ("ordering", "partition.html#thm-bounds", "Bounds on the best"),
    "an equation of this page": ("partition", "#equation-eq-bounds", None),
    "a figure": ("ordering", "#fig-orders", "fast first"),
    "a reference": ("ordering", "#id", "doi:"),
    "a function": ("ordering", "api/ordering.html#decentral.ordering.best_order", "best_order("),
    "a theorem from the library": ("api/ordering", "../ordering.html#thm-subset", "The subset"),
}


@pytest.mark.parametrize("kind", PREVIEWS)
def test_a_link_shows_what_it_leads_to(browser, server, kind):
    page, target, words = PREVIEWS[kind]
    visit(browser, f"{server}/{page}.html")
    link = browser.find_element(By.CSS_SELECTOR, f"article a.reference.internal[href^='{target}']")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    ActionChains(browser).move_to_element(link).perform()
    box = WebDriverWait(browser, 10).until(lambda b: b.find_element(By.ID, "preview"))
    WebDriverWait(browser, 10).until(lambda b: link.get_attribute("aria-describedby"))
    shown = box.get_attribute("innerHTML")
    if kind == "a figure":
        assert box.find_element(By.TAG_NAME, "img").get_property("naturalWidth")
    elif words:
        assert words in box.text
    assert "mjx-container" in shown or kind in ("a figure", "a reference", "a function")
    assert box.rect["x"] >= 0
    assert box.rect["x"] + box.rect["width"] <= 1280
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert browser.find_elements(By.ID, "preview") == []
    assert network_failures(browser) == []
