"""The search: without a network, by section, in words."""

from urllib.parse import unquote, urlsplit

import pytest
from selenium.webdriver.common.by import By
from tests.book.test_browser import TEX
from tests.book.test_site import PAGES, SITE
from tests.book.visits import until, visit


def search(browser, place, words):
    """Search, and return the results from the first to the last."""
    visit(browser, f"{place}/search.html?q={words}")
    finished = "return document.querySelector('.search-summary')?.textContent"
    until(browser, browser.execute_script, finished)
    return browser.find_elements(By.CSS_SELECTOR, "#search-results li")


def address(result):
    return result.find_element(By.TAG_NAME, "a").get_attribute("href")


# The page of the first result for a word, and the section or entry that it opens.
PLACES = {
    "bubble": ("partition.html", "The bubble formula"),
    "Kantorovich": ("inner_steps.html", "The best weights of one mode"),
    "hardness": ("ordering.html", "Hardness"),
    "best_quorum": ("api/stragglers.html", "best_quorum"),
}
TEXT = """
const target = document.getElementById(arguments[0]);
const place = target?.closest('dl.py, div.proof, section');
const top = place?.getBoundingClientRect().top;
return [place?.textContent.toLowerCase() ?? '', top];
"""


@pytest.mark.parametrize("word", PLACES)
def test_a_result_opens_at_the_section_that_has_the_word(browser, server, word):
    page, name = PLACES[word]
    found = [x for x in search(browser, server, word) if urlsplit(address(x)).path == f"/{page}"]
    link = address(found[0])
    assert name in found[0].text
    visit(browser, link)
    text, top = browser.execute_script(TEXT, unquote(urlsplit(link).fragment))
    assert word.lower() in text
    assert 0 <= top < 900


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("synchronization interval", "inner_steps.html"),
        ("non-iid", "stragglers.html"),
        ("errata", "ledger.html"),
        ("4090", "api/machines.html"),
    ],
)
def test_a_page_is_found_by_words_that_it_does_not_use(browser, server, words, page):
    assert f"{server}/{page}" in [address(x).split("#")[0] for x in search(browser, server, words)]


@pytest.mark.parametrize("words", ["best_quorum", "outage", "equal weights"])
def test_results_are_prose(browser, server, words):
    results = search(browser, server, words)
    assert results
    assert TEX.findall(" ".join(x.text for x in results)) == []
    links = [address(x) for x in results]
    assert len(links) == len(set(links))
    assert all(x.find_element(By.CLASS_NAME, "context").text for x in results)


def test_a_book_in_a_folder_can_be_searched(browser):
    """Where no page can be fetched a result is a link to its page."""
    links = [address(x) for x in search(browser, SITE.as_uri(), "Kantorovich")]
    assert links == [(SITE / "inner_steps.html").as_uri()]


def test_only_the_page_of_the_search_loads_its_script():
    loading = [x for x in PAGES if "_static/search.js" in (SITE / x).read_text("utf-8")]
    assert loading == ["search.html"]
