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


@pytest.mark.parametrize("page", PAGES)
def test_every_local_link_leads_somewhere(page):
    text = (SITE / page).read_text("utf-8")
    targets = {link.split("#")[0].split("?")[0] for link in re.findall(r'href="([^"]+)"', text)}
    local = {t for t in targets if t and not re.match(r"[a-z]+:|//", t)}
    assert [t for t in sorted(local) if not (SITE / page).parent.joinpath(t).is_file()] == []


@pytest.mark.parametrize("page", BOOK)
def test_every_anchor_exists(page):
    text = (SITE / page).read_text("utf-8")
    for target, anchor in re.findall(r'href="([\w./-]*)#([^"]+)"', text):
        other = (SITE / page).parent.joinpath(target).read_text("utf-8") if target else text
        assert f'id="{anchor}"' in other, f"{target}#{anchor}"
