import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq import Options, Source, TaskLog, compare, plan, rank
from harness_uq.data.match_questions import CommonQuestions, common_questions
from harness_uq.data.selection import SelectedRun
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import HarnessResult
from harness_uq.messages.errors import NotEstimableError
from tests.data.toy import task_log
from tests.message_checks import has, names_of, params_of, raises_message


def chosen(*logs: TaskLog) -> list[SelectedRun]:
    return [SelectedRun(log, log.data[0]) for log in logs]


def aligned(*logs: TaskLog) -> CommonQuestions:
    return common_questions(chosen(*logs))


def scores(*logs: TaskLog) -> list[list[float]]:
    """First trial of each common question, a row a system."""
    found = aligned(*logs)
    return [entry.data.values[rows, 0].tolist() for entry, rows in zip(found.entries, found.rows, strict=True)]


def test_questions_match_by_content_whatever_their_order():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"], hashes=["x", "y", "z"])
    b = task_log([0, 1, 1], system="b", ids=["1", "2", "3"], hashes=["z", "x", "y"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "content"
    assert scores(a, b) == [[1, 0, 1], [1, 1, 0]]
    assert has(pairs, "identifiers-moved", n_identifiers=3)


def test_without_hashes_identifiers_match():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"])
    b = task_log([0, 1], system="b", ids=["3", "1"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "id"
    assert scores(a, b) == [[1, 1], [1, 0]]
    assert pairs.n_unmatched == (1, 0)
    assert names_of(pairs.notes) == ["unmatched-questions"]
    assert has(pairs, "unmatched-questions", n_systems=2, n_common=2, n_unmatched=1)


def test_questions_that_share_one_prompt_have_the_same_content_in_both_runs():
    ids = [str(number) for number in range(30)]
    a, b = (task_log([1, 0] * 15, system=name, ids=ids, hashes=["prompt"] * 30) for name in "ab")
    pairs = aligned(a, b)
    assert (pairs.matched_by, pairs.n_questions, pairs.messages) == ("id", 30, ())
    moved = task_log([1, 0] * 15, system="b", ids=ids, hashes=["prompt"] * 28 + ["another", ""])
    assert has(aligned(a, moved), "question-content-differs", n_different=1, n_common=30)


def test_contents_that_all_differ_fall_back_to_identifiers_with_a_warning():
    a = task_log([1, 0], system="a", ids=["1", "2"], hashes=["p", "q"])
    b = task_log([0, 1], system="b", ids=["1", "2"], hashes=["r", "s"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "id"
    assert has(pairs, "question-content-differs")


def test_identical_questions_are_told_apart_by_identifier():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"], hashes=["d", "d", "e"])
    b = task_log([0, 1, 1], system="b", ids=["2", "1", "3"], hashes=["d", "d", "e"])
    assert scores(a, b) == [[1, 0, 1], [1, 0, 1]]


def test_unscored_questions_do_not_match():
    a = task_log([1, np.nan], system="a")
    b = task_log([1, 0], system="b")
    assert aligned(a, b).n_questions == 1


def test_equal_system_names_are_numbered():
    assert aligned(task_log([1]), task_log([0])).systems == ("model #1", "model #2")


def test_nothing_in_common_is_refused_by_name():
    with raises_message(NotEstimableError, "no-common-questions", systems=("a", "b")):
        aligned(task_log([1], system="a", ids=["1"]), task_log([1], system="b", ids=["2"]))


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_row_order_never_matters(first, second):
    value = np.arange(6.0)
    a = task_log(value[first], system="a", ids=[str(i) for i in first], hashes=[f"h{i}" for i in first])
    b = task_log(value[second], system="b", ids=[str(i) for i in second], hashes=[f"h{i}" for i in second])
    of_a, of_b = scores(a, b)
    assert of_a == of_b


ONE, TWO = Source("one.json", "one"), Source("two.json", "two")


def numbered(system: str, first: int, last: int, **more) -> TaskLog:
    return task_log(
        [i % 2 for i in range(first, last)], system=system, ids=[str(i) for i in range(first, last)], **more
    )


def test_too_few_common_questions_are_refused_with_their_number():
    with raises_message(NotEstimableError, "few-common-questions", n_common=10, n_questions=100):
        aligned(numbered("a", 0, 100), numbered("b", 90, 190))


def test_half_of_the_smaller_run_is_enough():
    assert aligned(numbered("a", 0, 100), numbered("b", 95, 105)).n_questions == 5


def test_a_system_that_answered_little_of_what_most_answered_is_left_out():
    found = aligned(numbered("a", 0, 100), numbered("b", 0, 100), numbered("c", 70, 100))
    assert found.systems == ("a", "b")
    assert names_of(found.notes) == ["system-with-few-shared-questions"]
    assert has(found, "system-with-few-shared-questions", system="c", n_shared=30, n_core=100)


def test_identifiers_of_two_harnesses_count_only_where_all_agree():
    a, b = numbered("a", 0, 10, source=ONE), numbered("b", 0, 10, source=TWO)
    assert has(aligned(a, b), "matched-by-identifier-only")
    with raises_message(NotEstimableError, "identifiers-differ"):
        aligned(a, numbered("b", 1, 11, source=TWO))


def test_the_three_commands_say_the_same_of_too_few_common_questions():
    a, b = numbered("a", 0, 100), numbered("b", 90, 190)
    (compared,) = compare(a, b)
    (ranked,) = rank([a, b])
    with pytest.raises(NotEstimableError) as planned:
        plan([a, b], Options(difference=0.1))
    assert has(planned.value, "plan-unavailable")
    for result in (compared, ranked):
        assert params_of(result, "independent-comparison")["reason"] in str(planned.value)


def test_a_few_samples_that_the_user_asked_for_are_reported_with_the_total_of_all():
    a = numbered("a", 0, 3, reported={("acc", "none"): HarnessResult(0.71, 0.05, 100)})
    b = numbered("b", 0, 100, reported={("acc", "none"): HarnessResult(0.5, 0.05, 100)})
    structure = StructureOptions(use_samples=True)
    (compared,) = compare(a, b, Options(structure=structure))
    assert compared.n_matched == 3
    (ranked,) = rank([a, b], Options(structure=structure))
    for found in (compared, ranked):
        assert names_of(found.warnings).count("partial-samples") == 1
        assert has(found, "partial-samples", system="a", n_logged=3, n_questions=100)


def test_samples_of_nearly_all_questions_need_no_warning():
    a = numbered("a", 0, 95, reported={("acc", "none"): HarnessResult(0.5, 0.05, 100)})
    assert aligned(a, numbered("b", 0, 95)).warnings == ()
