"""Swapping the two systems mirrors a comparison, whatever is compared and whichever log knows the clusters."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from harness_uq.analyses.compare import compare
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    HarnessResult,
    MetadataField,
    Questions,
    Scores,
    SufficientStatistics,
    TaskLog,
)
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison
from tests.analyses.comparison.pooled import rows_with_pooled_tasks
from tests.data.toy import task_log

N = 120
PASSAGES = np.repeat(np.arange(12), 10)
BY_PASSAGE = StructureOptions(cluster="passage")


def generator(system: str) -> np.random.Generator:
    return np.random.default_rng({"a": 1, "b": 2}[system])


def single(system: str) -> TaskLog:
    return task_log(generator(system).binomial(1, 0.6, N), system=system)


def repeated(system: str) -> TaskLog:
    return task_log(generator(system).binomial(1, 0.6, (N, 3)), system=system)


def graded(system: str) -> TaskLog:
    return task_log(generator(system).integers(0, 5, N) / 4, system=system, metric="score")


def unbounded(system: str) -> TaskLog:
    return task_log(generator(system).normal(0, 3, N), system=system, metric="reward")


def records(system: str) -> TaskLog:
    rng = generator(system)
    effect = rng.normal(0, 20, 12)[PASSAGES]
    data = SufficientStatistics(
        "word_perplexity", "none", np.column_stack([effect - 100, np.full(N, 40.0)]), "perplexity"
    )
    return replace(task_log(np.zeros(N), system=system), data=(data,))


def confusion(system: str) -> TaskLog:
    targets = np.random.default_rng(0).integers(0, 2, N)
    answers = targets ^ (generator(system).random(12) < 0.3)[PASSAGES]
    data = Classifications("f1", "none", targets, answers[:, None], ("no", "yes"))
    return replace(task_log(np.zeros(N), system=system), data=(data,))


KINDS = {kind.__name__: kind for kind in (single, repeated, graded, unbounded, records, confusion)}
KNOWS: dict[str, Callable[[TaskLog], TaskLog]] = {
    "nothing": lambda log: log,
    "a field": lambda log: replace(log, questions=replace(log.questions, fields={"passage": field()})),
    "clusters": lambda log: replace(log, data=tuple(replace(data, clusters=PASSAGES) for data in log.data)),
}


def field() -> MetadataField:
    return MetadataField(PASSAGES)


def swapped(a: TaskLog | list[TaskLog], b: TaskLog | list[TaskLog], options: Options) -> None:
    """Each row of B against A is that of A against B the other way round."""
    there = {row.task: row for row in compare(b, a, options)}
    for here in compare(a, b, options):
        mirrored(here, there[here.task])


def mirrored(here: Comparison, there: Comparison) -> None:
    assert (here.method, here.n_clusters, here.n_matched) == (there.method, there.n_clusters, there.n_matched)
    assert here.cluster_key == there.cluster_key
    assert here.difference.value == pytest.approx(-there.difference.value, abs=1e-12)
    assert here.difference.interval.low == pytest.approx(-there.difference.interval.high, abs=1e-9)
    assert here.difference.interval.high == pytest.approx(-there.difference.interval.low, abs=1e-9)
    assert here.minimum_detectable_effect == pytest.approx(there.minimum_detectable_effect, rel=0.1)
    assert here.p_value == pytest.approx(there.p_value)


@pytest.mark.parametrize("knows", KNOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_either_log_may_know_the_clusters(kind: str, knows: str) -> None:
    a, b = KNOWS[knows](KINDS[kind]("a")), KINDS[kind]("b")
    options = Options(structure=BY_PASSAGE if knows == "a field" else StructureOptions())
    (row,) = compare(a, b, options)
    assert row.n_clusters == (None if knows == "nothing" else 12)
    swapped(a, b, options)


def test_passages_named_by_both_logs_are_joined_for_records_as_for_scores() -> None:
    """A's passages 0-0, 1-1, ... of 10 and B's of 20 questions: whatever either puts together is one cluster."""
    coarse = MetadataField(PASSAGES // 2)
    for kind in (single, records, confusion):
        a, b = (KNOWS["a field"](kind(system)) for system in "ab")
        b = replace(b, questions=replace(b.questions, fields={"passage": coarse}))
        (row,) = compare(a, b, Options(structure=BY_PASSAGE))
        assert row.n_clusters == 6


def suite(system: str, *, knows: str) -> list[TaskLog]:
    """Two tasks of a group, with passages (and items across tasks) that only system a's logs name."""
    tasks = []
    for i, task in enumerate(("x", "y")):
        log = task_log(generator(system).binomial(1, 0.6, N + i), system=system, task=task, metric="score")
        questions = Questions(tuple(f"{task}{j}" for j in range(N + i)))
        if system == "a" and knows == "a field":
            questions = replace(questions, fields={"passage": MetadataField(np.arange(N + i) // 10)})
        if system == "a" and knows == "items":
            questions = replace(questions, items=tuple(map(str, range(N + i))))
        scores = log.data[0]
        assert isinstance(scores, Scores)
        if system == "a" and knows == "clusters":
            scores = replace(scores, clusters=np.arange(N + i) // 10)
        tasks.append(replace(log, questions=questions, data=(scores,)))
    value = float(np.mean([log.data[0].values.mean() for log in tasks if isinstance(log.data[0], Scores)]))
    group = replace(
        task_log([0.0], system=system, task="suite"),
        questions=Questions(()),
        data=(AggregateScore("score", "none", value, None, "a group"),),
        reported={("score", "none"): HarnessResult(value)},
        subtasks=("x", "y"),
    )
    return [*tasks, group]


@pytest.mark.parametrize(("knows", "n_units"), [("nothing", None), ("a field", 25), ("clusters", 25), ("items", 121)])
def test_groups_and_overall_rows_take_what_either_side_knows(knows: str, n_units: int | None) -> None:
    options = Options(structure=BY_PASSAGE if knows == "a field" else StructureOptions())
    a, b = suite("a", knows=knows), suite("b", knows=knows)
    for first, second in ((a, b), (b, a)):
        pooled = {
            row.task: row.n_clusters
            for row in rows_with_pooled_tasks(first, second, options)
            if row.task in ("suite", "overall")
        }
        assert pooled == {"suite": n_units, "overall": n_units}
    swapped(a, b, options)
