"""The claims: one test case for each, and the rules of the verdicts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.book.made_up import made_up

from papers import claims, text
from papers.claims import Found, Judgement, Published, Verdict, judge, weigh


def refusal(kind, function, *arguments, **options):
    """What a call says when it refuses."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.fixture
def glued(monkeypatch):
    said = []
    monkeypatch.setattr(text, "glue", lambda *words, **options: said.append((words, options)))
    return said


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
    (shared,) = (tmp_path / "judgements").glob("*.pickle")
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


def test_the_words_of_the_verdicts():
    assert [str(verdict) for verdict in Verdict] == [
        "confirmed",
        "confirmed within its sampling error",
        "sharpened",
        "corrected",
    ]


@pytest.mark.parametrize(
    ("how", "draws", "message"),
    [
        ("guess", 0, "how must be exact, bound, lower bound or estimate, got 'guess'"),
        ("estimate", 0, "draws must be given for estimates and only there: x"),
        ("estimate", -1, "draws must be given for estimates and only there: x"),
        ("exact", 1, "draws must be given for estimates and only there: x"),
        ("bound", 1, "draws must be given for estimates and only there: x"),
        ("lower bound", 1, "draws must be given for estimates and only there: x"),
    ],
)
def test_a_published_number_that_could_not_be_judged(how, draws, message):
    assert refusal(ValueError, Published, "x", "1", how, draws) == message


@pytest.mark.parametrize(
    ("how", "draws"), [("exact", 0), ("bound", 0), ("lower bound", 0), ("estimate", 1)]
)
def test_a_published_number_that_can_be_judged(how, draws):
    assert Published("x", "1", how, draws).how == how


@pytest.mark.parametrize(
    ("digits", "value", "allowed"),
    [("2.40", 2.4, 0.005), ("14%", 0.14, 0.005), ("1.5e-7", 1.5e-7, 5e-9), ("120", 120, 0.5)],
)
def test_the_value_of_published_digits(digits, value, allowed):
    published = Published("x", digits)
    assert published.value == value
    assert published.allowed == pytest.approx(allowed, rel=1e-15)
    assert Published("x", digits, tolerance=0.0).allowed == 0


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (Found(2.375, ".2f"), "2.38"),
        (Found(7, "d"), "7"),
        (Found(2.375, ".2f", error=0.004), "2.38 ± 0.01"),
        (Found(2.375, ".2f", error=0.01), "2.38 ± 0.01"),
        (Found(0.125, ".1%", error=0.0002), "12.5% ± 0.1%"),
        (Found(0.25, ".0%", error=0.01), "25% ± 1%"),
        (Found(1234.5, ",.1f", error=0.01), "1,234.5 ± 0.1"),
        (Found(12345, ",.0f", error=0.25), "12,345 ± 1"),
        (Found(0.12345, ".3f", error=0.001), "0.123 ± 0.001"),
        (Found(0.5, ".8f", error=1e-9), "0.50000000 ± 0.00000001"),
    ],
)
def test_our_number_with_its_error_rounded_up_to_a_unit_of_its_last_digit(found, shown):
    assert str(found) == shown


def test_our_number_is_not_finer_than_its_error():
    message = "2.38 shows digits of size 0.01, finer than the error 0.1"
    assert refusal(ValueError, str, Found(2.375, ".2f", error=0.1)) == message


@pytest.mark.parametrize("spec", ["d", ".1e"])
def test_an_error_needs_decimals(spec):
    message = f"spec must end in f or % for a value with an error, got {spec!r}"
    assert refusal(ValueError, str, Found(5, spec, error=0.05)) == message


def test_the_estimate_of_a_sample():
    found = claims.estimate(np.array([1.0, 3.0, 5.0, 7.0]), ".1f")
    assert (found.value, found.spec) == (4.0, ".1f")
    assert found.deviation == pytest.approx(math.sqrt(20 / 3), rel=1e-15)
    assert found.error == pytest.approx(math.sqrt(20 / 3) / 2, rel=1e-15)


@pytest.mark.parametrize(
    ("verdict", "correction"),
    [(Verdict.CORRECTED, ""), (Verdict.CONFIRMED, "Not so."), (Verdict.SHARPENED, "Not so.")],
)
def test_corrected_claims_and_no_others_have_a_correction(verdict, correction):
    message = "X1: a correction must be given for corrected claims only"
    assert refusal(ValueError, made_up, "X1", verdict, correction=correction) == message


def test_an_estimate_is_judged_by_the_deviation_of_a_draw():
    published = Published("a", "1.0", "estimate", 4)
    for deviation in (0.0, -1.0, math.nan):
        said = refusal(ValueError, weigh, published, Found(1, ".1f", deviation=deviation))
        assert said == "a: the deviation of one draw must be positive"


