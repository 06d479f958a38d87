"""Scores of single trials, computed by replaying lm-eval's filters on logged replies."""

import copy
import functools
import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import harness_uq
from harness_uq_lm_eval.read import replay

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import live_runs, live_tasks
from tests.message_checks import find

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def matrix_of(results):
    (entry,) = [entry for entry in results["uq"]["trials"] if entry["task"] == "live_gen"]
    return replay.decoded(entry["scores"])


def test_the_first_trial_agrees_with_the_filter_take_first(live_results):
    matrix = matrix_of(live_results)
    first = [row["exact_match"] for row in live_results["samples"]["live_gen"] if row["filter"] == "first"]
    assert matrix.shape == (24, live_tasks.N_REPEATS)
    assert list(matrix[:, 0]) == first
    assert 0 < matrix.mean() < 1


def test_each_trial_gets_the_score_of_its_reply(live_results):
    rows = [row for row in live_results["samples"]["live_gen"] if row["filter"] == "first"]
    right = [[float(reply == f"ANSWER: {row['doc']['answer']}") for reply in row["resps"][0]] for row in rows]
    assert matrix_of(live_results).tolist() == right


def test_the_estimate_uses_all_trials(live_results):
    entry = live_runs.entries(live_results)["live_gen", "exact_match", "trials"]
    first = live_runs.entries(live_results)["live_gen", "exact_match", "first"]
    assert (entry["n_questions"], entry["n_trials"], entry["n_scores"]) == (24, 8, 192)
    assert entry["value"] == pytest.approx(matrix_of(live_results).mean())
    assert entry["std_error"] < first["std_error"]


def test_pass_at_k_is_estimable_from_the_log(live_results, live_folder, tmp_path):
    live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path)
    rows = harness_uq.estimate(tmp_path, harness_uq.Options(estimand="pass@4"))
    (row,) = [row for row in rows if (row.task, row.filter) == ("live_gen", "trials")]
    right = matrix_of(live_results).sum(axis=1)
    # Chen et al. (2021), eq. 1
    expected = 1 - np.mean([np.prod([(8 - c - i) / (8 - i) for i in range(4)]) for c in right])
    assert row.value == pytest.approx(expected)


def test_a_stock_log_gives_the_same_matrix(live_results, live_folder, tmp_path, monkeypatch):
    monkeypatch.setenv(replay.TASK_FOLDERS, str(live_folder))
    stock = {key: value for key, value in copy.deepcopy(live_results).items() if key != "uq"}
    live_runs.save(stock, live_folder, tmp_path)
    (log,) = [log for log in harness_uq.read_logs(tmp_path).logs if log.task == "live_gen"]
    if any("0.4.12 or later" in message.params["reason"] for message in find(log, "trials-not-replayed")):
        pytest.skip("replay of logs needs lm-eval 0.4.12")
    (trials,) = [data for data in log.data if data.filter == "trials"]
    assert trials.values.tolist() == matrix_of(live_results).tolist()


def test_folders_of_tasks_may_change_within_a_session(live_folder, tmp_path, monkeypatch):
    pytest.importorskip("lm_eval.tasks._yaml_loader", reason="replay of logs needs lm-eval 0.4.12")
    from lm_eval import tasks

    monkeypatch.setattr(tasks, "TaskManager", functools.partial(tasks.TaskManager, include_defaults=False))
    mine, others = tmp_path / "mine", tmp_path / "others"
    mine.symlink_to(live_folder)
    others.mkdir()
    questions = [replay.Question({"question": "2 + 2?", "answer": "4"}, ["4"])]
    monkeypatch.setenv(replay.TASK_FOLDERS, str(others))
    with pytest.raises(replay.NoReplayError, match="no task file"):
        replay.task_without_data("live_gen", questions)
    monkeypatch.setenv(replay.TASK_FOLDERS, str(mine))
    assert replay.task_without_data("live_gen", questions) is not None


def test_the_reason_for_a_missing_interval_is_recorded(live_results, live_folder, monkeypatch):
    def differs(*_):
        raise replay.NoReplayError("it differs")

    monkeypatch.setattr(replay._Replay, "check", differs)
    results = live_runs.simple_evaluate(live_folder, ["live_gen"])
    assert results["uq"]["trials"] == [{"task": "live_gen", "reason": "it differs"}]
    entries = live_runs.entries(results)
    assert set(entries) == {("live_gen", "exact_match", "first"), ("live_gen", "exact_match", "maj@8")}
    messages = entries["live_gen", "exact_match", "first"]["messages"]
    assert [m["params"]["reason"] for m in messages if m["name"] == "trials-not-replayed"] == ["it differs"]


def question(replies, logged):
    return replay.Question({"answer": "4"}, replies, logged)


