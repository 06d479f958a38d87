"""Every method by its name on every kind of data: an interval, or a refusal that a newcomer understands."""

import numpy as np
import pytest

from harness_uq.analyses.estimate import estimate, estimate_scores
from harness_uq.data.estimands import Mean, Scope
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import RunMetadata
from harness_uq.inference.defaults import method_names
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.readers import read_logs
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate
from tests.data.toy import task_log
from tests.message_checks import has, names_of, params_of

NAN = float("nan")
METHODS = method_names(load_plugins().estimators)
RNG = np.random.default_rng(3)
UNIT = StructureOptions(ranges={"score": (0.0, 1.0)})


def coin(*shape: int) -> np.ndarray:
    return (RNG.random(shape) < 0.7).astype(float)


KINDS = {
    "0/1": (coin(40), None),
    "0/1 in clusters": (coin(40), np.repeat(np.arange(10), 4)),
    "0/1 trials": (coin(20, 4), None),
    "0/1 trials in clusters": (coin(20, 4), np.repeat(np.arange(10), 2)),
    "bounded": (RNG.beta(3, 1, 40), None),
    "bounded in clusters": (RNG.beta(3, 1, 40), np.repeat(np.arange(10), 4)),
    "bounded trials": (RNG.beta(3, 1, (20, 3)), None),
    "one right": ([1], None),
    "one wrong": ([0], None),
    "all right": ([1] * 20, None),
    "all wrong": ([0] * 20, None),
    "one cluster": ([1, 0, 1, 1], [0] * 4),
    "one cluster, all right": ([1] * 4, [0] * 4),
    "clusters of one": ([1, 0, 1, 1, 0, 1], range(6)),
    "sizes 1 and 100,000": (np.r_[[1.0, 0, 1], coin(100_000)], np.r_[[0, 1, 2], np.full(100_000, 3)]),
    "one question tried again": ([[1, 0, 1, 1]], None),
    "missing trials": ([[1, NAN, 0], [NAN, NAN, 1], [NAN, NAN, NAN], [0, 1, 1]], None),
    "no score": ([NAN, NAN], None),
    "equal scores inside": ([0.5] * 10, None),
}


def assert_sound(row: Estimate) -> None:
    if row.interval is None:
        assert row.method == "not estimable"
        assert row.status == "not_estimable"
        assert row.reason.severity == "refusal"
        return
    numbers = [row.value, row.std_error, row.interval.low, row.interval.high]
    assert np.isfinite(numbers).all()
    assert row.interval.low < row.interval.high
    inside = row.interval.low >= 0 and row.interval.high <= 1
    assert inside or (row.interval.kind == "confidence" and has(row, "interval-exceeds-range", low=0, high=1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scope", ["population", "benchmark", "full"])
def test_every_method_gives_a_proper_interval_or_says_why_not(kind: str, scope: str) -> None:
    values, clusters = KINDS[kind]
    for method in METHODS:
        if kind == "sizes 1 and 100,000" and method == "nested":
            continue  # seconds; tests/stats/test_degenerate.py holds it
        options = Options(method=method, scope=scope, structure=UNIT)
        assert_sound(estimate_scores(values, clusters=clusters, options=options))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "0/1" in kind or "trials" in kind])
@pytest.mark.parametrize("estimand", ["pass@1", "pass@2", "pass^2", "G-pass@2:0.5", "mG-pass@2", "maj@2"])
def test_events_in_k_trials_give_a_proper_interval_or_say_why_not(kind: str, estimand: str) -> None:
    values, clusters = KINDS[kind]
    for scope in ("population", "benchmark", "full"):
        options = Options(estimand=estimand, scope=scope, structure=UNIT)
        assert_sound(estimate_scores(values, clusters=clusters, options=options))


@pytest.mark.harness
@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_what_a_harness_wrote(lm_eval_runs, method: str) -> None:
    logs = [log for log in read_logs(lm_eval_runs).logs if "large" in log.system]
    rows = estimate(logs, Options(method=method))
    assert len(rows) >= 8
    for row in rows:
        assert row.interval is not None or row.status == "not_estimable"


@pytest.mark.slow
def test_refusals_are_sentences_about_the_method() -> None:
    problems = [(coin(30), None), (RNG.normal(size=30), None), (coin(10, 3), np.repeat(np.arange(5), 2))]
    for values, clusters in problems:
        for method in METHODS:
            row = estimate_scores(values, clusters=clusters, options=Options(method=method))
            for message in row.messages:
                if message.severity == "refusal" and "method" in message.params:
                    assert message.params["method"].removeprefix("clustered-") == method.removeprefix("clustered-")


