"""The pins: every dependency, no other, each with its hashes, and its licence in the colophon."""

import importlib.metadata
import re
import tomllib
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.book.small_books import ROOT, lay

from papers.site import licences

LOCK = (ROOT / "requirements.txt").read_text("utf-8")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = {normal(Requirement(line).name) for group in groups for line in group}
    assert wanted <= set(licences.pins(LOCK)), "run `make lock`"


def test_what_is_installed_is_what_is_pinned():
    """Nothing else, and no other version; the package itself and pip aside."""
    packages = importlib.metadata.distributions()
    installed = {normal(package.name): package.version for package in packages}
    others = {name: x for name, x in installed.items() if name not in ("pip", "decentral")}
    assert others.items() <= licences.pins(LOCK).items()
    for line in re.findall(r"(?m)^\S+==.*$", LOCK):
        pin = Requirement(line.rstrip(" \\"))
        if pin.marker is None or pin.marker.evaluate():
            assert normal(pin.name) in installed


def test_every_pin_has_a_hash():
    blocks = re.split(r"(?m)^(?=\S)", LOCK)
    pinned = [block for block in blocks if "==" in block]
    assert len(pinned) > 100
    assert [block for block in pinned if "--hash=sha256:" not in block] == []


def test_the_colophon_lists_every_licence():
    rows = licences.rows(LOCK)
    page = (ROOT / "book" / "colophon.md").read_text("utf-8")
    assert [row for row in rows if row not in page] == [], "run `make lock`"
    assert [row for row in rows if row.endswith("| `` |")] == []
    assert page.count("\n| ") == len(rows) + 1


# --- the table of licences ------------------------------------------------------------------


class Package(Distribution):
    """An installed package that says this of itself."""

    def __init__(self, *fields):
        self.fields = fields

    def read_text(self, filename):
        if filename != "METADATA":
            return None
        message = Message()
        for key, value in (("Name", "package"), ("Version", "1"), *self.fields):
            message[key] = value
        return message.as_string()

    def locate_file(self, path):
        return Path(path)


KIND = "License :: OSI Approved :: MIT License"
KINDS = [("Classifier", KIND), ("Classifier", "License :: Other"), ("Classifier", "Topic :: Text")]


def test_pins_are_found_by_their_normal_names():
    lock = """# comment==0
numpy==2.4.6 \\
    --hash=sha256:00==
Zope.Inter_face==6.0 ; sys_platform == 'linux'
a--b==1;marker
"""
    assert licences.pins(lock) == {"numpy": "2.4.6", "zope-inter-face": "6.0", "a-b": "1"}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ([("License-Expression", "BSD-3-Clause"), ("License", "BSD")], "BSD-3-Clause"),
        ([("License", "BSD")], "BSD"),
        ([("License", "L" * 60)], "MIT License, Other"),
        ([("License", "Copyright of somebody")], "MIT License, Other"),
        ([("License", "UNKNOWN")], "MIT License, Other"),
        ([], "MIT License, Other"),
    ],
)
def test_a_licence_is_said_in_few_words(field, said):
    assert licences.licence(Package(*field, *KINDS)) == said


@pytest.fixture
def installed(monkeypatch):
    packages = {"numpy": Package(("License", "BSD")), "zlib": Package(("License", "Zlib"))}

    def distribution(name):
        if name not in packages:
            raise PackageNotFoundError(name)
        return packages[name]

    monkeypatch.setattr(licences, "distribution", distribution)


@pytest.mark.usefixtures("installed")
def test_every_pin_has_a_row_also_those_of_other_systems():
    lock = "zlib==1\nPyWin32==3\nnumpy==2\n"
    assert licences.rows(lock) == [
        "| numpy | `BSD` |",
        "| pywin32 | `PSF-2.0` |",
        "| zlib | `Zlib` |",
    ]
    with pytest.raises(KeyError, match="nobody-knows"):
        licences.rows("nobody-knows==1\n")


@pytest.mark.usefixtures("installed", "ascii_elsewhere")
def test_the_table_is_written_between_its_marks(tmp_path):
    start, end = "<!-- licences: written by `make lock` -->", "<!-- end -->"
    lay(tmp_path, page=f"Café\n\n{start}\nold\n{end}\n\nMore é\n", lock="# é\nnumpy==2\n")
    page, lock = tmp_path / "page.md", tmp_path / "lock.md"
    table = "| Package | Licence |\n|:--|:--|\n| numpy | `BSD` |"
    for _ in range(2):
        licences.main(page, lock)
        assert page.read_text("utf-8") == f"Café\n\n{start}\n\n{table}\n\n{end}\n\nMore é\n"
