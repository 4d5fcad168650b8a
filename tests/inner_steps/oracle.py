"""Independent oracle for local SGD on quadratics with unequal inner-step counts.

One mode: loss a x^2 / 2, inner step eta, p = 1 - eta a with |p| < 1; each stochastic
gradient is a x + sigma xi and ``noise`` is sigma^2.  Worker i starts at y = x, makes H_i inner
steps y <- y - eta (a y + sigma xi) and returns x - y.  The server subtracts
alpha * sum_i w_i * (returned displacement).  Everything below follows those sentences by
recursion, by propagation of variances or by numeric optimisation; only `information_rate`,
whose H is real, has to use closed forms of s and V.

Numbers are read exactly (a float 0.2 means its binary value; pass strings for decimals), the
arithmetic has 60 digits in a private mpmath context, and mpf results keep that context.
"""

import functools
import itertools
import random

import mpmath
import numpy as np
from scipy.optimize import linprog, minimize

MP = mpmath.MPContext()
MP.dps = 60
mpf = MP.mpf
INF = mpf("inf")

LITERAL_STEPS = 4096  # beyond this many inner steps affine maps are composed by doubling


def _compose(outer, inner):
    """Return the affine map z -> outer(inner(z)); a map is (slope, offset)."""
    return outer[0] * inner[0], outer[0] * inner[1] + outer[1]


def _iterate(step, times):
    """Return the affine map that applies ``step`` the given (whole) number of times."""
    if times != int(times) or times < 0:
        raise ValueError("the number of steps must be a whole number >= 0")
    times = int(times)
    result = (mpf(1), mpf(0))
    if times <= LITERAL_STEPS:
        for _ in range(times):
            result = _compose(step, result)
        return result
    while times:
        if times & 1:
            result = _compose(step, result)
        step = _compose(step, step)
        times >>= 1
    return result


def _limit(slope, offset):
    """Return the limit of z <- slope z + offset, or None if |slope| >= 1 (no convergence)."""
    if abs(slope) >= 1:
        return None
    step = (slope, offset)
    while abs(step[0]) > mpf(10) ** (-2 * MP.dps):
        step = _compose(step, step)
    return step[1]


def _inner_factor(a, eta):
    """Return p as the effect of one noiseless inner step on y = 1."""
    p = mpf(1) - mpf(eta) * (mpf(a) * mpf(1))
    if not -1 < p < 1:
        raise ValueError("the inner iteration needs |1 - eta a| < 1")
    return p


@functools.cache
def displacement(a, eta, H, noise):
    """Return (s, V): mean shrinkage per unit x and noise variance of the displacement."""
    p = _inner_factor(a, eta)
    mean_after, _ = _iterate((p, mpf(0)), H)
    _, variance_after = _iterate((p * p, mpf(eta) ** 2 * mpf(noise)), H)
    return mpf(1) - mean_after, variance_after


def _contraction(a, eta, Hs, ws, alpha):
    """Return r: what one noiseless server round subtracts from x = 1."""
    pulls = [mpf(w) * displacement(a, eta, H, 1)[0] for H, w in zip(Hs, ws, strict=True)]
    return mpf(alpha) * MP.fsum(pulls)


def stationary_variance(a, eta, Hs, ws, noise, alpha):
    """Return the limit of the variance recursion of one mode, or inf if it does not converge."""
    x_after = mpf(1)
    fresh = mpf(0)
    for H, w in zip(Hs, ws, strict=True):
        s, V = displacement(a, eta, H, noise)
        x_after -= mpf(alpha) * mpf(w) * s
        fresh += (mpf(alpha) * mpf(w)) ** 2 * V
    limit = _limit(x_after**2, fresh)
    return INF if limit is None else limit


def loss_floor(curvatures, eta, Hs, ws, noise, alpha):
    """Return the stationary expected loss summed over independent modes."""
    return MP.fsum(
        mpf(a) / 2 * stationary_variance(a, eta, Hs, ws, noise, alpha) for a in curvatures
    )


def _least_noise_weights(s, V):
    """Return u minimising sum u_i^2 V_i under sum u_i s_i = 1, from its KKT linear system."""
    n = len(s)
    matrix = MP.zeros(n + 1)
    right = MP.zeros(n + 1, 1)
    for i in range(n):
        matrix[i, i] = 2 * V[i]
        matrix[i, n] = -s[i]
        matrix[n, i] = s[i]
    right[n] = mpf(1)
    solution = MP.lu_solve(matrix, right)
    return [solution[i] for i in range(n)]


