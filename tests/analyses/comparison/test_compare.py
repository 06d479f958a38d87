"""Comparisons against reference values, their limits, matching, clusters, and calibration by simulation."""

import csv
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.reference.two_proportions import independent_posterior
from harness_uq.analyses.compare import compare
from harness_uq.analyses.rank import rank
from harness_uq.data.panel import panel_of_scores
from harness_uq.data.selection import select_questions
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import (
    AggregateScore,
    Classifications,
    HarnessResult,
    MetadataField,
    Questions,
    RunMetadata,
    Scores,
    Source,
    SufficientStatistics,
    TaskLog,
)
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.inference.decisions import with_corrected_verdicts, worse_rows
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison, PairedCounts
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.units.contrasts import WidenedDifferencePosterior, paired_difference_posterior
from tests.analyses.comparison.pooled import rows_with_pooled_tasks
from tests.data.toy import task_log
from tests.message_checks import has, params_of, raises_message
from tests.reference_values import reference_values


def one(a: TaskLog, b: TaskLog, **options: object) -> Comparison:
    return compare(a, b, Options(**options))[0]


def two(values_a: object, values_b: object, **shared: object) -> tuple[TaskLog, TaskLog]:
    return task_log(values_a, system="a", **shared), task_log(values_b, system="b", **shared)


def read_csv(path: Path) -> dict[str, np.ndarray]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in ("index", "reference output", "Question")]
    return {name: np.array([float(row[name]) for row in rows]) for name in names}


# ---------------------------------------------------------------- arguments


def test_one_argument_with_two_systems_is_compared_as_the_command_does():
    a, b = two([1, 0, 1, 1] * 5, [0, 0, 1, 0] * 5)
    (expected,) = compare(a, b)
    other = replace(b, task="other", source=Source("other", harness="toy"))
    assert (
        compare([a, b]) == compare((a, b)) == compare({"a": a, "b": b}) == compare([a, b], baseline="b") == [expected]
    )
    assert compare([a, b, other], task="toy") == [expected]
    (swapped,) = compare([a, b], model=("b", "a"))
    assert (swapped.system_a, swapped.system_b) == ("b", "a")


def test_two_runs_of_one_system_in_a_list_are_compared():
    a, b = (task_log(values, system="same") for values in ([1, 0, 1, 1] * 5, [0, 0, 1, 0] * 5))
    (row,) = compare([a, b])
    assert (row.value_a, row.value_b) == (0.75, 0.25)


def test_another_number_of_systems_is_an_error_that_names_the_argument():
    logs = [task_log([1, 0, 1], system=name) for name in "abc"]
    with pytest.raises(DataError, match=r"3 systems: a, b, c\. Select two with model=\(A, B\).*baseline='a'"):
        compare(logs)
    with pytest.raises(NotEstimableError, match="no second system"):
        compare(logs[0])
    with pytest.raises(DataError, match="either b or baseline"):
        compare(logs, logs[0], baseline="a")


def test_a_comparison_of_totals_states_why_no_scores_of_questions_are_used() -> None:
    reason = "The log contains only a part of the samples"
    logs = [
        replace(log, data=(AggregateScore("acc", "none", 0.5, 100, reason, True),)) for log in two([1, 0, 1], [0, 0, 1])
    ]
    (row,) = compare(*logs)
    assert reason in params_of(row, "independent-comparison")["reason"]


# ---------------------------------------------------------------- reference values


@pytest.mark.slow
def test_langchain_pairs_agree_with_the_reference(shared: Path) -> None:
    """reference_intervals.json, langchain_paired (n = 20): table, difference, paired se, t interval, McNemar, t."""
    reference = reference_values("reference_intervals.json")
    scores = read_csv(shared / "data/csv/no_clt_paper/langchain_data_tool_use_FULL.csv")
    checked = 0
    for pair, expected in reference["langchain_paired"].items():
        a, b = pair.split(" - ")
        logs = two(scores[a], scores[b])
        row = one(*logs)
        assert row.table == PairedCounts(*(expected["table"][k] for k in ("both", "a_only", "b_only", "neither")))
        assert row.difference.value == pytest.approx(expected["diff"], abs=1e-12)
        assert row.p_value == pytest.approx(expected["mcnemar_exact_p"], abs=1e-9)
        if expected["se"] > 0:
            t = one(*logs, method="t")
            assert t.difference.std_error == pytest.approx(expected["se"], abs=1e-9)
            assert (t.difference.interval.low, t.difference.interval.high) == pytest.approx(expected["ci_t"], abs=1e-9)
            assert t.p_value == pytest.approx(expected["t_p"], abs=1e-9)
        checked += 1
    assert checked == 36


