"""The convex programme behind :func:`decentral.inner_steps.best_weights`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decentral.errors import InfeasibleError
from decentral.numerics.validation import Floats


@dataclass(frozen=True, eq=False)
class Programme:
    """The convex programme over the whole moves of the kinds of workers, in units of its own.

    With moves in units of r* over the largest contraction, the paces are r* times
    `pull` @ moves, and must be at least r*. Workers that ran equally many steps have equal
    weights, by convexity and symmetry.
    """

    pull: Floats  # contraction by mode and kind, at most 1
    shake: Floats  # loss per squared move, by mode and kind, in any unit
    target: float

    def floor(self, moved: Floats) -> float:
        """Return the loss floor; infinite outside the stable region."""
        pace = self.pull @ moved
        if not np.all(self.target * pace < 2):
            return np.inf
        return float(np.sum(self.shake @ moved**2 / (pace * (2 - self.target * pace))))

    def derivatives(self, moved: Floats) -> tuple[Floats, Floats]:
        """Return gradient and Hessian of the floor."""
        pace, noise = self.pull @ moved, self.shake @ moved**2
        room = pace * (2 - self.target * pace)
        weight = 1 / room
        slope = -2 * (1 - self.target * pace) / room**2
        bend = 2 * self.target / room**2 + 8 * (1 - self.target * pace) ** 2 / room**3
        shaken = 2 * self.shake * moved
        gradient = weight @ shaken + (noise * slope) @ self.pull
        cross = (shaken * slope[:, None]).T @ self.pull
        hessian = np.diag(2 * weight @ self.shake) + cross + cross.T
        hessian += (self.pull * (noise * bend)[:, None]).T @ self.pull
        return gradient, hessian

    def start(self) -> Floats:
        """Return a point inside all constraints, from the least pace of the fastest mode."""
        from scipy.optimize import linprog

        modes, kinds = self.pull.shape
        ones, zeros = np.ones((modes, 1)), np.zeros((modes, 1))
        found = linprog(  # variables: the moves, and the largest pace
            c=[0.0] * kinds + [1.0],
            A_ub=np.block([[-self.pull, zeros], [self.pull, -ones]]),
            b_ub=[-1.0] * modes + [0.0] * modes,
        )
        if found.x is None:
            raise ValueError(
                "curvatures must be closer together for inner_steps so few: the slowest mode "
                f"hardly moves, {float(self.pull.min()):g} times what the fastest does"
            )
        *moved, fastest = np.asarray(found.x).tolist()
        room = 2 / (self.target * fastest) - 1
        if not room > 1e-5:
            raise InfeasibleError(
                f"target {self.target} is out of reach: when the slowest mode contracts by it, the "
                f"fastest contracts by {self.target * fastest:.9g} at best, and must stay below 2 "
                "by a relative 1e-5",
                shortfall=self.target * fastest - 2,
            )
        raised = np.array(moved) * (1 + min(room, 1) / 3)
        return np.asarray(raised + min(room, 1) / 4 / kinds)

    def solve(self) -> Floats:
        """Return the best moves, by following the central path."""
        moved = self.start()
        constraints = sum(self.pull.shape)
        sharpness = 1.0
        while True:
            moved = self._centre(moved, sharpness / self.floor(moved))
            if constraints / sharpness < 3e-13:
                return moved
            sharpness *= 20

    def _centre(self, moved: Floats, sharpness: float) -> Floats:
        """Minimise sharpness times the floor, less the logarithms of what the constraints leave."""

        def value(at: Floats) -> float:
            slack = self.pull @ at - 1
            if at.min() <= 0 or slack.min() <= 0:
                return np.inf
            return sharpness * self.floor(at) - float(np.log(at).sum() + np.log(slack).sum())

        here = value(moved)
        for _ in range(100):
            gradient, hessian = self.derivatives(moved)
            slack = self.pull @ moved - 1
            gradient = sharpness * gradient - 1 / moved - (1 / slack) @ self.pull
            hessian = sharpness * hessian + np.diag(moved**-2.0)
            hessian += (self.pull / slack[:, None] ** 2).T @ self.pull
            unit = 1 / np.sqrt(np.diag(hessian))
            scaled = hessian * np.outer(unit, unit)  # singular to rounding at the very end
            step = -unit * np.linalg.lstsq(scaled, unit * gradient)[0]
            decrement = float(-gradient @ step)
            if decrement < 1e-18:
                break
            length = 1.0
            while not (there := value(moved + length * step)) < here - 0.1 * length * decrement:
                length /= 2
                if length < 1e-12:
                    return moved
            moved, before, here = moved + length * step, here, there
            if before - here < 1e-14 * abs(before):
                break
        return moved
