"""Errors of one per cent that a test of this folder and a cell of the page must notice."""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "inner_steps/floor.py": [
        ("(pace, 2), 2 - pace, 0)", "(pace, 2), 1.98 - pace, 0)"),
        ("shaken / reach * (outer / room)", "1.01 * shaken / reach * (outer / room)"),
        ("(relative**2 * quadratic", "(1.01 * relative**2 * quadratic"),
        ("bends / 2 * variance", "bends / 2.02 * variance"),
        ("(shares**2 * spread)", "(1.01 * shares**2 * spread)"),
    ],
    "inner_steps/inner_work.py": [
        ("square / 6 * series", "square / 6.06 * series"),
        ("np.sinh(y) - y)", "1.01 * np.sinh(y) - y)"),
        ("goal = decay * cost", "goal = 1.01 * decay * cost"),
    ],
    "inner_steps/weighting.py": [
        ("1 / (2 - quadratic", "1 / (2.02 - quadratic"),
        ("np.full(steps.shape, 1 /", "np.full(steps.shape, 1.01 /"),
        ("steps / steps.sum(", "steps / (1.01 * steps).sum("),
        ("goal / slowest / most", "1.01 * goal / slowest / most"),
        ("variance * float(size) / 2", "variance * float(size) / 2.02"),
        ("solve() * goal /", "solve() * 1.01 * goal /"),
    ],
    "inner_steps/programme.py": [
        ("slope = -2 * (1 - self", "slope = -2.02 * (1 - self"),
        ("weight @ shaken +", "1.01 * weight @ shaken +"),
    ],
    "inner_steps/local_sgd.py": [
        ("active *= self.shrink", "active *= 0.99 * self.shrink"),
        ("x - self.kick * np", "x - 1.01 * self.kick * np"),
        ("x + self.spread *", "x + 1.02 * self.spread *"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "Information weights": ("inner_steps/weighting.py", "1 / (2 - quadratic"),
    "Best number of inner steps": ("inner_steps/inner_work.py", "goal = decay * cost"),
}
