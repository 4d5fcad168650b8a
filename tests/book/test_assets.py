"""What is left out of the pages and of the site; ``test_site`` looks at what is left."""

from types import SimpleNamespace

from tests.book.small_books import App, files, lay

from papers.site import assets


def script(name, **attributes):
    return SimpleNamespace(filename=name, attributes=attributes)


def tidied(*scripts, page="page"):
    context = {"script_files": list(scripts)}
    assets.tidy_scripts(App(), page, "page.html", context, None)
    return context["script_files"]


def test_a_script_that_is_there_twice_is_loaded_once_and_in_its_place():
    first, second = script("a.js"), script("b.js")
    assert tidied(first, second, script("a.js"), "c.js", "c.js") == [first, second, "c.js"]


def test_scripts_that_differ_in_name_or_attributes_are_all_kept():
    scripts = [script("a.js"), script("a.js", body="1"), script("a.js", body="2"), script("b.js")]
    assert tidied(*scripts) == scripts


def test_live_code_scripts_are_dropped():
    wanted = script("a.js")
    unwanted = ["_static/sphinx-Thebe.js", script(None, body="var THEBE = 1"), script("thebe.js")]
    assert tidied(*unwanted, wanted) == [wanted]


def test_the_script_of_the_search_is_loaded_by_its_page_only():
    search = script("_static/search.js")
    assert tidied(search) == []
    assert tidied(search, page="search") == [search]


UNUSED = {
    "a/style.css.map",
    "fonts/old.ttf",
    "locales/de/LC_MESSAGES/theme.mo",
    "mathjax/input/asciimath.js",
    "mathjax/input/mml.js",
    "mathjax/input/mml/entities.js",
    "mathjax/input/mml/extensions/mml3.js",
    "mathjax/input/tex-base.js",
    "mathjax/output/svg.js",
    "mathjax/output/svg/fonts/tex.js",
    "mathjax/output/svg/svg.js",
    "mathjax/sre/mathmaps/de.json",
    "mathjax/tex-svg.js",
    "sphinx-thebe.js",
    "webpack-macros.html",
}
USED = {
    "fonts/new.woff2",
    "mathjax/input/tex.js",
    "mathjax/input/tex/extensions/ams.js",
    "mathjax/output/chtml.js",
    "mathjax/output/chtml/fonts/tex.js",
    "mathjax/sre/mathmaps/base.json",
    "mathjax/sre/mathmaps/en.json",
    "mathjax/sre/speech-worker.js",
    "mathjax/tex-chtml.js",
    "page.html",
    "theme.js",
}


def test_what_no_page_loads_is_deleted_and_nothing_else_if_the_build_succeeds(tmp_path):
    static = lay(tmp_path / "_static", **dict.fromkeys(UNUSED | USED, ""))
    app = App(outdir=str(tmp_path))
    assets.drop_unused(app, OSError())
    assert files(static) == UNUSED | USED
    assets.drop_unused(app, None)
    assert files(static) == USED