@pytest.mark.parametrize(
    ("how", "digits", "value", "verdict"),
    [
        ("exact", "2", 2.5, Verdict.CONFIRMED),
        ("exact", "2", 2.5 + 4e-10, Verdict.CONFIRMED),
        ("exact", "2", 2.5 + 1e-9, Verdict.CORRECTED),
        ("exact", "2", 1.5 - 1e-9, Verdict.CORRECTED),
        ("bound", "2", 1.4, Verdict.SHARPENED),
        ("bound", "2", 2.6, Verdict.CORRECTED),
        ("bound", "2", 2.4, Verdict.CONFIRMED),
        ("lower bound", "2", 2.6, Verdict.SHARPENED),
        ("lower bound", "2", 1.4, Verdict.CORRECTED),
        ("lower bound", "2", 1.6, Verdict.CONFIRMED),
        ("exact", "2", math.nan, Verdict.CORRECTED),
        ("bound", "2", math.nan, Verdict.CORRECTED),
        ("lower bound", "2", math.nan, Verdict.CORRECTED),
    ],
)
def test_the_verdict_on_one_number(how, digits, value, verdict):
    assert weigh(Published("a", digits, how), Found(value, ".2f")) == (verdict, None)


def test_without_any_tolerance_equal_numbers_are_confirmed():
    published = Published("a", "2.40", tolerance=0.0)
    assert weigh(published, Found(2.4, ".2f")) == (Verdict.CONFIRMED, None)
    assert weigh(published, Found(2.4 + 1e-15, ".2f")) == (Verdict.CORRECTED, None)


@pytest.mark.parametrize(
    ("value", "z", "verdict"),
    [
        (2.25, 0.0, Verdict.WITHIN_SAMPLING_ERROR),
        (1.5, 0.0, Verdict.WITHIN_SAMPLING_ERROR),
        (1.0, 1.0, Verdict.WITHIN_SAMPLING_ERROR),
        (3.5, -2.0, Verdict.WITHIN_SAMPLING_ERROR),
        (-0.5, 4.0, Verdict.CORRECTED),
        (4.5, -4.0, Verdict.CORRECTED),
    ],
)
def test_the_verdict_on_an_estimate(value, z, verdict):
    """Four draws of deviation 1 give a standard error of 1/2."""
    published = Published("a", "2", "estimate", 4)
    assert weigh(published, Found(value, ".2f", deviation=1.0)) == (verdict, z)


def test_the_errors_of_both_estimates_add_up():
    published = Published("a", "2", "estimate", 4, tolerance=0.0)
    assert weigh(published, Found(-3.0, ".0f", error=2.0, deviation=3.0))[1] == 2


def test_a_claim_has_the_worst_verdict_of_its_figures():
    figures_ = (
        Published("a", "2"),
        Published("b", "2", "estimate", 4),
        Published("c", "2", "bound"),
    )
    found = (Found(2, "d"), Found(3.5, ".1f", deviation=1.0), Found(1, "d"))
    judged = judge(made_up(published=figures_, compute=lambda: found))
    assert judged == Judgement(found, (None, -2.0, None), Verdict.SHARPENED)


@pytest.mark.parametrize("count", [0, 2])
def test_a_claim_computes_one_value_for_each_figure(count):
    wrong = made_up(compute=lambda: (Found(2.4, ".2f"),) * count)
    assert refusal(ValueError, judge, wrong) == f"X1: 1 published, {count} computed"


def test_a_paper_must_be_known(small_ledger):
    message = "paper must be one of those in _toc.yml (two_words, other), got 'third'"
    assert refusal(ValueError, claims.of, "third") == message
    assert refusal(ValueError, claims.say_claims, "third") == message


def test_every_number_of_a_paper_is_said(small_ledger, glued):
    claims.say_claims("two_words")
    assert [words for words, _ in glued] == [
        ("X1.0.published", "2.40"),
        ("X1.0.ours", "2.40"),
        ("X2.0.published", "14%"),
        ("X2.0.ours", "16.0% ± 0.1%"),
        ("X2.0.z", "-1.5"),
        ("X2.1.published", "8"),
        ("X2.1.ours", "9"),
        ("X3.0.published", "2.40"),
        ("X3.0.ours", "2.50"),
    ]


def test_a_score_is_signed_unless_it_is_zero():
    assert [claims.signed(z) for z in (0.0, 0.04, 1.0, -2.26)] == ["0", "+0.0", "+1.0", "-2.3"]
