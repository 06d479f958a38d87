"""Coverage and effective sample of parts of a benchmark, beside the most that any design could reach, by simulation.

Run as `python benchmarks/sim_subsets.py`; writes benchmarks/results/subsets.json. Histories are drawn from a
two-parameter logistic model, or say nothing of the new system. The ratio is the mean squared error of the plain mean of
as many questions, drawn uniformly, over that of the estimate. `--table CSV ...` adds real tables with one row per
question and one column per system. Each system in turn is the new one.
"""

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy import special

from harness_uq.stats import draw_additional, draw_subset, subset_estimate
from harness_uq.stats.subsets.draw import inclusion_probabilities

OUTPUT = Path(__file__).parent / "results" / "subsets.json"
N_ALL = 1000
PLACES = {"like them": None, "ahead": 1.0, "behind": -1.0}
Data = tuple[np.ndarray, np.ndarray]
Method = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Bank:
    """Questions and systems of a two-parameter logistic model."""

    slope: np.ndarray
    difficulty: np.ndarray
    ability: np.ndarray
    new: float

    def chances(self, ability: np.ndarray | float) -> np.ndarray:
        """Of a right answer; a row an ability."""
        return special.expit(self.slope * (np.asarray(ability)[..., None] - self.difficulty))

    def scores(self, rng: np.random.Generator) -> Data:
        """Of the earlier systems, and of the new one."""
        return draw_scores(self.chances(self.ability), rng), draw_scores(self.chances(self.new), rng)


def draw_scores(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(chances.shape) < chances).astype(float)


def bank(spread: float, n_systems: int, place: float | None, rng: np.random.Generator) -> Bank:
    """Slopes 1.7 exp(N(0, .5)), difficulties N(0, spread), abilities N(0, 1); the new one's among or beyond them."""
    slope, difficulty = 1.7 * np.exp(rng.normal(0, 0.5, N_ALL)), rng.normal(0, spread, N_ALL)
    ability = rng.normal(size=n_systems)
    end = ability.max() if place and place > 0 else ability.min()
    return Bank(slope, difficulty, ability, float(rng.normal() if place is None else end + place))


def scores_of_bank(spread: float, n_systems: int, place: float | None, rng: np.random.Generator) -> Data:
    return bank(spread, n_systems, place, rng).scores(rng)


def unrelated(n_systems: int, mean: float, *, is_noise: bool, rng: np.random.Generator) -> Data:
    """A new system whose scores have nothing to do with the history, itself noise or a 2PL bank."""
    history = (
        draw_scores(np.full((n_systems, N_ALL), 0.6), rng)
        if is_noise
        else bank(1.5, n_systems, None, rng).scores(rng)[0]
    )
    return history, draw_scores(np.full(N_ALL, mean), rng)


def one_part(design: str) -> Method:
    def draw(history: np.ndarray, scores: np.ndarray, n: int, rng: np.random.Generator) -> Data:
        drawn = draw_subset(len(scores), n, history=history, design=design, rng=rng)
        return shown(scores, drawn.indices), drawn.probabilities

    return draw


