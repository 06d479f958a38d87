"""How trials ended, and how many of them have no score."""

import numpy as np
import pytest

from harness_uq.analyses.estimate import estimate
from harness_uq.data.selection import select_questions
from harness_uq.data.task_log import Questions, Scores, Source, TaskLog
from harness_uq.data.trial_endings import ENDINGS, TrialEndings, ending_code
from harness_uq.messages.errors import DataError
from harness_uq.results.estimate import Estimate
from tests.message_checks import has

NAN = float("nan")


def endings(*rows):
    return TrialEndings([[ending_code(ending) for ending in row] for row in rows])


def a_log(values, ended_by):
    questions = Questions(tuple(map(str, range(len(values)))))
    data = (Scores("acc", "none", values, bounds=(0, 1)),)
    return TaskLog("m", "t", Source("x", "test"), questions, data, ended_by=ended_by)


def test_counts_of_all_trials_have_the_order_of_the_list():
    ended = endings(["token limit", "completed"], ["error", "?"])
    assert list(ended.counts().items()) == [("completed", 1), ("error", 1), ("token limit", 1), ("unknown", 1)]


def test_a_score_and_an_ending_are_independent():
    ended = endings(["token limit", "completed"], ["token limit", "error"])
    values = np.array([[1, NAN], [NAN, NAN]])
    assert ended.counts_without_score(values) == {"completed": 1, "error": 1, "token limit": 1}


def test_reduced_trials_have_unknown_endings():
    assert endings(["error", "completed"]).counts_without_score(np.array([[NAN]])) == {"unknown": 1}


@pytest.mark.parametrize("code", [-2, len(ENDINGS)])
def test_a_code_outside_the_list_is_an_error(code):
    with pytest.raises(DataError, match="codes of endings"):
        TrialEndings([[code]])


def test_endings_need_a_row_for_each_question():
    with pytest.raises(DataError, match="ended_by: 1 rows for 2 questions"):
        a_log([[1], [0]], endings(["error"]))


def test_estimates_carry_the_counts_and_begin_with_them():
    scores = [[1], [0]] * 144 + [[NAN]] * 12
    ended = endings(*[["completed"]] * 288, *[["error"]] * 8, *[["token limit"]] * 4)
    rows = estimate([a_log(scores, ended)])
    (row,) = rows
    causes = " (8 errors, 4 token limit)"
    assert has(row, "missing-scores-matter", n_missing=12, n_trials=300, causes=causes)
    answer = Estimate.KIND.document(list(rows)).sections[0].answer
    assert answer == "12 of 300 samples have no score (8 errors, 4 token limit): left out of the mean."


def test_one_per_cent_does_not_come_first():
    rows = estimate([a_log([[1], [0]] * 99 + [[1], [NAN]], endings(*[["completed"]] * 199, ["error"]))])
    assert has(rows[0], "missing-scores-bounds", n_missing=1)
    assert Estimate.KIND.document(list(rows)).sections[0].answer == ""


def test_selected_questions_keep_their_endings():
    log = a_log([[1], [NAN], [0]], endings(["completed"], ["error"], ["token limit"]))
    assert select_questions(log, np.array([2, 1])).ended_by.counts() == {"error": 1, "token limit": 1}
