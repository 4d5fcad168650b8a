"""The ledger: every quantitative claim of the sources, ours beside it, and a verdict.

A claim is declared once, in the module of its paper, with the verdict we stand by.
:func:`judge` computes our values and derives the verdict from them; a test demands
that the two agree. The paper, the ledger page and the tests all read from here.
"""

from __future__ import annotations

import fcntl
import importlib
import importlib.util
import math
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from papers.pages import SHARED, papers
from papers.text import number, say

PAPERS = papers()


class Verdict(IntEnum):
    """What became of a claim, from best to worst; a claim has the worst of its figures."""

    CONFIRMED = 0
    WITHIN_SAMPLING_ERROR = 1
    SHARPENED = 2
    CORRECTED = 3

    def __str__(self) -> str:
        """Return the words of the ledger."""
        return (
            "confirmed",
            "confirmed within its sampling error",
            "sharpened",
            "corrected",
        )[self]


@dataclass(frozen=True)
class Published:
    """One number as the source prints it.

    Attributes
    ----------
    label : str
        What the number is.
    text : str
        The number in the source's own digits, such as ``"2.40"`` or ``"1.4%"``.
    how : str
        ``"exact"`` (its digits are claimed), ``"bound"`` (an upper bound is claimed, so a
        smaller one of ours sharpens it), ``"lower bound"`` or ``"estimate"`` (from draws).
    draws : int
        Draws behind an estimate.
    tolerance : float, optional
        How far ours may be off and still confirm it; by default half a unit of
        the last published digit.
    """

    label: str
    text: str
    how: str = "exact"
    draws: int = 0
    tolerance: float | None = None

    def __post_init__(self) -> None:
        """Refuse a figure that could not be judged."""
        if self.how not in ("exact", "bound", "lower bound", "estimate"):
            raise ValueError(f"how must be exact, bound, lower bound or estimate, got {self.how!r}")
        if (self.how == "estimate") != (self.draws > 0):
            raise ValueError(f"draws must be given for estimates and only there: {self.label}")

    @property
    def value(self) -> float:
        """The number itself; 1.4% is 0.014."""
        return float(self._decimal)

    @property
    def allowed(self) -> float:
        """The tolerance, or half a unit of the last published digit."""
        if self.tolerance is not None:
            return self.tolerance
        exponent = self._decimal.as_tuple().exponent
        assert isinstance(exponent, int)
        return 0.5 * 10.0**exponent

    @property
    def _decimal(self) -> Decimal:
        plain = Decimal(self.text.rstrip("%"))
        return plain.scaleb(-2) if self.text.endswith("%") else plain


@dataclass(frozen=True)
class Found:
    """Our value of a published number.

    Attributes
    ----------
    value : float
    spec : str
        The format it is printed in, as :func:`papers.text.number` takes it.
    error : float
        Standard error of our value; 0 if it is exact.
    deviation : float
        Standard deviation of one draw of the source's estimate.
    """

    value: float
    spec: str
    error: float = 0.0
    deviation: float = 0.0

    def __str__(self) -> str:
        """Return the number, with its standard error if it has one."""
        shown = number(self.value, self.spec, error=self.error)
        if not self.error:
            return shown
        if self.spec[-1] not in "f%":
            raise ValueError(
                f"spec must end in f or % for a value with an error, got {self.spec!r}"
            )
        precision = int(self.spec.strip(",%f")[1:])
        unit = 10.0**-precision  # what any error that number() lets pass is rounded up to
        return f"{shown} ± {unit:.{precision}f}{'%' * self.spec.endswith('%')}"


def estimate(sample: npt.NDArray[np.float64], spec: str) -> Found:
    """Return the mean of a sample, with its standard error and the deviation of one draw."""
    deviation = float(sample.std(ddof=1))
    error = deviation / math.sqrt(sample.size)
    return Found(float(sample.mean()), spec, error=error, deviation=deviation)


def exactly(count: Callable[[], int]) -> Callable[[], tuple[Found, ...]]:
    """Return what computes a claim of one whole number, such as a count of exceptions."""
    return lambda: (Found(count(), "d"),)


@dataclass(frozen=True)
class Claim:
    """A quantitative claim of a source, stated once for the whole book.

    Attributes
    ----------
    id, paper : str
        The identifier in the ledger, and the paper (page) that treats it.
    place : str
        The label of the theorem or section of that page that derives or checks it.
    sentence : str
        The claim in our words; like all text here in Markdown with mathematics.
    parameters : str
        What produced the published numbers.
    published : tuple of Published
    compute : callable
        Returns our values, one Found for each published number.
    verdict : Verdict
        What we say of it; :func:`judge` must come to the same.
    remark : str
        What to know beyond the verdict.
    correction : str
        For a corrected claim: what is wrong with it, and what holds instead, in a paragraph.
    """

    id: str
    paper: str
    place: str
    sentence: str
    parameters: str
    published: tuple[Published, ...]
    compute: Callable[[], tuple[Found, ...]]
    verdict: Verdict
    remark: str
    correction: str = ""

    def __post_init__(self) -> None:
        """Demand the correction of a corrected claim, and of no other."""
        if bool(self.correction) != (self.verdict == Verdict.CORRECTED):
            raise ValueError(f"{self.id}: a correction must be given for corrected claims only")