class Scripted:
    """Correct if the filtered reply is the answer; one filter takes the last reply."""

    UNSAFE_CODE = False
    config = SimpleNamespace(process_results=None)

    def __init__(self, unsafe=False):
        self.UNSAFE_CODE = unsafe
        self._filters = [self]

    def apply(self, instances):
        for instance in instances:
            instance.filtered_resps["last"] = instance.resps[-1]

    def process_results(self, doc, results):
        return {"em": float(results[0] == doc["answer"])}


def test_replaying_must_give_what_was_logged():
    with pytest.raises(replay.NoReplayError, match=r"results in em = 1\.0, but 0\.0 was logged"):
        replay.trial_entries("t", Scripted(), [question(["3", "4"], {("em", "last"): 0.0})])


def test_code_is_not_run_twice():
    with pytest.raises(replay.NoReplayError, match="code"):
        replay.trial_entries("t", Scripted(unsafe=True), [question(["4"], {})])


def test_fewer_replies_leave_cells_empty():
    asked = [question(["3", "4", "4"], {("em", "last"): 1.0}), question(["4"], {})]
    (entry,) = replay.trial_entries("t", Scripted(), asked)
    assert entry["scores"] == ["0 1 1", "1 nan nan"]


def test_a_scorer_that_changes_its_document_leaves_the_logged_one_alone():
    class Changing(Scripted):
        def process_results(self, doc, results):
            return {"em": float(results[0] == doc.pop("answer"))}

    asked = [question(["3", "4"], {("em", "last"): 1.0})]
    (entry,) = replay.trial_entries("t", Changing(), asked)
    assert entry["scores"] == ["0 1"]
    assert asked[0].doc == {"answer": "4"}


def test_functions_of_several_trials_give_no_matrix_of_their_own():
    class Several(Scripted):
        def process_results(self, doc, results):
            right = float(results[0] == doc["answer"])
            return dict.fromkeys(self.names, right)

    several, asked = Several(), [question(["3", "4"], {})]
    several.names = ["pass@1", "em", "pass@4"]
    assert [entry["metric"] for entry in replay.trial_entries("t", several, asked)] == ["em"]
    several.names = ["pass@4", "pass@1"]
    assert [entry["metric"] for entry in replay.trial_entries("t", several, asked)] == ["pass@1"]


def test_slow_scoring_is_abandoned_unless_requested():
    asked = [question(["3", "4"], {})]
    with pytest.raises(replay.NoReplayError, match="takes too long"):
        replay.trial_entries("t", Scripted(), asked, seconds=-1.0)
    assert replay.trial_entries("t", Scripted(), asked, "on", seconds=-1.0) != []
    with pytest.raises(replay.NoReplayError, match="switched off"):
        replay.trial_entries("t", Scripted(), asked, "off")


@pytest.mark.parametrize("source", ["import openai", "def llm_judge(reply): ...", "from requests import post"])
def test_a_scorer_that_may_call_a_service_is_called_only_on_request(tmp_path, source):
    (tmp_path / "scorer.py").write_text(f"def process_results(doc, results):\n    {source}\n    return {{'em': 1.0}}\n")
    spec = importlib.util.spec_from_file_location("scorer", tmp_path / "scorer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    judged = Scripted()
    judged.config = SimpleNamespace(process_results=module.process_results)
    with pytest.raises(replay.NoReplayError, match="may call an external service"):
        replay.trial_entries("t", judged, [question(["4"], {})])
    assert replay.trial_entries("t", judged, [question(["4"], {})], "on") != []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_scorer_that_stops_the_program_in_replay_loses_no_run(live_folder, monkeypatch, stop):
    def stops(*_):
        raise stop

    monkeypatch.setattr(replay._Replay, "matrices", stops)
    results = live_runs.simple_evaluate(live_folder, ["live_gen"])
    assert stop.__name__ in results["uq"]["trials"][0]["reason"]
    assert live_runs.entries(results)["live_gen", "exact_match", "first"]["interval"] is not None


@pytest.mark.parametrize("estimand", ["pass@4", "pass^2", "maj@3"])
def test_an_estimand_of_trials_can_be_asked_for_live(live_folder, estimand):
    def entries(**settings):
        return live_runs.entries(live_runs.simple_evaluate(live_folder, ["live_gen"], settings=settings))

    asked, plain = entries(estimand=estimand), entries()
    assert asked["live_gen", "exact_match", "trials"]["estimand"] == estimand
    for name in ("first", "maj@8"):
        key = "live_gen", "exact_match", name
        assert asked[key]["interval"] == plain[key]["interval"]


def test_trials_can_be_left_out(live_folder):
    results = live_runs.simple_evaluate(live_folder, ["live_gen"], settings={"trials": "off"})
    assert {key[2] for key in live_runs.entries(results)} == {"first", "maj@8"}
