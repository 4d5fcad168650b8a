"""Errors of one per cent that a test of this folder and a cell of the page must notice.

The guess of a block's end in the walk, and the time on it that tells whether the guess was right,
are not among them: the exact search takes over where they are wrong.
"""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "partition/bidding.py": [
        ("(starts[end + 1] - base) / speed", "1.01 * (starts[end + 1] - base) / speed"),
        ("self.target * (1 - 2.0**-48)", "self.target * 1.01"),
        ("self.lower = bid", "self.lower = 1.01 * bid"),
    ],
    "partition/chain.py": [
        ("block / self.speeds[device] + self", "1.01 * block / self.speeds[device] + self"),
        ("self.overhead[device]\n", "1.01 * self.overhead[device]\n"),
    ],
    "partition/bounds.py": [
        ("levels = (work", "levels = (1.01 * work"),
        ("np.cumsum(share * onsets[order])", "1.01 * np.cumsum(share * onsets[order])"),
        ("return work / whole", "return 1.01 * work / whole"),
        ("(pace.size - 1) * (widest", "1.01 * (pace.size - 1) * (widest"),
        ("float(pace / whole @ onset) +", "1.01 * float(pace / whole @ onset) +"),
        ("_water_level(work - widest", "_water_level(work - 1.01 * widest"),
        ("onset + widest / pace", "onset + 1.01 * widest / pace"),
        ("rate * (rate / 2 - u)", "1.01 * rate * (rate / 2 - u)"),
        ("log_ndtr(rate - u)", "log_ndtr(1.01 * rate - u)"),
        ("u * u / 2 -", "1.01 * u * u / 2 -"),
        ("price = (1 + others", "price = (1.01 + others"),
        ("math.log(2 * others)", "math.log(2.02 * others)"),
        ("_moment(2 * sigma)", "_moment(2.02 * sigma)"),
    ],
    "partition/schedule.py": [
        ("_sum(times) + (rounds", "1.01 * _sum(times) + (rounds"),
        ("(rounds - 1) * longest", "1.01 * (rounds - 1) * longest"),
        ("slack * (rounds - 1) +", "1.01 * slack * (rounds - 1) +"),
        ("(times.size - 1) * total", "1.01 * (times.size - 1) * total"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "The greedy test": ("partition/chain.py", "block / self.speeds[device]"),
    "The bid": ("partition/bidding.py", "self.lower = bid"),
    "Bounds on the best bottleneck": ("partition/bounds.py", "(pace.size - 1) * (widest"),
    "The expected price": ("partition/bounds.py", "price = (1 + others"),
    "Bounds with overhead": ("partition/bounds.py", "np.cumsum(share * onsets"),
    "Fill and drain": ("partition/schedule.py", "(rounds - 1) * longest"),
}