@pytest.mark.slow
def test_langchain_independent_probabilities_agree_with_the_reference(shared: Path) -> None:
    """reference_intervals.json, langchain_p_gt_indep_exact."""
    reference = reference_values("reference_intervals.json")["langchain_p_gt_indep_exact"]
    scores = read_csv(shared / "data/csv/no_clt_paper/langchain_data_tool_use_FULL.csv")
    for a, others in reference.items():
        for b, expected in others.items():
            if expected is not None:
                row = one(*two(scores[a], scores[b]), method="independent")
                assert row.prob_positive == pytest.approx(expected, abs=1e-7)


def test_aime_question_means_agree_with_the_reference(shared: Path) -> None:
    """reference_intervals.json, aime2_paired_on_question_means_consecutive: 15 questions × 4 trials."""
    reference = reference_values("reference_intervals.json")
    scores = read_csv(shared / "data/csv/no_clt_paper/matharena_aime_II.csv")
    for pair, expected in reference["aime2_paired_on_question_means_consecutive"].items():
        a, b = pair.split(" - ")
        row = one(*two(scores[a].reshape(15, 4), scores[b].reshape(15, 4)), method="t")
        assert row.difference.value == pytest.approx(expected["diff"], abs=1e-12)
        assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx(expected["ci_t"], abs=1e-9)
        assert row.p_value == pytest.approx(expected["t_p"], abs=1e-9)


def test_inspect_logs_agree_with_the_reference(shared: Path) -> None:
    """paired_clustered.json: popularity, 100 questions of two models and 10 × 5 of three."""
    reference = reference_values("paired_clustered.json")
    folder = shared / "data/inspect"
    for name, logs in (("100x1", "popularity_100_two_models"), ("10x5", "popularity_5epochs_3models")):
        from harness_uq.io.readers import read_logs

        by_system = {log.system: log for log in read_logs([folder / logs]).logs}
        for key, expected in reference.items():
            if key.startswith(f"popularity {name}: ") and " - " in key:
                a, b = key.removeprefix(f"popularity {name}: ").split(" - ")
                row = one(by_system[a], by_system[b], method="t")
                interval = row.difference.interval
                assert row.difference.value == pytest.approx(expected["diff"], abs=1e-12)
                assert (interval.low, interval.high) == pytest.approx(expected["ci_t"], abs=1e-9)
                if "table" in expected:
                    assert list(asdict(row.table).values()) == list(expected["table"].values())


# ---------------------------------------------------------------- limits and choices of method


def test_binary_single_trials_are_the_dirichlet_cells() -> None:
    row = one(*two([1] * 17 + [1, 1] + [0], [1] * 17 + [0, 0] + [0]))
    exact = paired_posterior([17, 2, 0, 1], "dirichlet")
    assert row.method == "dirichlet"
    assert row.prob_positive == exact.prob_positive
    assert (row.difference.interval.low, row.difference.interval.high) == exact.interval()


def test_latent_normal_on_request() -> None:
    logs = two([1] * 17 + [1, 1] + [0], [1] * 17 + [0, 0] + [0])
    row = one(*logs, method="latent-normal")
    assert row.method == "latent-normal"
    assert row.prob_positive == pytest.approx(paired_posterior([17, 2, 0, 1]).prob_positive)


def test_latent_normal_gives_way_to_dirichlet_on_trials_and_says_so() -> None:
    row = one(*two([[1, 0], [1, 1], [0, 1]], [[0, 0], [1, 0], [0, 1]]), method="latent-normal")
    assert row.method == "dirichlet-process"
    assert has(row, "latent-normal-replaced")


def test_clusters_are_respected() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 40)).astype(float)
    passages = np.repeat(np.arange(8), 5)
    logs = two(a, b, fields={"passage": passages})
    row = one(*logs, structure=StructureOptions(cluster="passage"))
    process = paired_difference_posterior(a - b, 0, 1, clusters=passages)
    exact = WidenedDifferencePosterior(process, (a - b).reshape(8, 5).mean(axis=1), 40, 1.0)
    assert (row.method, row.n_clusters, row.cluster_key) == ("clustered-dirichlet-process", 8, "passage")
    assert row.prob_positive == pytest.approx(exact.prob_positive)
    assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx(exact.interval(0.95))
    t = one(*logs, method="t", structure=StructureOptions(cluster="passage"))
    assert t.p_value == pytest.approx(
        2 * stats.t.sf(abs(t.difference.value) / cluster_robust(a - b, passages).std_error, 7)
    )


