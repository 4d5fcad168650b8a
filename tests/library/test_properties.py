"""Each public function is touched by a property: a test over inputs that hypothesis draws."""

import ast
from pathlib import Path

import pytest
from tests.library.test_validation import MODULES, public

TESTS = Path(__file__).parents[1]


def names_in_properties(folder):
    """The names that stand in tests decorated with ``given``."""
    for path in folder.glob("test_*.py"):
        for test in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(test, ast.FunctionDef) and "given" in map(called, test.decorator_list):
                yield from (called(node) for node in ast.walk(test))


def called(node):
    """The name of a function, of an attribute, or of what is called."""
    node = node.func if isinstance(node, ast.Call) else node
    return getattr(node, "attr", getattr(node, "id", None))


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_has_a_property(module):
    lacking = set(public(module)) - set(names_in_properties(TESTS / module))
    assert not lacking, f"write in tests/{module} what holds for all inputs, with hypothesis"