def best_single_mode_penalty(a, eta, Hs, ws):
    """Return the floor with weights ws over the least floor at the same contraction r."""
    pairs = [displacement(a, eta, H, 1) for H in Hs]
    s, V = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    r = _contraction(a, eta, Hs, ws, 1)
    if r == 0:
        return INF
    best = _least_noise_weights(s, V)
    own = MP.fsum((mpf(w) / r) ** 2 * v for w, v in zip(ws, V, strict=True))
    return own / MP.fsum(u**2 * v for u, v in zip(best, V, strict=True))


# Is the floor convex in u?  Yes, strictly, on the convex set {0 < r_j(u) < 2 for all j}.
# Proof.  Mode j contributes (a_j / 2) N_j(u)^2 / z_j(u), where N_j(u) = sqrt(sum u_i^2 V_ij) is
# a norm (convex) and z_j = r_j (2 - r_j) is a concave function of the linear r_j, positive on
# the set.  (t, z) -> t^2 / z is jointly convex for t >= 0, z > 0, nondecreasing in t and
# decreasing in z, so the composition is convex.  Strictness: equality on a segment needs N_j
# affine there (segment on a ray from 0) and z_j affine there (r_j constant), hence a point.
# The constraints r_j >= target, r_j < 2, u >= 0 are linear, so the problem is convex with one
# minimiser and workers of equal H get equal weights (average over permutations).  On a ray c u
# a mode contributes c N^2 / (r (2 - c r)) * a / 2, increasing in c, so a progress constraint
# always binds; the floor blows up as r_j -> 2, so that bound never does.


def _tables(curvatures, eta, Hs, noise):
    """Return a/2 per mode, and s and V as mpf arrays (modes x workers)."""
    numbers = np.array([[displacement(a, eta, H, noise) for H in Hs] for a in curvatures])
    return np.array([mpf(a) / 2 for a in curvatures]), numbers[..., 0], numbers[..., 1]


def _floor_and_gradient(u, halves, S, V):
    """Return the floor and its gradient at weights u (S, V: modes x workers)."""
    r = S @ u
    if np.any(r <= 0) or np.any(r >= 2):
        return np.inf, 0 * u
    z = r * (2 - r)
    top = V @ (u * u)
    slope = 2 * V * u / z[:, None] - (top * (2 - 2 * r) / z**2)[:, None] * S
    return halves @ (top / z), halves @ slope


def _central_point(S, target):
    """Return (u >= 0 with r >= target and the least largest r, that largest r), by an LP."""
    modes, kinds = S.shape
    above = np.hstack([-S, np.zeros((modes, 1))])
    below = np.hstack([S, -np.ones((modes, 1))])
    bounds_right = np.concatenate([-np.full(modes, target), np.zeros(modes)])
    cost = np.zeros(kinds + 1)
    cost[-1] = 1.0
    answer = linprog(cost, A_ub=np.vstack([above, below]), b_ub=bounds_right)
    return answer.x[:kinds], answer.x[kinds]


def _feasible_starts(S, target, central, count):
    """Return feasible starting weights: random directions drawn towards the central point."""
    rng = np.random.default_rng(0)
    starts = [central]
    kinds = S.shape[1]
    for trial in range(count):
        other = rng.exponential(size=kinds) ** 2 if trial >= kinds else np.eye(kinds)[trial]
        other = other * (target / (S @ other).min())
        share = 1.0
        while (S @ (share * other + (1 - share) * central)).max() >= 2 and share > 1e-9:
            share /= 2
        starts.append(share * other + (1 - share) * central)
    return starts


TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def optimality_gap(curvatures, eta, Hs, us, noise, target):
    """Return (f, g): floor at weights us, and a proven bound on how far it is above the best.

    Convexity gives best >= f + min over the feasible polytope of gradient . (v - u), an LP.
    """
    halves, S, V = (table.astype(float) for table in _tables(curvatures, eta, Hs, noise))
    u, target = np.array([float(w) for w in us]), float(target)
    value, gradient = _floor_and_gradient(u, halves, S, V)
    scale = np.abs(gradient).max() or 1.0
    modes = len(curvatures)
    right = np.concatenate([-np.full(modes, target), np.full(modes, 2.0)])
    answer = linprog(gradient / scale, A_ub=np.vstack([-S, S]), b_ub=right, options=TIGHT)
    return value, float(gradient @ u - answer.fun * scale)