def two_parts(history: np.ndarray, scores: np.ndarray, n: int, rng: np.random.Generator) -> Data:
    """A quarter, then the rest."""
    first = draw_subset(len(scores), n // 4, history=history, rng=rng)
    seen = shown(scores, first.indices)
    more = draw_additional(seen, n - n // 4, history=history, probabilities=first.probabilities, rng=rng)
    return shown(scores, np.union1d(first.indices, more.indices)), more.probabilities


def shown(scores: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.where(np.isin(np.arange(len(scores)), indices), scores, np.nan)


METHODS: dict[str, Method] = {
    "stratified": one_part("stratified"),
    "informative": one_part("informative"),
    "two parts": two_parts,
}


def measured(
    data: Callable[[], Data], n: int, draws: int, rng: np.random.Generator, names: Sequence[str] = tuple(METHODS)
) -> dict[str, dict[str, float]]:
    """Coverage, ratio and mean width of the methods."""
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in names}
    for _ in range(draws):
        history, scores = data()
        plain = scores.var(ddof=1) * (1 / n - 1 / len(scores))
        for name in names:
            tried, probabilities = METHODS[name](history, scores, n, rng)
            found = subset_estimate(tried, probabilities, history=history)
            low, high = found.interval()
            is_held = low - 1e-12 <= scores.mean() <= high + 1e-12
            rows[name].append((is_held, (found.mean - scores.mean()) ** 2, plain, high - low))
    return {name: summary(np.array(found)) for name, found in rows.items()}


def summary(found: np.ndarray) -> dict[str, float]:
    """The error of the ratio is that of the squared errors' mean."""
    coverage, squared, plain, width = found.mean(axis=0)
    ratio = plain / squared
    error = ratio * found[:, 1].std() / squared / np.sqrt(len(found))
    return {
        name: round(float(x), 3)
        for name, x in zip(("coverage", "ratio", "error", "width"), (coverage, ratio, error, width), strict=True)
    }


def most(spread: float, n_systems: int, place: float | None, n: int, rng: np.random.Generator) -> dict[str, float]:
    """The ratio of who knows more than any design can: the ability of the new system, and the law of the model.

    With predictions m that are the questions' chances, m (1 - m) is the variance of a residual, and probabilities
    proportional to its root are best (Neyman). `model`: every parameter is known. `history`: of the questions, only
    what the history tells (their posterior on a grid). `alike`: the same, all questions drawn alike.
    """
    errors = np.zeros(4)
    for _ in range(20):
        one = bank(spread, n_systems, place, rng)
        history, scores = one.scores(rng)
        told = posterior_chances(one, history, spread)
        alike = np.full(N_ALL, n / N_ALL)
        errors += (
            scores.var(ddof=1) * (1 / n - 1 / N_ALL),
            left_over(one.chances(one.new), n, None),
            left_over(told, n, None),
            left_over(told, n, alike),
        )
    return {
        name: round(float(errors[0] / e), 2) for name, e in zip(("model", "history", "alike"), errors[1:], strict=True)
    }


def left_over(chances: np.ndarray, n: int, probabilities: np.ndarray | None) -> float:
    """Variance of the estimate whose predictions are the chances."""
    variance = chances * (1 - chances)
    p = inclusion_probabilities(np.sqrt(variance) + 1e-9, n) if probabilities is None else probabilities
    return float(((1 - p) / p * variance).sum() / N_ALL**2)


def posterior_chances(one: Bank, history: np.ndarray, spread: float) -> np.ndarray:
    """Of the new system's right answers, given its ability and the history; grids of 21 slopes and 61 difficulties."""
    log_slope, standard = np.linspace(-3, 3, 21), np.linspace(-3.2, 3.2, 61)
    slope, difficulty = (of.ravel() for of in np.meshgrid(1.7 * np.exp(0.5 * log_slope), spread * standard))
    prior = -np.add.outer(standard**2, log_slope**2).ravel() / 2
    grid = Bank(slope, difficulty, one.ability, one.new)
    right = grid.chances(one.ability).clip(1e-9, 1 - 1e-9)
    weights = special.softmax(history.T @ np.log(right) + (1 - history).T @ np.log1p(-right) + prior, axis=1)
    return weights @ grid.chances(one.new)


def simulated(draws: int) -> Iterator[dict[str, object]]:
    for n, n_systems, spread, place in product((200, 50), (20, 5, 100), (1.5, 2.5), PLACES):
        rng = np.random.default_rng([2030, n, int(10 * spread), n_systems, list(PLACES).index(place)])
        found = measured(partial(scores_of_bank, spread, n_systems, PLACES[place], rng), n, draws, rng)
        case = {"n": n, "spread": spread, "systems": n_systems, "new": place, "draws": draws}
        yield case | {"most": most(spread, n_systems, PLACES[place], n, rng)} | found


def of_twenty(draws: int) -> Iterator[dict[str, object]]:
    """Two parts again, with more draws, where twenty systems are known."""
    for spread, place in product((1.5, 2.5), PLACES):
        rng = np.random.default_rng([77, int(10 * spread), list(PLACES).index(place)])
        data = partial(scores_of_bank, spread, 20, PLACES[place], rng)
        case = {"n": 200, "spread": spread, "systems": 20, "new": place, "draws": draws}
        yield case | measured(data, 200, draws, rng, ["two parts"])


def of_no_use(draws: int) -> Iterator[dict[str, object]]:
    for n, n_systems, mean, is_noise in product((200, 50), (5, 20), (0.5, 0.9), (True, False)):
        rng = np.random.default_rng([2031, n, n_systems, int(10 * mean), is_noise])
        found = measured(partial(unrelated, n_systems, mean, is_noise=is_noise, rng=rng), n, draws, rng)
        history = "noise" if is_noise else "of others"
        yield {"n": n, "history": history, "systems": n_systems, "mean": mean, "draws": draws} | found


def cost_of_noise(draws: int) -> Iterator[dict[str, object]]:
    """Ratio of mean squared errors without and with a history that says nothing, on the same uniform draws."""
    for n, n_systems, mean in product((200, 50), (5, 20), (0.5, 0.9)):
        rng = np.random.default_rng([2033, n, n_systems, int(10 * mean)])
        squared = np.zeros((draws, 2))
        for i in range(draws):
            history, scores = unrelated(n_systems, mean, is_noise=True, rng=rng)
            tried = shown(scores, draw_subset(N_ALL, n, rng=rng).indices)
            ends = [subset_estimate(tried, history=of).mean for of in (None, history)]
            squared[i] = (np.array(ends) - scores.mean()) ** 2
        without, with_history = squared.mean(axis=0)
        yield {"n": n, "systems": n_systems, "mean": mean, "draws": draws, "ratio": round(without / with_history, 3)}


def real(path: Path, draws: int) -> dict[str, object]:
    """Each system of a table in turn as the new one, half of the questions tried."""
    table, rng = read_table(path), np.random.default_rng(2032)
    turns = iter(np.arange(draws) % len(table))

    def data() -> Data:
        i = next(turns)
        return np.delete(table, i, axis=0), table[i]

    n = table.shape[1] // 2
    return {"table": path.name, "questions": table.shape[1], "systems": len(table), "n": n, "draws": draws} | measured(
        data, n, draws, rng
    )


def read_table(path: Path) -> np.ndarray:
    """Scores (n_systems, n_questions); rows whose first cell is k, k.1, k.2, … are trials of one question."""
    with path.open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    names = [row[0].split(".")[0] for row in rows]
    scores = np.array([[float(cell) for cell in row if is_number(cell)][1:] for row in rows])
    return np.array([scores[[n == name for n in names]].mean(axis=0) for name in dict.fromkeys(names)]).T


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate all of it, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000, help="data sets a cell (default: %(default)s)")
    parser.add_argument("--table", type=Path, nargs="*", default=[], help="real tables")
    args = parser.parse_args(arguments)
    found: dict[str, list[dict[str, object]]] = {}
    for name, rows in (
        ("tables", (real(path, 4 * args.draws) for path in args.table)),
        ("simulated", simulated(args.draws)),
        ("of_twenty", of_twenty(3 * args.draws)),
        ("of_no_use", of_no_use(args.draws)),
        ("cost_of_noise", cost_of_noise(2 * args.draws)),
    ):
        found[name] = []
        for row in rows:
            print(row, flush=True)
            found[name].append(row)
    OUTPUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
