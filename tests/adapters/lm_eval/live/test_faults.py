"""Faults in harness_uq leave the results of lm-eval's commands, which run in separate processes, unchanged."""

import json
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import fork_imports, live_runs
from tests.forked_runs import run_forked

pytestmark = [pytest.mark.harness, pytest.mark.slow]

TASKS = "live_mc,live_perfect,live_acc_all,live_gen,live_references,live_group,live_unweighted"
BOOTSTRAPPED = {f"{metric}_stderr,none" for metric in ("bleu", "chrf", "ter")}  # of live_references
NEVER_THE_SAME = {"date", "total_evaluation_time_seconds", "start_time", "end_time", "pretty_env_info"}

# executed before a run: injects the faults
BREAK = """
import importlib, os

def fails(*args, **kwargs):
    raise RuntimeError("injected")

for fault in os.environ["FAULTS"].split():
    module, name = fault.split(":")
    setattr(importlib.import_module(module), name, fails)
"""

STEPS = {
    "estimate": ["harness_uq.plugin_api:estimate"],
    "structure": ["harness_uq.inference.marginals:clusters_of"],
    "block": ["harness_uq_lm_eval.live.runtime:add_block", "harness_uq_lm_eval.live.runtime:record_trials"],
}
AFTERWARDS = [
    "harness_uq_lm_eval.live.results_table:_add_interval_column",
    "harness_uq_lm_eval.live.runtime:name_system",
    "harness_uq.analyses.compare:compare",
    "harness_uq_lm_eval.live.console_report:comparison_text",
]


class Outcome:
    """Exit code, output and results file of a command."""

    def __init__(self, folder, done):
        self.code, self.printed, self.said = done.returncode, done.stdout, done.stderr
        files = sorted(folder.rglob("results_*.json"))
        self.results = json.loads(files[0].read_text(encoding="utf-8")) if files else None


@pytest.fixture(scope="module")
def command(live_folder, tmp_path_factory):
    """`command(program, *arguments)` runs `lm-eval` or `harness-uq` as installed, with faults."""
    root = Path(__file__).parents[4]
    path = os.pathsep.join(map(str, (root, root / "adapters")))
    offline = {"HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"}

    def run(program, *arguments, faults=(), tasks=TASKS, model="hash"):
        folder = tmp_path_factory.mktemp("run")
        line = [Path(sys.executable).with_name(program), *(["lm-eval"] if program == "harness-uq" else []), "run"]
        line += ["--model", model, "--tasks", tasks, "--include_path", live_folder, "--output_path", folder, *arguments]
        environment = {**os.environ, **offline, "PYTHONPATH": path, "FAULTS": " ".join(faults)}
        done = run_forked(line, cwd=folder, environment=environment, modules=(fork_imports.__name__,), before=BREAK)
        return Outcome(folder, done)

    return run


@pytest.fixture(scope="module")
def stock(command):
    """lm-eval alone."""
    outcome = command("lm-eval")
    assert outcome.code == 0, outcome.said
    return outcome


def rows_of(results):
    return {(part, name): row for part in ("results", "groups") for name, row in results[part].items()}


def other_parts(results):
    return {key: part for key, part in results.items() if key not in {*NEVER_THE_SAME, "results", "groups", "uq"}}


@pytest.mark.parametrize("step", STEPS)
def test_a_fault_leaves_lm_evals_exit_code_and_numbers(command, stock, step):
    ours = command("harness-uq", "--uq", "bayes", faults=STEPS[step])
    assert (ours.code, stock.code) == (0, 0), ours.said
    assert "injected" in ours.said
    found, theirs = rows_of(ours.results), rows_of(stock.results)
    assert found.keys() == theirs.keys()
    for key, row in theirs.items():
        is_bootstrapped = key == ("results", "live_references")
        expected = {name: "N/A" if is_bootstrapped and name in BOOTSTRAPPED else value for name, value in row.items()}
        assert (key, found[key]) == (key, expected)
    assert other_parts(ours.results) == other_parts(stock.results)
    entries = ours.results["uq"]["estimates"]
    assert {entry["method"] for entry in entries} == {"failed"}
    assert all("injected" in entry["error"] for entry in entries)
    assert len(entries) == sum("_stderr," not in name and "," in name for name in names(stock.results))


def names(results):
    return [name for row in results["results"].values() for name in row]


def test_faults_after_the_estimates_leave_them_and_lm_evals_table(command, stock):
    ours = command("harness-uq", "--uq", "bayes", "--uq_compare", ".", faults=AFTERWARDS)
    assert ours.code == 0, ours.said
    found, theirs = rows_of(ours.results), rows_of(stock.results)
    for key, row in theirs.items():
        values = {name for name in row if "_stderr," not in name}
        assert {name: found[key][name] for name in values} == {name: row[name] for name in values}
    perfect = live_runs.entries(ours.results)["live_perfect", "acc", "none"]
    assert (perfect["method"], found["results", "live_perfect"]["acc_stderr,none"]) == ("beta", perfect["std_error"])
    tables, _, below = ours.printed.partition("Single trials")
    assert "% interval" not in tables
    assert "live_gen" in below
    assert [line.count("|") for line in tables.splitlines() if line.startswith("|")] == [
        line.count("|") for line in stock.printed.splitlines() if line.startswith("|")
    ]
    assert "No comparison with .: " in ours.printed


@pytest.mark.parametrize("wrong", [{"tasks": "no_such_task"}, {"model": "no_such_model"}], ids=["task", "model"])
def test_the_exit_code_of_a_failing_lm_eval_is_passed_on(command, wrong):
    ours, theirs = command("harness-uq", "--uq", "bayes", **wrong), command("lm-eval", **wrong)
    assert theirs.code != 0
    assert (ours.code, ours.results) == (theirs.code, None)
    (name,) = wrong.values()
    assert name in theirs.said
    assert name in ours.said
