"""A made-up claim, for the tests of claims and of the ledger."""

from papers.claims import Claim, Found, Published, Verdict


def made_up(name="X1", verdict=Verdict.CONFIRMED, **changes):
    """A claim of the paper "two_words" with one figure."""
    attributes = {
        "paper": "two_words",
        "place": "thm-a",
        "sentence": "It holds.",
        "parameters": "$n = 2$.",
        "published": (Published("a", "2.40"),),
        "compute": lambda: (Found(2.4, ".2f"),),
        "remark": "Well.",
        "correction": "Not so." if verdict == Verdict.CORRECTED else "",
    }
    return Claim(id=name, verdict=verdict, **attributes | changes)
