"""Data frames."""

import numpy as np
import pytest

from harness_uq import DataError, compare, estimate_scores, rank, read_table

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

ROWS = {"question": [1, 2, 3], "model": ["a", "a", "a"], "score": [1.0, None, 0.0]}


@pytest.mark.parametrize(
    "frame",
    [
        ROWS,
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, index=[9, 9, 9]),
        pl.DataFrame(ROWS),
        pl.LazyFrame(ROWS),
        pa.table(ROWS),
    ],
    ids=["columns", "pandas", "pandas with an index", "polars", "polars, lazy", "pyarrow"],
)
def test_every_kind_of_frame_gives_the_same_log(frame: object) -> None:
    (log,) = read_table(frame)
    assert (log.system, log.task, log.questions.ids) == ("a", "scores", ("1", "2", "3"))
    np.testing.assert_array_equal(log.data[0].values, [[1.0], [np.nan], [0.0]])


def test_categories_nullable_numbers_and_arrays_are_columns() -> None:
    frame = pd.DataFrame(
        {
            "question": pd.Categorical(["x", "y"]),
            "score": pd.array([True, pd.NA], dtype="boolean"),
            "trial": pd.array([1, 2], dtype="Int64"),
        }
    )
    (log,) = read_table(frame)
    np.testing.assert_array_equal(log.data[0].values, [[1.0], [np.nan]])
    (log,) = read_table({"question": np.array([1, 2]), "score": np.array([1, 0])})
    assert log.questions.ids == ("1", "2")


def test_frames_are_compared_and_ranked() -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({"id": range(100), **{name: rng.random(100) < p for name, p in (("a", 0.9), ("b", 0.5))}})
    logs = read_table(wide, columns={"system": ["a", "b"]})
    (row,) = compare(logs[:1], logs[1:])
    assert (row.verdict, row.n_matched) == ("better", 100)
    assert [system.system for system in rank(logs)[0].systems] == ["a", "b"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (3, "a table is a path, a data frame or a mapping of columns; got int"),
        (pd.DataFrame([[1, 2]]), "must be called by texts; got 0"),
        (pd.DataFrame([[1, 2]], columns=["score", "score"]), "several columns are called 'score'"),
        ({"question": [1, 2], "score": [1]}, "equally long; got 1 and 2 cells"),
    ],
)
def test_what_is_no_table_is_refused(frame: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(frame)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_an_array_function_refuses_a_frame_with_identifiers(library):
    frame = library.DataFrame({"question_id": [0, 1, 2], "score": [1, 0, 1]})
    with pytest.raises(DataError, match=r"got the column 'question_id'.*functions estimate, compare and rank"):
        estimate_scores(frame)
    assert estimate_scores(frame[["score"]]).value == pytest.approx(2 / 3)
