"""Errors of one per cent that a test and a cell of the page that uses the file must notice."""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "numerics/binomial.py": [
        ("(1 - availability) **", "(1 - 1.01 * availability) **"),
        ("np.exp(replicas", "np.exp(1.01 * replicas"),
        ("(1 - domain_outage) * all_dead", "(1 - 1.01 * domain_outage) * all_dead"),
        ("(1 - domain_outage) * some", "(1 - 1.01 * domain_outage) * some"),
        ("-np.expm1(replicas", "-np.expm1(1.01 * replicas"),
        ("value: Floats = law(a, b, x)", "value: Floats = law(a, b, 0.99 * x)"),
        ("1 - rest(a, b, x)", "1 - rest(a, b, 0.99 * x)"),
        (
            "_log_term(trials, probability, first) +",
            "0.99 * _log_term(trials, probability, first) +",
        ),
        ("term * odds * (trials", "term * 1.01 * odds * (trials"),
        ("1 / (12 * n)", "1.01 / (12 * n)"),
        ("0.5 * np.log(n / (2 * np.pi", "0.505 * np.log(n / (2 * np.pi"),
        ("np.log1p(excess / (n * probability))", "1.01 * np.log1p(excess / (n * probability))"),
        ("np.log1p(-excess /", "1.01 * np.log1p(-excess /"),
        ("law[..., :-1] * q", "law[..., :-1] * 1.01 * q"),
        ("law[..., :-1] *= 1 - q", "law[..., :-1] *= 1 - 1.01 * q"),
        ("first[..., count] * beyond", "1.01 * first[..., count] * beyond"),
        ("law[..., -1] += first[..., -1]", "law[..., -1] += 1.01 * first[..., -1]"),
    ],
    "numerics/quadratic.py": [
        ("1 + np.exp(power), -np", "1.01 + np.exp(power), -np"),
        ("-np.expm1(power)", "-np.expm1(1.01 * power)"),
        ("np.log(np.abs(rate - 1))", "1.01 * np.log(np.abs(rate - 1))"),
        ("np.expm1(2 * steps *", "np.expm1(2.02 * steps *"),
        ("/ rate / (2 - rate)", "/ rate / (2.02 - rate)"),
        ("noise * step**2 *", "1.01 * noise * step**2 *"),
        ("shrink / (2 - shrink)", "shrink / (2.02 - shrink)"),
        ("curvature * (2 - curvature", "curvature * (2.02 - curvature"),
    ],
    "numerics/quadrature.py": [
        ("(inside @ weights) * width", "(inside @ weights) * 1.01 * width"),
    ],
    "numerics/races.py": [
        ("_flushed(-np.expm1(passed))", "_flushed(-1.01 * np.expm1(passed))"),
        ("time * running * in_time", "1.01 * time * running * in_time"),
        ("head = -np.expm1(-rates *", "head = -1.01 * np.expm1(-rates *"),
        ("head = math.exp(window[0])", "head = 1.01 * math.exp(window[0])"),
        ("later = last[i] * done", "later = 1.01 * last[i] * done"),
        ("np.outer(done, done)", "1.01 * np.outer(done, done)"),
        ("moved = law[:-1] * p", "moved = law[:-1] * 1.01 * p"),
        ("np.multiply(tails[i], rest[i]", "np.multiply(tails[i], 0.99 * rest[i]"),
        ("edge * chance[i]", "1.01 * edge * chance[i]"),
        ("beyond + law[-1] * chance", "beyond + 1.01 * law[-1] * chance"),
        ("law *= rest[i]", "law *= 0.99 * rest[i]"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "Outage": ("numerics/binomial.py", "(1 - availability) **"),
    "Drop rate": ("numerics/binomial.py", "value: Floats = law(a, b, x)"),
    "A displacement": ("numerics/quadratic.py", "-np.expm1(power)"),
    "The floor of a mode": ("numerics/quadratic.py", "shrink / (2 - shrink)"),
    "Inclusion": ("numerics/races.py", "_flushed(-np.expm1(passed))"),
}
