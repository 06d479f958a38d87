"""Scores and labels of any make are read right, or refused with the argument's name."""

import numpy as np
import pandas as pd
import pytest

from harness_uq import DataError, estimate_scores
from harness_uq.results.estimate import Interval

RIGHT = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]
LABELS = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]


def interval(values, clusters=None) -> Interval:
    return estimate_scores(values, clusters=clusters).interval


@pytest.mark.parametrize(
    "values",
    [
        [bool(x) for x in RIGHT],
        np.array(RIGHT, np.float32),
        np.array(RIGHT, object),
        np.array(RIGHT, bool),
        pd.Series(RIGHT, index=range(100, 110)),
        pd.array(RIGHT, dtype="Int64"),
        np.ma.masked_array(RIGHT, mask=False),
        np.array(RIGHT)[:, None],
    ],
    ids=["bools", "float32", "objects", "bool array", "series", "nullable", "masked", "column"],
)
def test_every_make_of_array_gives_the_same(values) -> None:
    assert interval(values) == interval(RIGHT)


@pytest.mark.parametrize(
    "values",
    [
        [*RIGHT, None],
        [*RIGHT, float("nan")],
        pd.Series([*RIGHT, None]),
        pd.array([*RIGHT, None], dtype="Int64"),
        np.ma.masked_array([*RIGHT, 1], mask=[0] * 10 + [1]),
    ],
    ids=["None", "NaN", "series", "nullable", "masked"],
)
def test_what_is_missing_counts_nowhere(values) -> None:
    row = estimate_scores(values)
    assert (row.interval, row.n_questions) == (interval(RIGHT), 10)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(LABELS, index=range(50, 60)),
        np.array(LABELS, object),
        [ord(x) for x in LABELS],
        pd.Categorical(LABELS),
    ],
    ids=["series", "objects", "numbers", "categorical"],
)
def test_labels_of_every_kind_make_the_same_clusters(labels) -> None:
    assert interval(RIGHT, labels) == interval(RIGHT, LABELS)


@pytest.mark.parametrize("missing", [None, float("nan"), ""])
def test_questions_without_a_label_are_clusters_of_their_own(missing) -> None:
    own = [*LABELS[:-2], missing, missing]
    assert interval(RIGHT, own) == interval(RIGHT, [*LABELS[:-2], "x", "y"])


def test_labels_that_are_all_missing_are_no_clusters() -> None:
    assert interval(RIGHT, [None] * 10) == interval(RIGHT)


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [
        ([], None, r"values must have shape .*; got \(0,"),
        (1.0, None, r"values must have shape .*; got \(\)"),
        (np.zeros((2, 2, 2)), None, r"values must have shape .*; got \(2, 2, 2\)"),
        ([1, float("inf")], None, "values must be finite"),
        (["right", "wrong"], None, r"values must be numbers; got \['right'\]"),
        ([[1, 0], [1]], None, "values must be numbers in rows of equal length"),
        ([10**400], None, "values must be numbers"),
        ([1, 0], ["a"], r"clusters must be one label a question, shape \(2,\); got \(1,\)"),
        ([1, 0], [[1], [2]], "clusters must be one label a question"),
    ],
)
def test_what_cannot_be_scores_is_refused_by_the_argument_s_name(values, clusters, message) -> None:
    with pytest.raises(DataError, match=message):
        estimate_scores(values, clusters=clusters)
