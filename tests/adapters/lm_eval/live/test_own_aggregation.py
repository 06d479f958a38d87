"""Intervals of a task's own aggregation: from the live run to the estimates and rescored copies of its log."""

import json
from math import inf

import pytest

from harness_uq import estimate
from harness_uq.commands.main import main
from tests.message_checks import has

pytest.importorskip("lm_eval")

FUNCTIONS = """
def process(doc, results):
    right = float(results[0][0] > results[1][0])
    return {"weighted_acc": (right, doc["weight"]), "trimmed": right + doc["weight"], "acc": right}


def weighted(pairs):
    return sum(score * weight for score, weight in pairs) / sum(weight for _, weight in pairs)


def trimmed_mean(values):
    kept = sorted(values)[len(values) // 10 : len(values) - len(values) // 10]
    return sum(kept) / len(kept)
"""
TASK = """
task: own_task
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: [red, green]
doc_to_target: label
process_results: !function functions.process
metric_list:
  - {{metric: weighted_acc, aggregation: !function functions.weighted, higher_is_better: true}}
  - {{metric: trimmed, aggregation: !function functions.trimmed_mean, higher_is_better: true}}
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
"""
OWN = ("weighted_acc", "trimmed")


@pytest.fixture(scope="module")
def own_run(tmp_path_factory):
    """Results in memory and the path of the results file of a run with two own aggregations."""
    from tests.adapters.lm_eval.live import live_runs

    folder = tmp_path_factory.mktemp("own")
    data = folder / "own.jsonl"
    docs = [{"id": f"own-{i}", "question": f"Question {i}?", "label": i % 2, "weight": 1 + i % 5} for i in range(40)]
    data.write_text("".join(json.dumps(doc) + "\n" for doc in docs), encoding="utf-8")
    (folder / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    (folder / "own_task.yaml").write_text(TASK.format(data=data), encoding="utf-8")
    results = live_runs.simple_evaluate(folder, ["own_task"], log_samples=True)
    path = live_runs.save(results, folder, tmp_path_factory.mktemp("runs"))
    return results, path


def by_metric(rows):
    return {row.metric: row for row in rows}


def stored(path):
    return {entry["metric"]: entry for entry in json.loads(path.read_text())["uq"]["estimates"]}


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_estimate_has_the_interval_of_the_live_run(own_run, in_memory):
    results, path = own_run
    rows, entries = by_metric(estimate(results if in_memory else path)), stored(path)
    for metric in OWN:
        row, entry = rows[metric], entries[metric]
        assert (row.method, row.status, entry["method"]) == ("resampled", "ok", "resampled")
        assert row.interval.to_dict() == pytest.approx(entry["interval"])
        assert (row.std_error, row.n_questions) == (entry["std_error"], 40)
        assert has(row, "interval-of-live-run")
        assert has(row, "resampled", n_draws=1000, unit="questions")
    assert not has(rows["acc"], "interval-of-live-run")


@pytest.mark.parametrize("options", [{"level": 0.9}, {"scope": "benchmark"}])
def test_another_level_or_scope_has_no_interval_and_the_reason_states_the_stored_one(own_run, options):
    row = by_metric(estimate(own_run[1], **options))["trimmed"]
    assert (row.interval, row.status) == (None, "not_estimable")
    assert row.reason.name == "stored-interval-differs"
    assert row.reason.params == {"level": 0.95, "scope": "population"}


def change(path, folder, edit):
    """A copy of the run whose results file is changed by `edit`."""
    for file in path.parent.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    copied = folder / path.name
    tree = json.loads(copied.read_text())
    edit(tree)
    copied.write_text(json.dumps(tree), encoding="utf-8")
    return copied


def test_an_interval_of_another_value_is_not_used(own_run, tmp_path):
    copied = change(own_run[1], tmp_path, lambda tree: tree["results"]["own_task"].update({"trimmed,none": 2.5}))
    rows = by_metric(estimate(copied))
    assert (rows["trimmed"].value, rows["trimmed"].interval) == (2.5, None)
    assert rows["trimmed"].reason.name == "totals-not-a-proportion"
    assert rows["weighted_acc"].interval is not None


@pytest.mark.parametrize(
    "damage",
    [
        {"interval": None},
        {"interval": {"low": 0.1, "high": "?", "level": 0.95, "kind": "confidence"}},
        {"interval": {"low": 0.1, "high": 0.9, "level": 0.95, "kind": "other"}},
        {"value": None},
        {"value": inf},
        {"method": 7},
        {"scope": None},
    ],
)
def test_a_damaged_entry_has_no_interval(own_run, tmp_path, damage):
    def edit(tree):
        for entry in tree["uq"]["estimates"]:
            entry.update(damage)

    assert by_metric(estimate(change(own_run[1], tmp_path, edit)))["weighted_acc"].interval is None


def test_the_log_of_a_live_run_says_why_it_has_no_interval(own_run, tmp_path):
    def edit(tree):
        for entry in tree["uq"]["estimates"]:
            messages = [{"code": "LM214", "params": {"reason": "It returns 0 for every resample."}}]
            entry.update({"interval": None, "messages": messages})

    reason = by_metric(estimate(change(own_run[1], tmp_path, edit)))["weighted_acc"].reason.text
    assert reason.startswith("It returns 0 for every resample.")
    assert "computes the score with" not in reason


def test_changed_parameters_of_a_message_are_ignored(own_run, tmp_path):
    def edit(tree):
        for entry in tree["uq"]["estimates"]:
            entry["messages"] = [{"code": "LM113", "params": {"n_draws": "x", "unit": 1}}, {"code": "LM113"}, 5]

    row = by_metric(estimate(change(own_run[1], tmp_path, edit)))["weighted_acc"]
    assert row.interval is not None
    assert not has(row, "resampled")


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_rescore_keeps_the_intervals_and_standard_errors(own_run, tmp_path, level):
    path = own_run[1]
    assert main(["rescore", str(path.parent), "--level", str(level), "--output-dir", str(tmp_path)]) == 0
    (copied,) = tmp_path.rglob("results_*.json")
    before, after = (json.loads(file.read_text())["results"]["own_task"] for file in (path, copied))
    for metric in OWN:
        assert stored(copied)[metric]["interval"] == stored(path)[metric]["interval"]
        assert after[f"{metric}_stderr,none"] == before[f"{metric}_stderr,none"]
    assert stored(copied)["acc"]["interval"]["level"] == level
    assert by_metric(estimate(copied))["trimmed"].interval is not None


def test_structure_names_the_metrics_without_scores_per_question(own_run, capsys):
    assert main(["structure", str(own_run[1].parent)]) == 0
    text = capsys.readouterr().out
    assert "weighted_acc: no scores per question (lm-eval computes the score with weighted" in text
    assert "trimmed: no scores per question (lm-eval combines the questions by trimmed_mean" in text


def test_an_estimate_store_keeps_the_interval(own_run, tmp_path, capsys):
    """Other options, so that the second command estimates from the stored task logs."""
    pytest.importorskip("pyarrow")
    from harness_uq.analyses.store.read import stored_logs

    folder, store = str(own_run[1].parent), str(tmp_path / "store")
    assert main(["estimate", folder, "--store", store, "--level", "0.9"]) == 0
    capsys.readouterr()
    assert main(["estimate", folder, "--store", store, "--format", "json"]) == 0
    rows = {row["metric"]: row for row in json.loads(capsys.readouterr().out)["estimates"]}
    read, kept = by_metric(estimate(own_run[1])), by_metric(estimate(list(stored_logs(store))))
    for metric in OWN:
        assert rows[metric]["interval"] == read[metric].interval.to_dict() == kept[metric].interval.to_dict()
        assert has(kept[metric], "interval-of-live-run")
