import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.alignment import align
from harness_uq.errors import NotEstimableError
from tests.core.logs import task_log


def aligned(*logs):
    return align(logs, [log.data[0] for log in logs])


def test_questions_match_by_content_whatever_their_order():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"], hashes=["x", "y", "z"])
    b = task_log([0, 1, 1], system="b", ids=["1", "2", "3"], hashes=["z", "x", "y"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "content"
    assert pairs.values[:, :, 0].tolist() == [[1, 0, 1], [1, 1, 0]]
    assert "3 identifiers stand for different documents" in pairs.warnings[0]


def test_without_hashes_identifiers_match():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"])
    b = task_log([0, 1], system="b", ids=["3", "1"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "id"
    assert pairs.values[:, :, 0].tolist() == [[1, 1], [1, 0]]
    assert pairs.n_unmatched == (1, 0)
    assert pairs.notes == ("1 question of a is left out: other runs lack it",)


def test_contents_that_all_differ_fall_back_to_identifiers_with_a_warning():
    a = task_log([1, 0], system="a", ids=["1", "2"], hashes=["p", "q"])
    b = task_log([0, 1], system="b", ids=["1", "2"], hashes=["r", "s"])
    pairs = aligned(a, b)
    assert pairs.matched_by == "id"
    assert "shuffled choices" in pairs.warnings[0]


def test_identical_questions_are_told_apart_by_identifier():
    a = task_log([1, 0, 1], system="a", ids=["1", "2", "3"], hashes=["d", "d", "e"])
    b = task_log([0, 1, 1], system="b", ids=["2", "1", "3"], hashes=["d", "d", "e"])
    assert aligned(a, b).values[:, :, 0].tolist() == [[1, 0, 1], [1, 0, 1]]


def test_unscored_questions_do_not_match():
    a = task_log([1, np.nan], system="a")
    b = task_log([1, 0], system="b")
    assert aligned(a, b).n_questions == 1


def test_trials_are_padded_with_missing_cells():
    a = task_log([[1, 0], [1, 1]], system="a")
    b = task_log([1, 0], system="b")
    assert np.isnan(aligned(a, b).values[1, :, 1]).all()


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
    pairs = aligned(a, b)
    assert (pairs.values[0] == pairs.values[1]).all()
