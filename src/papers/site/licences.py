"""List the licences of all pinned packages in the colophon: ``python -m papers.site.licences``."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

# Pinned for other systems than this one.
_ELSEWHERE = {
    "appnope": "BSD-2-Clause",
    "cffi": "MIT",
    "colorama": "BSD-3-Clause",
    "pycparser": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "tzdata": "Apache-2.0",
}
_START, _END = "<!-- licences: written by `make lock` -->", "<!-- end -->"


def pins(requirements: str) -> dict[str, str]:
    r"""Return the pinned version of each package of a lock.

    Examples
    --------
    >>> from papers.site.licences import pins
    >>> pins("numpy==2.4.6\nPyYAML==6.0 ; sys_platform == 'linux'")
    {'numpy': '2.4.6', 'pyyaml': '6.0'}
    """
    found = re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", requirements)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def licence(package: Distribution) -> str:
    """Return what a package says of its licence, in few words.

    That is its licence expression, or a short licence field, or else its classifiers.
    """
    metadata = package.metadata.json
    field = str(metadata.get("license_expression") or metadata.get("license") or "")
    if 0 < len(field) < 60 and "Copyright" not in field and field != "UNKNOWN":
        return field
    kinds = [kind for kind in metadata.get("classifier", []) if kind.startswith("License")]
    return ", ".join(kind.split(" :: ")[-1] for kind in kinds)


def rows(requirements: str) -> list[str]:
    """Return a row of the table for each pinned package."""
    table = []
    for name in sorted(pins(requirements)):
        try:
            words = licence(distribution(name))
        except PackageNotFoundError:
            words = _ELSEWHERE[name]
        table.append(f"| {name} | `{words}` |")
    return table


def main(colophon: Path, requirements: Path) -> None:
    """Write the table into the colophon."""
    table = ["| Package | Licence |", "|:--|:--|", *rows(requirements.read_text("utf-8"))]
    text = colophon.read_text("utf-8")
    before, after = text.split(_START)[0], text.split(_END)[1]
    block = "\n".join([_START, "", *table, "", _END])
    colophon.write_text(before + block + after, "utf-8")


if __name__ == "__main__":
    main(Path("book/colophon.md"), Path("requirements.txt"))
