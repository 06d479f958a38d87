"""Ranges of metrics whose scores are all equal."""

import pytest

from harness_uq import Options, estimate
from harness_uq.data.structure import StructureOptions
from tests.adapters.lm_eval.logs import Folder, row
from tests.message_checks import find, has

N = 40


def estimates(folder, **metrics):
    """Estimates by metric, of a task whose questions have these scores; a single number is the score of all."""
    columns = {name: scores if isinstance(scores, list) else [scores] * N for name, scores in metrics.items()}
    means = {f"{name},none": sum(scores) / N for name, scores in columns.items()}
    Folder(folder).results({"t": means}, n=N)
    questions = range(N)
    Folder(folder).samples("t", [row(i, **{name: scores[i] for name, scores in columns.items()}) for i in questions])
    return {one.metric: one for one in estimate(str(folder))}


SPREAD = [100 * i / N for i in range(N)]


@pytest.mark.parametrize("score", [0, 100])
def test_eq_bench_has_scores_up_to_100_whatever_they_are(tmp_path, score):
    found = estimates(tmp_path, eqbench=score, percent_parseable=score)["eqbench"]
    assert found.structure.bounds == (0, 100)
    # all 40 scores at one end: the Beta(1, 41) posterior of a share has its 95 % quantile at 1 - 0.05^(1/41) = 0.0704
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(100 * (1 - 0.05 ** (1 / (N + 1))), rel=0.01)


def test_another_metric_of_the_task_tells_that_scores_are_percentages(tmp_path):
    found = estimates(tmp_path, points=0, total=SPREAD)
    assert found["points"].structure.bounds == (0, 100)
    assert has(found["points"], "range-inferred", metric="points", value=0, low=0, high=100)
    assert "total" in find(found["points"], "range-inferred")[0].params["source"]
    assert not has(found["points"], "range-assumed")


@pytest.mark.parametrize("others", [{"answer_len": SPREAD}, {"word_perplexity": SPREAD}, {"rating": [1, 5] * 20}, {}])
def test_other_metrics_that_are_no_percentages_tell_nothing(tmp_path, others):
    found = estimates(tmp_path, points=0, **others)["points"]
    assert found.structure.bounds == (0, 1)
    assert has(found, "range-assumed", metric="points", value=0)
    assert found.interval.high == pytest.approx(1 - 0.05 ** (1 / (N + 1)), rel=0.01)


@pytest.mark.parametrize("metric", ["percent_valid", "valid_pct", "% valid"])
def test_the_name_tells_that_scores_are_percentages(tmp_path, metric):
    found = estimates(tmp_path, **{metric: 0})[metric]
    assert found.structure.bounds == (0, 100)
    assert has(found, "range-inferred", metric=metric, source="its name")


@pytest.mark.parametrize("metric", ["acc", "pct_stereotype", "partial_accuracy", "exact_match_text", "extraction_rate"])
@pytest.mark.parametrize("score", [0, 1])
def test_shares_of_correct_answers_need_no_warning(tmp_path, metric, score):
    found = estimates(tmp_path, **{metric: score})[metric]
    assert found.structure.bounds == (0, 1)
    assert not has(found, "range-assumed")
    assert not has(found, "range-inferred")


def test_scores_that_differ_tell_their_range_themselves(tmp_path):
    found = estimates(tmp_path, points=[0, 1] * 20, total=SPREAD)["points"]
    assert found.structure.bounds == (0, 1)
    assert not has(found, "range-inferred")


def test_a_range_of_the_user_takes_precedence(tmp_path):
    estimates(tmp_path, percent_valid=0, points=0)
    declared = StructureOptions(ranges={"percent_valid": (0, 10), "points": (0, 5)})
    rows = estimate(str(tmp_path), Options(structure=declared))
    assert [row.structure.bounds for row in rows] == [(0, 10), (0, 5)]
    assert {message.name for row in rows for message in row.messages} & {"range-inferred", "range-assumed"} == set()