def _search(halves, S, V, target, starts):
    """Return the best weights SLSQP finds from many feasible starts, or None if infeasible."""
    kinds = S.shape[1]
    central, largest = _central_point(S, target)
    if largest >= 2:
        return None
    unit = central.sum()
    rows = np.vstack([S, -S]) * unit
    right = np.concatenate([np.full(len(S), target), np.full(len(S), -2.0 * (1 - 1e-12))])
    size = _floor_and_gradient(central, halves, S, V)[0] or 1.0

    def objective(v):
        value, gradient = _floor_and_gradient(v * unit, halves, S, V)
        return min(value / size, 1e30), gradient * (unit / size)

    best_value, best_u = np.inf, central
    constraint = {"type": "ineq", "fun": lambda v: rows @ v - right, "jac": lambda v: rows}
    for start in _feasible_starts(S, target, central, starts + kinds):
        answer = minimize(
            objective,
            start / unit,
            jac=True,
            method="SLSQP",
            bounds=[(0, None)] * kinds,
            constraints=[constraint],
            options={"ftol": 1e-15, "maxiter": 2000},
        )
        u = np.maximum(answer.x, 0) * unit
        if not np.all(np.isfinite(u)) or (S @ u).min() <= 0:
            continue
        u = u * (target / (S @ u).min())  # the progress constraint always binds
        value = _floor_and_gradient(u, halves, S, V)[0]
        if value < best_value:
            best_value, best_u = value, u
    return best_u


def _polish(u, halves, S, V, target):
    """Return u refined by Newton on the KKT equations, or None where KKT cannot be verified.

    The support and the binding modes are read off u.  Success is a proof of optimality
    (convexity), checked with signs of the multipliers and of the gradients at zero weights.
    """
    r = (S @ u).astype(float)
    binding = [j for j in range(len(r)) if r[j] < target * (1 + 1e-8)]
    support = [i for i in range(len(u)) if u[i] > 1e-6 * max(u)]
    n = len(support)

    def weights(z):
        full = np.array([mpf(0)] * len(u))
        full[support] = list(z)[:n]
        return full

    def reduced(z):
        return _floor_and_gradient(weights(z), halves, S, V)[1] - np.array(z[n:]) @ S[binding]

    def residuals(*z):
        return [*reduced(z)[support], *((S @ weights(z))[binding] - target)]

    pull = _floor_and_gradient(u, *(table.astype(float) for table in (halves, S, V)))[1]
    rows = S[binding].astype(float)
    guess = np.linalg.lstsq(rows[:, support].T, pull[support], rcond=None)[0]
    try:
        z = list(MP.findroot(residuals, [*map(mpf, u[support]), *map(mpf, guess)], maxsteps=30))
    except (ValueError, ZeroDivisionError):
        return None
    full, tiny = weights(z), mpf(10) ** -25
    if min(full) < 0 or min(z[n:]) < 0 or min(reduced(z)) < -tiny or min(S @ full) < target - tiny:
        return None
    return full


def best_weights_floor(curvatures, eta, Hs, target, noise, starts=12):
    """Return (floor, u) minimising the floor over u >= 0 with every r_j in [target, 2).

    ``u`` has one entry per worker.  Infeasible targets give (inf, None).
    """
    kinds = sorted(set(Hs))
    counts = [list(Hs).count(kind) for kind in kinds]
    halves, S, V = _tables(curvatures, eta, kinds, noise)
    exact = halves, S * counts, V * counts  # workers of equal H share one weight
    target = mpf(target)
    rough = [table.astype(float) for table in exact]
    found = _search(*rough, float(target), starts) if 0 < target < 2 else None
    if found is None:
        return INF, None
    polished = _polish(found, *exact, target)
    best = np.array([mpf(w) for w in found]) if polished is None else polished
    place = {kind: i for i, kind in enumerate(kinds)}
    return _floor_and_gradient(best, *exact)[0], [best[place[H]] for H in Hs]


