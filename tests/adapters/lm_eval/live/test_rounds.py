"""Documents that are chosen in rounds: their number, the combined results, and the estimate from the files."""

import functools
import json

import numpy as np
import pytest

from harness_uq import ActiveHistory, ActiveSampler, DataError, UsageError, estimate, read_logs
from harness_uq.commands.main import main
from harness_uq_lm_eval.messages import CHOSEN_IN_ROUNDS
from tests.message_checks import has

pytest.importorskip("lm_eval")

from lm_eval.api.registry import register_model

from harness_uq_lm_eval.live import rounds
from harness_uq_lm_eval.results_block import without_block
from tests.adapters.lm_eval.live import live_runs, live_tasks

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASK, N_ALL, N_ASKED, N_ROUNDS = "rounds_sums", 240, 60, 4


BATCHES = []


@register_model("rounds_scripted")
class ScriptedLM(live_tasks.HashLM):
    """A system whose answers depend on its ability and on the difficulty of the documents."""

    def __init__(self, seed=0, ability=0.0, **_of_the_harness):
        super().__init__()
        self.seed, self.ability, self.batches = seed, ability, []

    def is_right(self, doc):
        rng = np.random.default_rng([self.seed, int(doc["id"].rpartition("-")[2])])
        return rng.logistic() < self.ability - doc["difficulty"]

    def loglikelihood(self, requests):
        self.batches.append([request.doc["id"] for request in requests if request.idx == 0])
        BATCHES.append(len(requests))
        return [(-1.0 if (request.idx == 0) == self.is_right(request.doc) else -2.0, False) for request in requests]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder with two tasks, a group of them, and the logs of 12 systems on the first task."""
    path = tmp_path_factory.mktemp("rounds")
    rng = np.random.default_rng(7)
    docs = [
        {"id": f"sum-{i}", "question": f"{i}?", "label": 0, "difficulty": float(rng.normal(0, 2))} for i in range(N_ALL)
    ]
    config = {
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}}",
        "doc_to_choice": ["yes", "no"],
        "doc_to_target": "label",
        "metric_list": [{"metric": "acc"}, {"metric": "f1", "aggregation": "f1", "higher_is_better": True}],
        "test_split": "test",
        "dataset_path": "json",
        "metadata": {"version": 1},
    }
    for name in (TASK, "rounds_other"):
        data = path / f"{name}.jsonl"
        data.write_text("".join(json.dumps(doc) + "\n" for doc in docs), encoding="utf-8")
        content = {"task": name, "dataset_kwargs": {"data_files": {"test": str(data)}}, **config}
        (path / f"{name}.yaml").write_text(json.dumps(content), encoding="utf-8")
    group = {"group": "rounds_group", "task": [TASK, "rounds_other"]}
    (path / "rounds_group.yaml").write_text(json.dumps(group), encoding="utf-8")
    for seed in range(12):
        system = ScriptedLM(seed, float(rng.normal()))
        results = live_runs.simple_evaluate(path, [TASK], uq=None, lm=system, log_samples=True, bootstrap_iters=0)
        live_runs.save(results, path, path / "earlier" / str(seed), f"system-{seed}")
    return path


def run(folder, lm, tasks=(TASK,), **settings):
    chosen = {"questions": N_ASKED, "reference_runs": str(folder / "earlier"), "rounds": N_ROUNDS, **settings}
    return live_runs.simple_evaluate(folder, tasks, settings=chosen, lm=lm, log_samples=True)


@pytest.fixture(scope="module")
def new():
    return ScriptedLM(100, 0.5)


@pytest.fixture(scope="module")
def results(folder, new):
    return run(folder, new)


def entry(results):
    return live_runs.entries(results)[TASK, "acc", "none"]


def test_each_round_runs_its_share_of_the_documents(results, new):
    assert [len(batch) for batch in new.batches] == [N_ASKED // N_ROUNDS] * N_ROUNDS
    assert len({doc for batch in new.batches for doc in batch}) == N_ASKED


def test_the_results_are_those_of_one_run(results):
    samples = results["samples"][TASK]
    numbers = [sample["doc_id"] for sample in samples]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == results["results"][TASK]["sample_len"] == N_ASKED
    assert results["n-samples"][TASK] == {"original": N_ALL, "effective": N_ASKED}
    assert all(sample["doc"]["id"] == f"sum-{sample['doc_id']}" for sample in samples)


def test_the_estimate_is_that_of_the_sampler_and_replaces_the_mean_of_the_chosen_documents(results, folder, new):
    history = ActiveHistory(folder / "earlier", task=TASK)
    assert history.scores.shape == (12, N_ALL)
    docs = [json.loads(line) for line in (folder / f"{TASK}.jsonl").read_text().splitlines()]
    scores = np.array([new.is_right(doc) for doc in docs], float)
    sampler = ActiveSampler(history, n_questions=N_ASKED, n_rounds=N_ROUNDS)
    while not sampler.done:
        questions = sampler.ask()
        sampler.tell(questions, scores[[int(question) for question in questions]])
    expected, estimated = sampler.estimate(), entry(results)
    assert (estimated["method"], estimated["scope"]) == ("active", "full")
    assert estimated["value"] == pytest.approx(expected.value)
    assert estimated["interval"]["low"] == pytest.approx(expected.interval.low)
    assert estimated["interval"]["low"] < scores.mean() < estimated["interval"]["high"]
    row = results["results"][TASK]
    assert (row["acc,none"], row["acc_stderr,none"]) == (estimated["value"], estimated["std_error"])
    assert estimated["harness"]["value"] == np.mean([sample["acc"] for sample in results["samples"][TASK]])
    assert without_block(results)["results"][TASK]["acc,none"] == estimated["harness"]["value"]


def test_a_metric_of_all_documents_together_is_withheld(results, folder, caplog):
    (withheld,) = results["uq"]["withheld"]
    assert (withheld["task"], withheld["metric"], withheld["filter"]) == (TASK, "f1", "none")
    assert results["results"][TASK]["f1,none"] == results["results"][TASK]["f1_stderr,none"] == "N/A"
    assert without_block(results)["results"][TASK]["f1,none"] == withheld["value"]
    run(folder, ScriptedLM(101, 0.0))
    assert [record.args for record in caplog.records if "is N/A" in record.msg] == [(TASK, "f1")]


def test_the_files_give_the_same_estimate(results, folder, tmp_path):
    live_runs.save(results, folder, tmp_path, "new")
    (row,) = estimate(tmp_path, scope="full", reference_runs=folder / "earlier", metric="acc")
    assert (row.method, row.value) == ("active", pytest.approx(entry(results)["value"]))
    assert row.harness.value == entry(results)["harness"]["value"]
    (alone,) = estimate(tmp_path, metric="acc")
    assert alone.value == row.harness.value
    assert has(alone, CHOSEN_IN_ROUNDS.code, n_questions=N_ASKED)
    assert alone.cluster_key is None  # the round is no cluster


def test_several_tasks_have_rounds_of_their_own(folder):
    history = read_logs(folder / "earlier").logs
    system = ScriptedLM(101)
    other = folder / "other"
    results = live_runs.simple_evaluate(
        folder, ["rounds_other"], uq=None, lm=ScriptedLM(1), log_samples=True, bootstrap_iters=0
    )
    live_runs.save(results, folder, other, "system-1")
    run(folder, system, (TASK, "rounds_other"), reference_runs=[str(folder / "earlier"), str(other)])
    assert len(history) == 12
    assert [len(batch) for batch in system.batches] == [2 * N_ASKED // N_ROUNDS] * N_ROUNDS


def test_a_failure_to_choose_keeps_the_rounds_so_far(folder, monkeypatch, caplog):
    tell, n_told = rounds.TaskRounds.tell, []

    def fails_after_two(self, *args):
        n_told.append(1)
        if len(n_told) > 2:
            raise RuntimeError("injected")
        tell(self, *args)

    monkeypatch.setattr(rounds.TaskRounds, "tell", fails_after_two)
    results = run(folder, ScriptedLM(102))
    estimated = entry(results)
    assert (estimated["method"], estimated["n_questions"]) == ("active", 3 * N_ASKED // N_ROUNDS)
    assert "injected" in caplog.text


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"questions": N_ALL}, {}),
        ({}, {"limit": 10}),
        ({}, {"samples": {TASK: [1]}}),
        ({}, {"cache_requests": True}),
        ({}, {"predict_only": True}),
        ({"scope": "population"}, {}),
        ({"reference_runs": None}, {}),
        ({"questions": None}, {}),
        ({"compare": "."}, {}),
    ],
)
def test_what_cannot_be_combined_ends_the_run_before_it_begins(folder, settings, options):
    system = ScriptedLM(103)
    chosen = {"questions": N_ASKED, "reference_runs": str(folder / "earlier"), **settings}
    with pytest.raises((UsageError, DataError)):
        live_runs.simple_evaluate(folder, [TASK], settings=chosen, lm=system, **options)
    assert system.batches == []


def test_groups_are_refused(folder):
    with pytest.raises(UsageError, match="groups"):
        run(folder, ScriptedLM(104), ["rounds_group"])


@pytest.fixture
def command(folder, tmp_path, capsys, monkeypatch):
    """`command(*arguments)` returns the exit code, the output, and the results file or None."""
    from lm_eval import tasks as lm_eval_tasks

    own_tasks_only = functools.partial(lm_eval_tasks.TaskManager, include_defaults=False)
    monkeypatch.setattr(lm_eval_tasks, "TaskManager", own_tasks_only)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        task = ["--model", "rounds_scripted", "--tasks", TASK, "--include_path", str(folder), "--output_path", "out"]
        code = main(["lm-eval", "run", *task, "--uq", "bayes", *arguments])
        printed = capsys.readouterr()
        paths = sorted(tmp_path.rglob("results_*.json"))
        return code, printed, json.loads(paths[-1].read_text(encoding="utf-8")) if paths else None

    return call


def test_the_command_writes_one_file_with_the_estimate(command, folder, tmp_path):
    options = ["--uq-questions", "60", "--uq-reference-runs", str(folder / "earlier"), "--uq-rounds", "4"]
    code, printed, results = command(*options, "--log_samples")
    assert code == 0
    estimated = entry(results)
    shown = f"[{estimated['interval']['low']:.4f}, {estimated['interval']['high']:.4f}]"
    assert shown in printed.out
    assert (results["uq"]["questions"], results["uq"]["rounds"]) == (60, 4)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    assert len(path.read_text().splitlines()) == N_ASKED


def test_a_second_run_reuses_the_cache_of_answers(command, folder, tmp_path):
    options = ["--uq-questions", "60", "--uq-reference-runs", str(folder / "earlier"), "--use_cache", "answers"]
    n_calls = len(BATCHES)
    first = command(*options)[2]
    n_new = len(BATCHES) - n_calls
    second = command(*options)[2]
    assert n_new == 5
    assert len(BATCHES) == n_calls + n_new
    assert entry(first)["value"] == entry(second)["value"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--uq-questions", "many"], "at least 2"),
        (["--uq-questions", "60"], "together"),
        (["--uq-questions", "60", "--uq-rounds", "0"], "at least 1"),
        (["--uq-rounds", "3"], "--uq-questions"),
        (["--uq-questions", "60", "--uq-reference-runs", "EARLIER", "--limit", "5"], "--limit"),
        (["--uq-questions", "60", "--uq-reference-runs", "nowhere"], "nowhere"),
    ],
)
def test_wrong_options_are_reported(command, folder, arguments, message):
    code, printed, results = command(*(str(folder / "earlier") if a == "EARLIER" else a for a in arguments))
    assert (code, results) == (2, None)
    assert message in printed.err
