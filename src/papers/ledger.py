"""The ledger as the reader sees it: a card for each claim, corrections first, and the counts."""

from __future__ import annotations

from collections import Counter

from IPython.display import Markdown

from papers import claims
from papers.claims import Claim, Found, Published, Verdict
from papers.pages import read


def cards(paper: str) -> Markdown:
    """Return the claims of a paper, each with its figures, ours, and the verdict.

    Parameters
    ----------
    paper : str
        The paper whose claims to list.
    """
    return Markdown("\n\n".join(card(claim) for claim in claims.of(paper)))


def card(claim: Claim, *, remark: str = "") -> str:
    """Return one claim as Markdown: what was claimed, a row for each figure, what to know.

    Parameters
    ----------
    claim : Claim
    remark : str, optional
        What follows the figures, instead of the claim's own remark.
    """
    result = claims.judgement(claim.id)
    rows = [
        f"| {figure.label} | {_published(figure, found)} | {found}{_agreement(figure, found, z)} |"
        for figure, found, z in zip(claim.published, result.found, result.z, strict=True)
    ]
    sentence = claim.sentence.rstrip(".")
    return "\n".join(
        [
            f"**{_link(claim)}, {result.verdict}.** {sentence} ({claim.parameters}).",
            "",
            "| | Published | Ours |",
            "|:--|:--|:--|",
            *rows,
            "",
            f"{remark or claim.remark} See {_place(claim)}.",
        ]
    )


def page() -> str:
    """Return the body of the ledger's page: corrections first, then the rest by paper."""
    everything = claims.registry().values()
    corrected = [claim for claim in everything if claim.verdict == Verdict.CORRECTED]
    parts = ["## Corrected", *(_framed(claim, remark=claim.correction) for claim in corrected)]
    for paper in claims.PAPERS:
        own = claims.of(paper)
        if own:
            above = [_link(claim) for claim in own if claim in corrected]
            parts.append(f"## {read(paper).title}")
            parts += [f"Corrected, above: {', '.join(above)}."] if above else []
            parts += [_framed(claim) for claim in own if claim not in corrected]
    return "\n\n".join(parts)


def counts() -> str:
    """Return how many claims of each paper have which verdict, as a table."""
    heads = ["confirmed", "within its error", "sharpened", "corrected"]
    rows = {paper: Counter(claim.verdict for claim in claims.of(paper)) for paper in claims.PAPERS}
    lines = [f"| | {' | '.join(heads)} | all |", "|:--|" + "--:|" * (len(heads) + 1)]
    for paper, row in rows.items():
        lines.append(f"| [{read(paper).short}]({paper}.md) | {_cells(row)} |")
    lines.append(f"| all | {_cells(sum(rows.values(), Counter()))} |")
    return "\n".join(["```{table}", ":class: counts", "", *lines, "```"])


def _cells(row: Counter[Verdict]) -> str:
    return " | ".join(str(number) for number in [*(row[x] for x in Verdict), row.total()])


def _address(claim: Claim) -> str:
    """Return the label of a claim on the ledger's page."""
    return f"claim-{claim.id.lower()}"


def _link(claim: Claim) -> str:
    return f"[{claim.id}](#{_address(claim)})"


def _framed(claim: Claim, *, remark: str = "") -> str:
    return f"({_address(claim)})=\n:::{{container}} claim\n{card(claim, remark=remark)}\n:::"


def _place(claim: Claim) -> str:
    """Return a reference to the theorem or the section that treats a claim."""
    numbered = claim.place.startswith(("thm-", "prop-", "cor-"))
    return f"{{prf:ref}}`{claim.place}`" if numbered else f"{{ref}}`{claim.place}`"


def _published(figure: Published, found: Found) -> str:
    how: str = figure.how
    if how == "estimate":
        error = claims.standard_error(figure, found)
        scale, sign = (100, "%") if figure.text.endswith("%") else (1, "")
        count = f"{figure.draws} draw{'s' * (figure.draws > 1)}"
        how = f"{count}, standard error {error * scale:.1g}{sign}"
    return f"{figure.text} ({how})"


def _agreement(figure: Published, found: Found, z: float | None) -> str:
    """Say by how many digits or standard errors the two agree."""
    if z is not None:
        return f" ($z = {claims.signed(z)}$)"
    digits = len(figure.text.strip("%").replace(".", "").lstrip("0"))
    if not digits or claims.weigh(figure, found)[0] != Verdict.CONFIRMED:
        return ""
    return f" (agrees in {'its digit' if digits == 1 else f'all {digits} digits'})"
