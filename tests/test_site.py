"""The built site as files: self-contained, light, with links that lead somewhere."""

import re
from pathlib import Path

import pytest

from papers.site import unused

SITE = Path(__file__).parents[1] / "_build" / "html"
SOURCE = SITE.parents[1] / "book"
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
BOOK = [name for name in PAGES if (SOURCE / name).with_suffix(".md").is_file()]


def test_the_site_is_built():
    pages = {str(path.relative_to(SOURCE).with_suffix(".html")) for path in SOURCE.rglob("*.md")}
    assert set(BOOK) == pages, "run `make book`"


def outside(text):
    """What a page loads from elsewhere."""
    loaded = re.findall(r"<(?:script|img|iframe|source)[^>]*\bsrc=\"([^\"]+)\"", text)
    loaded += re.findall(r"<link(?=[^>]*(?:stylesheet|preload|icon))[^>]*\bhref=\"([^\"]+)\"", text)
    return [link for link in loaded if re.match(r"(?:https?:)?//", link)] + re.findall(
        r"(?i)unpkg|cdn", text
    )


def missing_numbers(text):
    """Places where a computed number should stand and does not."""
    return re.findall(r'<span class="pasted-text">\s*</span>', text)


def dead_links(site, page):
    """Links of a page to files that are not there, or to places that are not on them."""
    text, dead = (site / page).read_text("utf-8"), []
    for link in sorted(set(re.findall(r'href="([^"]+)"', text))):
        if re.match(r"[a-z]+:|//", link):
            continue
        target, _, anchor = link.partition("#")
        path = (site / page).parent / target.split("?")[0] if target else site / page
        if not path.is_file() or (
            anchor and page in BOOK and f'id="{anchor}"' not in path.read_text("utf-8")
        ):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_loaded_from_elsewhere(page):
    assert outside((SITE / page).read_text("utf-8")) == []


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
    assert missing_numbers((SITE / page).read_text("utf-8")) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    assert dead_links(SITE, page) == []


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://example.org/x.js"></script>',
        '<script defer src="//example.org/x.js"></script>',
        '<link rel="stylesheet" href="https://example.org/x.css" />',
        '<img alt="" src="http://example.org/x.png">',
        "<script>load('some-cdn')</script>",
    ],
)
def test_a_planted_request_is_found(tag):
    assert outside(f"<html><head>{tag}</head></html>")


def test_a_planted_dead_link_and_a_missing_number_are_found(tmp_path):
    page = '<p id="here"><a href="{}">x</a></p>'
    for link, dead in (("#here", 0), ("#there", 1), ("index.html#here", 0), ("gone.html", 1)):
        (tmp_path / "index.html").write_text(page.format(link))
        assert len(dead_links(tmp_path, "index.html")) == dead, link
    assert missing_numbers('It is <span class="pasted-text"> </span> long.')