@pytest.mark.parametrize(
    ("method", "scope"), [("benchmark", "population"), ("bayes-at-n", "full"), ("avg-at-n", "full")]
)
def test_methods_of_the_benchmark_scope_refuse_to_speak_of_other_questions(method: str, scope: Scope) -> None:
    row = estimate_scores(coin(20, 4), options=Options(method=method, scope=scope))
    assert row.interval is None
    assert has(row, "scope-unsupported", scopes=("benchmark",))
    assert estimate_scores(coin(20, 4), options=Options(method=method, scope="benchmark")).interval is not None


def test_the_full_benchmark_posterior_is_only_of_the_full_scope() -> None:
    log = task_log(coin(30), facts=RunMetadata(n_all=90, is_limited=True))
    (row,) = estimate(log, Options(method="full-benchmark"))
    assert row.interval is None
    assert has(row, "scope-unsupported", scopes=("full",))
    assert estimate(log, Options(method="full-benchmark", scope="full"))[0].interval is not None


@pytest.mark.parametrize(
    "values",
    [
        coin(90),
        coin(90, 4),
        RNG.beta(3, 1, (90, 1)),
        RNG.choice([0.0, 0.5, 1.0], (90, 1)),
        RNG.lognormal(0, 1, (90, 1)),
    ],
    ids=["single", "trials", "bounded", "graded", "unbounded"],
)
@pytest.mark.parametrize("is_clustered", [False, True])
def test_ninety_of_a_hundred_questions_leave_a_third_of_the_width_for_the_whole(
    values: np.ndarray, is_clustered: bool
) -> None:
    ranges = {} if values.max() > 1 else {"score": (0.0, 1.0)}
    fields = {"passage": np.arange(90) // 3} if is_clustered else {}
    log = task_log(
        values, metric="score", facts=RunMetadata(n_all=100, is_limited=True, is_random_subset=True), fields=fields
    )
    structure = StructureOptions(ranges=ranges, cluster="passage" if is_clustered else None)
    (whole,) = estimate(log, Options(scope="full", structure=structure))
    (new,) = estimate(log, Options(structure=structure))
    assert whole.method == "full-benchmark"
    assert whole.interval is not None
    assert new.interval is not None
    assert 0.2 < whole.interval.width / new.interval.width < 0.45
    known = values.mean(axis=-1).sum() if values.ndim > 1 else values.sum()
    if ranges:
        assert known / 100 <= whole.interval.low < whole.interval.high <= (known + 10) / 100 + 1e-12
    params = params_of(new, "full-scope-available")
    assert (params["n_questions"], params["n_all"]) == (90, 100)
    assert params["relative_width"] == pytest.approx(0.316, abs=1e-3)


def test_a_run_that_asked_all_questions_has_no_rest_and_no_note() -> None:
    log = task_log(coin(30), facts=RunMetadata(n_all=30))
    assert not has(estimate(log)[0], "full-scope-available")
    (row,) = estimate(log, Options(scope="full"))
    assert has(row, "whole-benchmark-run")


@pytest.mark.parametrize("method", ["bayes", "bayes-at-n", "avg-at-n"])
def test_repeated_trials_about_these_questions_say_that_copies_cannot_be_seen(method: str) -> None:
    row = estimate_scores(coin(20, 4), options=Options(method=method, scope="benchmark"))
    assert names_of(row).count("trials-assumed-independent") == 1
    single = estimate_scores(coin(20), options=Options(scope="benchmark"))
    assert not has(single, "trials-assumed-independent")
    assert not has(estimate_scores(coin(20, 4)), "trials-assumed-independent")


def test_scores_of_unknown_range_warn_of_long_tails_until_there_are_many() -> None:
    def warned(n: int, **options: object) -> bool:
        row = estimate_scores(RNG.normal(5, 1, n), options=Options(**options))  # type: ignore[arg-type]
        return has(row, "long-tail") or has(row, "possible-long-tail")

    assert warned(30)
    assert not warned(150)
    assert not warned(30, method="hall", structure=StructureOptions(ranges={"score": (0.0, 10.0)}))


@pytest.mark.parametrize(
    ("values", "method"), [(coin(20, 4), "t"), (coin(20, 4), "clustered"), (RNG.beta(3, 1, (20, 3)), "bayes")]
)
def test_an_interval_for_new_questions_in_another_scope_says_that_it_is_wider(values: np.ndarray, method: str) -> None:
    row = estimate_scores(values, options=Options(method=method, scope="benchmark", structure=UNIT))
    assert row.scope == Mean("benchmark").scope
    assert has(row, "method-for-new-questions", target="exactly these questions")
    assert not has(estimate_scores(values, options=Options(structure=UNIT)), "method-for-new-questions")


def test_wilson_of_repeated_trials_counts_trials_not_questions() -> None:
    # 400 independent trials of 20 equally hard questions are worth about 400 questions, not 20: half-width .05, not .2
    values = (np.random.default_rng(0).random((20, 20)) < 0.6).astype(float)
    row = estimate_scores(values, options=Options(method="wilson"))
    assert row.method == "clustered-wilson"
    assert row.interval.width < 0.13
