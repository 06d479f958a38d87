"""Samples that are chosen during a run: their number, a failed run and its retry, and the estimate from the log."""

import asyncio
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from harness_uq import ActiveHistory, ActiveSampler, DataError, NotEstimableError, estimate
from harness_uq_inspect.live import choose_samples
from harness_uq_inspect.live.cli import main
from harness_uq_inspect.messages import CHOSEN_ACTIVELY
from harness_uq_inspect.write.annotations import remove_annotations
from tests.adapters.inspect.environment import LIVE, run_with_uq
from tests.message_checks import has

pytestmark = pytest.mark.harness

N, N_ASKED = 300, 60


@pytest.fixture(scope="module")
def folder(inspect_log, tmp_path_factory):
    """Folder with the history and the logs of `active_runs.py`."""
    path = tmp_path_factory.mktemp("active")
    run_with_uq(sys.executable, LIVE / "active_runs.py", path, cwd=path, HARNESS_UQ=None)
    return path


@pytest.fixture(scope="module")
def runs(folder):
    return json.loads((folder / "runs.json").read_text())


@pytest.fixture(scope="module")
def scores():
    sys.path.insert(0, str(LIVE))
    try:
        from active_runs import answers
    finally:
        sys.path.remove(str(LIVE))
    return answers()


@pytest.mark.parametrize("run", ["max_samples=1", "max_samples=100"])
def test_exactly_the_requested_number_of_samples_is_run(runs, run):
    assert runs[run]["status"] == "success"
    assert len(runs[run]["ran"]) == len(set(runs[run]["ran"])) == N_ASKED


def test_the_samples_do_not_depend_on_how_many_run_at_once(runs):
    assert {*runs["max_samples=1"]["ran"]} == {*runs["max_samples=100"]["ran"]}


def test_a_retry_reuses_the_scores_of_a_failed_run_and_chooses_the_same_samples(runs):
    failed, retried = runs["failed"], runs["retried"]
    assert (failed["status"], retried["status"]) == ("error", "success")
    assert {*failed["ran"]} | {*retried["ran"]} == {*runs["max_samples=1"]["ran"]}
    assert len({*failed["ran"]} & {*retried["ran"]}) <= 4  # those that were running when the run failed


@pytest.mark.parametrize("run", ["max_samples=100", "retried"])
def test_the_log_gives_the_estimate_of_the_sampler(runs, folder, scores, run):
    sampler = ActiveSampler(scores[:20], n_questions=N_ASKED, n_rounds=4)
    while not sampler.done:
        questions = sampler.ask()
        sampler.tell(questions, scores[20, questions])
    (row,) = estimate(runs[run]["location"], scope="full", reference_runs=folder / "history.csv")
    expected = sampler.estimate()
    assert (row.method, row.scope, row.n_questions) == ("active", "full", N_ASKED)
    assert row.value == pytest.approx(expected.value, abs=1e-9)
    assert (row.interval.low, row.interval.high) == pytest.approx((expected.interval.low, expected.interval.high))
    assert row.interval.low < scores[20].mean() < row.interval.high
    assert row.harness.value != pytest.approx(row.value)  # Inspect's mean of the chosen samples


def test_a_failed_run_gives_an_estimate_from_its_complete_and_incomplete_rounds(runs, folder):
    (row,) = estimate(runs["failed"]["location"], scope="full", reference_runs=folder / "history.csv")
    assert row.method == "active"
    assert row.interval.width < 0.5


def test_estimates_without_reference_runs_say_that_they_ignore_the_choice(runs):
    (row,) = estimate(runs["max_samples=1"]["location"])
    assert has(row, CHOSEN_ACTIVELY.code, n_questions=N_ASKED)
    assert row.cluster_key is None  # the round is no cluster


