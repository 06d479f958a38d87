"""From tables to task logs."""

import numpy as np
import pytest

from harness_uq import LogError, TaskLog, read_table
from harness_uq.io.tables.table import score_of
from tests.message_checks import has, names_of


def values(log: TaskLog, metric: str = "score") -> list[list[float]]:
    (data,) = [data for data in log.data if data.metric == metric]
    return data.values.tolist()


def test_each_system_and_task_is_a_log() -> None:
    logs = read_table({"model": ["a", "b", "a"], "task": ["t", "t", "u"], "id": [1, 1, 1], "score": [1, 0, 0.5]})
    assert [(log.system, log.task, values(log)) for log in logs] == [
        ("a", "t", [[1.0]]),
        ("b", "t", [[0.0]]),
        ("a", "u", [[0.5]]),
    ]


def test_metrics_and_filters_share_their_questions() -> None:
    rows = {"id": [1, 2, 2], "metric": ["acc", "acc", "f1"], "filter": ["x", "x", "y"], "score": [1, 0, 0.5]}
    (log,) = read_table(rows)
    assert [(data.metric, data.filter) for data in log.data] == [("acc", "x"), ("f1", "y")]
    assert values(log, "acc") == [[1.0], [0.0]]
    np.testing.assert_array_equal(values(log, "f1"), [[np.nan], [0.5]])


def test_a_column_a_system() -> None:
    logs = read_table({"id": [1, 2], "gpt-4": ["1", "0"], "gpt-5": ["1", ""]}, columns={"system": "gpt-*"}, task="t")
    assert [(log.system, log.task, log.data[0].metric) for log in logs] == [
        ("gpt-4", "t", "score"),
        ("gpt-5", "t", "score"),
    ]
    np.testing.assert_array_equal(values(logs[1]), [[1.0], [np.nan]])


def test_a_column_a_metric() -> None:
    (log,) = read_table({"id": [1, 2], "acc": [1, 0], "bleu": [30.5, 20]}, columns={"metric": ["acc", "bleu"]})
    assert (values(log, "acc"), values(log, "bleu")) == ([[1.0], [0.0]], [[30.5], [20.0]])


def test_rows_of_a_question_are_trials_and_a_note_says_so_where_no_column_numbers_them() -> None:
    rows = {"id": ["a", "b", "a"], "score": [1, 0, 0]}
    (log,) = read_table(rows)
    np.testing.assert_array_equal(values(log), [[1.0, 0.0], [0.0, np.nan]])
    assert names_of(log.notes) == ["repeated-rows-as-trials"]
    (numbered,) = read_table(rows | {"trial": [0, 0, 1]})
    assert numbered.notes == ()


def test_questions_in_fewer_rows_than_others_have_no_missing_trials() -> None:
    from harness_uq import estimate

    rows = {"id": ["a", "b", "a", "c"], "score": [1, 0, 1, 1]}
    (row,) = estimate(read_table(rows))
    assert not has(row, "missing-scores-matter")
    (numbered,) = estimate(read_table(rows | {"trial": [0, 0, 1, 0]}))
    assert has(numbered, "missing-scores-matter", n_missing=2, n_trials=6)
    (empty,) = estimate(read_table({"id": ["a", "b", "a", "c"], "score": [1, 0, 1, None]}))
    assert has(empty, "missing-scores-matter")


