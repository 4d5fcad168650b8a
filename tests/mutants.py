"""Make each formula wrong by one per cent: a test and a cell must turn red.

Run by ``make mutants``. Each mutant is a copy of the project in which one expression
is multiplied by 1.01 (or a count is one off). The tests of its module run on the copy,
and so does the paper, cell by cell, up to the first failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jupytext

ROOT = Path(__file__).parents[1]

# File, the expression, and what becomes of it. Four places are not among them, since hardly
# an answer depends on them: whether one round may be enough, which the error itself settles; the
# guess of a block's end in the walk, and the time on it that tells whether the guess was right,
# where the exact search takes over; and the bounds of the search for an allocation, which a test
# compares with what they bound.
MUTANTS = [
    (
        "partition/bidding.py",
        "block / self.speeds[device] + self",
        "1.01 * block / self.speeds[device] + self",
    ),
    ("partition/bidding.py", "self.overhead[device]\n", "1.01 * self.overhead[device]\n"),
    (
        "partition/bidding.py",
        "(starts[end + 1] - base) / speed",
        "1.01 * (starts[end + 1] - base) / speed",
    ),
    ("partition/bidding.py", "self.target * (1 - 2.0**-48)", "self.target * 1.01"),
    ("partition/bidding.py", "self.lower = bid", "self.lower = 1.01 * bid"),
    ("partition/bounds.py", "levels = (work", "levels = (1.01 * work"),
    (
        "partition/bounds.py",
        "np.cumsum(share * onsets[order])",
        "1.01 * np.cumsum(share * onsets[order])",
    ),
    ("partition/bounds.py", "return work / whole", "return 1.01 * work / whole"),
    ("partition/bounds.py", "(pace.size - 1) * (widest", "1.01 * (pace.size - 1) * (widest"),
    (
        "partition/bounds.py",
        "float(pace / whole @ onset) +",
        "1.01 * float(pace / whole @ onset) +",
    ),
    ("partition/bounds.py", "_water_level(work - widest", "_water_level(work - 1.01 * widest"),
    ("partition/bounds.py", "onset + widest / pace", "onset + 1.01 * widest / pace"),
    ("partition/bounds.py", "rate * (rate / 2 - u)", "1.01 * rate * (rate / 2 - u)"),
    ("partition/bounds.py", "log_ndtr(rate - u)", "log_ndtr(1.01 * rate - u)"),
    ("partition/bounds.py", "u * u / 2 -", "1.01 * u * u / 2 -"),
    ("partition/bounds.py", "price = (1 + others", "price = (1.01 + others"),
    ("partition/bounds.py", "math.log(2 * others)", "math.log(2.02 * others)"),
    ("partition/bounds.py", "_moment(2 * sigma)", "_moment(2.02 * sigma)"),
    ("partition/schedule.py", "_sum(times) + (rounds", "1.01 * _sum(times) + (rounds"),
    ("partition/schedule.py", "(rounds - 1) * longest", "1.01 * (rounds - 1) * longest"),
    ("partition/schedule.py", "slack * (rounds - 1) +", "1.01 * slack * (rounds - 1) +"),
    ("partition/schedule.py", "(times.size - 1) * total", "1.01 * (times.size - 1) * total"),
    (
        "ordering/subsets.py",
        "/ self.speeds + self.overhead",
        "/ self.speeds + 1.01 * self.overhead",
    ),
    (
        "ordering/subsets.py",
        "/ self.speeds + self.overhead",
        "/ self.speeds * 1.01 + self.overhead",
    ),
    ("ordering/subsets.py", "self.held + room,", "self.held + room * 99 // 100,"),
    ("ordering/subsets.py", "/ self.speeds[kind]", "/ self.speeds[kind] * 1.01"),
    ("ordering/subsets.py", "times += self.overhead[kind]", "times += 1.01 * self.overhead[kind]"),
    ("ordering/subsets.py", "joined = states + pool", "joined = states * 0 + pool"),
    ("ordering/order.py", "interval.failure(found.bid,", "interval.failure(1.01 * found.bid,"),
    ("ordering/order.py", "interval.failure(bid,", "interval.failure(1.01 * bid,"),
    ("ordering/order.py", "fast_first[1::2][::-1]", "fast_first[1::2]"),
    ("numerics/binomial.py", "(1 - availability) **", "(1 - 1.01 * availability) **"),
    ("numerics/binomial.py", "np.exp(replicas", "np.exp(1.01 * replicas"),
    (
        "numerics/binomial.py",
        "(1 - domain_outage) * all_dead",
        "(1 - 1.01 * domain_outage) * all_dead",
    ),
    ("numerics/binomial.py", "(1 - domain_outage) * some", "(1 - 1.01 * domain_outage) * some"),
    ("numerics/binomial.py", "-np.expm1(replicas", "-np.expm1(1.01 * replicas"),
    ("numerics/binomial.py", "value: Floats = law(a, b, x)", "value: Floats = law(a, b, 0.99 * x)"),
    ("numerics/binomial.py", "1 - rest(a, b, x)", "1 - rest(a, b, 0.99 * x)"),
    (
        "numerics/binomial.py",
        "_log_term(trials, probability, first) +",
        "0.99 * _log_term(trials, probability, first) +",
    ),
    ("numerics/binomial.py", "term * odds * (trials", "term * 1.01 * odds * (trials"),
    ("numerics/binomial.py", "1 / (12 * n)", "1.01 / (12 * n)"),
    ("numerics/binomial.py", "0.5 * np.log(n / (2 * np.pi", "0.505 * np.log(n / (2 * np.pi"),
    (
        "numerics/binomial.py",
        "np.log1p(excess / (n * probability))",
        "1.01 * np.log1p(excess / (n * probability))",
    ),
    ("numerics/binomial.py", "np.log1p(-excess /", "1.01 * np.log1p(-excess /"),
    ("numerics/binomial.py", "law[..., :-1] * q", "law[..., :-1] * 1.01 * q"),
    ("numerics/binomial.py", "law[..., :-1] *= 1 - q", "law[..., :-1] *= 1 - 1.01 * q"),
    ("numerics/binomial.py", "first[..., count] * beyond", "1.01 * first[..., count] * beyond"),
    (
        "numerics/binomial.py",
        "law[..., -1] += first[..., -1]",
        "law[..., -1] += 1.01 * first[..., -1]",
    ),
    ("redundancy/design.py", "weight = alive +", "weight = 1.01 * alive +"),
    ("redundancy/design.py", "lost = loss * outage", "lost = 1.01 * loss * outage"),
    (
        "redundancy/design.py",
        "outage * (1 - loss) / weight, alive",
        "1.01 * outage * (1 - loss) / weight, alive",
    ),
    (
        "redundancy/design.py",
        "stages.astype(float) * replicas /",
        "stages.astype(float) * 1.01 * replicas /",
    ),
    (
        "redundancy/design.py",
        "at_least = improve(problem, high)",
        "at_least = 1.01 * improve(problem, high)",
    ),
    ("redundancy/design.py", "(rest, 2.0**-54)", "(rest, 2.0**-50)"),
    ("redundancy/outage.py", "dropped <= ties", "dropped <= 0.99 * ties"),
    ("redundancy/outage.py", "below(floor, allowed)", "below(floor, 1.01 * allowed)"),
    ("numerics/quadratic.py", "1 + np.exp(power), -np", "1.01 + np.exp(power), -np"),
    ("numerics/quadratic.py", "-np.expm1(power)", "-np.expm1(1.01 * power)"),
    ("numerics/quadratic.py", "np.log(np.abs(rate - 1))", "1.01 * np.log(np.abs(rate - 1))"),
    ("numerics/quadratic.py", "np.expm1(2 * steps *", "np.expm1(2.02 * steps *"),
    ("numerics/quadratic.py", "/ rate / (2 - rate)", "/ rate / (2.02 - rate)"),
    ("numerics/quadratic.py", "noise * step**2 *", "1.01 * noise * step**2 *"),
    ("numerics/quadratic.py", "shrink / (2 - shrink)", "shrink / (2.02 - shrink)"),
    ("numerics/quadratic.py", "curvature * (2 - curvature", "curvature * (2.02 - curvature"),
    ("inner_steps/floor.py", "(pace, 2), 2 - pace, 0)", "(pace, 2), 1.98 - pace, 0)"),
    (
        "inner_steps/floor.py",
        "shaken / reach * (outer / room)",
        "1.01 * shaken / reach * (outer / room)",
    ),
    ("inner_steps/floor.py", "(relative**2 * quadratic", "(1.01 * relative**2 * quadratic"),
    ("inner_steps/floor.py", "bends / 2 * variance", "bends / 2.02 * variance"),
    ("inner_steps/floor.py", "(shares**2 * spread)", "(1.01 * shares**2 * spread)"),
    ("inner_steps/inner_work.py", "square / 6 * series", "square / 6.06 * series"),
    ("inner_steps/inner_work.py", "np.sinh(y) - y)", "1.01 * np.sinh(y) - y)"),
    ("inner_steps/inner_work.py", "goal = decay * cost", "goal = 1.01 * decay * cost"),
    ("inner_steps/weighting.py", "1 / (2 - quadratic", "1 / (2.02 - quadratic"),
    ("inner_steps/weighting.py", "np.full(steps.shape, 1 /", "np.full(steps.shape, 1.01 /"),
    ("inner_steps/weighting.py", "steps / steps.sum(", "steps / (1.01 * steps).sum("),
    ("inner_steps/weighting.py", "goal / slowest / most", "1.01 * goal / slowest / most"),
    ("inner_steps/weighting.py", "slope = -2 * (1 - self", "slope = -2.02 * (1 - self"),
    ("inner_steps/weighting.py", "weight @ shaken +", "1.01 * weight @ shaken +"),
    ("inner_steps/weighting.py", "variance * float(size) / 2", "variance * float(size) / 2.02"),
    ("inner_steps/weighting.py", "solve() * goal /", "solve() * 1.01 * goal /"),
    ("inner_steps/local_sgd.py", "active *= self.shrink", "active *= 0.99 * self.shrink"),
    ("inner_steps/local_sgd.py", "x - self.kick * np", "x - 1.01 * self.kick * np"),
    ("inner_steps/local_sgd.py", "x + self.spread *", "x + 1.02 * self.spread *"),
    ("redundancy/allocation.py", "risk * together +", "1.01 * risk * together +"),
    ("redundancy/allocation.py", "(1 - risk) * alone", "(1 - 1.01 * risk) * alone"),
    (
        "redundancy/allocation.py",
        "math.log(live[stage]) + log_dead",
        "1.01 * math.log(live[stage]) + log_dead",
    ),
    (
        "stragglers/order_statistics.py",
        "gap += first / (lower + j) /",
        "gap += 1.01 * first / (lower + j) /",
    ),
    (
        "stragglers/order_statistics.py",
        "np.log1p(first / lower) -",
        "1.01 * np.log1p(first / lower) -",
    ),
    ("stragglers/order_statistics.py", "- first * u * v / 2", "- 1.01 * first * u * v / 2"),
    (
        "stragglers/order_statistics.py",
        "number_ / (2 * p) * power",
        "1.01 * number_ / (2 * p) * power",
    ),
    ("stragglers/order_statistics.py", "(upper + lower + 2 * j)", "1.01 * (upper + lower + 2 * j)"),
    ("stragglers/order_statistics.py", "gap += first * u * v -", "gap += 1.01 * first * u * v -"),
    ("stragglers/order_statistics.py", "gap += number_ * power", "gap += 1.01 * number_ * power"),
    (
        "stragglers/order_statistics.py",
        "(spare + j, x + 1 + j, power)",
        "(spare + j, x + 1 + j, 1.01 * power)",
    ),
    (
        "stragglers/order_statistics.py",
        "gap += power * np.log(lower)",
        "gap += 1.01 * power * np.log(lower)",
    ),
    ("stragglers/order_statistics.py", "(lower, upper, power)", "(lower, upper, 1.01 * power)"),
    ("stragglers/order_statistics.py", "np.log(small / large)", "1.01 * np.log(small / large)"),
    ("stragglers/order_statistics.py", "(product - 1 + rounding)", "(product - 0.99 + rounding)"),
    (
        "stragglers/order_statistics.py",
        "least * np.exp(growth / 2)",
        "1.01 * least * np.exp(growth / 2)",
    ),
    (
        "stragglers/order_statistics.py",
        "_harmonic_gap(number, first) / speed",
        "_harmonic_gap(number, first)",
    ),
    ("stragglers/means.py", "part = first * _log_ratio", "part = 1.01 * first * _log_ratio"),
    ("stragglers/means.py", "part + rest * _log_ratio", "part + 1.01 * rest * _log_ratio"),
    (
        "stragglers/means.py",
        "-excess) - np.logaddexp(0, x)",
        "-excess) - 1.01 * np.logaddexp(0, x)",
    ),
    ("stragglers/means.py", "rest + 1 - index\n", "rest + 1.01 - index\n"),
    ("stragglers/means.py", "[time / room, weight", "[1.01 * time / room, weight"),
    ("numerics/quadrature.py", "(inside @ weights) * width", "(inside @ weights) * 1.01 * width"),
    ("numerics/races.py", "_flushed(-np.expm1(passed))", "_flushed(-1.01 * np.expm1(passed))"),
    ("numerics/races.py", "time * running * in_time", "1.01 * time * running * in_time"),
    ("numerics/races.py", "head = -np.expm1(-rates *", "head = -1.01 * np.expm1(-rates *"),
    ("numerics/races.py", "head = math.exp(window[0])", "head = 1.01 * math.exp(window[0])"),
    ("numerics/races.py", "later = last[i] * done", "later = 1.01 * last[i] * done"),
    ("numerics/races.py", "np.outer(done, done)", "1.01 * np.outer(done, done)"),
    ("numerics/races.py", "moved = law[:-1] * p", "moved = law[:-1] * 1.01 * p"),
    ("numerics/races.py", "np.multiply(tails[i], rest[i]", "np.multiply(tails[i], 0.99 * rest[i]"),
    ("numerics/races.py", "edge * chance[i]", "1.01 * edge * chance[i]"),
    ("numerics/races.py", "beyond + law[-1] * chance", "beyond + 1.01 * law[-1] * chance"),
    ("numerics/races.py", "law *= rest[i]", "law *= 0.99 * rest[i]"),
    (
        "stragglers/descent.py",
        '* columns["noise"] / (2 - rate)',
        '* columns["noise"] / (2.02 - rate)',
    ),
    (
        "stragglers/descent.py",
        '* columns["noise"] / (2 - rate)',
        '* 1.01 * columns["noise"] / (2 - rate)',
    ),
    (
        "stragglers/descent.py",
        "2 * rounds * quadratic.log_size",
        "2.02 * rounds * quadratic.log_size",
    ),
    ("stragglers/descent.py", "floor * np.expm1(power)", "1.01 * floor * np.expm1(power)"),
    ("stragglers/descent.py", "goal - floor, 1)", "goal - 1.01 * floor, 1)"),
    ("stragglers/descent.py", "rounds / (-2 *", "rounds / (-2.02 *"),
    (
        "stragglers/descent.py",
        '["curvature"] ** 2 * lacking',
        '["curvature"] ** 2 * 1.01 * lacking',
    ),
    ("stragglers/accuracy.py", "share = spread /", "share = 1.02 * spread /"),
    ("stragglers/quorum.py", "widest = 2 * accuracy", "widest = 2.02 * accuracy"),
    (
        "stragglers/quorum.py",
        "np.log1p((start - accuracy) / room)",
        "1.01 * np.log1p((start - accuracy) / room)",
    ),
    ("stragglers/quorum.py", "grown / (2 - rate) ** 2", "grown / (2.02 - rate) ** 2"),
    ("stragglers/quorum.py", "rounds + rate / (2 - rate)", "rounds + 1.01 * rate / (2 - rate)"),
    ("stragglers/quorum.py", "rate / (2 - rate) * shaken", "1.01 * rate / (2 - rate) * shaken"),
    ("stragglers/quorum.py", "rounds * times, 0.0", "1.01 * rounds * times, 0.0"),
    (
        "sampling/estimators.py",
        "(_spread(joint, goal) / first",
        "(1.01 * _spread(joint, goal) / first",
    ),
    ("sampling/estimators.py", "/ first + noise) / first", "/ first + 1.01 * noise) / first"),
    ("sampling/estimators.py", "first + bias**2", "first + 1.01 * bias**2"),
    ("sampling/estimators.py", "noise * (1 / chance)", "noise * (1.01 / chance)"),
    (
        "sampling/estimators.py",
        "_spread(joint, goal / chance)",
        "_spread(joint, 1.01 * goal / chance)",
    ),
    (
        "sampling/estimators.py",
        "        goal = goal - goal.mean(axis=-1, keepdims=True)",
        "        goal = 1.01 * (goal - goal.mean(axis=-1, keepdims=True))",
    ),
    ("sampling/estimators.py", "short * apart**2", "1.01 * short * apart**2"),
    ("sampling/estimators.py", "chance / first * from_mean", "1.01 * chance / first * from_mean"),
    ("sampling/estimators.py", "(sample / chance).sum", "(1.01 * sample / chance).sum"),
    ("sampling/estimators.py", "(weights * sample).sum", "(1.01 * weights * sample).sum"),
]
# The tests and the page that must notice a mutant of a file.
CORE = ("partition", ["test_partition.py", "test_bounds.py", "test_schedule.py"])
NOTICED = {"ordering/order.py": ("ordering", ["test_ordering.py"])}
NOTICED["ordering/subsets.py"] = NOTICED["ordering/order.py"]
for name in (
    "numerics/binomial.py",
    "redundancy/allocation.py",
    "redundancy/design.py",
    "redundancy/outage.py",
):
    NOTICED[name] = ("redundancy", ["test_redundancy.py"])
for name in (
    "numerics/quadratic.py",
    "inner_steps/floor.py",
    "inner_steps/inner_work.py",
    "inner_steps/weighting.py",
    "inner_steps/local_sgd.py",
):
    NOTICED[name] = ("inner_steps", ["test_inner_steps.py"])
for name in (
    "stragglers/order_statistics.py",
    "stragglers/means.py",
    "stragglers/descent.py",
    "stragglers/accuracy.py",
    "stragglers/quorum.py",
):
    NOTICED[name] = ("stragglers", ["test_stragglers.py"])
for name in ("numerics/races.py", "numerics/quadrature.py", "sampling/estimators.py"):
    NOTICED[name] = ("stragglers", ["test_stragglers.py", "test_sampling.py"])

# One error of one per cent for each law, for the report.
LAWS = {
    "The greedy test": ("partition/bidding.py", "block / self.speeds[device]"),
    "The bid": ("partition/bidding.py", "self.lower = bid"),
    "Bounds on the best bottleneck": ("partition/bounds.py", "(pace.size - 1) * (widest"),
    "The expected price": ("partition/bounds.py", "price = (1 + others"),
    "Bounds with overhead": ("partition/bounds.py", "np.cumsum(share * onsets"),
    "Fill and drain": ("partition/schedule.py", "(rounds - 1) * longest"),
    "The subset programme": ("ordering/order.py", "interval.failure(bid,"),
    "Outage": ("numerics/binomial.py", "(1 - availability) **"),
    "Drop rate": ("numerics/binomial.py", "value: Floats = law(a, b, x)"),
    "Yield": ("redundancy/design.py", "lost = loss * outage"),
    "Best replication": ("redundancy/design.py", "stages.astype(float) * replicas"),
    "A displacement": ("numerics/quadratic.py", "-np.expm1(power)"),
    "The floor of a mode": ("numerics/quadratic.py", "shrink / (2 - shrink)"),
    "Information weights": ("inner_steps/weighting.py", "1 / (2 - quadratic"),
    "Best number of inner steps": ("inner_steps/inner_work.py", "goal = decay * cost"),
    "Rényi": ("stragglers/order_statistics.py", "gap += first / (lower + j)"),
    "Error": ("stragglers/descent.py", '* columns["noise"]'),
    "Rounds": ("stragglers/descent.py", "rounds / (-2 *"),
    "Inclusion": ("numerics/races.py", "_flushed(-np.expm1(passed))"),
    "Horvitz and Thompson": ("sampling/estimators.py", "(sample / chance).sum"),
}

PAGE = """
import os, sys, jupytext
sys.stdout = open(os.devnull, "w")
space = {"__name__": "__main__"}
for number, cell in enumerate(jupytext.read(sys.argv[1]).cells):
    if cell.cell_type == "code":
        try:
            exec(cell.source, space)
        except Exception as error:
            sys.stderr.write(f"cell {number}: {type(error).__name__}")
            sys.exit(1)
