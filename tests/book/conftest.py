import functools
import http.server
import io
import threading

import pytest
from tests.book import browser as browsers
from tests.book.made_up import made_up

from papers import claims
from papers.claims import Found, Published, Verdict, judge


@pytest.fixture
def ascii_elsewhere(monkeypatch):
    """Where no encoding is named it is ASCII, as on machines of another language."""
    named = io.text_encoding
    monkeypatch.setattr(io, "text_encoding", lambda x, *level: named(x or "ascii", *level))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing of each request."""


@pytest.fixture(scope="session")
def server(root):
    """The address of the built site."""
    folder = str(root / "_build" / "html")
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One for all tests of a process; each test sets the size of its window."""
    driver = browsers.start(str(tmp_path_factory.mktemp("profile")))
    if driver is None:
        # `-rs` in the settings of pytest prints this at the end of the run.
        pytest.skip("THE BROWSER TESTS WERE SKIPPED: no Chromium, and none could be installed")
    yield driver
    driver.quit()


@pytest.fixture
def small_ledger(monkeypatch):
    """A book of two papers, the first of which has three claims."""
    estimate = (Published("share", "14%", "estimate", 400), Published("least", "8", "lower bound"))
    found = (Found(0.16, ".1%", error=0.001, deviation=0.2), Found(9, "d"))
    book = [
        made_up(),
        made_up("X2", Verdict.SHARPENED, place="sec-b", published=estimate, compute=lambda: found),
        made_up("X3", Verdict.CORRECTED, compute=lambda: (Found(2.5, ".2f"),), remark="Oh."),
        made_up("Y1", Verdict.CORRECTED, paper="other", place="cor-c", correction="Nor so."),
        made_up("Y2", paper="other"),
    ]  # fmt: skip
    monkeypatch.setattr(claims, "PAPERS", ("two_words", "other"))
    monkeypatch.setattr(claims, "registry", lambda: {one.id: one for one in book})
    monkeypatch.setattr(claims, "judgement", lambda name: judge(claims.registry()[name]))
