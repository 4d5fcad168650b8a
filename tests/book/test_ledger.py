"""The ledger as the reader sees it."""

import re
from collections import namedtuple
from dataclasses import replace

import pytest
from tests.book.made_up import made_up

from papers import claims, ledger
from papers.claims import Found, Published, Verdict
from papers.pages import read

CORRECTED = [claim for claim in claims.registry().values() if claim.verdict == Verdict.CORRECTED]


def test_a_paper_shows_each_of_its_claims_and_the_place_that_derives_it():
    shown = {paper: ledger.cards(paper).data for paper in claims.PAPERS}
    for claim in claims.registry().values():
        assert (
            f"**[{claim.id}](#claim-{claim.id.lower()}), {claim.verdict}.**" in (shown[claim.paper])
        )
        assert f"`{claim.place}`" in shown[claim.paper]
        page = read(claim.paper).text
        assert f":label: {claim.place}\n" in page or f"({claim.place})=\n" in page


def test_the_page_gives_each_claim_one_address_and_the_corrected_come_first():
    page = ledger.page()
    addresses = re.findall(r"^\(claim-(\w+)\)=$", page, re.MULTILINE)
    assert sorted(addresses) == sorted(claim.lower() for claim in claims.registry())
    assert addresses[: len(CORRECTED)] == [claim.id.lower() for claim in CORRECTED]
    assert all(claim.correction in page for claim in CORRECTED)


def test_each_figure_has_a_row():
    claim = max(claims.registry().values(), key=lambda claim: len(claim.published))
    rows = [line for line in ledger.card(claim).splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(claim.published)


def test_the_counts_add_up():
    *_, last, _ = ledger.counts().splitlines()
    numbers = [int(cell) for cell in last.split("|")[2:-1]]
    assert sum(numbers[:-1]) == numbers[-1] == len(claims.registry())
    assert numbers[-2] == len(CORRECTED)


def test_corrected_claims_and_no_others_are_explained():
    short = [claim.id for claim in CORRECTED if len(claim.correction.split()) <= 40]
    assert short == [], "a correction is a paragraph of more than forty words"
    with pytest.raises(ValueError, match="for corrected claims only"):
        replace(CORRECTED[0], correction="")


def test_a_card_says_what_was_claimed_what_we_found_and_where(small_ledger):
    shown = ledger.card(claims.registry()["X2"]).splitlines()
    assert shown == [
        "**[X2](#claim-x2), sharpened.** It holds ($n = 2$.).",
        "",
        "| | Published | Ours |",
        "|:--|:--|:--|",
        "| share | 14% (400 draws, standard error 1%) | 16.0% ± 0.1% ($z = -1.5$) |",
        "| least | 8 (lower bound) | 9 |",
        "",
        "Well. See {ref}`sec-b`.",
    ]


def test_the_corrections_of_all_papers_come_first(small_ledger, monkeypatch):
    titles = {"two_words": "Is it?", "other": "Or not?"}
    page = namedtuple("page", "title short")
    monkeypatch.setattr(ledger, "read", lambda name: page(titles[name], name))
    lines = ledger.page().splitlines()
    order = [line for line in lines if line.startswith(("## ", "(claim-", "Corrected, "))]
    assert order == [
        "## Corrected", "(claim-x3)=", "(claim-y1)=",
        "## Is it?", "Corrected, above: [X3](#claim-x3).", "(claim-x1)=", "(claim-x2)=",
        "## Or not?", "Corrected, above: [Y1](#claim-y1).", "(claim-y2)=",
    ]  # fmt: skip
    assert "Not so. See {prf:ref}`thm-a`." in lines
    counted = [line for line in ledger.counts().splitlines() if line.startswith("| ")][1:]
    assert counted == [
        "| [two_words](two_words.md) | 1 | 0 | 1 | 1 | 3 |",
        "| [other](other.md) | 1 | 0 | 0 | 1 | 2 |",
        "| all | 2 | 0 | 1 | 2 | 5 |",
    ]


@pytest.mark.parametrize(
    ("place", "role"),
    [("thm-a", "prf:ref"), ("prop-a", "prf:ref"), ("cor-a", "prf:ref"), ("sec-thm-a", "ref")],
)
def test_a_card_refers_to_a_statement_by_its_number_and_to_a_section_by_its_title(
    small_ledger,
    monkeypatch,
    place,
    role,
):
    monkeypatch.setattr(claims, "registry", lambda: {"X1": made_up(place=place)})
    assert f"See {{{role}}}`{place}`." in ledger.card(made_up(place=place))


@pytest.mark.parametrize(
    ("published", "found", "words"),
    [
        (Published("a", "2.40"), Found(2.4, ".2f"), "2.40 (agrees in all 3 digits)"),
        (Published("a", "0.012"), Found(0.012, ".3f"), "0.012 (agrees in all 2 digits)"),
        (Published("a", "14.0%"), Found(0.14, ".1%"), "14.0% (agrees in all 3 digits)"),
        (Published("a", "7"), Found(7, "d"), "7 (agrees in its digit)"),
        (Published("a", "0"), Found(0, "d"), "0"),
        (Published("a", "7", "bound"), Found(6, "d"), "6"),
    ],
)
def test_the_digits_in_which_two_numbers_agree(monkeypatch, published, found, words):
    one = made_up(published=(published,), compute=lambda: (found,))
    monkeypatch.setattr(claims, "judgement", lambda name: claims.judge(one))
    assert f"| {words} |" in ledger.card(one)