def test_the_column_of_clusters_counts_whatever_the_number_of_clusters() -> None:
    from harness_uq import estimate

    logs = read_table({"id": range(12), "cluster": [i // 4 for i in range(12)], "score": [1, 0, 1, 1] * 3})
    (row,) = estimate(logs)
    assert (row.n_clusters, row.cluster_key) == (3, "cluster")


def test_an_empty_column_of_clusters_is_none() -> None:
    (log,) = read_table({"id": [1, 2], "cluster": [None, ""], "score": [1, 0]})
    assert log.declared is None


def test_lower_is_better_as_the_table_says_or_as_the_metric_s_name_is_known_for() -> None:
    (log,) = read_table({"id": [1], "metric": ["drift"], "score": [3], "higher_is_better": ["false"]})
    assert log.higher_is_better == {"drift": False}
    (log,) = read_table({"id": [1], "metric": ["perplexity"], "score": [3]})
    assert log.higher_is_better == {"perplexity": False}


def test_a_table_without_a_system_is_called_after_its_file(tmp_path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("id,score\n1,1\n")
    (log,) = read_table(path)
    assert (log.system, log.task) == ("large", "scores")
    path.write_text("id,score,model\n1,1,m\n")
    (log,) = read_table(path)
    assert (log.system, log.task) == ("m", "large")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [], "score": []}, "the table holds no row"),
        ({"id": [1, None], "score": [1, 0]}, r"row 2: the question is missing \(column 'id'\)"),
        ({"id": [1, 2], "model": ["a", ""], "score": [1, 0]}, r"row 2: the system is missing \(column 'model'\)"),
        ({"id": [1, 2], "score": [1, "high"]}, r"row 2, column 'score': 'high' is not a number"),
        ({"id": [1, 1], "epoch": [3, 3], "score": [1, 0]}, "row 2: question '1' has trial '3' already in row 1"),
        (
            {"id": [1, 1], "cluster": ["a", "b"], "score": [1, 0]},
            "row 2: question '1' is in another cluster than before",
        ),
        ({"id": [1, 2], "score": [1, 0], "higher_is_better": [1, 0]}, "row 2: another row says the opposite of score"),
    ],
)
def test_a_row_that_makes_no_sense_is_named(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_table(columns)


def test_one_question_in_very_many_rows_does_not_take_all_memory() -> None:
    n = 20_000
    with pytest.raises(LogError, match="question 'x' occurs in 20000 rows, and most"):
        read_table({"id": [*range(n), *["x"] * n], "score": [1] * (2 * n)})


def test_scores_that_are_missing_stay_missing() -> None:
    (log,) = read_table({"id": [1, 2], "score": [None, 1]})
    assert np.isnan(log.data[0].values[0, 0])
    assert score_of("0") == 0.0


UUIDS = {
    "uuid": [f"0123456{i}-89ab-4cde-8f01-23456789abcd" for i in range(4)],
    "short uuid": [f"NzMc9bcwc97KVz3VwKMi{i}a" for i in range(2, 6)],
}


@pytest.mark.parametrize("kind", UUIDS)
def test_identifiers_of_rows_are_no_questions(kind) -> None:
    table = {"sample_id": UUIDS[kind], "score": [1, 0, 1, 1]}
    for columns in (table, {"question_id": UUIDS[kind], "score": [1, 0, 1, 1], "epoch": [1, 1, 2, 2]}):
        with pytest.raises(LogError) as caught:
            read_table(columns)
        message = caught.value.message
        assert (message.name, message.params["column"]) == ("column-identifies-rows", next(iter(columns)))
        (log,) = read_table(columns, columns={"question": next(iter(columns))})
        assert len(log.questions) == 4


def test_identifiers_of_questions_are_questions() -> None:
    uuids = UUIDS["uuid"]
    for table in (
        {"question_id": uuids, "score": [1, 0, 1, 1]},
        {"question_id": [*uuids, *uuids], "score": [1, 0] * 4, "epoch": [1] * 4 + [2] * 4},
        {"sample_id": ["a1", "a2"], "score": [1, 0]},
    ):
        (log,) = read_table(table)
        assert len(log.questions) == len(set(next(iter(table.values()))))


def test_a_column_says_how_trials_ended() -> None:
    table = {"id": [1, 1, 2], "trial": [1, 2, 1], "score": [1, None, 0], "ended_by": ["completed", "token_limit", None]}
    (log,) = read_table(table)
    assert log.ended_by is not None
    assert log.ended_by.counts() == {"completed": 1, "token limit": 1, "unknown": 2}


def test_an_unknown_ending_names_its_row() -> None:
    with pytest.raises(LogError, match=r"row 2: Unknown ending: 'eror'\. Did you mean 'error'"):
        read_table({"id": [1, 2], "score": [1, None], "ended_by": ["error", "eror"]})
