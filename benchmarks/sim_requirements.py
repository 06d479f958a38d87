"""Error rates of the requirements of `harness-uq gate`, each at its boundary, and of families of requirements.

At the boundary, for instance a true score equal to the bound, a decision `fail` and a decision `pass` are both errors,
each with a probability of at most 0.05. `exact` cells sum over all outcomes; with a margin or an improvement, also over
the probability of a gain (the largest error rate is reported). The other cells are simulated. `power` is the share of
passes at an alternative that lies on the good side of the boundary. `t` has the same shares for a one-sided t test of
the mean scores of questions (or clusters) at 0.05, and `one_tail` for a rule that compares the tail of the posterior
with 0.05, where the gate compares twice the tail. For independent right-or-wrong answers and a bound, the test of the
gate is the uniformly most powerful test, so that there is no comparison. `enumerate_gate.py` enumerates 714 further
cells of margins.

In families, the tests depend on the data through the numbers of questions won and lost. Their p-values are computed
once for each table, and the decisions of the first gates are compared with those of the command.

Run `python benchmarks/sim_requirements.py`; it takes about 15 minutes and writes
`benchmarks/results/requirements.json`.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats

from harness_uq import Options, gate
from harness_uq.analyses.gating.gate import GateDesign, decide
from harness_uq.analyses.gating.requirements import requirements_of
from harness_uq.data.selection import select_runs
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import MetadataField, Questions, Scores, Source, TaskLog
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.decisions import bound_hypothesis
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.results.gate import Gate
from harness_uq.stats.pairs.exact_noninferiority import noninferiority_test
from harness_uq.stats.pairs.multiple_testing import adjust_p_values

OUT = Path(__file__).parent / "results" / "requirements.json"
ALPHA = 0.05
PLUGINS = load_plugins()
Rng = np.random.Generator


def log(
    values: np.ndarray, system: str, *, task: str = "t", metric: str = "acc", group: np.ndarray | None = None
) -> TaskLog:
    """A task log of these scores, float (n_questions,) or (n_questions, n_trials)."""
    table = values[:, None] if values.ndim == 1 else values
    codes = None if group is None else np.unique(group, return_inverse=True)[1]
    fields = {} if codes is None else {"passage": MetadataField(codes, False, tuple(map(str, np.unique(codes))))}
    questions = Questions(tuple(map(str, range(len(table)))), (), fields)
    lower = {metric: False} if metric == "cost" else {}
    return TaskLog(
        system, task, Source("sim", "array"), questions, (Scores(metric, "none", table),), higher_is_better=lower
    )


def decided(new: list[TaskLog], old: list[TaskLog], options: GateDesign) -> Gate:
    """The decision of a gate with a baseline, without its power."""
    sides = (Side(logs[0].system, tuple(logs), select_runs(logs)[logs[0].system]) for logs in (new, old))
    return decide(*sides, options, PLUGINS)


def options(margin: float = 0.0, improve: float | None = None, **other: object) -> GateDesign:
    """Options with a margin or a required improvement of all scores."""
    structure = StructureOptions(cluster="none", ranges={"f1": (0.0, 1.0)})
    compared = Options(margin=margin, structure=other.pop("structure", structure))
    return GateDesign(compared, improve_by={} if improve is None else {None: improve}, **other)


# ---------------------------------------------------------------- exact cells


def bound(n: int, rate: float) -> dict[str, float]:
    """Error rates of a bound on a share of n independent questions."""
    counts = np.arange(n + 1)
    below = stats.binom.cdf(counts, n, rate)
    above = stats.binom.sf(counts - 1, n, rate)
    weights = stats.binom.pmf(counts, n, rate)
    return {"fail": float(weights[below <= ALPHA].sum()), "pass": float(weights[above <= ALPHA].sum())}


def check_bound(n: int, rate: float) -> None:
    """The p-values above are those of the gate."""
    right = round(0.7 * n)
    values = np.repeat([1.0, 0.0], [right, n - right])
    found = gate(log(values, "a"), at_least=rate, plugins=PLUGINS).requirements[0]
    p = bound_hypothesis(found.estimate, "at_least", rate)
    assert p is not None
    assert np.isclose(p.p_met, stats.binom.cdf(right, n, rate))
    assert np.isclose(p.p_violated, stats.binom.sf(right - 1, n, rate))


def paired(n: int, margin: float) -> dict[str, float]:
    """Largest error rates of the paired test over the probability of a gain; for improvements, sides are exchanged."""
    tables = [(won, lost) for won in range(n + 1) for lost in range(n + 1 - won)]
    tests = [noninferiority_test((0, won, lost, n - won - lost), margin) for won, lost in tables]
    won, lost = np.array(tables).T
    rates = {"fail": 0.0, "pass": 0.0}
    for gain in (1 - margin) / 2 * np.linspace(0, 1, 60) ** 2:
        rest = max(0.0, 1 - 2 * gain - margin)
        weights = stats.multinomial.pmf(np.stack([won, lost, n - won - lost], 1), n, [gain, gain + margin, rest])
        rates["fail"] = max(rates["fail"], float(weights[[test.p_inferior <= ALPHA for test in tests]].sum()))
        rates["pass"] = max(rates["pass"], float(weights[[test.p_noninferior <= ALPHA for test in tests]].sum()))
    return rates


# ---------------------------------------------------------------- simulated cells: (decision, p-value of the t test)

Draw = Callable[[Rng, float], tuple[Gate, float]]


def t_above(values: np.ndarray, limit: float) -> float:
    """One-sided p-value of "the mean is at most the limit"."""
    return float(stats.ttest_1samp(values, limit, alternative="greater").pvalue) if np.ptp(values) else 1.0


def clustered_bound(rng: Rng, shift: float) -> tuple[Gate, float]:
    """40 passages of 5 questions, at least 0.7."""
    p = rng.beta(7 + 10 * shift, 3 - 10 * shift, 40)
    right = (rng.random((40, 5)) < p[:, None]).astype(float)
    new = log(right.ravel(), "a", group=np.repeat(np.arange(40), 5))
    return gate(new, at_least=0.7, cluster="passage", plugins=PLUGINS), t_above(right.mean(axis=1), 0.7)


def repeated_bound(rng: Rng, shift: float) -> tuple[Gate, float]:
    """100 questions with four trials, at least 0.7."""
    p = rng.beta(1.4 + 2 * shift, 0.6 - 2 * shift, 100)
    right = (rng.random((100, 4)) < p[:, None]).astype(float)
    return gate(log(right, "a"), at_least=0.7, plugins=PLUGINS), t_above(right.mean(axis=1), 0.7)


def graded_bound(rng: Rng, shift: float) -> tuple[Gate, float]:
    """100 graded scores, at least 0.7."""
    values = rng.beta(1.4 + 2 * shift, 0.6 - 2 * shift, 100)
    found = gate(log(values, "a", metric="f1"), at_least=0.7, range={"f1": (0, 1)}, plugins=PLUGINS)
    return found, t_above(values, 0.7)


def cost(sd: float, n: int) -> Draw:
    """n lognormal costs, at most a mean of 1."""

    def draw(rng: Rng, shift: float) -> tuple[Gate, float]:
        values = rng.lognormal(-(sd**2) / 2, sd, n) * (1 - shift)
        found = gate(log(values, "a", metric="cost"), at_most={"cost": 1.0}, plugins=PLUGINS)
        return found, t_above(-values, -1.0)

    return draw


def relative_cost(rng: Rng, shift: float) -> tuple[Gate, float]:
    """Costs of 100 questions in two runs, which may increase by 0.1."""
    base = rng.lognormal(-0.5, 1.0, 100)
    old, new = base * rng.lognormal(-0.08, 0.4, 100), base * rng.lognormal(-0.08, 0.4, 100) + 0.1 - shift
    sides = [log(new, "a", metric="cost")], [log(old, "b", metric="cost")]
    return decided(*sides, options(0.1)), t_above(old - new, -0.1)


def clustered_margin(rng: Rng, shift: float) -> tuple[Gate, float]:
    """40 passages of 5 questions, worse by exactly the margin of 0.05."""
    p = rng.beta(6, 3, 40) * 0.9 + 0.05
    old = (rng.random((40, 5)) < p[:, None]).astype(float)
    new = (rng.random((40, 5)) < p[:, None] - 0.05 + shift).astype(float)
    group = np.repeat(np.arange(40), 5)
    sides = [log(new.ravel(), "a", group=group)], [log(old.ravel(), "b", group=group)]
    found = decided(*sides, options(0.05, structure=StructureOptions(cluster="passage")))
    return found, t_above((new - old).mean(axis=1), -0.05)


def repeated(improve: float | None) -> Draw:
    """100 questions with four trials on both sides, with a margin or a required improvement of 0.05."""

    def draw(rng: Rng, shift: float) -> tuple[Gate, float]:
        p = rng.beta(1.2, 0.8, 100) * 0.85 + 0.05
        edge = -0.05 if improve is None else improve
        old = (rng.random((100, 4)) < p[:, None]).astype(float)
        new = (rng.random((100, 4)) < p[:, None] + edge + shift).astype(float)
        found = decided([log(new, "a")], [log(old, "b")], options(0.05, improve))
        return found, t_above((new - old).mean(axis=1), edge)

    return draw


def graded(improve: float | None) -> Draw:
    """100 graded scores on both sides, with a margin or a required improvement of 0.05."""

    def draw(rng: Rng, shift: float) -> tuple[Gate, float]:
        p = rng.beta(1.4, 0.8, 100) * 0.8
        edge = -0.05 if improve is None else improve
        old, new = (np.clip(p + e + rng.uniform(-0.05, 0.05, 100), 0, 1) for e in (0.1, 0.1 + edge + shift))
        sides = [log(new, "a", metric="f1")], [log(old, "b", metric="f1")]
        return decided(*sides, options(0.05, improve)), t_above(new - old, edge)

    return draw


# ---------------------------------------------------------------- families of exact tests


@dataclass(frozen=True)
class Family:
    """Answers of two systems to tasks of equal size, and what the gate tests besides each task.

    Attributes
    ----------
    old, new : float (n_tasks, n_questions)
    are_groups : whether the tasks are groups of one task
    bound : bound of the score of the first task; None if there is none
    """

    old: np.ndarray
    new: np.ndarray
    are_groups: bool
    bound: float | None = None

    def decision(self) -> str:
        """The decision of a gate at a margin of 0, from the p-values of its tests."""
        won, lost = ((a > b).sum(axis=1) for a, b in ((self.new, self.old), (self.old, self.new)))
        size = self.old.shape[1]
        violations = [exact_p(size, int(w), int(k))[0] for w, k in zip(won, lost, strict=True)]
        whole = exact_p(self.old.size, int(won.sum()), int(lost.sum()))
        violations.append(whole[0])
        passes = [whole[1]]
        if self.bound is not None:
            right = int(self.new[0].sum())
            violations.append(float(stats.binom.cdf(right, size, self.bound)))
            passes.append(float(stats.binom.sf(right - 1, size, self.bound)))
        if adjust_p_values(violations).min() <= ALPHA:
            return "fail"
        return "pass" if max(passes) <= ALPHA else "undecided"

    def decision_of_gate(self) -> str:
        """The decision of the gate on logs with these answers."""
        if self.are_groups:
            group = np.repeat(np.arange(len(self.old)), self.old.shape[1])
            sides = ([log(x.ravel(), name, group=group)] for name, x in (("a", self.new), ("b", self.old)))
            return decided(*sides, options(by=("passage",))).decision
        sides = (
            [log(x, name, task=f"t{i}") for i, x in enumerate(table)]
            for name, table in (("a", self.new), ("b", self.old))
        )
        return decided(*sides, options(requirements=requirements_of({"t0": self.bound}, None))).decision


@cache
def exact_p(n: int, won: int, lost: int) -> tuple[float, float]:
    """p-values of "not worse" and of "worse", at a margin of 0."""
    test = noninferiority_test((0, won, lost, n - won - lost), 0.0)
    return test.p_inferior, test.p_noninferior


def groups(rng: Rng, shift: float) -> Family:
    """240 questions in four groups, equal systems and a margin of 0: a false failure of any group or of the whole."""
    p = rng.beta(1.0, 0.6, (4, 60))
    old, new = ((rng.random((4, 60)) < p + e).astype(float) for e in (0.0, shift))
    return Family(old, new, are_groups=True)


def family(rng: Rng, shift: float) -> Family:
    """Five equal tasks of 60 questions with a margin of 0, and a bound of the first at the true score."""
    p = rng.beta(1.0, 0.6, (5, 60))
    old, new = ((rng.random((5, 60)) < p + e).astype(float) for e in (0.0, shift))
    return Family(old, new, are_groups=False, bound=1.0 / 1.6)


def family_rates(draw: Callable[[Rng, float], Family], shift: float, reps: int, seed: list[int]) -> dict[str, object]:
    """Error rates of a family at the boundary and the power at the alternative."""
    rng = np.random.default_rng(seed)
    at = [draw(rng, 0.0) for _ in range(reps)]
    better = [draw(rng, shift) for _ in range(reps // 4)]
    for one in (*at[:10], *better[:10]):
        assert one.decision() == one.decision_of_gate()
    decisions = [one.decision() for one in at]
    return {
        "fail": decisions.count("fail") / reps,
        "pass": decisions.count("pass") / reps,
        "power": float(np.mean([one.decision() == "pass" for one in better])),
        "t": {"power": float(np.mean([t_above((one.new - one.old).ravel(), 0.0) <= ALPHA for one in better]))},
    }


REPS = 2000
# name, data, alternative
SIMULATED: list[tuple[str, Draw, float]] = [
    ("bound, clusters", clustered_bound, 0.08),
    ("bound, four trials", repeated_bound, 0.08),
    ("bound, graded", graded_bound, 0.08),
    ("bound, cost (lognormal, sd 0.5, n = 100)", cost(0.5, 100), 0.15),
    ("bound, cost (lognormal, sd 1, n = 300)", cost(1.0, 300), 0.15),
    ("margin, cost", relative_cost, 0.15),
    ("margin, clusters", clustered_margin, 0.1),
    ("margin, four trials", repeated(None), 0.06),
    ("margin, graded", graded(None), 0.015),
    ("improvement, four trials", repeated(0.05), 0.06),
    ("improvement, graded", graded(0.05), 0.015),
]
FAMILIES = [
    ("family: four groups and their task", groups, 0.1),
    ("family: five tasks, all tasks and a bound", family, 0.1),
]


def tails(found: Gate) -> tuple[float, float]:
    """Tail probabilities behind the decisions `fail` and `pass` of a gate with one test."""
    if found.requirements:
        row = found.requirements[0]
        return row.adjusted_p / 2, row.p_met / 2
    (row,) = found.rows
    one = row.comparison
    prob_met = one.prob_noninferior
    if row.improve_by is not None:
        prob_met = 1.0 - float(one.posterior.cdf(row.improve_by))
    return prob_met, 1.0 - prob_met


def rates(draw: Draw, shift: float, reps: int, seed: list[int]) -> dict[str, object]:
    """Error rates at the boundary and the power at the alternative, of the gate and of two other rules."""
    rng = np.random.default_rng(seed)
    at = [draw(rng, 0.0) for _ in range(reps)]
    better = [draw(rng, shift) for _ in range(reps // 4)]
    fail, passed = np.array([tails(found) for found, _ in at]).T
    power = np.array([tails(found)[1] for found, _ in better])
    t, t_power = (np.array([p for _, p in drawn]) for drawn in (at, better))

    def share(condition: np.ndarray) -> float:
        return round(float(np.mean(condition)), 4)

    decisions = [found.decision for found, _ in at]
    return {
        "fail": decisions.count("fail") / reps,
        "pass": decisions.count("pass") / reps,
        "power": share(np.array([found.decision == "pass" for found, _ in better])),
        "one_tail": {"fail": share(fail <= ALPHA), "pass": share(passed <= ALPHA), "power": share(power <= ALPHA)},
        "t": {"fail": share(1 - t <= ALPHA), "pass": share(t <= ALPHA), "power": share(t_power <= ALPHA)},
    }


def cells(share: float) -> Iterator[dict[str, object]]:
    """All cells."""
    for n, rate in ((50, 0.8), (200, 0.8), (200, 0.95), (57, 0.5)):
        check_bound(n, rate)
        yield {"cell": f"bound {rate}, n = {n}", "kind": "exact"} | bound(n, rate)
    yield {"cell": "error rate at most 0.02, n = 300", "kind": "exact"} | bound(300, 0.02)
    for n, margin, name in ((40, 0.05, "margin"), (40, 0.02, "improvement")):
        found = paired(n, margin)
        # an improvement exchanges the sides: what passes as non-inferior in one direction fails in the other
        if name == "improvement":
            found = {"fail": found["pass"], "pass": found["fail"]}
        yield {"cell": f"{name} {margin}, n = {n}", "kind": "exact"} | found
    reps = max(int(share * REPS), 4)
    for i, (name, one, shift) in enumerate(FAMILIES):
        yield {"cell": name, "kind": "simulated", "replications": reps, "shift": shift} | family_rates(
            one, shift, reps, [33, i]
        )
    for i, (name, draw, shift) in enumerate(SIMULATED):
        yield {"cell": name, "kind": "simulated", "replications": reps, "shift": shift} | rates(
            draw, shift, reps, [32, i]
        )


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="share of the replications")
    args = parser.parse_args()
    table = []
    for cell in cells(args.share):
        table.append(cell)
        print(json.dumps(cell), flush=True)
    OUT.write_text(json.dumps({"cells": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
