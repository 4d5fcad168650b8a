"""Sphinx extension: the site offers the whole project as one archive.

``pip install`` takes the archive as it is, and ``make`` runs in it once it is unpacked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAME = "exact-laws"
ROOMS = ("book", "notebooks", "src", "tests", "benchmarks", "template", ".ci", ".github")
_MADE = {"__pycache__", "decentral.egg-info"}


def files(root: Path) -> Iterator[Path]:
    """Yield the project's own files, sorted: those on top, and all in its rooms."""
    yield from sorted(path for path in root.iterdir() if path.is_file() and _kept(path))
    for room in ROOMS:
        inside = (path for path in (root / room).rglob("*") if path.is_file())
        yield from sorted(path for path in inside if not _MADE & set(path.parts))


def _kept(path: Path) -> bool:
    return not path.name.startswith(".") or path.name == ".gitignore"


def pack(root: Path, target: Path) -> None:
    """Write the archive: equal bytes for equal files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files(root):
            entry = zipfile.ZipInfo(f"{NAME}/{path.relative_to(root)}")  # dated 1980
            entry.external_attr = (0o100000 | path.stat().st_mode & 0o755) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def offer(app: Any, exception: Exception | None) -> None:
    """Lay the archive beside the landing page."""
    if exception is None:
        pack(Path(app.srcdir).parent, Path(app.outdir) / f"{NAME}.zip")


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("build-finished", offer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
