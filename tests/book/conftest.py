import functools
import http.server
import threading

import pytest
from tests.book import browser as browsers


@pytest.fixture(scope="session")
def server(root):
    """The address of the built site."""
    folder = str(root / "_build" / "html")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = browsers.start(str(tmp_path_factory.mktemp("profile")))
    if driver is None:
        # `-rs` in the settings of pytest prints this at the end of the run.
        pytest.skip("THE BROWSER TESTS WERE SKIPPED: no Chromium, and none could be installed")
    yield driver
    driver.quit()