@dataclass(frozen=True)
class Judgement:
    """Our values, the z-scores of published estimates (None for the rest), the verdict."""

    found: tuple[Found, ...]
    z: tuple[float | None, ...]
    verdict: Verdict


def standard_error(published: Published, found: Found) -> float:
    """Return the standard error of the source's estimate."""
    if not found.deviation > 0:
        raise ValueError(f"{published.label}: the deviation of one draw must be positive")
    return found.deviation / math.sqrt(published.draws)


def weigh(published: Published, found: Found) -> tuple[Verdict, float | None]:
    """Derive the verdict on one number, with the z-score if it is an estimate.

    The z-score counts from the nearest number that rounds to the published digits.
    """
    gap = published.value - found.value
    if published.how == "estimate":
        beyond = abs(gap) - published.allowed
        nearest = math.copysign(beyond, gap) if beyond > 0 else 0.0
        z = nearest / math.hypot(standard_error(published, found), found.error)
        return (Verdict.WITHIN_SAMPLING_ERROR if abs(z) < 4 else Verdict.CORRECTED), z
    if abs(gap) <= published.allowed * (1 + 1e-9):
        return Verdict.CONFIRMED, None
    sharper = gap > 0 if published.how == "bound" else gap < 0 and published.how == "lower bound"
    return (Verdict.SHARPENED if sharper else Verdict.CORRECTED), None


def judge(claim: Claim) -> Judgement:
    """Compute our values of a claim and derive its verdict.

    Raises
    ------
    ValueError
        If the claim's function does not return one value for each published one.
    """
    found = claim.compute()
    if len(found) != len(claim.published):
        raise ValueError(f"{claim.id}: {len(claim.published)} published, {len(found)} computed")
    weighed = [weigh(*pair) for pair in zip(claim.published, found, strict=True)]
    return Judgement(
        found=found,
        z=tuple(z for _, z in weighed),
        verdict=max(verdict for verdict, _ in weighed),
    )


@cache
def registry() -> dict[str, Claim]:
    """Return all claims of the book by identifier."""
    claims: dict[str, Claim] = {}
    for paper in PAPERS:
        if importlib.util.find_spec(name := f"papers.sources.{paper}") is None:
            continue  # nothing was published on its question
        for claim in importlib.import_module(name).CLAIMS:
            if claim.id in claims:
                raise ValueError(f"claim {claim.id} is declared twice")
            claims[claim.id] = claim
    return claims


def of(paper: str) -> list[Claim]:
    """Return the claims of a paper in their order.

    Raises
    ------
    ValueError
        If there is no such paper.
    """
    if paper not in PAPERS:
        raise ValueError(
            f"paper must be one of those in _toc.yml ({', '.join(PAPERS)}), got {paper!r}"
        )
    return [claim for claim in registry().values() if claim.paper == paper]


@cache
def judgement(identifier: str) -> Judgement:
    """Judge a claim of the registry, once for each process.

    A build executes many pages, each in a process of its own, and names a folder in
    the environment in which they share what they found.
    """
    shared = os.environ.get(SHARED)
    if not shared:
        return judge(registry()[identifier])
    path = Path(shared) / f"{identifier}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second waits for what the first finds
        with suppress(FileNotFoundError, EOFError, pickle.UnpicklingError):  # missing or damaged
            found: Judgement = pickle.loads(path.read_bytes())
            return found
        result = judge(registry()[identifier])
        path.write_bytes(pickle.dumps(result))
    return result


def signed(z: float) -> str:
    """Return a distance in standard errors as it is printed."""
    return f"{z:+.1f}" if z else "0"


def say_claims(paper: str) -> None:
    """Glue every number of a paper's claims for use in prose.

    The keys are ``P4.0.published``, ``P4.0.ours`` and, for estimates, ``P4.0.z``,
    with the number's place among the claim's figures in the middle.
    """
    for claim in of(paper):
        result = judgement(claim.id)
        for i, published in enumerate(claim.published):
            say(f"{claim.id}.{i}.published", published.text)
            say(f"{claim.id}.{i}.ours", str(result.found[i]))
            z = result.z[i]
            if z is not None:
                say(f"{claim.id}.{i}.z", signed(z))