def inspect(folder, *arguments, **variables):
    """Run `harness-uq inspect` and return the newest log."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    options = ["--uq", "bayes", "--uq-questions", N_ASKED, "--uq-reference-runs", folder / "history.csv"]
    command = [sys.executable, "-m", "harness_uq", "inspect", *arguments, *options, "--log-dir", folder / "command"]
    run_with_uq(*command, "--display", "plain", cwd=folder, HARNESS_UQ=None, **variables)
    return read_eval_log(list_eval_logs(str(folder / "command"))[0])


@pytest.fixture(scope="module")
def command_runs(folder):
    """A run of the command that fails after 35 samples, and its retry."""
    task = [f"{LIVE / 'active_runs.py'}@plain", "--model", "mockllm/model", "--max-samples", "5"]
    failed = inspect(folder, "eval", *task, ACTIVE_RUNS_FAILS_AT="35")
    return failed, inspect(folder, "eval-retry", failed.location)


def test_the_command_runs_exactly_the_requested_number_of_samples_after_a_retry(command_runs):
    failed, retried = command_runs
    assert (failed.status, retried.status) == ("error", "success")
    assert len(retried.samples) == N_ASKED
    finished = {sample.id for sample in failed.samples if sample.error is None}
    assert len(finished) > 24
    reused = {sample.id: sample.uuid for sample in failed.samples if sample.id in finished}
    assert reused.items() <= {sample.id: sample.uuid for sample in retried.samples}.items()


def test_the_score_in_the_log_is_the_estimate_and_its_own_value_is_kept(command_runs, folder):
    _, log = command_runs
    (row,) = estimate(log.location, scope="full", reference_runs=folder / "history.csv")
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert row.method == "active"
    assert metrics["accuracy"] == pytest.approx(row.value)
    assert metrics["stderr"] == pytest.approx(row.std_error)
    assert (metrics["uq_lower"], metrics["uq_upper"]) == pytest.approx((row.interval.low, row.interval.high))
    of_samples = np.mean([sample.scores["right"].value == "C" for sample in log.samples])
    assert row.harness.value == pytest.approx(of_samples)
    original = remove_annotations(log.model_dump(mode="json", exclude_none=True, exclude={"samples"}))
    assert original["results"]["scores"][0]["metrics"]["accuracy"]["value"] == pytest.approx(of_samples)
    assert [*original["results"]["scores"][0]["metrics"]] == ["accuracy", "stderr"]


def test_an_actively_chosen_run_is_no_reference_run(runs, folder):
    own = [runs["max_samples=1"]["location"], runs["max_samples=100"]["location"]]
    with pytest.raises(NotEstimableError):
        ActiveHistory(own)
    alone, beside_others = (
        estimate(own[0], scope="full", reference_runs=[folder / "history.csv", *others])[0] for others in ([], own)
    )
    assert (alone.value, alone.interval) == (beside_others.value, beside_others.interval)


@pytest.fixture
def reference_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("runs", "old.eval"):
        (tmp_path / name).touch()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "--uq-questions", "5"], "together"),
        (["eval", "--uq-reference-runs", "runs"], "together"),
        (["eval", "--uq-questions", "1", "--uq-reference-runs", "runs"], "at least 2"),
        (["eval", "--uq-questions", "many", "--uq-reference-runs", "runs"], "at least 2"),
        (["eval", "--uq-questions", "5", "--uq-reference-runs", "runs", "--uq-scope", "population"], "--uq-scope full"),
        (["eval", "--uq-questions", "5", "--uq-reference-runs", "runs", "--uq-compare", "old.eval"], "--uq-compare"),
        (["eval", "--uq-questions", "5", "--uq-reference-runs", "runs", "--limit=9"], "--limit"),
        (["eval-set", "--uq-questions", "5", "--uq-reference-runs", "runs"], "eval and eval-retry"),
        (["eval", "--uq-questions", "5", "--uq-reference-runs", "nowhere"], "Reference run not found: nowhere"),
        (["eval", "--uq-rounds", "3"], "--uq-questions"),
    ],
)
def test_invalid_combinations_of_options_are_usage_errors(reference_runs, capsys, arguments, message):
    assert main([*arguments, "--uq", "bayes"]) == 2
    assert message in capsys.readouterr().err


def test_without_the_private_function_the_command_refuses_to_run_all_samples(reference_runs, capsys, monkeypatch):
    monkeypatch.delattr(".".join(choose_samples.LOAD))
    assert main(["eval", "--uq", "bayes", "--uq-questions", "5", "--uq-reference-runs", "runs"]) == 2
    assert "ActiveSource" in capsys.readouterr().err


def source(folder, **options):
    from inspect_ai.dataset import Sample

    from harness_uq_inspect import ActiveSource

    dataset = [Sample(input=f"Question {number}?", id=number) for number in options.pop("ids", range(N))]
    return ActiveSource(dataset, folder / "history.csv", n_questions=N_ASKED, **options)


def finished(sample, value):
    scores = {} if value is None else {"right": SimpleNamespace(value=value)}
    return SimpleNamespace(id=sample.id, scores=scores)


def test_a_sample_without_a_score_counts_as_the_lowest_and_epochs_are_averaged(folder):
    chosen = source(folder)
    first = chosen.initial_samples()
    for number, sample in enumerate(first):
        for value in ("C", "I") if number else (None, None):
            asyncio.run(chosen.sample_complete(finished(sample, value)))
    second = asyncio.run(chosen.next_samples())
    assert len(second) == len(first) == 12
    told = ActiveSampler(ActiveHistory(folder / "history.csv"), n_questions=N_ASKED)
    questions = told.ask()
    told.tell(questions, [0.0] + [0.5] * 11)
    assert [str(sample.id) for sample in second] == told.ask()


def test_metadata_of_the_samples_stay_and_state_how_these_were_chosen(folder):
    for sample in source(folder, seed=3).initial_samples():
        assert sample.metadata["harness_uq"] == {"round": 0, "round_size": 12, "probability": pytest.approx(12 / N)}


def test_a_dataset_with_other_questions_is_refused(folder):
    with pytest.raises(DataError, match="300 questions"):
        source(folder, ids=range(200))
    with pytest.raises(NotEstimableError):
        source(folder, ids=range(N + 1))
    with pytest.raises(DataError, match="same id"):
        source(folder, ids=[*range(N), 0])


def test_a_history_without_identities_is_refused():
    from inspect_ai.dataset import Sample

    from harness_uq_inspect import ActiveSource

    with pytest.raises(DataError, match="array"):
        ActiveSource([Sample(input="?", id=0)], ActiveHistory(np.ones((2, 1))), n_questions=1)
