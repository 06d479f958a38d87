"""Size and power of the gate's exact test and of the posterior rule it replaces, by enumeration of all tables.

For n questions and a margin m, a wrong pass is a pass although the new system loses exactly m more often than it gains.
The size is the largest probability of a wrong pass over the gain probability. The power is the probability of a pass of
an equally good system at discordances of 0.02, 0.05, 0.1, 0.2 and 0.4.

    python benchmarks/enumerate_gate.py [--every]

The default takes every n from 20 to 60 and then every tenth to 300; --every takes every n to 120.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from scipy import stats

from harness_uq.stats.pairs.exact_noninferiority import noninferiority_test, prob_worse

MARGINS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.1)
DISCORDANCES = (0.02, 0.05, 0.1, 0.2, 0.4)
ALPHA = 0.05


def rules(n: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Fewest gains that pass by number of discordant questions, n + 1 if none do: of the exact test, and of the rule
    P(A - B > -margin | data) >= 1 - alpha / 2.
    """
    discordant, won = np.divmod(np.arange((n + 1) ** 2), n + 1)
    discordant, won = discordant[won <= discordant], won[won <= discordant]
    worse = prob_worse(won, discordant, n, margin)
    order = np.argsort(worse)
    low, high = 0, len(order)  # p-values increase with the probability that A is worse
    while low < high:
        at = order[middle := (low + high) // 2]
        table = (n - discordant[at], won[at], discordant[at] - won[at], 0)
        low, high = (middle + 1, high) if noninferiority_test(table, margin).p_noninferior <= ALPHA else (low, middle)
    passes = np.zeros(len(worse), bool)
    passes[order[:low]] = True
    return fewest_gains(n, discordant, won, passes), fewest_gains(n, discordant, won, worse <= ALPHA / 2)


def fewest_gains(n: int, discordant: np.ndarray, won: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """Fewest passing gains by number of discordant questions."""
    fewest = np.full(n + 1, n + 1)
    np.minimum.at(fewest, discordant[passes], won[passes])
    return fewest


def prob_pass(fewest: np.ndarray, gain: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """Probability of a pass for each pair of gain and loss probabilities."""
    n, k = len(fewest) - 1, np.arange(len(fewest))
    weights = stats.binom.pmf(k, n, (gain + loss)[:, None])
    share = gain / np.where(gain + loss > 0, gain + loss, 1.0)
    return (weights * stats.binom.sf(fewest - 1, k, share[:, None])).sum(axis=1)


def cells(sizes: Iterator[int]) -> Iterator[tuple[int, float, float, float, np.ndarray, np.ndarray]]:
    """n, margin, size of the exact test and of the posterior rule, and their powers by discordance."""
    for n in sizes:
        for margin in MARGINS:
            gain = (1 - margin) / 2 * np.linspace(0, 1, 1001) ** 2
            both = rules(n, margin)
            size = [float(prob_pass(rule, gain, gain + margin).max()) for rule in both]
            half = np.array(DISCORDANCES) / 2
            power = [prob_pass(rule, half, half) for rule in both]
            yield n, margin, size[0], size[1], power[0], power[1]


def main() -> None:
    """Print the extremes over all cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", action="store_true")
    every = parser.parse_args().every
    sizes = sorted({*range(20, 121 if every else 61), *range(60, 301, 10 if every else 20)})
    rows = list(cells(iter(sizes)))
    size = np.array([row[2] for row in rows])
    comparable = [row for row in rows if row[3] <= ALPHA]
    worst = min((float((row[4] - row[5]).min()), row[0], row[1]) for row in comparable)
    print(f"{len(rows)} cells: size {size.min():.4f} to {size.max():.6f}")
    print(
        f"posterior rule: size over {ALPHA} in {len(rows) - len(comparable)} cells, up to {max(r[3] for r in rows):.3f}"
    )
    print(f"smallest gain in power where it holds its size: {worst[0]:+.4f} at n = {worst[1]}, margin {worst[2]}")


if __name__ == "__main__":
    main()
