"""The data file: every constant has a value, a unit, a source, a date and a kind."""

import datetime
import re

import pytest

from decentral.machines import constants
from decentral.machines.devices import device, device_names

KINDS = {"specification", "measurement", "estimate"}


def incomplete(table, path="", bib=""):
    """Return what is missing from the constants of a nested table."""
    if "value" not in table:
        inner = [
            problem
            for key, value in table.items()
            if isinstance(value, dict)
            for problem in incomplete(value, f"{path}.{key}", bib)
        ]
        loose = [k for k, v in table.items() if not isinstance(v, dict) and k != "name"]
        return inner + [f"{path}.{key} is not a constant with a source" for key in loose]
    problems = [k for k in ("unit", "source", "checked", "kind") if not table.get(k)]
    if table.get("kind") not in KINDS:
        problems.append("kind")
    if not isinstance(table.get("checked"), datetime.date):
        problems.append("checked")
    if f"{{{table.get('source')}," not in bib:
        problems.append("source not in references.bib")
    return [f"{path}: {problem}" for problem in problems]


@pytest.fixture(scope="module")
def bib(root):
    return (root / "book" / "references.bib").read_text("utf-8")


def test_every_constant_is_sourced(bib):
    assert incomplete(constants.load(), bib=bib) == []


@pytest.mark.parametrize(
    "broken",
    [
        {"value": 1, "unit": "byte", "source": "rajbhandari2020zero", "kind": "estimate"},
        {"value": 1, "unit": "byte", "checked": datetime.date(2026, 1, 1), "kind": "estimate"},
        {
            "value": 1,
            "unit": "byte",
            "source": "rajbhandari2020zero",
            "checked": datetime.date(2026, 1, 1),
            "kind": "rumour",
        },
        {
            "value": 1,
            "unit": "byte",
            "source": "nobody1999",
            "checked": datetime.date(2026, 1, 1),
            "kind": "estimate",
        },
        {"speed": 3},
    ],
)
def test_the_guard_can_fail(broken, bib):
    assert incomplete({"x": broken}, bib=bib)


def test_references_are_unique(bib):
    keys = re.findall(r"^@\w+\{([^,]+),", bib, re.MULTILINE)
    assert len(keys) == len(set(keys))


# Peak dense bf16 rates from the architecture: units x FMA per clock and unit x 2 x clock.
@pytest.mark.parametrize(
    ("name", "units", "fma", "ghz"),
    [
        ("h100-sxm", 132, 2048, 1.83),
        ("h200-sxm", 132, 2048, 1.83),
        ("a100-sxm-80", 108, 1024, 1.41),
        ("a100-sxm-40", 108, 1024, 1.41),
        ("l40s", 142, 512, 2.49),
        ("rtx-4090", 128, 256, 2.52),
        ("rtx-3090", 82, 256, 1.695),
        ("mi300x", 304, 1024, 2.1),
    ],
)
def test_rates_follow_from_the_architecture(name, units, fma, ghz):
    assert device(name).compute == pytest.approx(units * fma * 2 * ghz * 1e9, rel=5e-3)


def test_devices():
    assert set(device_names()) == set(constants.load()["devices"])
    for name in device_names():
        entry = device(name)
        assert 1e13 < entry.compute < 1e16
        assert 1e10 < entry.memory < 1e12
        assert 1e11 < entry.bandwidth < 1e13
        assert f"{entry.memory // 10**9} GB" in entry.name


def test_unknown_device():
    with pytest.raises(ValueError, match=r"name must be .*tpu-v5e', got 'abacus'"):
        device("abacus")
