"""Errors of one per cent that a test of this folder and a cell of the page must notice.

The bounds of the search for an allocation are not among them: hardly an answer depends on them,
and a test compares them with what they bound.
"""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "redundancy/design.py": [
        ("weight = alive +", "weight = 1.01 * alive +"),
        ("lost = loss * outage", "lost = 1.01 * loss * outage"),
        ("outage * (1 - loss) / weight, alive", "1.01 * outage * (1 - loss) / weight, alive"),
        ("stages.astype(float) * replicas /", "stages.astype(float) * 1.01 * replicas /"),
        ("at_least = improve(problem, high)", "at_least = 1.01 * improve(problem, high)"),
        ("(rest, 2.0**-54)", "(rest, 2.0**-50)"),
    ],
    "redundancy/outage.py": [
        ("dropped <= ties", "dropped <= 0.99 * ties"),
        ("below(floor, allowed)", "below(floor, 1.01 * allowed)"),
    ],
    "redundancy/allocation.py": [
        ("math.log(live[stage]) + log_dead", "1.01 * math.log(live[stage]) + log_dead"),
    ],
    "redundancy/unequal.py": [
        ("risk * together +", "1.01 * risk * together +"),
        ("(1 - risk) * alone", "(1 - 1.01 * risk) * alone"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "Yield": ("redundancy/design.py", "lost = loss * outage"),
    "Best replication": ("redundancy/design.py", "stages.astype(float) * replicas"),
}
