"""The logs that others wrote (../shared/data), against values computed without this package."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from harness_uq.analyses.estimate import estimate
from harness_uq.commands.main import main
from harness_uq.data.structure import StructureOptions
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.method import plain_score
from harness_uq.io.readers import read_logs
from harness_uq.options import Options
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.proportion.binomial import binomial_interval
from tests.conftest import originals
from tests.message_checks import has
from tests.reference_values import reference_values


@pytest.fixture(scope="module")
def rows(shared):
    reading = read_logs(shared / "data")
    assert reading.failures == ()
    return estimate(reading.logs)


def test_every_log_ends_with_exit_code_0_and_valid_json(shared, capsys):
    assert main(["estimate", str(shared / "data"), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert document["schema"] == 1
    assert len(document["estimates"]) > 80


def test_values_and_harness_errors_agree_with_the_logs_to_1e_9(rows, shared):
    by_key = {(Path(r.source.path).name, r.task, r.metric, r.filter): r for r in rows}
    checked = 0
    for path, expected in reference_values("expected_from_logs.json").items():
        for name, numbers in expected.get("metrics", {}).items():
            if "mean" not in numbers:
                continue
            metric, filter_name = name.split(",")
            (row,) = [r for k, r in by_key.items() if k[0] == Path(path).name and k[2:] == (metric, filter_name)]
            is_trimmed = row.n_questions > numbers["n"]  # the totals of all questions count
            assert row.value == pytest.approx(numbers["logged" if is_trimmed else "mean"], abs=1e-9)
            assert row.harness.value == pytest.approx(numbers["logged"], abs=1e-9)
            assert row.n_questions == (100 if is_trimmed else numbers["n"])
            checked += 1
        # each log alone: some of these are other forms of one run, which counts once in a folder
        alone = estimate(shared / path) if expected.get("scores") else []
        for name, numbers in expected.get("scores", {}).items():
            (row,) = [r for r in alone if r.metric == name]
            assert row.value == pytest.approx(numbers["mean"], abs=1e-9)
            assert row.n_questions == numbers["items"]
            checked += 1
    assert checked > 40


@pytest.mark.parametrize("metric", ["bleu_acc", "bleu_max", "rouge1_diff"])
def test_clustered_standard_errors_of_truthfulqa_agree_with_an_independent_computation(shared, metric):
    folder = shared / "data/lm_eval/truthfulqa_gen_category_clusters"
    options = Options(method="t", structure=StructureOptions(cluster="category"))
    found = [r for r in estimate(folder, options) if r.metric == metric and r.n_questions == 817]
    expected = reference_values("paired_clustered.json")[f"truthfulqa_gen {metric} clustered by doc.category"]
    assert [r.n_clusters for r in found] == [expected["G"]]
    assert found[0].std_error == pytest.approx(expected["se_small_sample_G/(G-1)"], rel=1e-9)
    assert found[0].value == pytest.approx(expected["mean"], rel=1e-9)


@pytest.mark.parametrize(("task", "metric"), [("belief", "acc"), ("desire", "acc"), ("intention", "exact_match")])
def test_clustered_standard_errors_of_negotiationtom_agree_with_an_independent_computation(shared, task, metric):
    folder = shared / "data/lm_eval/negotiationtom_group_clusters/run_a"
    options = Options(method="t", structure=StructureOptions(cluster="dialogue_id"))
    (found,) = [r for r in estimate(folder, options) if r.task == f"negotiationtom_{task}" and r.metric == metric]
    name = f"negotiationtom_{task} {metric} clustered by doc.dialogue_id"
    expected = reference_values("paired_clustered.json")[name]
    assert found.n_clusters == expected["G"]
    assert found.std_error == pytest.approx(expected["se_small_sample_G/(G-1)"], rel=1e-9)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("clt", "clt"),
        ("wilson", "wilson"),
        ("clopper_pearson", "clopper_pearson"),
        ("beta", "bayes_beta11"),
        ("jeffreys", "jeffreys"),
        ("agresti_coull", "agresti_coull"),
    ],
)
def test_binomial_intervals_agree_with_the_reference_to_1e_8(method, name):
    tables = reference_values("reference_intervals.json")
    cases = [case for table in tables.values() for case in table.values() if isinstance(case, dict) and name in case]
    assert len(cases) > 20
    successes, trials = np.array([(c["k"], c["n"]) for c in cases]).T
    low, high = binomial_interval(successes, trials, 0.95, method)
    assert np.abs(low - [c[name][0] for c in cases]).max() < 1e-8
    assert np.abs(high - [c[name][1] for c in cases]).max() < 1e-8


def test_clustered_standard_errors_of_aime_agree_after_the_small_sample_factor(shared):
    with (shared / "data/csv/no_clt_paper/matharena_aime_II.csv").open() as file:
        table = list(csv.reader(file))
    cases = reference_values("reference_intervals.json")["aime2_clustered_by_question"]
    header, *body = table
    questions = [row[0].split(".")[0] for row in body]
    scores = dict(zip(header[1:], np.array([row[1:] for row in body], float).T, strict=True))
    for system, expected in cases.items():
        fit = cluster_robust(scores[system], questions)
        n_clusters = expected["G"]
        assert fit.n_clusters == n_clusters
        assert fit.std_error == pytest.approx(expected["se"] * math.sqrt(n_clusters / (n_clusters - 1)), rel=1e-9)


def test_the_totals_of_a_trimmed_log_count_before_the_rows_that_were_kept(rows):
    (row,) = [r for r in rows if r.system == "gemma3:12b-u1" and r.filter == "strict-match"]
    assert (row.n_questions, row.value, row.harness.value, row.harness.n) == (100, 0.75, 0.75, 100)
    assert has(row, "samples-missing", n_logged=3, n_scored=100)


def test_repeated_trials_of_one_question_are_clusters(rows):
    popular = [
        r for r in rows if r.task == "popularity" and r.n_questions == 10 and r.system.endswith("sonnet-4-20250514")
    ]
    assert [(r.n_trials, r.method) for r in popular] == [(5, "clustered")]


def test_the_plain_score_is_the_mean_of_question_means(rows, shared):
    folder = shared / "data/inspect/popularity_5epochs_3models"
    for log in read_logs(folder).logs:
        (row,) = [r for r in rows if r.source == log.source]
        assert row.value == pytest.approx(plain_score(log.data[0]), abs=1e-12)


def test_every_icc_is_a_correlation(shared: Path) -> None:
    rows = estimate(read_logs(shared / "data").logs)
    found = [row.icc for row in rows if row.icc is not None]
    assert found
    assert all(-1 <= icc <= 1 for icc in found)


def test_each_file_of_an_agent_benchmark_is_read_or_refused_with_one_message() -> None:
    readers = load_plugins().harnesses
    files = sorted(path for path in (originals() / "data" / "formats_agents").rglob("*") if path.is_file())
    assert len(files) > 100
    for path in files:
        reading = read_logs(path, harnesses=readers)
        messages = [message.name for _, message in (*reading.failures, *reading.warnings)]
        assert len(messages) == int(not reading.logs), path
        assert "reader-failed" not in messages
