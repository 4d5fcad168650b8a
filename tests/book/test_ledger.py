"""The ledger as the reader sees it."""

import re
from dataclasses import replace

import pytest

from papers import claims, ledger
from papers.claims import Verdict
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


def test_agreement_is_said_in_digits():
    shown = ledger.cards("inner_steps").data
    assert "(agrees in all 3 digits)" in shown
    assert "| 0 |" in shown  # a count of deviations has no digits to agree in
