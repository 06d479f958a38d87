"""What broke: questions whose answers changed, by evidence, and flaky questions."""

import numpy as np
import pytest

from harness_uq import Options, gate
from harness_uq.analyses.comparison.questions import disagreements
from tests.data.toy import task_log
from tests.output.rendering import render

N = 100
IDS = [f"q{i}" for i in range(N)]
SETTLED = np.array([1.0] * 70 + [0.0] * 30)
FLAKY, BROKEN, FIXED = range(10), range(20, 32), (95,)


def baseline(run: int) -> np.ndarray:
    values = SETTLED.copy()
    values[list(FLAKY)] = [(i + run) % 2 for i in FLAKY]
    return values


def new() -> np.ndarray:
    values = SETTLED.copy()
    values[list(FLAKY)] = 0.0
    values[list(BROKEN)] = 0.0
    values[list(FIXED)] = 1.0
    return values


NEW = task_log(new(), system="new", ids=IDS)
RUNS = [task_log(baseline(run), system="old", ids=IDS) for run in range(6)]


def test_regressions_are_separated_from_flaky_questions() -> None:
    (found,) = gate(NEW, RUNS, margin=0.0).flipped
    assert {one.question for one in found.worse} == {f"q{i}" for i in BROKEN}
    assert {one.question for one in found.better} == {f"q{i}" for i in FIXED}
    assert {one.question for one in found.flaky} == {f"q{i}" for i in FLAKY}
    assert (found.n_worse, found.n_better, found.n_flaky) == (12, 1, 10)
    assert all(one.probability > 0.9 and one.share_baseline == 1.0 for one in found.worse)


def test_the_strongest_evidence_comes_first() -> None:
    runs = [baseline(run) for run in range(6)]
    runs[0][20] = 0.0  # right in 5 of 6 runs only
    (found,) = gate(NEW, [task_log(values, system="old", ids=IDS) for values in runs], margin=0.0).flipped
    assert found.worse[-1].question == "q20"
    probabilities = [one.probability for one in found.worse]
    assert probabilities == sorted(probabilities, reverse=True)


def test_with_one_run_all_flips_are_listed_without_a_probability() -> None:
    (found,) = gate(NEW, RUNS[0], margin=0.0).flipped
    assert found.n_worse == len(BROKEN) + 5  # half of the flaky questions were right in this run
    assert {one.probability for one in found.worse} == {None}
    assert (found.n_flaky, found.flaky) == (0, ())


def test_scores_where_less_is_better_break_by_rising() -> None:
    flags = {"metric": "refused", "higher_is_better": {"refused": False}}
    found = gate(
        task_log(1 - new(), system="new", ids=IDS, **flags), task_log(1 - baseline(0), **flags, ids=IDS), margin=0
    )
    assert found.flipped[0].n_worse == len(BROKEN) + 5


def test_graded_scores_have_no_flips() -> None:
    rng = np.random.default_rng(0)
    logs = [task_log(rng.random(20), metric="f1", system=name) for name in ("new", "old")]
    assert gate(*logs, margin=0.1).flipped == ()


def test_a_failed_gate_shows_what_broke() -> None:
    text = render([gate(NEW, RUNS, margin=0.0)], "table")
    assert "What broke on toy, acc: 12 questions worse, the first 10 (1 better)" in text
    assert "10 flaky questions of toy, acc" in text
    passed = render([gate(NEW, RUNS, margin=0.4)], "table")
    assert "flaky question" not in passed
    alone = render([gate(NEW, RUNS[0], margin=0.0)], "table")
    assert "q1, q3, q5, q7, q9 and 12 more" in alone


def test_disagreements_share_the_evidence() -> None:
    trials = np.stack([log.data[0].values[:, 0] for log in RUNS], axis=1)
    old = task_log(trials, system="old", ids=IDS)
    (found,) = disagreements(NEW, old, 30, Options())
    assert [one.id for one in found.questions[:13] if not one.is_flaky] == [one.id for one in found.questions[:13]]
    assert {one.id for one in found.questions if one.is_flaky} == {f"q{i}" for i in FLAKY}
    (alone,) = disagreements(NEW, RUNS[0], 30, Options())
    assert {one.probability for one in alone.questions} == {None}


def test_a_question_is_flaky_for_either_system() -> None:
    a, b = ([[1, 0, 0], [1, 1, 1]] + [[1, 1, 1]] * 8 + [[0, 0, 0]] * 8 for _ in range(2))
    b[:2] = b[1], b[0]
    (found,) = disagreements(task_log(a, system="a"), task_log(b, system="b"), 5, Options())
    assert {one.id: one.is_flaky for one in found.questions} == {"0": True, "1": True}
    text = render([found], "table")
    assert "P(differ): posterior probability" in text
    assert "Flaky: identical runs" in " ".join(text.split())


@pytest.mark.parametrize("output", ["json", "csv", "markdown", "html"])
def test_every_format_renders_flips(output: str) -> None:
    assert render([gate(NEW, RUNS, margin=0.0)], output)
