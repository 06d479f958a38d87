"""Jobs of Harbor."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness_uq import estimate
from harness_uq.data.task_log import TaskLog
from tests.adapters.formats.files import READERS, error, harbor_trial, read, write_job
from tests.conftest import originals
from tests.message_checks import has


def names_of(log: TaskLog) -> set[str]:
    return {message.name for message in log.messages}


def test_trials_of_a_task_are_counted_in_the_order_of_their_start(tmp_path: Path) -> None:
    trials = [harbor_trial("a", 0.25, k=2), harbor_trial("b", 0.5), harbor_trial("a", 1.0, k=1)]
    write_job(tmp_path, trials, means={"mean": 1.75 / 3})
    (log,) = read(tmp_path).logs
    assert (log.system, log.task) == ("pi (model=lab/model)", "org/set")
    order = [log.questions.ids.index(f"org/{task}") for task in "ab"]
    np.testing.assert_array_equal(log.data[0].values[order], [[1.0, 0.25], [0.5, np.nan]])
    assert [log.questions.hashes[at] for at in order] == ["checksum of a", "checksum of b"]
    assert log.reported["reward", "none"].value == 1.75 / 3
    assert log.source.time == "2026-01-01T00:00:01.5Z"
    assert log.facts.is_finished
    assert names_of(log) == set()


def test_a_trial_without_a_reward_counts_as_0_with_the_reason(tmp_path: Path) -> None:
    trials = [
        harbor_trial("a", 1),
        harbor_trial("b", None, exception_info=error("EnvironmentStartTimeoutError")),
        harbor_trial("c", None),
        harbor_trial("d", {"reward": float("nan")}),
    ]
    write_job(tmp_path, trials, means={"mean": 0.25})
    (log,) = read(tmp_path).logs
    assert log.data[0].values.sum() == 1.0
    assert log.data[0].values.size == 4
    reasons = "2 × no reward, 1 × EnvironmentStartTimeoutError"
    assert has(log.messages, "missing-count-as-zero", n_missing=3, n_trials=4, reasons=reasons, metric="reward")
    assert names_of(log) == {"missing-count-as-zero"}


def test_a_reward_after_an_error_is_used_and_noted_unless_the_error_is_the_agent_s_own(tmp_path: Path) -> None:
    step = {"step_name": "s", "exception_info": error("VerifierTimeoutError")}
    trials = [
        harbor_trial("a", 1, exception_info=error("AgentTimeoutError")),
        harbor_trial("b", 1, exception_info=error("ApiRateLimitError")),
        harbor_trial("c", 0, step_results=[step]),
    ]
    write_job(tmp_path, trials)
    (log,) = read(tmp_path).logs
    assert log.data[0].values.ravel().tolist() == [1, 1, 0]
    reasons = "1 × ApiRateLimitError, 1 × VerifierTimeoutError"
    assert has(log.messages, "rewards-after-errors", n_errors=2, n_trials=3, reasons=reasons)


@pytest.mark.parametrize(
    ("own", "of_step", "ending"),
    [
        (None, None, "completed"),
        ("AgentTimeoutError", None, "time limit"),
        ("ContextWindowExceededError", None, "context limit"),
        ("OutputLengthExceededError", None, "token limit"),
        (None, "AgentSafetyRefusalError", "refused"),
        ("VerifierTimeoutError", None, "error"),
        ("AgentTimeoutError", "VerifierOutputParseError", "error"),
    ],
)
@pytest.mark.parametrize("reward", [1, None])
def test_the_exceptions_are_the_ending(
    tmp_path: Path, own: str | None, of_step: str | None, ending: str, reward: int | None
) -> None:
    infos = [error(kind) if kind else None for kind in (own, of_step)]
    steps = [{"step_name": "s", "exception_info": infos[1]}]
    write_job(tmp_path, [harbor_trial("a", reward, exception_info=infos[0], step_results=steps)])
    (log,) = read(tmp_path).logs
    assert log.ended_by.counts() == {ending: 1}


def test_several_rewards_are_metrics_and_a_missing_one_counts_as_0(tmp_path: Path) -> None:
    trials = [harbor_trial("a", {"correct": 1, "style": 7.5}), harbor_trial("b", {"correct": 0})]
    write_job(tmp_path, trials, means={"correct": 0.5, "style": 3.75})
    (log,) = read(tmp_path).logs
    assert {item.metric: item.values.ravel().tolist() for item in log.data} == {"correct": [1, 0], "style": [7.5, 0]}
    assert log.reported["style", "none"].value == 3.75
    assert has(log.messages, "missing-count-as-zero", metric="style", n_missing=1)


def test_agents_datasets_and_settings_of_one_job_are_separate(tmp_path: Path) -> None:
    def config(**kwargs: object) -> dict[str, object]:
        return {"agent": {"name": "pi", "model_name": None, "kwargs": kwargs}, "job_id": "job"}

    trials = [
        harbor_trial("a", 1, k=1, config=config(mode="fast", api_key="sk-hidden", same=1)),
        harbor_trial("a", 0, k=2, config=config(mode="slow", api_key="sk-other", same=1)),
        harbor_trial("a", 1, k=3, agent="oracle", agent_info={"name": "oracle", "version": "1.0", "model_info": None}),
        harbor_trial("b", 1, k=4, source=None, agent="oracle"),
    ]
    write_job(tmp_path, trials, means={"mean": 0.5})
    logs = read(tmp_path).logs
    assert {(str(log.system), log.task) for log in logs} == {
        ("pi (model=lab/model, api_key=***, mode=fast)", "org/set"),
        ("pi (model=lab/model, api_key=***, mode=slow)", "org/set"),
        ("oracle (model=lab/model)", "org/set"),
        ("oracle (model=lab/model)", "adhoc"),
    }
    # the mean of the job is of both settings together
    assert not any(log.reported for log in logs)


def test_a_mean_that_is_not_that_of_the_rewards_is_warned_of(tmp_path: Path) -> None:
    write_job(tmp_path, [harbor_trial("a", 1), harbor_trial("b", 0)], means={"mean": 1.0})
    (log,) = read(tmp_path).logs
    assert has(log.messages, "tool-value-differs", value=0.5, reported=1.0)
    write_job(tmp_path, [harbor_trial("a", 1), harbor_trial("b", 0)], means={"mean": 10**400})
    assert not read(tmp_path).logs[0].reported


def test_trials_without_a_result_make_the_job_unfinished(tmp_path: Path) -> None:
    write_job(tmp_path, [harbor_trial("a", 1), harbor_trial("b", 1)], n_total=3)
    (tmp_path / "c__0000001").mkdir()
    (log,) = read(tmp_path).logs
    assert (log.facts.is_finished, len(log.questions)) == (False, 2)
    (tmp_path / "c__0000001/result.json").write_text("")
    (log,) = read(tmp_path).logs
    assert has(log.messages, "part-unreadable", n_parts=1, file=str(tmp_path / "c__0000001/result.json"))


@pytest.mark.parametrize("damage", ['{"trial_name": "a", "task_name": "b", ', '{"other": 1}', "[" * 100_000, "\x00"])
def test_a_damaged_file_costs_its_own_trial(tmp_path: Path, damage: str) -> None:
    write_job(tmp_path, [harbor_trial("a", 1), harbor_trial("b", 0)])
    (tmp_path / "b__0000001/result.json").write_text(damage)
    (log,) = read(tmp_path).logs
    assert log.questions.ids == ("org/a",)
    assert names_of(log) == {"part-unreadable"}
    (tmp_path / "a__0000001/result.json").write_text(damage)
    assert read(tmp_path).logs == ()


def test_an_older_job_file_and_trials_alone_are_read(tmp_path: Path) -> None:
    write_job(tmp_path, [harbor_trial("a", 1)])
    job = {"id": "job", "n_total_trials": 1, "stats": {"n_trials": 1, "n_errors": 0, "evals": {}}}
    (tmp_path / "result.json").write_text(json.dumps(job))
    assert len(read(tmp_path).logs) == 1
    (tmp_path / "result.json").unlink()
    assert len(read(tmp_path).logs) == 1
    assert len(read(tmp_path / "a__0000001/result.json").logs) == 1


def test_tokens_cost_and_time(tmp_path: Path) -> None:
    steps = [{"step_name": "s", "agent_result": {"n_input_tokens": 5, "cost_usd": 0.25}}] * 2
    trials = [
        harbor_trial("a", 1),
        harbor_trial("b", 1, agent_result=None, step_results=steps),
        harbor_trial("c", 1, agent_result=None, finished_at="2025-01-01T00:00:00Z"),
    ]
    write_job(tmp_path, trials)
    (log,) = read(tmp_path, with_resources=True).logs
    (usage,) = log.resources.usage
    assert usage.model == "lab/model"
    for array, expected in (
        (usage.input_tokens, [10, 10, np.nan]),
        (usage.cache_read_tokens, [4, np.nan, np.nan]),
        (usage.output_tokens, [3, np.nan, np.nan]),
        (usage.cost, [0.5, 0.5, np.nan]),
        (log.resources.total_time, [60, 60, np.nan]),
    ):
        np.testing.assert_array_equal(np.ravel(array), expected)


def test_a_copy_of_a_job_is_not_a_second_run(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [harbor_trial("a", 1), harbor_trial("b", 0)])
    shutil.copytree(job, tmp_path / "copy")
    assert len(estimate(tmp_path)) == 1


def test_the_files_of_a_job_are_one_part(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_job(tmp_path / name, [harbor_trial("a", 1), harbor_trial("b", 0)])
    (tmp_path / "notes.json").write_text("{}")
    files = sorted(map(str, tmp_path.rglob("*.json")))
    assert sorted(map(len, READERS["harbor"].parts(files))) == [1, 3, 3]


def test_the_job_of_others() -> None:
    (log,) = read(originals() / "data/formats/harbor_tb", with_resources=True).logs
    assert (log.system, log.task) == (
        "matched-subscription-smoke (model=openai/gpt-5.6-sol)",
        "terminal-bench/terminal-bench-2-1",
    )
    assert log.questions.ids == ("terminal-bench/configure-git-webserver",)
    assert log.data[0].values.tolist() == [[0.0]]
    assert log.reported["reward", "none"].value == 0.0
    (usage,) = log.resources.usage
    tokens = (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens)
    assert [array.item() for array in tokens] == [2700, 768, 160]
    assert usage.cost is None
    assert log.resources.total_time.item() == pytest.approx(93.473423)
    assert log.ended_by.counts() == {"completed": 1}
    assert log.messages == ()
