"""Each public function is touched by a property in the tests of its module."""

import ast
from pathlib import Path

import pytest
from tests.library.test_validation import MODULES, public


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_has_a_property(module):
    path = Path(__file__).parents[1] / module / "test_properties.py"
    assert path.is_file(), f"write tests/{module}/test_properties.py: what holds for all inputs"
    tree = ast.parse(path.read_text("utf-8"))
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    lacking = set(public(module)) - named
    assert not lacking, f"properties of decentral.{module} in tests/{module}/test_properties.py"