def information_rate(a, eta, C, H):
    """Return (s^2 / V)(H) / (C + H) for real H > 0, unit noise and 0 < p < 1."""
    p = _inner_factor(a, eta)
    s = 1 - p ** mpf(H)
    V = mpf(eta) ** 2 * (1 - p ** (2 * mpf(H))) / (1 - p**2)
    return s**2 / V / (mpf(C) + mpf(H))


def best_inner_steps(a, eta, C):
    """Return the real H > 0 with the largest information per time (0 is the supremum if C = 0)."""
    p = _inner_factor(a, eta)
    if p <= 0 or mpf(C) < 0:
        raise ValueError("need 0 < p < 1 and C >= 0")
    if mpf(C) == 0:
        return mpf(0)

    def slope(log_h):
        return MP.diff(lambda t: MP.log(information_rate(a, eta, C, MP.exp(t))), log_h)

    low = high = MP.log(-1 / MP.log(p))
    while slope(low) <= 0:
        low -= 1
    while slope(high) >= 0:
        high += 1
    root = MP.findroot(slope, (low, high), solver="anderson", tol=mpf(10) ** -40, verify=False)
    return MP.exp(root)


def simulate_literal(curvatures, eta, Hs, ws, noise, alpha, rounds, burn, replicas, rng):
    """Return (floor estimate, standard error) from independent replicas started at 0."""
    sigma = float(noise) ** 0.5
    total = np.zeros(replicas)
    for a in curvatures:
        x = np.zeros(replicas)
        for t in range(rounds):
            update = np.zeros(replicas)
            for H, w in zip(Hs, ws, strict=True):
                y = x.copy()
                for _ in range(H):
                    y = y - eta * (a * y + sigma * rng.standard_normal(replicas))
                update += w * (x - y)
            x = x - alpha * update
            if t >= burn:
                total += a * x * x / 2
    per_replica = total / (rounds - burn)
    return per_replica.mean(), per_replica.std(ddof=1) / replicas**0.5


def simulate_pure_python(curvatures, eta, Hs, ws, noise, alpha, rounds, seed):
    """Return the time-average loss of one run from 0, as a person would first write it."""
    random.seed(seed)
    sigma = noise**0.5
    x = [0.0 for _ in curvatures]
    total = 0.0
    for _ in range(rounds):
        update = [0.0 for _ in curvatures]
        for H, w in zip(Hs, ws, strict=True):
            y = list(x)
            for _ in range(H):
                for j, a in enumerate(curvatures):
                    gradient = a * y[j] + random.gauss(0.0, sigma)
                    y[j] = y[j] - eta * gradient
            for j in range(len(x)):
                update[j] += w * (x[j] - y[j])
        for j, a in enumerate(curvatures):
            x[j] -= alpha * update[j]
            total += 0.5 * a * x[j] ** 2
    return total / rounds


def random_steps_variance(a, eta, laws, ws, noise, alpha):
    """Return the stationary variance when worker i draws H_i afresh each round from laws[i].

    All joint outcomes are enumerated; given one, x keeps a known factor and gains known noise.
    The answer is inf when the mean squared factor is >= 1 (no finite second moment).
    """
    kept = mpf(0)
    gained = mpf(0)
    for outcome in itertools.product(*(law.items() for law in laws)):
        chance = mpf(1)
        factor = mpf(1)
        fresh = mpf(0)
        for (H, q), w in zip(outcome, ws, strict=True):
            s, V = displacement(a, eta, H, noise)
            chance *= mpf(q)
            factor -= mpf(alpha) * mpf(w) * s
            fresh += (mpf(alpha) * mpf(w)) ** 2 * V
        kept += chance * factor**2
        gained += chance * fresh
    limit = _limit(kept, gained)
    return INF if limit is None else limit


def drift_fixed_point(a, eta, Hs, ws, thetas, alpha):
    """Return the limit of the mean of x when worker i's optimum is thetas[i] (nan if none)."""
    p = _inner_factor(a, eta)
    server = (mpf(1), mpf(0))
    for H, w, theta in zip(Hs, ws, thetas, strict=True):
        pull = mpf(eta) * mpf(a) * mpf(theta)
        slope, offset = _iterate((p, pull), H)
        share = mpf(alpha) * mpf(w)
        server = (server[0] - share * (1 - slope), server[1] + share * offset)
    limit = _limit(*server)
    return mpf("nan") if limit is None else limit
