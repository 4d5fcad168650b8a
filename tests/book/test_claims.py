"""The ledger: one test case for each claim, and the rules of the verdicts."""

from dataclasses import replace

import pytest

from papers import claims
from papers.claims import Claim, Found, Published, Verdict, judge, weigh


@pytest.mark.parametrize("identifier", claims.registry())
def test_the_verdict_is_the_one_declared(identifier):
    assert claims.judgement(identifier).verdict == claims.registry()[identifier].verdict


@pytest.mark.parametrize("identifier", claims.registry())
def test_a_wrong_figure_would_be_noticed(identifier):
    """Replace every published number by one far off: the verdict must follow."""
    claim = claims.registry()[identifier]
    judged = claims.judgement(identifier)

    def shifted(figure):
        text = f"{3 * figure.value + 1:.6f}"
        return replace(figure, text=text)

    wrong = replace(
        claim, published=tuple(map(shifted, claim.published)), compute=lambda: judged.found
    )
    expected = Verdict.SHARPENED if claim.published[0].how == "bound" else Verdict.CORRECTED
    assert judge(wrong).verdict == expected


def test_a_judgement_is_shared_and_one_that_is_damaged_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv(claims.SHARED, str(tmp_path / "judgements"))
    alone = claims.judgement.__wrapped__
    made = alone("R1")
    monkeypatch.setattr(claims, "judge", lambda claim: made)
    (shared,) = (tmp_path / "judgements").iterdir()
    whole = shared.read_bytes()
    for length in range(len(whole)):
        shared.write_bytes(whole[:length])
        assert alone("R1") == made
        assert shared.read_bytes() == whole
    monkeypatch.setattr(claims, "judge", None)
    assert alone("R1") == made


def test_the_first_section_of_the_source_is_complete():
    papers = {claim.id: claim.paper for claim in claims.registry().values()}
    cutting = {"P1", "P2", "P3", "P4", "P5", "P10"}
    assert all(papers[name] == "partition" for name in cutting)
    assert all(papers[name] == "ordering" for name in ("P6", "P7", "P8", "P9"))


@pytest.mark.parametrize(
    ("paper", "names"),
    [
        ("redundancy", [f"R{i}" for i in range(1, 6)]),
        ("inner_steps", [f"S{i}" for i in range(1, 9)]),
        ("stragglers", [f"W{i}" for i in range(1, 8)]),
    ],
)
def test_the_other_sections_are_complete(paper, names):
    ours = [claim.id for claim in claims.registry().values() if claim.paper == paper]
    assert ours == names


@pytest.mark.parametrize(
    ("published", "found", "verdict"),
    [
        (Published("x", "2.40"), Found(2.4049, ".2f"), Verdict.CONFIRMED),
        (Published("x", "2.40"), Found(2.4051, ".2f"), Verdict.CORRECTED),
        (Published("x", "1.4%"), Found(0.0144, ".1%"), Verdict.CONFIRMED),
        (Published("x", "1.4%"), Found(0.0146, ".1%"), Verdict.CORRECTED),
        (Published("x", "8", how="bound"), Found(7, "d"), Verdict.SHARPENED),
        (Published("x", "8", how="bound"), Found(8, "d"), Verdict.CONFIRMED),
        (Published("x", "8", how="bound"), Found(9, "d"), Verdict.CORRECTED),
        (Published("x", "8", how="lower bound"), Found(9, "d"), Verdict.SHARPENED),
        (Published("x", "8", how="lower bound"), Found(8, "d"), Verdict.CONFIRMED),
        (Published("x", "8", how="lower bound"), Found(7, "d"), Verdict.CORRECTED),
        (Published("x", "1e-5", tolerance=1e-6), Found(1.05e-5, "e"), Verdict.CONFIRMED),
    ],
)
def test_exact_figures_and_bounds(published, found, verdict):
    assert weigh(published, found) == (verdict, None)


@pytest.mark.parametrize(
    ("value", "z", "verdict"),
    [
        (1.0, 0.0, Verdict.WITHIN_SAMPLING_ERROR),
        (1.04, 0.0, Verdict.WITHIN_SAMPLING_ERROR),  # would be printed as 1.0
        (0.56, 3.9, Verdict.WITHIN_SAMPLING_ERROR),
        (1.46, -4.1, Verdict.CORRECTED),
    ],
)
def test_estimates(value, z, verdict):
    published = Published("x", "1.0", how="estimate", draws=100)
    got = weigh(published, Found(value, ".2f", deviation=1.0))
    assert got[0] == verdict
    assert got[1] == pytest.approx(z)


def test_our_own_error_counts():
    published = Published("x", "1.0", how="estimate", draws=100)
    _, z = weigh(published, Found(0.5, ".1f", error=0.1, deviation=1.0))
    assert z == pytest.approx(0.45 / 0.02**0.5)


def test_the_worst_figure_decides():
    claim = Claim(
        "X1",
        "none",
        "thm-none",
        "s",
        "p",
        (Published("a", "1"), Published("b", "2", how="bound")),
        lambda: (Found(1, "d"), Found(1, "d")),
        Verdict.SHARPENED,
        "",
    )
    assert judge(claim).verdict == Verdict.SHARPENED
    with pytest.raises(ValueError, match="2 published, 1 computed"):
        judge(replace(claim, compute=lambda: (Found(1, "d"),)))


def test_malformed_figures_are_refused():
    with pytest.raises(ValueError, match="how must be"):
        Published("x", "1", how="guess")
    with pytest.raises(ValueError, match="draws must be given"):
        Published("x", "1", how="estimate")
    with pytest.raises(ValueError, match="deviation of one draw must be positive"):
        weigh(Published("x", "1", how="estimate", draws=5), Found(1, "d"))


def test_numbers_carry_their_error():
    assert str(Found(0.014596, ".2%", error=2.3e-5)) == "1.46% ± 0.01%"
    assert str(Found(1.6588, ".2f", error=0.0049)) == "1.66 ± 0.01"
    with pytest.raises(ValueError, match="finer than the error"):
        str(Found(1.6588, ".4f", error=0.0049))
