"""The list of deliberate errors of ``make mutants`` is up to date."""

from tests import mutants


def test_the_mutants_still_exist():
    assert mutants.stale() == []
    for file, start in mutants.LAWS.values():
        assert any(m[0] == file and m[1].startswith(start) for m in mutants.MUTANTS)
