"""Tests for all supported releases of lm-eval: a live run, its table, its files, and rescoring them."""

import copy
import json
from importlib.metadata import version

import pytest

import harness_uq
import harness_uq_lm_eval
from harness_uq.analyses.rescore import rescore, restore
from harness_uq_lm_eval.read import replay

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import live_runs, live_tasks

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASKS = ["live_mc", "live_perfect", "live_group"]


@pytest.fixture(scope="module")
def stock(live_folder):
    return live_runs.simple_evaluate(live_folder, TASKS, uq=None, bootstrap_iters=10, log_samples=True)


@pytest.fixture(scope="module")
def ours(live_folder):
    return live_runs.simple_evaluate(live_folder, TASKS, log_samples=True)


def values(results, kind):
    return {
        (task, key): value
        for task, row in results["results"].items()
        for key, value in row.items()
        if "," in key and ("_stderr" in key) is (kind == "errors")
    }


def test_values_are_lm_evals_own_and_every_error_is_ours(stock, ours):
    assert values(ours, "values") == pytest.approx(values(stock, "values"))
    for entry in ours["uq"]["estimates"]:
        assert entry["interval"] is not None
        assert ours["results"][entry["task"]][f"{entry['metric']}_stderr,{entry['filter']}"] == entry["std_error"]


def test_lm_evals_own_errors_are_kept_beside_ours(stock, ours):
    theirs = values(stock, "errors")
    assert len(ours["uq"]["estimates"]) == len(theirs)
    for entry in ours["uq"]["estimates"]:
        key = entry["task"], f"{entry['metric']}_stderr,{entry['filter']}"
        assert entry["harness"]["std_error"] == pytest.approx(theirs[key])


def test_the_table_has_the_intervals(ours):
    from lm_eval import utils

    with harness_uq_lm_eval.uq("bayes"):
        table = utils.make_table(ours)
    entry = live_runs.entries(ours)["live_perfect", "acc", "none"]
    (line,) = [line for line in table.splitlines() if "live_perfect" in line]
    assert f"[{entry['interval']['low']:.4f}, {entry['interval']['high']:.4f}]" in line


def test_the_files_give_the_same_numbers_and_rescoring_is_undone(ours, live_folder, tmp_path):
    path = live_runs.save(copy.deepcopy(ours), live_folder, tmp_path)
    logged = {(row.task, row.metric, row.filter): row for row in harness_uq.estimate(tmp_path)}
    assert {key: row.value for key, row in logged.items()} == pytest.approx(
        {key: entry["value"] for key, entry in live_runs.entries(ours).items()}
    )
    before = path.read_bytes()
    assert rescore(tmp_path, harness_uq.Options(level=0.5)).failures == ()
    assert json.loads(path.read_bytes())["uq"]["level"] == 0.5
    assert restore(tmp_path).restored == (str(path),)
    assert path.read_bytes() == before


@pytest.mark.skipif(version("lm-eval") < "0.5", reason="lm-eval scores single trials since 0.5")
def test_trials_that_lm_eval_scores_are_recorded(live_folder, tmp_path):
    task = live_tasks.yaml.safe_load((live_folder / "live_gen.yaml").read_text(encoding="utf-8"))
    task |= {"task": "reduced", "metric_list": [{"metric": "exact_match", "reduction": "pass@k", **live_tasks.MEAN}]}
    task["filter_list"] = [{"name": "all", "filter": [{"function": "regex", "regex_pattern": r"ANSWER: (\d)"}]}]
    task["doc_to_target"] = "{{answer}} "
    (tmp_path / "reduced.yaml").write_text(live_tasks.yaml.safe_dump(task), encoding="utf-8")
    results = live_runs.simple_evaluate(tmp_path, ["reduced"], log_samples=True)
    (entry,) = results["uq"]["trials"]
    matrix = replay.decoded(entry["scores"])
    assert matrix.shape == (24, live_tasks.N_REPEATS)
    logged = [row["pass@1(exact_match)"] for row in results["samples"]["reduced"]]
    assert matrix.mean(axis=1) == pytest.approx(logged)
