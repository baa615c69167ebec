#!/usr/bin/env python3
"""The statistics of analysis/ against scipy's, on random pairs of samples with ties and constants.

scipy is where tools/setup has unpacked it, or installed.
"""

import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "build/scipy/usr/lib/python3/dist-packages"))
sys.path.append(str(ROOT / "tests"))
from test_seed import TEST_SEED
sys.dont_write_bytecode = False  # compiling scipy takes longer than the test
try:
    import numpy
    import scipy.stats
except ImportError:
    print("skipped: scipy is missing, tools/setup brings it")
    sys.exit(77)

PAIRS = 1000
JUDGE = os.environ.get("JUDGE_SAMPLES", str(ROOT / "build/dev/judge_samples"))


def ask(questions):
    done = subprocess.run([JUDGE], input="".join(json.dumps(q) + "\n" for q in questions),
                          capture_output=True, text=True, check=True, timeout=850)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sample(chance, kind, size):
    if kind == "constant":
        return [float(chance.choice((3, 3, 4)))] * size
    if kind == "counts":
        return [float(chance.randrange(4)) for _ in range(size)]
    if kind == "rounded":
        return [round(chance.gauss(100, 2), 0) for _ in range(size)]
    return [chance.lognormvariate(7, 0.05) for _ in range(size)]


def questions():
    chance = random.Random(TEST_SEED)
    for number in range(PAIRS):
        most = 6 if number % 4 == 0 else 40
        kinds = ("constant", "counts", "rounded", "smooth", "smooth")
        kind = chance.choice(kinds)
        other = kind if chance.random() < 0.8 else chance.choice(kinds)
        shift = chance.choice((0.0, 0.0, 1.0, -3.0, 50.0))
        yield {"a": sample(chance, kind, chance.randint(1, most)),
               "b": [value + shift for value in sample(chance, other, chance.randint(1, most))],
               "alpha": chance.choice((0.05, 0.01, 0.2))}


def mann_whitney(b, a, method, **options):
    return scipy.stats.mannwhitneyu(b, a, method=method, **options).pvalue


def every_permutation(a, b):
    def rank_sum(x, y, axis):  # which U follows, since the sizes stay
        ranks = scipy.stats.rankdata(numpy.concatenate((x, y), axis=axis), axis=axis)
        ours = range(x.shape[axis], ranks.shape[axis])
        return numpy.take(ranks, ours, axis=axis).sum(axis=axis)
    return min(1.0, scipy.stats.permutation_test((a, b), rank_sum, vectorized=True,
                                                 n_resamples=math.inf).pvalue)


def share_of_ways(a, b):
    """The same for samples with too many permutations to go through: counted by rank sums."""
    ranks = [int(rank) for rank in 2 * scipy.stats.rankdata(a + b)]
    ways = numpy.zeros((len(b) + 1, sum(ranks) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    observed = sum(ranks[len(a):])
    lower, upper = ways[-1, :observed + 1].sum(), ways[-1, observed:].sum()
    return min(1.0, 2 * min(lower, upper) / ways[-1].sum())


class Oracle(unittest.TestCase):
    def test_rank_test_and_shift(self):
        asked = list(questions())
        kinds = {}
        for question, told in zip(asked, ask(asked), strict=True):
            a, b = question["a"], question["b"]
            with self.subTest(**question):
                kind = self.check_rank_test(a, b, told)
                kinds[kind] = kinds.get(kind, 0) + 1
                self.check_shift(a, b, question["alpha"], told)
        print(PAIRS, "pairs:", kinds)
        self.assertTrue(all(kinds.get(kind, 0) > 9 for kind in
                            ("one value", "exact", "exact with ties", "approximate")), kinds)

    def check_rank_test(self, a, b, told):
        pairs = [(x > y) + (x == y) / 2 for x in b for y in a]
        self.assertEqual(told["u"], sum(pairs))
        self.assertAlmostEqual(told["delta"], 2 * statistics.mean(pairs) - 1, 9)
        total, tied = len(a) + len(b), len({*a, *b}) < len(a) + len(b)
        if len({*a, *b}) == 1:
            self.assertEqual(told["p"], 1)
            return "one value"
        if total > 50:
            self.assertFalse(told["exact"])
            self.assertAlmostEqual(told["p"], mann_whitney(b, a, "asymptotic"), 9)
            return "approximate"
        self.assertTrue(told["exact"])
        if not tied:
            self.assertAlmostEqual(told["p"], mann_whitney(b, a, "exact"), 9)
            return "exact"
        self.assertAlmostEqual(told["p"], share_of_ways(a, b), 9)
        if total > 12 or min(len(a), len(b)) < 2:  # scipy wants two
            return "exact with ties, many"
        self.assertAlmostEqual(told["p"], every_permutation(numpy.array(a), numpy.array(b)), 9)
        return "exact with ties"

    def check_shift(self, a, b, alpha, told):
        differences = sorted(x - y for x in b for y in a)
        self.assertAlmostEqual(told["estimate"], statistics.median(differences), 9)
        method = "exact" if len(a) + len(b) <= 50 else "asymptotic"

        def excluded(shift, alternative):
            moved = [value - shift for value in b]
            return mann_whitney(moved, a, method, alternative=alternative) <= alpha / 2
        if told["low"] is None:  # not even what lies beyond every difference is excluded
            beyond = differences[-1] + 1
            self.assertFalse(excluded(beyond, "less"))
            return
        # The test turned around: just outside the interval it rejects, just inside it does not
        # (where there are no ties, which make the interval cautious).
        step = 1e-6
        if method == "exact" or len(set(a)) == len(a) and len(set(b)) == len(b):
            self.assertTrue(excluded(told["low"] - step, "greater"))
            self.assertTrue(excluded(told["high"] + step, "less"))
            if len(set(differences)) == len(differences):
                self.assertFalse(excluded(told["low"] + step, "greater"))
                self.assertFalse(excluded(told["high"] - step, "less"))

    def test_looks_spend_what_they_may(self):
        chance = random.Random(TEST_SEED + 1)
        asked = []
        for _ in range(12):
            count = chance.randint(1, 3)
            asked.append({"information": sorted(chance.uniform(0.1, 1) for _ in range(count)),
                          "alpha": chance.choice((0.05, 0.01, 0.05 / 8))})
        for question, told in zip(asked, ask(asked), strict=True):
            shares, alpha = question["information"], question["alpha"]
            bounds = [scipy.stats.norm.isf(level / 2) for level in told["levels"]]
            for looks in range(1, len(shares) + 1):
                stayed = self.chance_to_stay(shares[:looks], bounds[:looks])
                spent = alpha * math.log1p((math.e - 1) * shares[looks - 1])
                with self.subTest(**question, looks=looks):
                    self.assertAlmostEqual(1 - stayed, spent, delta=1e-4)

    def chance_to_stay(self, shares, bounds):
        """That a Brownian motion is within all bounds: scipy's normal distribution of many
        dimensions, over the corners of the box."""
        covariance = [[math.sqrt(min(s, t) / max(s, t)) for s in shares] for t in shares]
        low, high = [-b for b in bounds], bounds
        chance, _ = scipy.stats._mvn.mvnun(low, high, [0] * len(shares), covariance,
                                          maxpts=100_000, abseps=1e-6)
        return chance


if __name__ == "__main__":
    unittest.main(verbosity=1)
