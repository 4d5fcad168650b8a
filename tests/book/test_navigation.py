"""Every control that a reader sees is used once, at three widths where it differs.

Most of it on the front page, which is there soonest.
"""

from urllib.parse import urlsplit

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.book import visits
from tests.book.test_site import SITE
from tests.book.visits import (
    PHONE,
    TABLET,
    WIDE,
    bring_into_view,
    hidden,
    in_front,
    shown,
    until,
    visit,
)

# --- the menus ------------------------------------------------------------------------------

MENUS = {"primary": ".bd-links a", "secondary": "nav.page-toc a"}


def click_at(browser, x, y=400):
    """Click at a point of the window, wherever the pointer was left."""
    actions = ActionBuilder(browser)
    actions.pointer_action.move_to_location(x, y).click()
    actions.perform()


def use_a_menu(browser, side, width):
    """Open and close a menu by mouse, then by keyboard."""
    content = MENUS[side]
    wide = width > 992
    (button,) = shown(browser, f".{side}-toggle")

    def close():
        if wide:
            button.click()
        else:
            click_at(browser, 4 if side == "secondary" else width - 40)  # left of the scroll bar

    if wide:
        until(browser, in_front, browser, content)
        close()
    until(browser, hidden, browser, content)
    button.click()
    until(browser, in_front, browser, content)
    close()
    until(browser, hidden, browser, content)
    button.send_keys(Keys.ENTER)
    until(browser, in_front, browser, content)
    if wide:
        button.send_keys(Keys.ENTER)
    else:
        browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    until(browser, hidden, browser, content)
    if not wide:
        assert browser.switch_to.active_element == button


@pytest.mark.parametrize("width", [WIDE, TABLET, PHONE])
def test_menus_open_and_close(browser, server, width):
    visit(browser, f"{server}/index.html", width)
    use_a_menu(browser, "primary", width)
    if width == WIDE:
        assert in_front(browser, MENUS["secondary"])  # always, so there is no button
        assert shown(browser, ".secondary-toggle") == []
    else:
        use_a_menu(browser, "secondary", width)


def test_a_dead_menu_is_found(browser, server, monkeypatch):
    monkeypatch.setattr(visits, "SECONDS", 1)
    visit(browser, f"{server}/colophon.html", PHONE)
    (button,) = shown(browser, ".primary-toggle")
    browser.execute_script("arguments[0].replaceWith(arguments[0].cloneNode(true))", button)
    with pytest.raises(TimeoutException):
        use_a_menu(browser, "primary", PHONE)


SECTION = "install-it-run-it"


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_the_contents_lead_to_a_section(browser, server, width):
    visit(browser, f"{server}/index.html", width)
    assert hidden(browser, f"#{SECTION} > h2")
    if width == PHONE:
        shown(browser, ".secondary-toggle")[0].click()
    path = f"nav.page-toc a[href='#{SECTION}']"
    until(browser, in_front, browser, path)
    shown(browser, path)[0].click()
    until(browser, in_front, browser, f"#{SECTION} > h2")


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_the_site_menu_leads_to_a_page(browser, server, width):
    visit(browser, f"{server}/colophon.html", width)
    if width == PHONE:
        shown(browser, ".primary-toggle")[0].click()
    until(browser, in_front, browser, ".bd-links .toctree-toggle")
    shown(browser, ".bd-links .toctree-toggle")[0].click()
    inner = until(browser, lambda: shown(browser, ".bd-links a[href='api/errors.html']"))[0]
    inner.click()
    until(browser, lambda: browser.current_url == f"{server}/api/errors.html")


def test_the_name_of_the_book_leads_to_its_first_page(browser, server):
    visit(browser, f"{server}/api/errors.html")
    shown(browser, ".navbar-brand")[0].click()
    until(browser, lambda: browser.current_url == f"{server}/index.html")
    assert shown(browser, "a.left-prev") == []


def test_previous_and_next_lead_to_the_neighbours(browser, server):
    visit(browser, f"{server}/library.html")
    for link, page in (("right-next", "api/partition"), ("left-prev", "library")):
        shown(browser, f"a.{link}")[0].click()
        until(browser, lambda page=page: browser.current_url == f"{server}/{page}.html")


# --- the top of a page ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "width"), [("mouse", WIDE), ("keyboard", WIDE), ("mouse", TABLET), ("mouse", PHONE)]
)
def test_the_search_button_opens_the_field(browser, server, how, width):
    visit(browser, f"{server}/api/errors.html", width)
    if how == "mouse":
        shown(browser, ".search-button__button")[0].click()
    else:
        ActionChains(browser).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    until(browser, in_front, browser, "#pst-search-dialog input")
    browser.switch_to.active_element.send_keys("hardness", Keys.ENTER)
    until(browser, lambda: shown(browser, "#search-results li a"))
    assert browser.current_url.startswith(f"{server}/search.html?q=hardness")


