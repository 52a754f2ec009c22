"""What the tests of this package share with the library's tests: vectors, mutations, and their notation."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "Readers" / "python"), str(ROOT / "Tests" / "CrossLanguage")]
# The notation of vectors is read and described by recursion, and some are as deep as is allowed.
sys.setrecursionlimit(10_000)


def tally(test, cases, check):
    """Checks each case by itself, says how many of how many passed, and fails if some did not."""
    failures = []
    for name, case in cases:
        try:
            check(case)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__} {error}")
    print(f"\n{test.id().rpartition('.')[2]}: {len(cases) - len(failures)} of {len(cases)} passed")
    test.assertGreater(len(cases), 0)
    test.assertEqual(failures, [])
