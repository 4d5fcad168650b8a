"""Small books for the tests of the build, and pieces of pages, notebooks and Sphinx."""

import shutil
from pathlib import Path
from types import SimpleNamespace

from nbformat import v4

ROOT = Path(__file__).parents[2]
CELL = "```{code-cell} ipython3\n"
HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: The Python of this machine
  language: python
  name: python3
---
"""


def page(code, prose="Text."):
    """The text of a page with one cell."""
    return f"{HEADER}\n# Page\n\n{prose}\n\n{CELL}{code}\n```\n"


def lay(folder, **files):
    """Write files, with folders below; the names of pages need no ending."""
    for name, text in files.items():
        path = folder / (name if "." in name else f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def lay_book(folder, pages, law, chapters=()):
    """Lay out a project with the book's own settings, and a module of its own."""
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ROOT / "book" / "_static", folder / "book" / "_static")
    order = (
        "\nchapters:\n" + "".join(f"  - file: {page}\n" for page in chapters) if chapters else ""
    )
    inputs = dict.fromkeys(("requirements.txt", "pyproject.toml", "book/references.bib"), "")
    lay(folder, **inputs, **{"src/law.py": law, "_toc.yml": f"format: jb-book\nroot: index{order}"})
    lay(folder / "book", **pages)
    return folder


def files(folder):
    """The names of all files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def words(element):
    """The text of an element of HTML, with single spaces."""
    return " ".join(element.get_text().split()).replace(" ,", ",")


def code(source="", *outputs, **metadata):
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def stream(text, name="stdout"):
    return v4.new_output("stream", text=text, name=name)


def shown(text="shown", **kinds):
    return v4.new_output("display_data", {"text/plain": text, **kinds})


def svg(picture):
    return shown(**{"image/svg+xml": picture})


class App(SimpleNamespace):
    """What an extension of Sphinx is set up with; it remembers what was connected."""

    def __init__(self, **given):
        super().__init__(connected=[], transforms=[], **given)

    def connect(self, event, handler, priority=500):
        self.connected.append((event, handler, priority))

    def add_post_transform(self, transform):
        self.transforms.append(transform)