"""


def run(command: list[str], folder: Path) -> tuple[int, str]:
    """Run a command on the copy in `folder`; return its exit code and the end of what it says.

    A search that no longer ends is a failure too.
    """
    environment = os.environ | {
        "PYTHONPATH": str(folder / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "agg",
    }
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
    except subprocess.TimeoutExpired:
        return 1, "does not end"
    said = (done.stdout + done.stderr).strip().splitlines()
    failed = [line for line in said if line.startswith("FAILED")]
    return done.returncode, (failed or said or [""])[-1]


def commands(page: str, tests: list[str]) -> tuple[list[str], list[str]]:
    """Return the command that runs some tests, and the one that runs a page."""
    pytest = [sys.executable, "-m", "pytest", "-qx", "-rf", "-p", "no:cacheprovider", "-W", "error"]
    pytest += ["-o", "pythonpath=tests", *(f"tests/{test}" for test in tests)]
    return pytest, [sys.executable, "-W", "ignore", "-c", PAGE, f"book/{page}.md"]


def report(target: Path) -> None:
    """Write which test and which cell first turn red under one error for each law."""
    lines = [
        "# Which check notices an error of one per cent",
        "",
        "Made by `.venv/bin/python -m tests.mutants --report`. In a copy of the project one",
        "expression is made wrong; the tests of its module run up to the first failure, and so",
        "does the paper.",
        "",
        "| Law | Wrong expression | First test | First cell of the paper |",
        "|:--|:--|:--|:--|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("src", "tests", "book"):
            shutil.copytree(ROOT / part, folder / part)
        for law, (file, start) in LAWS.items():
            (old, new), *_ = [m[1:] for m in MUTANTS if m[0] == file and m[1].startswith(start)]
            path = folder / "src" / "decentral" / file
            text = path.read_text("utf-8")
            path.write_text(text.replace(old, new), "utf-8")
            page, tests = NOTICED.get(file, CORE)
            pytest, cells = commands(page, tests)
            (tested, first), (shown, where) = run(pytest, folder), run(cells, folder)
            path.write_text(text, "utf-8")
            test = re.search(r"FAILED \S*?(test_\w+\.py::\S+)", first)
            cell = f"{page}, {section(page, where)}" if shown else "none"
            found = f"`{test[1]}`" if tested and test else "none"
            lines.append(f"| {law} | `{file}`: `{' '.join(new.split())}` | {found} | {cell} |")
            print(lines[-1], flush=True)
    target.write_text("\n".join(lines) + "\n", "utf-8")


def section(page: str, where: str) -> str:
    """Name the section and the kind of a cell, given as ``cell 17: AssertionError``."""
    number = int(re.findall(r"cell (\d+)", where)[0])
    cells = jupytext.read(ROOT / "book" / f"{page}.md").cells
    texts = [cell.source for cell in cells[:number] if cell.cell_type == "markdown"]
    titles = re.findall(r"(?m)^##+ (.*)$", "\n".join(texts))
    count = sum(cell.cell_type == "code" for cell in cells[: number + 1])
    return f"code cell {count} ({titles[-1] if titles else 'before the model'})"


def stale() -> list[str]:
    """Return the expressions that the sources no longer contain."""
    sources = ROOT / "src" / "decentral"
    return [old for file, old, _ in MUTANTS if old not in (sources / file).read_text("utf-8")]


def main(files: list[str]) -> int:
    """Run all mutants, or those of some files of ``src/decentral``; or write the report."""
    if files == ["--report"]:
        report(ROOT / "benchmarks" / "one_percent.md")
        return 0
    chosen = [mutant for mutant in MUTANTS if not files or mutant[0] in files]
    survivors = 0
    assert not stale(), f"these expressions are gone: {stale()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("src", "tests", "book"):
            shutil.copytree(ROOT / part, folder / part)
        suites = dict(NOTICED.get(mutant[0], CORE) for mutant in chosen)
        for suite in suites.items():
            for command in commands(*suite):
                code, said = run(command, folder)
                assert code == 0, f"the original fails: {said}"
        for file, old, new in chosen:
            path = folder / "src" / "decentral" / file
            text = path.read_text("utf-8")
            path.write_text(text.replace(old, new), "utf-8")
            pytest, page = commands(*NOTICED.get(file, CORE))
            (tested, _), (shown, where) = run(pytest, folder), run(page, folder)
            path.write_text(text, "utf-8")
            verdicts = ["red" if code else "GREEN" for code in (tested, shown)]
            survivors += "GREEN" in verdicts
            print(f"tests {verdicts[0]}, page {verdicts[1]} ({where}): {new.strip()}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants turn a test and a cell red")
    return survivors


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