def test_one_cluster_a_question_is_no_cluster() -> None:
    logs = two([1, 0, 1, 1], [0, 0, 1, 1], fields={"passage": [1, 2, 3, 4]})
    assert one(*logs, structure=StructureOptions(cluster="passage")).method == "dirichlet"


def test_unbounded_scores_get_student_t() -> None:
    a, b = [3.0, 5.0, 9.0, 1.0], [1.0, 4.0, 9.5, 0.0]
    row = one(*two(a, b, metric="length"))
    expected = stats.ttest_rel(a, b).confidence_interval()
    assert row.method == "t"
    assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx((expected.low, expected.high))
    assert has(row, "student-distribution")


@pytest.mark.parametrize("n", [2, 3, 4])
def test_student_t_of_few_questions_gives_its_interval_and_standard_error(n: int) -> None:
    """t(1) and t(2) have no variance; s / sqrt(n) stands, and the power is that of the noncentral t distribution."""
    a, b = np.array([1.2, 3.3, 2.2, 5.0])[:n], np.array([0.2, 0.9, 1.7, 1.2])[:n]
    row = one(*two(a, b, metric="reward"))
    std_error = (a - b).std(ddof=1) / np.sqrt(n)
    expected = stats.ttest_rel(a, b).confidence_interval()
    assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx((expected.low, expected.high))
    assert row.difference.std_error == pytest.approx(std_error)
    shift = row.minimum_detectable_effect / std_error
    assert stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift) == pytest.approx(0.8)


def test_confidence_intervals_come_with_a_p_value_and_without_a_probability() -> None:
    row = one(*two([1, 1, 1, 0], [0, 1, 1, 0]), method="t")
    assert (row.difference.interval.kind, row.prob_positive) == ("confidence", None)
    assert row.p_value == pytest.approx(stats.ttest_rel([1, 1, 1, 0], [0, 1, 1, 0]).pvalue)
    assert row.prob_noninferior == pytest.approx(stats.ttest_1samp([1, 0, 0, 0], 0, alternative="less").pvalue)


def test_identical_trials_count_once() -> None:
    single, repeated = [1, 0, 1, 1], [[1, 1], [0, 0], [1, 1], [1, 1]]
    row = one(*two(repeated, [[0, 0], [0, 0], [1, 1], [1, 1]]))
    assert row.table == PairedCounts(2, 1, 0, 1)
    assert row.prob_positive == one(*two(single, [0, 0, 1, 1])).prob_positive


def test_swapping_the_systems_mirrors_everything() -> None:
    a, b = two([1, 1, 1, 0, 1, 0], [0, 1, 1, 0, 0, 1])
    here, there = one(a, b), one(b, a)
    assert here.difference.value == -there.difference.value
    assert here.difference.interval.low == pytest.approx(-there.difference.interval.high)
    assert here.prob_positive == pytest.approx(1 - there.prob_positive)
    assert here.odds_ratio == pytest.approx(1 / there.odds_ratio)


def test_a_note_about_the_score_of_one_system_names_the_system() -> None:
    """The single trial of system a says nothing about trial-to-trial noise; the four trials of system b do."""
    rng = np.random.default_rng(1)
    a, b = task_log(rng.integers(0, 2, 50), system="m (T=0)"), task_log(rng.integers(0, 2, (50, 4)), system="m (T=1)")
    assert params_of(one(a, b, scope="benchmark").messages, "binomial-upper-bound")["systems"] == "m (T=0)"


def test_benchmark_scope_convolves_the_systems_own_posteriors() -> None:
    rng = np.random.default_rng(1)
    values = rng.binomial(1, 0.6, (2, 20, 8)).astype(float)
    row = one(*two(*values), scope="benchmark")
    population = one(*two(*values))
    assert (row.scope, row.method) == ("benchmark", "benchmark")
    assert row.difference.std_error < population.difference.std_error


