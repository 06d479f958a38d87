"""Estimands of several trials: which rows are printed, what stands beside them, and where they are refused."""

import numpy as np
import pytest

from harness_uq import estimate, plan
from harness_uq.commands.main import main
from harness_uq.data.task_log import Classifications, HarnessResult, Scores, TaskLog
from harness_uq.messages.errors import NotEstimableError
from tests.data.toy import task_log
from tests.message_checks import has

TRIALS = (np.random.default_rng(0).random((30, 4)) < 0.6) * 1.0


def with_reduction() -> TaskLog:
    """Scores of four trials, reduced to their mean and to pass@2."""
    log = task_log(TRIALS, task="words", filter_name="mean", reported={("acc", "mean"): HarnessResult(0.6, 0.044)})
    (scores,) = log.data
    reduced = Scores("acc", "pass_at_2", 1 - (1 - TRIALS[:, :1]) * 0.3, event="pass@2", logged_trials=4)
    return TaskLog(log.system, log.task, log.source, log.questions, (scores, reduced), reported=log.reported)


def logs() -> list[TaskLog]:
    plain = task_log(TRIALS[:, 0], task="plain")
    labels = np.array([0, 1] * 15)
    classes = Classifications("f1", "none", labels, labels[:, None], ("no", "yes"), function="f1")
    return [with_reduction(), plain, TaskLog(plain.system, "divides", plain.source, plain.questions, (classes,))]


def test_only_metrics_with_the_estimand_are_printed() -> None:
    rows = estimate(logs(), estimand="pass@2")
    assert [row.task for row in rows if row.interval is not None] == ["words"]
    assert has(rows[-1], "estimand-of-trials", metric="f1", estimand="pass@2")
    text = " ".join(str(rows).split())
    assert "No pass@2 (too few trials, or no score of single trials): words, acc (pass_at_2); plain, acc" in text
    assert "not estimable" not in text
    assert "0.0440" not in text  # the standard error of the mean
    assert "(mean)" not in text


def test_the_footer_names_the_scores_with_another_estimand_than_the_mean() -> None:
    text = " ".join(str(estimate(with_reduction())).split())
    assert "questions of the same kind (population); pass@2 for acc (pass_at_2)." in text


def test_an_overall_score_is_a_mean_of_scores_with_the_same_estimand() -> None:
    other = task_log(TRIALS[::-1], task="other")
    result = estimate([*logs(), other], estimand="pass@2", overall=True).overall
    assert [task.task for task in result.tasks] == ["words", "other"]
    assert not result.warnings


def test_there_is_no_plan_for_an_event_in_several_trials() -> None:
    with pytest.raises(
        NotEstimableError, match=r"The scores of this filter are pass@2 of several trials\. Plans support"
    ):
        plan(with_reduction(), width=0.1, filter="pass_at_2")


@pytest.mark.parametrize("command", ["compare", "plan", "rank"])
def test_commands_for_means_say_so(command: str, capsys) -> None:
    assert main([command, "logs", "--estimand", "pass@2"]) == 2
    assert "This command supports only means" in capsys.readouterr().err
