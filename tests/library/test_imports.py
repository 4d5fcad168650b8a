"""Importing one question costs no other."""

import subprocess
import sys

import pytest

from papers.pages import modules

FLOOR = {"numerics", "machines", "errors"}
# Where a law really builds on another.
BUILDS_ON = {"ordering": {"partition"}}


@pytest.mark.parametrize("module", modules())
def test_it_imports_no_other_question_and_no_statistics(module):
    code = f"import sys, decentral.{module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert [name for name in loaded if name.startswith("scipy.stats")] == []
    packages = {name.split(".")[1] for name in loaded if name.startswith("decentral.")}
    assert packages <= {module, *FLOOR, *BUILDS_ON.get(module, ())}
