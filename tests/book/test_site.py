"""The built site as files: self-contained, light, with links that lead somewhere."""

import re
from pathlib import Path

import pytest

from papers.site.assets import unused

SITE = Path(__file__).parents[2] / "_build" / "html"
SOURCE = SITE.parents[1] / "book"
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
BOOK = [name for name in PAGES if (SOURCE / name).with_suffix(".md").is_file()]


def test_the_site_is_built():
    pages = {str(path.relative_to(SOURCE).with_suffix(".html")) for path in SOURCE.rglob("*.md")}
    assert set(BOOK) == pages, "run `make book`"


# Links of a head that a browser does not follow.
CANONICAL = r"\brel=[\"']?(?:canonical|alternate|license|author|next|prev|index|search)\b"


def outside(text):
    """What a page loads from elsewhere."""
    far = r"[\"'(\s]*((?:https?:)?//[^\"'\s)>]+)"
    tags = "".join(re.findall(r"<(?!a\b)\w[^>]*>", text))  # what a reader clicks on is no request
    loaded = re.findall(rf"\b(?:src|srcset|data|poster|background)={far}", tags)
    linked = [tag for tag in re.findall(r"<link\b[^>]*>", tags) if not re.search(CANONICAL, tag)]
    loaded += re.findall(rf"\bhref={far}", "".join(linked))
    loaded += re.findall(rf"(?:\burl|@import|\bfetch|\bimport|\bWebSocket)\b{far}", text)
    return loaded + re.findall(r"(?i)unpkg|cdn", text)


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


def test_nothing_that_no_page_loads_is_left_and_the_rest_is_there():
    assert unused(SITE / "_static") == []
    mathjax = SITE / "_static" / "mathjax"
    assert [path.name for path in mathjax.glob("*.js")] == ["tex-chtml.js"]
    assert {path.name for path in mathjax.glob("sre/mathmaps/*")} == {"base.json", "en.json"}
    assert (mathjax / "input" / "tex").is_dir()
    assert list(mathjax.glob("output/chtml/**/*.js"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_each_script_once_and_no_live_code(page):
    scripts = re.findall(r'<script\b[^>]*\bsrc="([^"]+)"', (SITE / page).read_text("utf-8"))
    assert len(scripts) == len(set(scripts)) > 5
    assert not [script for script in scripts if "thebe" in script]


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
        "<script src='https://example.org/x.js'></script>",
        '<link rel="preconnect" href="https://example.org">',
        '<link rel="manifest" href="https://example.org/m.json">',
        '<video src="https://example.org/x.mp4"></video>',
        '<object data="https://example.org/x.svg"></object>',
        '<img alt="" srcset="https://example.org/x.png 2x">',
        '<p style="background: url(https://example.org/x.png)">x</p>',
        '<style>@import "https://example.org/x.css";</style>',
        "<script>fetch('https://example.org/x.json')</script>",
    ],
)
def test_a_planted_request_is_found(tag):
    assert outside(f"<html><head>{tag}</head></html>")


def test_links_that_a_reader_may_follow_are_no_requests():
    assert outside('<a href="https://example.org/x">x</a>') == []
    assert outside('<link rel="canonical" href="https://example.org/x">') == []


def test_no_stylesheet_loads_anything_from_elsewhere():
    sheets = list(SITE.rglob("*.css"))
    found = {path.name: outside(path.read_text("utf-8")) for path in sheets}
    assert [(name, x) for name, links in found.items() for x in links if "//" in x] == []
    assert len(sheets) > 5


def test_a_planted_dead_link_and_a_missing_number_are_found(tmp_path):
    page = '<p id="here"><a href="{}">x</a></p>'
    for link, dead in (("#here", 0), ("#there", 1), ("index.html#here", 0), ("gone.html", 1)):
        (tmp_path / "index.html").write_text(page.format(link))
        assert len(dead_links(tmp_path, "index.html")) == dead, link
    assert missing_numbers('It is <span class="pasted-text"> </span> long.')
