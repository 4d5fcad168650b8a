"""Errors of one per cent that a test and a cell of the page on stragglers must notice."""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "sampling/estimators.py": [
        ("(_spread(joint, goal) / first", "(1.01 * _spread(joint, goal) / first"),
        ("/ first + noise) / first", "/ first + 1.01 * noise) / first"),
        ("first + bias**2", "first + 1.01 * bias**2"),
        ("noise * (1 / chance)", "noise * (1.01 / chance)"),
        ("_spread(joint, goal / chance)", "_spread(joint, 1.01 * goal / chance)"),
        (
            "        goal = goal - goal.mean(axis=-1, keepdims=True)",
            "        goal = 1.01 * (goal - goal.mean(axis=-1, keepdims=True))",
        ),
        ("short * apart**2", "1.01 * short * apart**2"),
        ("chance / first * from_mean", "1.01 * chance / first * from_mean"),
        ("(sample / chance).sum", "(1.01 * sample / chance).sum"),
        ("(weights * sample).sum", "(1.01 * weights * sample).sum"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "Horvitz and Thompson": ("sampling/estimators.py", "(sample / chance).sum"),
}