def test_perplexity_is_paired_and_lower_is_better() -> None:
    rng = np.random.default_rng(2)
    loglik = -rng.gamma(5, 10, 60)
    words = rng.integers(20, 60, 60)

    def log(system: str, shift: float) -> TaskLog:
        records = SufficientStatistics(
            "word_perplexity", "none", np.column_stack([loglik + shift, words]), "perplexity"
        )
        return TaskLog(system, "wiki", Source("x", "lm-eval"), Questions(tuple(map(str, range(60)))), (records,))

    row = one(log("a", 0.0), log("b", -3.0))
    assert (row.method, row.higher_is_better, row.n_matched) == ("bayesian-bootstrap", False, 60)
    assert row.difference.interval.high < 0
    assert row.verdict == "better"
    assert row.prob_noninferior > 0.999
    assert row.verdict_text.startswith("a is better than b")


def test_few_clusters_of_a_paired_perplexity_are_counted_and_warned_of() -> None:
    rng = np.random.default_rng(2)
    loglik, words = -rng.gamma(5, 10, 60), rng.integers(20, 60, 60)

    def log(system: str) -> TaskLog:
        records = SufficientStatistics(
            "word_perplexity", "none", np.column_stack([loglik - rng.random(60), words]), "perplexity"
        )
        fields = {"book": MetadataField(np.arange(60) // 12)}
        questions = Questions(tuple(map(str, range(60))), (), fields)
        return TaskLog(system, "wiki", Source("x", "lm-eval"), questions, (records,))

    (row,) = compare(log("a"), log("b"), Options(structure=StructureOptions(cluster="book")))
    assert (row.n_matched, row.n_clusters, row.cluster_key) == (60, 5, "book")
    assert has(row, "few-bootstrap-units", n_units=5, unit="cluster")


def test_f1_is_paired_on_joint_cells() -> None:
    rng = np.random.default_rng(3)
    targets = rng.integers(0, 2, 400)
    flips = rng.random((2, 400)) < [[0.1], [0.3]]

    def log(system: str, flip: np.ndarray) -> TaskLog:
        data = Classifications("f1", "none", targets, (targets ^ flip)[:, None], ("no", "yes"))
        return TaskLog(system, "mrpc", Source("x", "lm-eval"), Questions(tuple(map(str, range(400)))), (data,))

    row = one(log("a", flips[0]), log("b", flips[1]))
    assert (row.method, row.verdict) == ("confusion", "better")
    assert row.difference.interval.low < row.difference.value < row.difference.interval.high
    part = one(log("a", flips[0]), select_questions(log("b", flips[1]), np.arange(390)))
    assert has(part, "unmatched-questions", n_common=390, n_own=400, n_unmatched=10)


# ---------------------------------------------------------------- matching


def test_questions_match_by_identity_not_by_order() -> None:
    a = task_log([1, 0, 1, 0], system="a", ids=["p", "q", "r", "s"])
    b = task_log([0, 1, 0, 1], system="b", ids=["s", "r", "q", "p"])
    row = one(a, b)
    assert row.table == PairedCounts(2, 0, 0, 2)
    assert row.correlation == pytest.approx(1)


def test_unmatched_questions_are_counted_and_said() -> None:
    a = task_log([1, 0, 1, 0], system="a", ids=["p", "q", "r", "s"])
    b = task_log([1, 0, 1], system="b", ids=["p", "q", "r"])
    row = one(a, b)
    assert (row.n_matched, row.n_unmatched_a, row.n_unmatched_b) == (3, 1, 0)
    assert has(row, "unmatched-questions", n_common=3, n_unmatched=1)


def test_runs_without_a_common_question_are_compared_as_independent_with_the_reason() -> None:
    a = task_log([1] * 15 + [0] * 5, system="a", ids=[f"a{i}" for i in range(20)])
    b = task_log([1] * 8 + [0] * 12, system="b", ids=[f"b{i}" for i in range(20)])
    row = one(a, b)
    exact = independent_posterior(15, 20, 8, 20)
    assert row.method == "independent"
    assert row.prob_positive == pytest.approx(exact.prob_positive)
    assert row.odds_ratio == pytest.approx(float(exact.odds_ratio_quantile(0.5)))
    assert row.n_matched is None
    assert has(row, "independent-comparison")


def test_few_matches_are_not_enough_for_pairing() -> None:
    a = task_log([1] * 20, system="a", ids=[f"a{i}" for i in range(17)] + ["x", "y", "z"])
    b = task_log([0] * 20, system="b", ids=[f"b{i}" for i in range(17)] + ["x", "y", "z"])
    row = one(a, b)
    assert row.method == "independent"
    assert has(row, "independent-comparison")


def harness_log(system: str, harness: str, ids: list[str], hashes: list[str], metric: str = "acc") -> TaskLog:
    data = (Scores(metric, "none", np.array([[1.0], [0.0], [1.0], [0.0]])),)
    return TaskLog(system, "toy", Source("x", harness), Questions(tuple(ids), tuple(hashes)), data)


def test_two_harnesses_match_by_identifier_where_all_agree_and_warn() -> None:
    a = harness_log("a", "lm-eval", ["q1", "q2", "q3", "q4"], ["1", "2", "3", "4"], "exact_match")
    b = harness_log("b", "inspect", ["q4", "q3", "q2", "q1"], ["5", "6", "7", "8"], "match")
    row = one(a, b)
    assert row.n_matched == 4
    assert has(row, "matched-by-identifier-only")


def test_two_harnesses_that_number_from_0_and_from_1_are_never_paired() -> None:
    a = harness_log("a", "lm-eval", ["0", "1", "2", "3"], ["1", "2", "3", "4"])
    b = harness_log("b", "inspect", ["1", "2", "3", "4"], ["5", "6", "7", "8"])
    row = one(a, b)
    assert row.method == "independent"
    assert has(row, "independent-comparison")


def test_totals_are_compared_as_independent() -> None:
    def log(system: str, value: float) -> TaskLog:
        data = (AggregateScore("acc", "none", value, 100, "no samples"),)
        return TaskLog(system, "toy", Source("x", "lm-eval"), Questions(()), data)

    row = one(log("a", 0.8), log("b", 0.6))
    assert row.prob_positive == pytest.approx(independent_posterior(80, 100, 60, 100).prob_positive)
    assert "better than b, by" in row.verdict_text


# ---------------------------------------------------------------- which runs and tasks


def timed(values: list[int], time: str, **other: object) -> TaskLog:
    log = task_log(values, **other)
    return replace(log, source=Source(f"{time}.json", "toy", None, time))


def test_the_newest_run_without_a_limit_counts() -> None:
    old = timed([0, 0, 0, 0], "2025-01-01", system="a")
    new = timed([1, 1, 0, 1], "2025-02-01", system="a")
    limited = timed([0, 0], "2025-03-01", system="a", facts=RunMetadata(is_limited=True))
    broken = timed([0, 0, 0, 0], "2025-04-01", system="a", facts=RunMetadata(is_finished=False))
    rows = compare([old, limited, new, broken], task_log([0, 1, 0, 1], system="b"))
    assert rows[0].value_a == 0.75
    assert has(rows[0], "several-runs", system="a", n_runs=4, path="2025-02-01.json")


@pytest.mark.parametrize("scope", ["population", "benchmark"])
def test_a_comparison_of_the_first_questions_warns_unless_it_is_about_these_questions(scope: str) -> None:
    facts = RunMetadata(is_limited=True, n_all=1400)
    pair = two([1, 1, 0, 1], [0, 1, 0, 1], facts=facts)
    for found in (one(*pair, scope=scope), rank(pair, Options(scope=scope))[0]):
        assert has(found, "non-random-subset", n_questions=4, n_all=1400) == (scope == "population")
    random = two([1, 1, 0, 1], [0, 1, 0, 1], facts=replace(facts, is_random_subset=True))
    assert not has(one(*random, scope=scope), "non-random-subset")


def test_one_side_with_two_systems_is_an_error_that_names_them() -> None:
    with raises_message(DataError, "one-system-required", side="A", systems="a, b"):
        compare([task_log([1], system="a"), task_log([1], system="b")], task_log([1], system="c"))


def test_nothing_in_common_is_an_error_that_lists_what_there_is() -> None:
    a = [task_log([1], system="a", task=task) for task in ("w", "x")]
    keys = {"system_a": "a", "keys_a": "w acc, x acc", "system_b": "b", "keys_b": "y acc"}
    with raises_message(NotEstimableError, "no-common-scores", **keys):
        compare(a, task_log([1], system="b", task="y"))


def test_the_only_task_of_either_side_is_compared_whatever_it_is_called() -> None:
    row = one(task_log([1, 0], system="a", task="x"), task_log([1, 1], system="b", task="y", metric="match"))
    assert (row.task, row.n_matched) == ("x", 2)
    assert has(row, "different-tasks-compared", key_a="x acc", key_b="y match")


def test_tasks_of_one_side_alone_are_said() -> None:
    a = [task_log([1, 0], system="a", task="x"), task_log([1, 0], system="a", task="y")]
    rows = compare(a, task_log([1, 1], system="b", task="x"))
    assert len(rows) == 1
    assert has(rows[0], "unshared-scores", system="a", keys="y acc")


def test_overall_pools_the_questions_of_all_tasks() -> None:
    tasks = {"x": ([1, 1, 0, 1], [0, 1, 0, 1]), "y": ([1, 0, 1], [0, 0, 1])}
    a = [task_log(v[0], system="a", task=t, ids=[f"{t}{i}" for i in range(len(v[0]))]) for t, v in tasks.items()]
    b = [task_log(v[1], system="b", task=t, ids=[f"{t}{i}" for i in range(len(v[0]))]) for t, v in tasks.items()]
    row = rows_with_pooled_tasks(a, b)[-1]
    assert (row.task, row.table, row.n_matched) == ("overall", PairedCounts(3, 2, 0, 2), 7)
    assert row.prob_positive == paired_posterior([3, 2, 0, 2], "dirichlet").prob_positive


def group(system: str, values: dict[str, list[float]], reported: float) -> list[TaskLog]:
    tasks = [
        task_log(v, system=system, task=t, ids=[f"{t}{i}" for i in range(len(v))], metric="score")
        for t, v in values.items()
    ]
    row = TaskLog(
        system,
        "suite",
        Source("toy.json", "lm-eval"),
        Questions(()),
        (AggregateScore("score", "none", reported, None, "a group"),),
        reported={("score", "none"): HarnessResult(reported)},
        subtasks=tuple(values),
    )
    return [*tasks, row]


def test_a_group_is_weighted_as_its_harness_weights_it() -> None:
    """Equal weights of tasks of 8 and 2 questions: differences 1/4 and 1/2 average to 3/8, not to 3/10."""
    a = {"x": [1, 1, 1, 1, 1, 0, 0, 0], "y": [1, 1]}
    b = {"x": [1, 1, 1, 0, 0, 0, 0, 0], "y": [1, 0]}
    rows = {row.task: row for row in rows_with_pooled_tasks(group("a", a, 0.8125), group("b", b, 0.4375))}
    assert rows["suite"].difference.value == pytest.approx(3 / 8)
    assert rows["suite"].method == "dirichlet-process"
    assert rows["overall"].difference.value == pytest.approx(3 / 10)
    assert rows["suite"].difference.std_error > rows["overall"].difference.std_error


def test_weights_that_hardly_differ_change_no_verdict_on_right_and_wrong_answers() -> None:
    """[17, 2, 0, 1]: P(A > B) = .924; with another prior than the cells' the same data said `better`."""
    a, b = np.repeat([1.0, 1.0, 0.0], [17, 2, 1]), np.repeat([1.0, 0.0, 0.0], [17, 2, 1])
    weights = np.repeat([1.0001, 1.0], 10)
    found = paired_contrast(panel_of_scores([a, b], None, (0.0, 1.0), weights=weights, is_binary=True), "dirichlet")
    assert found.prob_positive == pytest.approx(paired_posterior([17, 2, 0, 1], "dirichlet").prob_positive, abs=1e-4)


def test_items_that_recur_across_tasks_are_one_unit_overall() -> None:
    def log(system: str, task: str, values: list[int]) -> TaskLog:
        plain = task_log(values, system=system, task=task, ids=[f"{task}{i}" for i in range(4)])
        return replace(plain, questions=Questions(plain.questions.ids, items=("i", "j", "k", "l")))

    a = [log("a", "en", [1, 1, 1, 0]), log("a", "de", [1, 1, 0, 0])]
    b = [log("b", "en", [0, 0, 1, 0]), log("b", "de", [0, 0, 0, 0])]
    row = rows_with_pooled_tasks(a, b)[-1]
    assert (row.n_clusters, row.cluster_key) == (4, "units")
    assert has(row, "pooled-units", units=("items that recur across tasks",))


def test_an_interval_of_impossible_differences_is_noted() -> None:
    logs = two([1] * 19 + [0.5], [0] * 20)
    row = one(*logs, method="t")
    assert row.difference.interval.high > 1
    assert has(row, "interval-exceeds-range", low=-1, high=1)
    assert not has(one(*logs), "interval-exceeds-range")


def test_equal_names_are_told_apart() -> None:
    row = one(task_log([1, 0], system="m"), task_log([1, 1], system="m"))
    assert (row.system_a, row.system_b) == ("m (A)", "m (B)")


def test_worse_rows_allow_for_their_number() -> None:
    clear = one(*two([0] * 12 + [1] * 8, [1] * 20))
    assert worse_rows([clear]) == [clear]
    # four discordant questions, all against A: enough for a row alone, too little for one of two
    row, open_row = one(*two([0] * 4 + [1] * 16, [1] * 20)), one(*two([1, 0, 1, 1], [0, 1, 1, 1]))
    assert 0.025 / 2 < row.prob_noninferior < 0.025
    assert worse_rows([row]) == [row]
    assert worse_rows(with_corrected_verdicts([row, open_row], 0.95)) == []


def test_worse_rows_allow_for_the_number_of_overall_rows() -> None:
    row = one(*two([0] * 4 + [1] * 16, [1] * 20))
    overall = [replace(row, task="overall", metric=name) for name in ("acc", "acc_norm", "f1")]
    assert worse_rows(overall[:1]) == overall[:1]
    assert worse_rows(with_corrected_verdicts(overall, 0.95)) == []


@pytest.mark.slow
def test_equal_systems_fail_the_gate_in_at_most_5_percent_of_runs_with_three_metrics() -> None:
    """400 runs of 3 independent metrics on 2 tasks; at the bound of .05 more than 31 have probability .007.

    Where no metric is 4 points worse, 1.5 standard errors, no run fails: tried on 20 of these, and left out after them.
    """
    rng = np.random.default_rng(24)
    n_failed, n_close = 0, 0
    for _ in range(400):
        a, b = rng.binomial(1, 0.7, (2, 2, 3, 300)).astype(float)
        is_close = (b - a).mean(axis=(0, 2)).max() < 0.04
        n_close += is_close
        if is_close and n_close > 20:
            continue
        fails = bool(worse_rows(compare(three_metrics("a", a), three_metrics("b", b))))
        assert not (is_close and fails)
        n_failed += fails
    assert 0 < n_failed <= 31


def three_metrics(system: str, values: np.ndarray) -> list[TaskLog]:
    """Logs of two tasks; `values` has a row for each metric of a task."""
    logs = [
        [task_log(v, system=system, task=task, metric=f"m{i}") for i, v in enumerate(of_task)]
        for task, of_task in zip("xy", values, strict=True)
    ]
    return [replace(log[0], data=tuple(one.data[0] for one in log)) for log in logs]


def test_a_margin_moves_the_gate() -> None:
    logs = two([0] * 12 + [1] * 88, [1] * 100)
    assert worse_rows(compare(*logs)) != []
    assert worse_rows(compare(*logs, Options(margin=0.1))) == []


def test_json_is_finite_and_complete() -> None:
    text = json.dumps(one(*two([1, 1], [1, 1])).to_dict(), allow_nan=False)
    row = json.loads(text)
    assert {"difference", "prob_positive", "odds_ratio", "correlation", "n_matched", "verdict"} <= row.keys()


# ---------------------------------------------------------------- calibration


def passages(theta: float, rng: np.random.Generator, *, gap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Two systems on 25 passages of 20 questions, ICC 1 / (1 + 2); each has its own effect of the passage."""
    a, b = (rng.beta(2 * t, 2 * (1 - t), 25) for t in (theta, theta - gap))
    return tuple((rng.random((25, 20)) < share[:, None]).ravel().astype(float) for share in (a, b))


def test_compare_uses_that_posterior_on_such_passages() -> None:
    a, b = passages(0.7, np.random.default_rng(22), gap=0.15)
    codes = np.repeat(np.arange(25), 20)
    row = one(*two(a, b, fields={"passage": codes}))
    process = paired_difference_posterior(a - b, 0, 1, clusters=codes)
    exact = WidenedDifferencePosterior(process, (a - b).reshape(25, 20).mean(axis=1), 500, 1.0)
    assert row.n_clusters == 25
    assert row.prob_positive == pytest.approx(exact.prob_positive)


@pytest.mark.slow
def test_prob_positive_is_calibrated_where_truth_is_drawn_from_the_prior() -> None:
    """Cells ~ Dirichlet(1/2 × 4), 30 questions: intervals of level .9 cover in .9 of 400 runs."""
    rng = np.random.default_rng(23)
    covered = 0
    for _ in range(400):
        cells = rng.dirichlet([0.5] * 4)
        interval = paired_posterior(rng.multinomial(30, cells), "dirichlet").interval(0.9)
        covered += interval[0] <= cells[1] - cells[2] <= interval[1]
    assert stats.binomtest(covered, 400, 0.9).pvalue > 1e-3


def test_one_question_against_many_is_not_estimable():
    one, many = task_log([0], system="a"), task_log([1] * 1319, system="b")
    (row,) = compare(one, many, Options(method="independent"))
    assert (row.difference, row.verdict) == (None, "undecided")
    assert has(row, "too-few-questions-compared", n_questions=1)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=6), st.lists(st.integers(0, 1), min_size=2, max_size=300))
def test_the_interval_of_independent_samples_contains_the_observed_difference(a: list[int], b: list[int]):
    (row,) = compare(task_log(a, system="a"), task_log(b, system="b"), Options(method="independent"))
    assert row.difference.interval.low <= row.value_a - row.value_b <= row.difference.interval.high


def test_a_log_compared_with_itself_gets_no_advice():
    log = task_log([0, 1, 1, 0, 1] * 20)
    (row,) = compare(log, log)
    assert has(row, "identical-runs", n_questions=100)
    assert (row.next_step, row.n_additional_questions) == ("", None)
    assert row.answer == row.identical_runs_note


def group_of_totals(system: str, value: float) -> list[TaskLog]:
    totals = AggregateScore("acc", "none", value, 100, "only results are logged", is_share=True)
    tasks = [replace(task_log([1], system=system, task=task), questions=Questions(()), data=(totals,)) for task in "xy"]
    group = replace(totals, n=None, reason="a group")
    reported = {("acc", "none"): HarnessResult(value, 0.03)}
    return [*tasks, replace(tasks[0], task="group", data=(group,), subtasks=("x", "y"), reported=reported)]


def test_groups_of_totals_are_compared_without_matching_questions():
    sides = [group_of_totals(system, value) for system, value in (("a", 0.6), ("b", 0.4))]
    row = {row.task: row for row in compare(*sides)}["group"]
    assert (row.method, row.verdict) == ("independent", "better")
    assert has(row, "independent-comparison")


def test_questions_that_only_one_system_answered_narrow_the_interval():
    rng = np.random.default_rng(4)
    values = (rng.random((2, 300)) < [[0.6], [0.5]]).astype(int)
    ids = [f"q{i}" for i in range(300)]
    a = task_log(values[0, :200], system="a", ids=ids[:200])
    b = task_log(values[1, 100:], system="b", ids=ids[100:])
    row = one(a, b)
    assert row.method == "partial-overlap"
    assert has(row, "own-questions-used", n_shared=100, n_own_a=100, n_own_b=100)
    assert not has(row, "unmatched-questions")
    shared = one(
        task_log(values[0, 100:200], system="a", ids=ids[100:200]),
        task_log(values[1, 100:200], system="b", ids=ids[100:200]),
    )
    assert row.difference.std_error < 0.95 * shared.difference.std_error
    assert row.value_a - row.value_b == pytest.approx(row.difference.value)


def test_a_few_own_questions_leave_the_paired_method():
    values = [0, 1, 1, 0, 1, 1, 0, 1] * 10
    a, b = task_log(values, system="a"), task_log([1, *values[1:], 0, 1], system="b")
    assert one(a, b).method == "dirichlet"


@pytest.mark.parametrize("n_clusters", [2, 3, 4, 5])
def test_three_or_four_detected_clusters_are_hinted_at_with_both_intervals(n_clusters: int) -> None:
    rng = np.random.default_rng(7)
    fields = {"passage": [k % n_clusters for k in range(60)]}
    a, b = (task_log(rng.integers(0, 2, 60).astype(float), system=name, fields=fields) for name in "ab")
    (row,), (used,) = compare(a, b), compare(a, b, cluster="passage")
    assert (row.cluster_key is None) == (n_clusters < 5)
    assert has(row, "few-possible-clusters") == (n_clusters in (3, 4))
    if n_clusters in (3, 4):
        limits = params_of(row, "few-possible-clusters")
        ends = {end: limits[end] for end in ("low", "high")}
        assert ends == pytest.approx({"low": used.difference.interval.low, "high": used.difference.interval.high})
        assert limits["high_independent"] == row.difference.interval.high


@pytest.mark.parametrize("n_clusters", [5, 15])
def test_few_clusters_have_a_warning(n_clusters: int) -> None:
    rng = np.random.default_rng(0)
    fields = {"passage": [f"p{k % n_clusters}" for k in range(60)]}
    a, b = (task_log((rng.random(60) < p) * 1.0, system=name, fields=fields) for name, p in (("a", 0.8), ("b", 0.5)))
    (row,) = compare(a, b, cluster="passage")
    assert has(row, "few-clusters", n_clusters=n_clusters, clusters="passage") == (n_clusters < 10)
