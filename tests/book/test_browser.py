"""The site in a browser: each page is opened once at two widths, without a network."""

import base64
import io
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
from tests.book.test_site import BOOK, SOURCE
from tests.book.visits import (
    MODES,
    PHONE,
    WIDE,
    bring_into_view,
    choose,
    failed_requests,
    prefer,
    shown,
    until,
    visit,
)

TEX = re.compile(r"\\[a-zA-Z]+|\$|\{[a-z:]+\}`")

# --- what is looked for on each page --------------------------------------------------------
# Each function returns what is wrong with a page that was opened.

Opened = namedtuple("Opened", "browser page width failures messages run")


def opened(browser, page, width):
    """The present state of a page that was visited."""
    return Opened(
        browser,
        page,
        width,
        failures=failed_requests(browser),
        messages=[e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"],
        run=browser.execute_script,
    )


def requests_that_fail_or_leave_and_errors(page):
    return page.failures + page.messages


def mathematics_that_is_not_rendered(page):
    return page.run(
        "return [...document.querySelectorAll('.math')]"
        ".filter(e => !e.querySelector('mjx-container') || e.querySelector('mjx-merror'))"
        ".map(e => e.textContent)"
    )


def tex_in_the_text(page):
    text = page.run(
        "const copy = document.querySelector('article').cloneNode(true);"
        "copy.querySelectorAll('pre, code, script, mjx-container, .highlight')"
        ".forEach(e => e.remove()); return copy.textContent"
    )
    return TEX.findall(text)


def widths_beyond_the_window(page):
    widths = []
    for mode in MODES:
        choose(page.browser, mode)
        widths.append(page.run("return document.documentElement.scrollWidth"))
    return [width for width in widths if width > page.width]


def wide_tables_that_do_not_scroll_inside_themselves(page):
    return page.run(
        "return [...document.querySelectorAll('article table')].filter(t => {"
        "  for (let e = t.parentElement; e.tagName !== 'ARTICLE'; e = e.parentElement)"
        "    if (['auto', 'scroll'].includes(getComputedStyle(e).overflowX)) return false;"
        "  return t.getBoundingClientRect().right > innerWidth"
        "}).map(t => t.textContent.slice(0, 80))"
    )


def pictures_without_an_alternative_text(page):
    images = page.run(
        "return [...document.querySelectorAll('main img')]"
        ".map(e => [e.naturalWidth, e.alt || '', e.src])"
    )
    # Without a text of ours the builder puts in the name of the file.
    return [src for n, alt, src in images if not n or len(re.findall(r"[a-z]+ ", alt)) < 8]


def headings_out_of_order(page):
    levels = page.run(
        "return [...document.querySelectorAll("
        "'article h1, article h2, article h3, article h4')].map(e => +e.tagName[1])"
    )
    titles = [] if levels[0] == 1 == levels.count(1) else [f"{levels.count(1)} titles"]
    return titles + [f"{a} before {b}" for a, b in pairwise(levels) if b > a + 1]


def what_the_line_under_the_title_lacks(page):
    line, links = page.run(
        "const line = document.querySelector('h1 + .masthead');"
        "return [line.innerText, [...line.querySelectorAll('a')].map(e => e.textContent)]"
    )
    name = page.page.removesuffix(".html")
    runs = "{code-cell}" in (SOURCE / f"{name}.md").read_text("utf-8")
    lacks = {
        "a time": not re.match(r"\d+ min read", line),
        "its sources": links != ([".ipynb", ".md"] if runs else [".md"]),
        "the command": (f"make run PAGE={name}" in line) != runs,
    }
    return [part for part, lacking in lacks.items() if lacking]


# What a test of this file, of the navigation, or of the dead links uses.
USED = [
    *(".primary-toggle", ".secondary-toggle", ".bd-links summary", ".search-button__button"),
    *(".theme-switch-button", ".dropdown-download-buttons > button", "form.bd-search input"),
    *("details.above-input > summary", ".copybtn", "button.enlarge", ".masthead summary"),
    "details.sd-dropdown > summary",
]
UNUSED = """
const controls = 'button, input, select, summary, [role=button], [onclick]';
const seen = e => e.checkVisibility({visibilityProperty: true}) && !e.closest('mjx-container');
const strange = [...document.querySelectorAll(controls)].filter(e => !e.matches(arguments[0]));
const nowhere = document.querySelectorAll('a:not([href]), a[href=""], a[target]');
return [...strange, ...nowhere].filter(seen).map(e => e.outerHTML.slice(0, 200));
"""


def controls_that_no_test_uses(page):
    return page.run(UNUSED, ",".join(USED))


CHECKS = (
    requests_that_fail_or_leave_and_errors,
    mathematics_that_is_not_rendered,
    tex_in_the_text,
    widths_beyond_the_window,
    wide_tables_that_do_not_scroll_inside_themselves,
    pictures_without_an_alternative_text,
    headings_out_of_order,
    what_the_line_under_the_title_lacks,
    controls_that_no_test_uses,
)
# On an empty page nothing is wrong: the least numbers of pictures and formulas.
LEAST = {"partition.html": (6, 100)}


@pytest.mark.parametrize("width", [PHONE, WIDE])
@pytest.mark.parametrize("page", BOOK)
def test_nothing_is_wrong_with_a_page(browser, server, page, width):
    visit(browser, f"{server}/{page}", width)
    state = opened(browser, page, width)
    assert {check.__name__: found for check in CHECKS if (found := check(state))} == {}
    pictures, formulas = LEAST.get(page, (0, 0))
    assert len(browser.find_elements(By.CSS_SELECTOR, "main img")) >= pictures
    assert len(browser.find_elements(By.CSS_SELECTOR, "mjx-container")) >= formulas
    if width == WIDE and shown(browser, "article figure img"):
        assert words_that_are_hard_to_read(browser) == []


@pytest.mark.parametrize(("page", "width"), [("search", WIDE), ("genindex", WIDE), ("index", 768)])
def test_no_control_is_unknown(browser, server, page, width):
    visit(browser, f"{server}/{page}.html", width)
    assert controls_that_no_test_uses(opened(browser, page, width)) == []


def add(html):
    return f"document.querySelector('article').insertAdjacentHTML('beforeend', `{html}`)"


# What is planted into a page, the check that must find it, and how it is named there.
FAULTS = [
    ("fetch('http://example.org/x')", requests_that_fail_or_leave_and_errors, "example.org/x"),
    ("fetch('gone.js')", requests_that_fail_or_leave_and_errors, "gone.js"),
    ("setTimeout(() => {throw Error('odd')})", requests_that_fail_or_leave_and_errors, "odd"),
    (add("<p class='math'>x</p>"), mathematics_that_is_not_rendered, "'x'"),
    (
        add("<p class='math'>y<mjx-container><mjx-merror></mjx-merror></mjx-container></p>"),
        mathematics_that_is_not_rendered,
        "'y'",
    ),
    (add("<p>It is $x$.</p>"), tex_in_the_text, "$"),
    (add("<p>{ref}`x`</p>".replace("`", "\\`")), tex_in_the_text, "{ref}`"),
    ("document.body.style.width = '5000px'", widths_beyond_the_window, "[5"),
    (
        add("<table style='width: 3000px'><tr><td>table</td></tr></table>"),
        wide_tables_that_do_not_scroll_inside_themselves,
        "table",
    ),
    (
        add("<img src='_static/favicon.svg' alt='_images/0123456789abcdef.svg'>"),
        pictures_without_an_alternative_text,
        "favicon",
    ),
    (add("<h1>x</h1>"), headings_out_of_order, "2 titles"),
    (add("<h4>x</h4>"), headings_out_of_order, "1 before 4"),
    (
        "document.querySelector('h1 + .masthead a').remove()",
        what_the_line_under_the_title_lacks,
        "its sources",
    ),
    (add("<button>x</button>"), controls_that_no_test_uses, "<button>"),
    (add("<a>nowhere</a>"), controls_that_no_test_uses, "<a>nowhere"),
]


def test_each_planted_fault_is_found(browser, server):
    visit(browser, f"{server}/library.html")
    for script, _, _ in FAULTS:
        browser.execute_script(script)
    time.sleep(0.5)
    state = opened(browser, "library.html", WIDE)
    found = {check: repr(check(state)) for check in CHECKS}
    assert [name for _, check, name in FAULTS if name not in found[check]] == []
    assert {check for _, check, _ in FAULTS} == set(CHECKS)


# --- figures --------------------------------------------------------------------------------


def luminance(colours):
    """Relative luminance of sRGB colours, as WCAG 2 defines it."""
    share = np.asarray(colours, float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    lighter, darker = np.maximum(one, other), np.minimum(one, other)
    return (lighter + 0.05) / (darker + 0.05)


def test_black_on_white_has_the_greatest_contrast():
    white = luminance([255, 255, 255])
    assert contrast(luminance([0, 0, 0]), white) == pytest.approx(21)
    assert contrast(luminance([118, 118, 118]), white) == pytest.approx(4.54, abs=0.005)


INLINE = """
const images = [...document.querySelectorAll('article figure img')];
const text = image => fetch(image.src).then(answer => answer.text());
return Promise.all(images.map(text)).then(texts => { document.body.innerHTML = texts.join('') });
"""
WORDS = """
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
"""


def words_that_are_hard_to_read(browser, least=4.5):
    """Boxes of figure texts of which a tenth or more has too little contrast behind the letters.

    In both modes. The figures are put in place of the page, their letters hidden, and what is
    behind them photographed.
    """
    poor = []
    browser.execute_script(INLINE)
    for mode in MODES:
        prefer(browser, mode)
        for (left, top, right, bottom), words in browser.execute_script(WORDS):
            shot = photograph(browser, left, top, right - left, bottom - top)
            assert words, "a figure without words"
            for x0, y0, x1, y1, *colour in words:
                rows = slice(int(y0 - top), int(y1 - top) + 1)
                behind = luminance(shot[rows, int(x0 - left) : int(x1 - left) + 1])
                if np.mean(contrast(luminance(colour), behind) < least) > 0.1:
                    poor.append((mode, round(x0 - left), round(y0 - top), tuple(colour)))
    prefer(browser)
    return poor


def photograph(browser, x, y, width, height):
    """The pixels of a part of the page."""
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    options = {"format": "png", "captureBeyondViewport": True, "clip": clip}
    data = browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def test_words_that_are_hard_to_read_are_found(browser, server):
    """Also those that are so in one mode only: here grey on the dark paper."""
    visit(browser, f"{server}/ordering.html")
    browser.execute_script(
        "const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');"
        "window.fetch = address => Promise.resolve({text: () => `<svg width='99' height='99'>"
        "<style>@media (prefers-color-scheme: dark) {rect {fill: #121212}}</style>"
        "<rect width='99' height='99' fill='#fff'/>"
        "<g id='text_1' fill='#444'><path d='M9 9h9v9z'/></g></svg>`})"
    )
    figures = len(browser.find_elements(By.CSS_SELECTOR, "article figure img"))
    found = words_that_are_hard_to_read(browser)
    assert found == [("dark", 9, 9, (68, 68, 68))] * figures


def test_figures_follow_the_chosen_scheme(browser, server):
    """The first pixel of a figure is its background, in the colour of the chosen mode."""
    visit(browser, f"{server}/index.html")
    image = bring_into_view(browser, browser.find_elements(By.CSS_SELECTOR, "main img")[1])
    for mode, paper in MODES.items():
        choose(browser, mode)
        shot = Image.open(io.BytesIO(image.screenshot_as_png)).convert("RGB")
        assert "#{:02x}{:02x}{:02x}".format(*shot.getpixel((3, 3))) == paper


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_a_figure_enlarges_and_closes(browser, server, width):
    visit(browser, f"{server}/ordering.html", width)
    figure = browser.find_element(By.CSS_SELECTOR, "article figure button.enlarge")
    bring_into_view(browser, figure)
    before = figure.find_element(By.TAG_NAME, "img").rect["width"]
    figure.send_keys(Keys.ENTER)
    large = browser.find_element(By.CSS_SELECTOR, "dialog[open].enlarged img")
    assert large.rect["width"] > 1.2 * before
    assert large.get_attribute("alt")
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert browser.find_elements(By.CSS_SELECTOR, "dialog.enlarged") == []


# --- links ----------------------------------------------------------------------------------

# On a page, what a link leads to, and words or an element of what is shown of it.
PREVIEWS = {
    "ordering": {
        "partition.html#thm-bounds": ("Bounds on the best", "mjx-container"),  # of another page
        "#fig-orders": ("Bottleneck of several orders", "img"),
        "#id": ("doi:", "a"),  # of a publication
        "api/ordering.html#decentral.ordering.best_order": ("best_order(", "p"),
    },
    "inner_steps": {"#equation-eq-server": ("", "mjx-container")},  # of this page
    "api/ordering": {"../ordering.html#thm-subset": ("The subset", "mjx-container")},
}


@pytest.mark.parametrize("page", PREVIEWS)
def test_a_link_shows_what_it_leads_to(browser, server, page):
    visit(browser, f"{server}/{page}.html")
    for target, (words, element) in PREVIEWS[page].items():
        path = f"article a.reference.internal[href^='{target}']"
        link = bring_into_view(browser, browser.find_element(By.CSS_SELECTOR, path))
        ActionChains(browser).move_to_element(link).perform()
        until(browser, lambda link=link: link.get_attribute("aria-describedby"))
        box = browser.find_element(By.ID, "preview")
        assert words in box.text
        shown = box.find_element(By.TAG_NAME, element)
        assert element != "img" or shown.get_property("naturalWidth")
        assert box.rect["x"] >= 0
        assert box.rect["x"] + box.rect["width"] <= WIDE
        ActionChains(browser).send_keys(Keys.ESCAPE).perform()
        assert browser.find_elements(By.ID, "preview") == []
    assert failed_requests(browser) == []
