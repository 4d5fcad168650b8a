"""Errors of one per cent that a test of this folder and a cell of the page must notice.

Whether one round may be enough is not among them: the error itself settles it.
"""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "stragglers/order_statistics.py": [
        ("gap += first / (lower + j) /", "gap += 1.01 * first / (lower + j) /"),
        ("np.log1p(first / lower) -", "1.01 * np.log1p(first / lower) -"),
        ("- first * u * v / 2", "- 1.01 * first * u * v / 2"),
        ("number_ / (2 * p) * power", "1.01 * number_ / (2 * p) * power"),
        ("(upper + lower + 2 * j)", "1.01 * (upper + lower + 2 * j)"),
        ("gap += first * u * v -", "gap += 1.01 * first * u * v -"),
        ("gap += number_ * power", "gap += 1.01 * number_ * power"),
        ("(spare + j, x + 1 + j, power)", "(spare + j, x + 1 + j, 1.01 * power)"),
        ("gap += power * np.log(lower)", "gap += 1.01 * power * np.log(lower)"),
        ("(lower, upper, power)", "(lower, upper, 1.01 * power)"),
        ("np.log(small / large)", "1.01 * np.log(small / large)"),
        ("(product - 1 + rounding)", "(product - 0.99 + rounding)"),
        ("least * np.exp(growth / 2)", "1.01 * least * np.exp(growth / 2)"),
        ("_harmonic_gap(number, first) / speed", "_harmonic_gap(number, first)"),
    ],
    "stragglers/means.py": [
        ("part = first * _log_ratio", "part = 1.01 * first * _log_ratio"),
        ("part + rest * _log_ratio", "part + 1.01 * rest * _log_ratio"),
        ("-excess) - np.logaddexp(0, x)", "-excess) - 1.01 * np.logaddexp(0, x)"),
        ("rest + 1 - index\n", "rest + 1.01 - index\n"),
        ("[time / room, weight", "[1.01 * time / room, weight"),
    ],
    "stragglers/descent.py": [
        ('* columns["noise"] / (2 - rate)', '* columns["noise"] / (2.02 - rate)'),
        ('* columns["noise"] / (2 - rate)', '* 1.01 * columns["noise"] / (2 - rate)'),
        ("2 * rounds * quadratic.log_size", "2.02 * rounds * quadratic.log_size"),
        ("floor * np.expm1(power)", "1.01 * floor * np.expm1(power)"),
        ("goal - floor, 1)", "goal - 1.01 * floor, 1)"),
        ("rounds / (-2 *", "rounds / (-2.02 *"),
        ('["curvature"] ** 2 * lacking', '["curvature"] ** 2 * 1.01 * lacking'),
    ],
    "stragglers/accuracy.py": [
        ("share = spread /", "share = 1.02 * spread /"),
    ],
    "stragglers/quorum.py": [
        ("widest = 2 * accuracy", "widest = 2.02 * accuracy"),
        ("np.log1p((start - accuracy) / room)", "1.01 * np.log1p((start - accuracy) / room)"),
        ("grown / (2 - rate) ** 2", "grown / (2.02 - rate) ** 2"),
        ("rounds + rate / (2 - rate)", "rounds + 1.01 * rate / (2 - rate)"),
        ("rate / (2 - rate) * shaken", "1.01 * rate / (2 - rate) * shaken"),
        ("rounds * times, 0.0", "1.01 * rounds * times, 0.0"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "Rényi": ("stragglers/order_statistics.py", "gap += first / (lower + j)"),
    "Error": ("stragglers/descent.py", '* columns["noise"]'),
    "Rounds": ("stragglers/descent.py", "rounds / (-2 *"),
}
