"""Claims of the paper "How often should a run save its state?"."""

from __future__ import annotations

from decentral.checkpoints import best_interval
from papers.claims import Claim, Found, Published, Verdict


def _interval() -> tuple[Found, ...]:
    return (Found(float(best_interval(2, 240)), ".1f"),)


CLAIMS = (
    Claim(
        id="C1",
        paper="checkpoints",
        place="thm-interval",
        sentence=r"The best interval is $\sqrt{2CM}$",
        parameters="two minutes for a save, a failure every four hours",
        published=(Published("minutes", "31.0"),),
        compute=_interval,
        verdict=Verdict.CORRECTED,
        remark="The formula is the first term of the exact one, and always above it.",
        correction=(
            r"Young's formula $\sqrt{2CM}$ is the first term of the exact law, in powers of the "
            r"square root of $C/M$. The paper proves that it is always too long, and derives the "
            "second term: the exact interval is shorter by about two thirds of the time of a save. "
            "That is little as long as saves are quick, and much if they are slow."
        ),
    ),
)
