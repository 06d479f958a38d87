"""Crossed effects on logs: what is found, whose the uncertainty is, what is refused, every form."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness_uq.analyses.effects import effects, estimates_over
from harness_uq.analyses.estimate import estimate
from harness_uq.commands.main import main
from harness_uq.data.task_log import RunMetadata, Source, TaskLog
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import Options
from harness_uq.results.effects import Effects
from harness_uq.stats.effects.crossed import crossed_posterior
from tests.adapters.inspect.logs import copy_as_run
from tests.data.toy import task_log
from tests.message_checks import has, raises_message
from tests.output.rendering import render


def runs(shift: float, n_seeds: int = 5, n: int = 200, **other: object) -> list[TaskLog]:
    """Runs of one model under several seeds whose scores differ by about `shift` on the logit scale."""
    rng = np.random.default_rng(1)
    difficulty, moved = rng.normal(size=n), np.linspace(-shift, shift, n_seeds)
    return [
        task_log(
            rng.random(n) < 1 / (1 + np.exp(-difficulty - moved[seed])),
            facts=RunMetadata(settings={"fewshot_seed": seed, "num_fewshot": 5}),
            source=Source(f"seed{seed}.json", "lm-eval"),
            **other,
        )
        for seed in range(n_seeds)
    ]


def one(logs: list[TaskLog], **options: object) -> Effects:
    (found,) = effects(logs, Options(**options))
    return found


def test_effects_are_those_of_the_crossed_posterior() -> None:
    logs = runs(0.8)
    found = one(logs)
    scores = np.concatenate([log.data[0].values[:, 0] for log in logs])
    labels = {"question": np.tile(np.arange(200), 5), "seed": np.repeat(np.arange(5), 200)}
    expected = crossed_posterior(scores, labels, new=("question", "seed"))
    assert (found.interval.low, found.interval.high) == pytest.approx(expected.interval())
    assert found.value == pytest.approx(scores.mean())
    assert [part.name for part in found.components] == ["seed", "question", "residual"]
    assert sum(part.share for part in found.components) == pytest.approx(1)
    assert (found.n_questions, found.n_scores, found.not_identifiable) == (200, 1000, ("question × seed",))


def test_seeds_that_differ_own_the_uncertainty() -> None:
    found = one(runs(0.8))
    assert found.uncertainty["seed"] > 0.7
    assert found.interval.width > 2 * found.interval_questions_only.width
    assert found.sentence.startswith("Of the uncertainty about new questions and new seeds, ")
    assert found.sentence.endswith(" more than any number of questions.")


def test_what_two_more_seeds_are_worth_follows_from_the_shares() -> None:
    found = one(runs(0.0, n_seeds=8))
    share, rest = found.uncertainty["seed"], found.uncertainty["question"]
    gain = share * 2 / 10
    assert found.sentence.endswith(
        f"two more seeds reduce it as much as {200 * gain / (rest - gain):,.0f} more questions."
    )


def test_only_what_is_called_new_is_new() -> None:
    found = one(runs(0.8), generalize_over=("question",))
    assert (found.interval.low, found.interval.high) == (
        found.interval_questions_only.low,
        found.interval_questions_only.high,
    )
    assert found.sentence == "All of the uncertainty about new questions is due to questions."


def test_few_levels_are_warned_of() -> None:
    assert has(one(runs(0.3, n_seeds=2)), "few-levels", n_levels=2, factor="seed")
    assert not one(runs(0.3, n_seeds=5)).warnings


def test_passages_are_the_units_where_questions_share_them() -> None:
    passage = np.repeat(np.arange(40), 5).astype(str)
    logs = runs(0.3, fields={"passage": passage})
    found = one(logs)
    assert found.unit == "passage"
    assert set(found.uncertainty) == {"passage", "seed"}
    assert "new passages and new seeds" in found.sentence


def test_runs_whose_settings_agree_are_repeats() -> None:
    logs = [task_log(log.data[0].values, source=log.source) for log in runs(0.0)]
    assert "repeats" in one(logs).evidence["run"]


def test_runs_that_agree_on_every_question_may_be_copies() -> None:
    log = runs(0.0)[0]
    copies = [task_log(log.data[0].values, source=Source(f"{i}.json", "lm-eval")) for i in range(4)]
    found = one(copies)
    assert has(found, "identical-logs")
    assert found.sentence.endswith("reduce it less than one more question.") or found.uncertainty["run"] < 0.05
    assert not has(one(runs(0.3)), "identical-logs")


def test_tasks_can_be_the_factor() -> None:
    logs = [task_log(log.data[0].values, task=f"toy_p{i}", source=log.source) for i, log in enumerate(runs(0.5))]
    with raises_message(NotEstimableError, "effects-unavailable"):
        effects(logs)
    found = one(logs, factor={"prompt": "task"})
    assert found.task == "toy_p0, toy_p1, toy_p2, toy_p3, toy_p4"
    assert "new prompts" in found.sentence


def test_a_model_with_one_log_is_left_out_and_one_that_does_not_match_is_told_of() -> None:
    other = [
        task_log([1, 0, 1], system="other", ids=ids, source=Source(f"{ids}", "lm-eval"), task="else")
        for ids in (["a", "b", "c"], ["d", "e", "f"])
    ]
    found = one([*runs(0.3), *other])
    assert has(found, "model-left-out", model="other", task="else")


def test_the_name_of_the_system_has_the_settings_that_its_logs_share() -> None:
    logs = [replace(log, system=f"m (temperature=0, prompt={k % 2})") for k, log in enumerate(runs(0.3))]
    assert one(logs).model == "m (temperature=0)"
    assert {row.system for row in estimates_over(logs)} == {"m (temperature=0)"}
    same = [replace(log, system="m (stop=a, b)") for log in logs]
    assert one(same).model == "m (stop=a, b)"


def test_an_estimate_over_new_levels_is_a_row_like_others() -> None:
    logs = runs(0.8)
    (row,) = estimates_over(logs, Options(generalize_over=("question", "seed")))
    found = one(logs)
    assert (row.interval, row.value, row.method) == (found.interval, found.value, "crossed")
    assert row.posterior.interval(0.95) == pytest.approx((row.interval.low, row.interval.high))
    assert (row.n_questions, row.n_scores) == (200, 1000)
    assert has(row, "logs-combined", n_logs=5)
    assert has(row, "factor-used", factor="seed", evidence=found.evidence["seed"])
    assert "crossed" in json.dumps(row.to_dict())
    assert estimate(logs, generalize_over=["question", "seed"])[0].to_dict() == row.to_dict()
    with pytest.raises(DataError, match="generalize_over supports only method='bayes'"):
        estimate(logs, generalize_over="seed", method="wilson")


def test_unknown_factors_are_refused() -> None:
    with pytest.raises(DataError, match="judge"):
        effects(runs(0.3), Options(generalize_over=("question", "judge")))
    with pytest.raises(DataError, match="level"):
        Options(level=95)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_every_form_says_the_components(form: str) -> None:
    text = render([one(runs(0.8))], form)
    assert "question" in text
    assert "residual" in text
    if form == "json":
        (row,) = json.loads(text)["effects"]
        assert row["evidence"] == {"seed": "fewshot_seed has 5 values in 5 logs: 0, 1, 2, 3 and 1 more"}
    elif form == "csv":
        assert [row["name"] for row in csv.DictReader(io.StringIO(text))] == ["seed", "question", "residual"]
    else:
        assert "Of the uncertainty about new questions" in " ".join(text.split())


def test_the_command_prints_them_and_says_what_is_wrong(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = shared / "data/inspect/popularity_5epochs_3models"
    assert main(["effects", str(log)]) == 1
    assert "two logs of one task" in capsys.readouterr().err
    assert main(["effects", str(log), "--factor", "prompt"]) == 2
    assert "NAME=FIELD" in capsys.readouterr().err
    first = sorted(log.glob("*.eval"))[0]
    for name in ("a", "b"):
        copy_as_run(first, tmp_path / f"{name}.eval")
    assert main(["effects", str(tmp_path), "--factor", "copy=path", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["effects"]
    assert row["new"] == ["question", "copy"]
    over = ["estimate", str(tmp_path), "--factor", "copy=path", "--generalize-over", "question,copy"]
    assert main([*over, "--format", "json"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)["estimates"]
    assert printed["interval"] == row["interval"]
    assert printed["method"] == "crossed"
    assert main([*over, "--scope", "benchmark"]) == 2
    assert "Remove --scope." in capsys.readouterr().err
