import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq import PlanOptions, Source, TaskLog, compare, plan, rank
from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import Reported
from harness_uq.logs.newest import Chosen
from harness_uq.matching.questions import CommonQuestions, common_questions
from tests.logs.toy import task_log


def chosen(*logs: TaskLog) -> list[Chosen]:
    return [Chosen(log, log.data[0]) for log in logs]


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
    assert "3 identifiers stand for different documents" in pairs.warnings[0]


def test_without_hashes_identifiers_match():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"])
    b = task_log([0, 1], system="b", ids=["3", "1"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "id"
    assert scores(a, b) == [[1, 1], [1, 0]]
    assert pairs.n_unmatched == (1, 0)
    assert pairs.notes == ("2 questions are common to both systems; the other 1 of up to 3 are left out",)


def test_contents_that_all_differ_fall_back_to_identifiers_with_a_warning():
    a = task_log([1, 0], system="a", ids=["1", "2"], hashes=["p", "q"])
    b = task_log([0, 1], system="b", ids=["1", "2"], hashes=["r", "s"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "id"
    assert "shuffled choices" in pairs.warnings[0]


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
    with pytest.raises(NotEstimableError, match="a and b have no question in common"):
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
    with pytest.raises(NotEstimableError, match="only 10 of 100 questions match"):
        aligned(numbered("a", 0, 100), numbered("b", 90, 190))


def test_half_of_the_smaller_run_is_enough():
    assert aligned(numbered("a", 0, 100), numbered("b", 95, 105)).n_questions == 5


def test_a_system_that_answered_little_of_what_most_answered_is_left_out():
    found = aligned(numbered("a", 0, 100), numbered("b", 0, 100), numbered("c", 70, 100))
    assert found.systems == ("a", "b")
    assert found.notes == ("c is left out: it answered 30 of the 100 questions that most answered",)


def test_identifiers_of_two_harnesses_count_only_where_all_agree():
    a, b = numbered("a", 0, 10, source=ONE), numbered("b", 0, 10, source=TWO)
    assert "one and two questions are matched by identifier alone" in aligned(a, b).warnings[0]
    with pytest.raises(NotEstimableError, match="identify documents in their own ways"):
        aligned(a, numbered("b", 1, 11, source=TWO))


def test_the_three_commands_say_the_same_of_too_few_common_questions():
    a, b = numbered("a", 0, 100), numbered("b", 90, 190)
    (compared,) = compare(a, b)
    (ranked,) = rank([a, b])
    with pytest.raises(NotEstimableError) as planned:
        plan([a, b], PlanOptions(difference=0.1))
    for text in ("; ".join(compared.notes), "; ".join(ranked.notes), str(planned.value)):
        assert "only 10 of 100 questions match" in text


def test_samples_of_a_few_questions_are_said_with_the_totals_of_all():
    """The totals of two runs cannot be compared question by question; `estimate` prints them."""
    a = numbered("a", 0, 3, reported={("acc", "none"): Reported(0.71, 0.05, 100)})
    b = numbered("b", 0, 100, reported={("acc", "none"): Reported(0.5, 0.05, 100)})
    said = "a: the log holds samples of 3 of 100 questions, and no others count; on all of them it scores 0.71"
    (compared,) = compare(a, b)
    assert compared.n_matched == 3
    (ranked,) = rank([a, b])
    for found in (compared, ranked):
        assert [text for text in found.warnings if "samples" in text] == [said]


def test_samples_of_half_of_the_questions_or_more_are_not_complained_of():
    a = numbered("a", 0, 50, reported={("acc", "none"): Reported(0.5, 0.05, 100)})
    assert aligned(a, numbered("b", 0, 50)).warnings == ()