def test_the_search_page_has_a_field_of_its_own(browser, server):
    visit(browser, f"{server}/search.html")
    (field,) = shown(browser, "form.bd-search input")
    field.send_keys("hardness", Keys.ENTER)
    until(browser, lambda: shown(browser, "#search-results li a"))


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_the_colour_button_goes_round(browser, server, width):
    visit(browser, f"{server}/colophon.html", width)
    (button,) = shown(browser, ".theme-switch-button")
    seen = []
    for press in (button.click, lambda: button.send_keys(Keys.ENTER), button.click):
        press()
        seen.append(
            browser.execute_script(
                "return [document.documentElement.dataset.mode,"
                "getComputedStyle(document.body).backgroundColor]"
            )
        )
    assert [mode for mode, _ in seen] == ["dark", "light", "auto"]
    assert seen[0][1] != seen[1][1]


def test_the_download_button_offers_the_source_and_prints(browser, server):
    visit(browser, f"{server}/index.html")
    browser.execute_script("window.print = () => { window.printed = true }")
    shown(browser, ".dropdown-download-buttons > button")[0].click()
    until(browser, in_front, browser, ".btn-download-source-button")
    (link,) = shown(browser, ".btn-download-source-button")
    assert link.get_attribute("href") == f"{server}/_sources/index.md"
    shown(browser, ".btn-download-pdf-button")[0].click()
    assert browser.execute_script("return window.printed")


@pytest.mark.parametrize("page", ["index.html", "api/errors.html"])
def test_downloads_are_there(browser, server, page):
    visit(browser, f"{server}/{page}")
    links = [x.get_attribute("href") for x in shown(browser, ".masthead a[download]")]
    assert links
    for link in links:
        answer = browser.execute_script("return fetch(arguments[0]).then(x => x.text())", link)
        source = SITE / urlsplit(link).path[1:]
        assert answer == source.read_text("utf-8"), link


def test_the_keyboard_can_skip_to_the_text(browser, server):
    visit(browser, f"{server}/colophon.html")
    ActionChains(browser).send_keys(Keys.TAB).perform()
    until(browser, in_front, browser, "#pst-skip-link a:focus")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    until(browser, lambda: browser.current_url.endswith("#main-content"))


# --- in the text ----------------------------------------------------------------------------


def test_folded_code_opens_and_closes(browser, server):
    visit(browser, f"{server}/ordering.html")
    folded = "details.above-input"
    summary = shown(browser, f"{folded} > summary")[0]
    bring_into_view(browser, summary)
    for press in (summary.click, lambda: summary.send_keys(Keys.ENTER)):
        assert summary.text == "Show what this page imports"
        press()
        until(browser, lambda: shown(browser, f"{folded} pre"))
        assert summary.text == "Hide what this page imports"
        press()
        until(browser, lambda: not shown(browser, f"{folded} pre"))


# On a page, what opens and what is in it.
OPENING = {
    "ordering": (".masthead summary", ".masthead pre", "@incollection{"),
    "colophon": ("details.sd-dropdown > summary", "details.sd-dropdown table", "Package"),
}


@pytest.mark.parametrize("page", OPENING)
def test_what_is_folded_opens(browser, server, page):
    visit(browser, f"{server}/{page}.html")
    control, content, words = OPENING[page]
    (summary,) = shown(browser, control)
    assert not shown(browser, content)
    bring_into_view(browser, summary).click()
    (opened,) = until(browser, lambda: shown(browser, content))
    assert opened.text.startswith(words)


def test_code_can_be_copied(browser, server):
    visit(browser, f"{server}/index.html")
    permissions = {"permissions": ["clipboardReadWrite"], "origin": server}
    browser.execute_cdp_cmd("Browser.grantPermissions", permissions)
    block = shown(browser, "article .highlight:has(> .copybtn)")[0]
    code = block.find_element(By.TAG_NAME, "pre").text
    ActionChains(browser).move_to_element(block).perform()
    button = block.find_element(By.CLASS_NAME, "copybtn")
    until(browser, lambda: float(button.value_of_css_property("opacity")) > 0)
    button.click()
    until(browser, lambda: "success" in button.get_attribute("class"))
    copied = browser.execute_script("return navigator.clipboard.readText()")
    assert copied.split() == code.split()
    assert copied


def test_a_heading_offers_a_link_to_itself(browser, server):
    visit(browser, f"{server}/index.html")
    heading = browser.find_element(By.CSS_SELECTOR, f"#{SECTION} > h2")
    bring_into_view(browser, heading)
    ActionChains(browser).move_to_element(heading).perform()
    until(browser, in_front, browser, f"#{SECTION} > h2 > .headerlink")
    heading.find_element(By.CLASS_NAME, "headerlink").click()
    assert browser.current_url.endswith(f"#{SECTION}")
