"""Pytest plugin of the mutation run: the builder works in this process, where a mutant is on."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from papers import build

REAL = subprocess.run


def run(command, cwd=None, **options):
    """Run the builder's command here, and any other as it is."""
    if Path(command[0]).name != "jupyter-book":
        return REAL(command, cwd=cwd, **options)
    from jupyter_book.cli.main import main  # which warns, so only where warnings are let pass

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
            patch.syspath_prepend(folder)
        patch.delitem(sys.modules, "law", raising=False)  # another project's
        result = CliRunner().invoke(main, command[1:])
    print(result.output)
    return SimpleNamespace(returncode=result.exit_code)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    monkeypatch.setattr(build, "subprocess", SimpleNamespace(run=run))
