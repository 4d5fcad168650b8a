"""Errors of one per cent that a test of this folder and a cell of the page must notice."""

# File, and in it the expressions and what becomes of them.
MUTANTS = {
    "ordering/subsets.py": [
        ("/ self.speeds + self.overhead", "/ self.speeds + 1.01 * self.overhead"),
        ("/ self.speeds + self.overhead", "/ self.speeds * 1.01 + self.overhead"),
        ("self.held + room,", "self.held + room * 99 // 100,"),
        ("/ self.speeds[kind]", "/ self.speeds[kind] * 1.01"),
        ("times += self.overhead[kind]", "times += 1.01 * self.overhead[kind]"),
        ("joined = states + pool", "joined = states * 0 + pool"),
    ],
    "ordering/sorting.py": [
        ("fast_first[1::2][::-1]", "fast_first[1::2]"),
    ],
    "ordering/search.py": [
        ("interval.failure(found.bid,", "interval.failure(1.01 * found.bid,"),
        ("interval.failure(bid,", "interval.failure(1.01 * bid,"),
    ],
}
# One for each law, for the report: the file, and how the expression begins.
LAWS = {
    "The subset programme": ("ordering/search.py", "interval.failure(bid,"),
}
