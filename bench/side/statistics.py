# SPDX-License-Identifier: Apache-2.0
"""Two tests on paired differences, and the geometric mean, without any package."""
import math


def sign_test(differences):
    """Two-sided p-value; zeros are left out. 1 where nothing is left."""
    up, down = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    n = up + down
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(up, down) + 1)) / 2**n
    return min(1.0, 2 * tail)


def wilcoxon(differences):
    """Two-sided p-value of the signed-rank test (Wilcoxon 1945); zeros are left out, ties get their mean rank. Exact by
    counting up to 30 differences (ranks doubled, so that mean ranks are whole), the normal approximation with the
    correction for ties past that."""
    d = sorted((x for x in differences if x), key=abs)
    n = len(d)
    if n == 0:
        return 1.0
    ranks, i, ties = [0] * n, 0, 0
    while i < n:
        j = i
        while j < n and math.isclose(abs(d[j]), abs(d[i]), rel_tol=1e-12, abs_tol=1e-300):
            j += 1
        for k in range(i, j):
            ranks[k] = i + j + 1  # twice the mean rank
        ties += (j - i) ** 3 - (j - i)
        i = j
    positive = sum(r for r, x in zip(ranks, d) if x > 0)
    total = sum(ranks)
    least = min(positive, total - positive)
    if n <= 30:
        ways = {0: 1}
        for r in ranks:
            grown = dict(ways)
            for s, c in ways.items():
                grown[s + r] = grown.get(s + r, 0) + c
            ways = grown
        return min(1.0, 2 * sum(c for s, c in ways.items() if s <= least) / 2**n)
    mean, variance = n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    if variance <= 0:
        return 1.0
    z = (least / 2 - mean + 0.5) / math.sqrt(variance)
    return min(1.0, math.erfc(abs(z) / math.sqrt(2)))


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")
