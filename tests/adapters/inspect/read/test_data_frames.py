"""Data frames of `inspect_ai.analysis` are read like the logs that they were made from."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import harness_uq
from harness_uq import HarnessUqError, LogError, read_table
from harness_uq_inspect.read.data_frames import read_columns, read_frame, score_columns
from tests.adapters.inspect import logs
from tests.adapters.inspect.environment import run_with_uq
from tests.conftest import ROOT
from tests.message_checks import has, names_of, params_of

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Inspect AI, by pandas 3.1

N_QUESTIONS, N_EPOCHS = 30, 5
CREATED = "2026-01-02T03:04:05+00:00"


@pytest.fixture(scope="module")
def analysis() -> ModuleType:
    pytest.importorskip("inspect_ai")
    return pytest.importorskip("inspect_ai.analysis")


def letters(seed: int, p: float) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    weights = [p, 0.9 - p, 0.06, 0.04]
    return rng.choice(["C", "I", "P", "N"], (N_QUESTIONS, N_EPOCHS), p=weights).tolist()


def write(folder: Path, model: str, values: list, *, task: str = "toy", scorer: str = "match", **more: object) -> str:
    """A log with the fields that Inspect requires; question i has the passage i // 3."""
    n_epochs = len(values[0])
    identity = f"{task}{model}{len(more)}".replace("/", "").replace("-", "")
    head = logs.header(
        scores=[logs.score_totals(scorer, 0.5)],
        total=len(values) * n_epochs,
        epochs=n_epochs,
        model=model,
        task=task,
        task_version=0,
        **{"eval_id": f"eval{identity}", "run_id": "run", "task_id": f"id{identity}", **more},
    )
    samples = logs.grid(values, scorer=scorer)
    for sample in samples:
        sample["metadata"] = {"passage": f"passage {(sample['id'] - 1) // 3}"}
        sample["input"] = f"Question {sample['id']}?"
        sample["uuid"] = f"{identity}-{sample['id']}-{sample['epoch']}"
    name = f"2026-01-02T03-04-05-00-00_{task}_id{identity}.eval"
    return str(logs.write_eval(folder / name, head, samples))


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory, analysis: ModuleType) -> list[str]:
    folder = tmp_path_factory.mktemp("runs")
    return [write(folder, "p/large", letters(0, 0.7)), write(folder, "p/small", letters(1, 0.5))]


def frame_of(paths: list[str], analysis: ModuleType, columns: str) -> object:
    """A frame with the default columns, with those of evals, or joined with `evals_df`."""
    if columns == "with evals":
        asked = [*analysis.EvalInfo, *analysis.EvalTask, *analysis.EvalModel, *analysis.SampleSummary]
        return analysis.samples_df(paths, columns=asked, quiet=True)
    samples = analysis.samples_df(paths, quiet=True)
    return samples if columns == "default" else samples.merge(analysis.evals_df(paths, quiet=True), on="eval_id")


def in_library(frame: object, library: str) -> object:
    if library == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    return pytest.importorskip("pyarrow").Table.from_pandas(frame) if library == "pyarrow" else frame


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("columns", ["default", "with evals", "joined"])
def test_thirty_questions_with_five_epochs_have_the_interval_of_the_log(columns, library, two_runs, analysis):
    frame = in_library(frame_of(two_runs[:1], analysis, columns), library)
    (row,), (expected,) = harness_uq.estimate(frame, cluster="none"), harness_uq.estimate(two_runs[0], cluster="none")
    assert (row.n_questions, row.n_trials) == (expected.n_questions, expected.n_trials) == (N_QUESTIONS, N_EPOCHS)
    assert (row.metric, row.filter, row.method) == (expected.metric, expected.filter, expected.method)
    found = (row.value, row.std_error, row.interval.low, row.interval.high)
    assert found == pytest.approx(
        (expected.value, expected.std_error, expected.interval.low, expected.interval.high), abs=1e-12
    )


def test_clusters_in_the_metadata_are_those_of_the_log(two_runs, analysis):
    (row,) = harness_uq.estimate(frame_of(two_runs[:1], analysis, "joined"), cluster="passage")
    (expected,) = harness_uq.estimate(two_runs[0], cluster="passage")
    assert (row.cluster_key, row.n_clusters, row.interval) == ("passage", 10, expected.interval)


@pytest.mark.parametrize("columns", ["with evals", "joined"])
def test_systems_in_a_frame_are_compared_question_by_question(columns, two_runs, analysis):
    found = read_table(frame_of(two_runs, analysis, columns))
    assert [log.system for log in found] == ["p/large", "p/small"]
    (row,), (expected,) = harness_uq.compare(*found), harness_uq.compare(*two_runs)
    assert (row.n_matched, row.n_trials, row.cluster_key) == (N_QUESTIONS, N_EPOCHS, expected.cluster_key)
    assert (row.system_a, row.value_a, row.difference) == (expected.system_a, expected.value_a, expected.difference)
    (ranking,), (expected_ranking,) = harness_uq.rank(frame_of(two_runs, analysis, columns)), harness_uq.rank(two_runs)
    assert [row.interval for row in ranking.systems] == [row.interval for row in expected_ranking.systems]


def test_a_frame_and_a_log_are_compared_question_by_question(two_runs, analysis):
    (row,) = harness_uq.compare(frame_of(two_runs[:1], analysis, "joined"), two_runs[1])
    (expected,) = harness_uq.compare(*two_runs)
    assert (row.n_matched, row.difference) == (N_QUESTIONS, expected.difference)


def test_without_a_column_of_models_each_run_is_a_system_with_a_warning(two_runs, analysis):
    found = read_table(frame_of(two_runs, analysis, "default"))
    assert [log.system for log in found] == ["eval evaltoyplarge0", "eval evaltoypsmall0"]
    assert [log.task for log in found] == ["toy", "toy"]
    assert all(has(log.messages, "frame-without-model") for log in found)
    (named,) = read_table(frame_of(two_runs[:1], analysis, "default"), system="mine", task="other")
    assert (named.system, named.task) == ("mine", "other")


def test_dictionaries_of_scores_are_several_metrics(tmp_path, analysis):
    values = [[{"right": "CI"[(i + j) % 2], "style": (i * j) % 4} for j in range(2)] for i in range(12)]
    path = write(tmp_path, "p/m", values, scorer="judge")
    frame = frame_of([path], analysis, "joined")
    found = {row.metric: row.interval for row in harness_uq.estimate(frame, cluster="none")}
    expected = {row.metric.rpartition("/")[2]: row.interval for row in harness_uq.estimate(path, cluster="none")}
    assert found.keys() == {"right", "style"}
    assert found == {name: expected[name] for name in found}


def test_tasks_with_different_scorers_in_one_frame_have_their_own_scores(tmp_path, analysis):
    values = letters(3, 0.6)
    paths = [write(tmp_path, "p/m", values), write(tmp_path, "p/m", values, task="other", scorer="exact")]
    found = {log.task: [data.metric for data in log.data] for log in read_table(frame_of(paths, analysis, "joined"))}
    assert found == {"toy": ["match"], "other": ["exact"]}


# ---------------------------------------------------------------- frames made by hand


def rows(n: int = 4, **constant: object) -> list[dict[str, object]]:
    return [
        {"sample_id": f"u{i}", "eval_id": "e1", "id": str(i), "epoch": 1, "score_match": "CI"[i % 2], "error": ""}
        | {"model": "m", "task_name": "t"}
        | constant
        for i in range(n)
    ]


def values_of(table: list[dict[str, object]]) -> dict[str, list[list[float]]]:
    """Scores by metric of the only log."""
    (log,) = read_table(pd.DataFrame(table))
    return {data.metric: data.values.tolist() for data in log.data}


def test_errors_and_limits_are_reported_as_in_a_log():
    table = rows()
    table[1] |= {"score_match": None, "error": "timeout"}
    table[2] |= {"limit": "token"}
    (log,) = read_table(pd.DataFrame(table))
    np.testing.assert_array_equal(log.data[0].values[:, 0], [1, np.nan, 1, 0])
    assert params_of(log.messages, "trials-without-score")["reasons"] == "1 error"
    assert params_of(log.messages, "ended-by-limit")["limits"] == "1 token"


def test_of_a_retried_trial_the_newest_of_a_successful_eval_counts():
    first = rows(3, task_id="one", status="error", created="2026-01-01T00:00:00")
    first[1] |= {"score_match": None, "error": "boom"}
    again = rows(3, task_id="one", status="success", created="2026-01-01T01:00:00", eval_id="e2")[1:2]
    again[0] |= {"sample_id": "u9", "score_match": "C"}
    for table in (first + again, again + first):
        (log,) = read_table(pd.DataFrame(table))
        assert (len(log.questions), log.facts.is_finished, log.source.time) == (3, True, "2026-01-01T01:00:00")
        assert log.data[0].values.tolist() == [[1.0], [1.0], [1.0]]
        assert not has(log.messages, "trials-without-score")


def test_a_later_failed_retry_does_not_replace_a_successful_trial():
    first = rows(2, task_id="one", status="success", created="2026-01-01T00:00:00")
    later = rows(1, task_id="one", status="error", created="2026-01-02T00:00:00", eval_id="e2", score_match=None)
    assert values_of(later + first) == {"match": [[1.0], [0.0]]}


def test_the_name_of_the_log_identifies_a_retry_if_the_frame_lacks_the_task_id():
    name = "logs/2026-01-01T0{}-00-00-00-00_some-task_abc.eval"
    first = rows(3, log=name.format(0))
    first[1] |= {"score_match": None, "error": "boom"}
    again = [row | {"eval_id": "e2", "score_match": "C"} for row in rows(3, log=name.format(1))[1:2]]
    for row in first + again:
        del row["task_name"], row["model"]
    (log,) = read_table(pd.DataFrame(again + first))
    assert (log.task, log.system) == ("some-task", "eval e2")
    assert log.data[0].values.tolist() == [[1.0], [1.0], [1.0]]


def test_evals_without_a_common_task_id_are_separate_runs():
    logs_ = read_table(pd.DataFrame([*rows(), *rows(eval_id="e2")]))
    assert [len(log.questions) for log in logs_] == [4, 4]


def test_task_arguments_that_differ_are_part_of_the_name_of_the_system():
    table = [
        *rows(task_arg_shots=0, task_arg_lang="en", model_generate_config='{"temperature": 0.5}'),
        *rows(eval_id="e2", task_arg_shots=5, task_arg_lang="en", model_generate_config="{}"),
        *rows(eval_id="e3", task_arg_shots=3, task_arg_lang="de", model="other", model_generate_config="{}"),
    ]
    assert [log.system for log in read_table(pd.DataFrame(table))] == [
        "m (temperature=0.5, shots=0)",
        "m (shots=5)",
        "other",
    ]


def test_secrets_in_task_arguments_are_not_shown():
    table = [*rows(task_arg_api_key="sk-1234567890abcdef"), *rows(eval_id="e2", task_arg_api_key="sk-fedcba0987654321")]
    systems = [str(log.system) for log in read_table(pd.DataFrame(table))]
    assert len(set(systems)) == 2
    assert all(system.startswith("m (api_key=***") for system in systems)


def test_metrics_of_evals_and_details_of_scores_are_no_scores():
    evals = {"score_headline_name": "match", "score_headline_value": 0.5, "score_match_accuracy": 0.5}
    columns = {
        **{name: [value] * 2 for name, value in evals.items()},
        "eval_id": ["e", "e"],
        "score_match": ["C", "I"],
        "score_match_strict": [1.0, 1.0],
        "score_match_strict_accuracy": [1.0, 1.0],
        "score_match_answer": ["x", None],
        "score_right_mean": [0.5, 0.5],
    }
    assert score_columns(columns) == {"score_match": "match", "score_match_strict": "match_strict"}


def test_without_columns_of_evals_a_constant_score_is_a_score():
    assert score_columns({"eval_id": ["e", "e"], "score_match": ["C", "I"], "score_match_b": [1.0, 1.0]}) == {
        "score_match": "match",
        "score_match_b": "match_b",
    }


@pytest.mark.parametrize("column", ["eval_id", "id", "epoch", "score_match"])
@pytest.mark.parametrize("read", [read_table, harness_uq.estimate, lambda frame: harness_uq.rank({"a": frame})])
def test_a_frame_without_a_required_column_is_refused_with_its_name(read, column):
    with pytest.raises(LogError, match=f"no column '{column.replace('match', '.')}'"):
        read(pd.DataFrame(rows()).drop(columns=column))


def test_frames_of_evals_and_messages_are_refused(two_runs, analysis):
    with pytest.raises(LogError) as caught:
        read_table(analysis.evals_df(two_runs, quiet=True))
    assert params_of([caught.value.message], "frame-column-missing")["column"] == "id"
    messages = pd.DataFrame({"eval_id": ["e"], "sample_id": ["s"], "message_id": ["m"], "role": ["user"]})
    with pytest.raises(LogError) as caught:
        read_table(messages)
    assert names_of([caught.value.message]) == ["frame-column-missing"]


def test_whole_numbers_in_columns_with_missing_values_are_whole_numbers():
    table = rows(epochs=1, dataset_samples=10)
    for row in table:
        row["id"] = int(row["id"])
    frame = pd.DataFrame(table).astype({"id": float, "epoch": float, "epochs": float, "dataset_samples": float})
    (log,) = read_table(frame)
    assert (log.questions.ids, log.facts.n_all, log.data[0].values.shape) == (("0", "1", "2", "3"), 10, (4, 1))


def test_a_copy_of_a_log_that_was_scored_again_belongs_to_the_same_task():
    name = "logs/2026-01-01T0{}-00-00-00-00_some-task_abc{}.eval"
    table = [*rows(log=name.format(0, "")), *rows(log=name.format(1, "-scored"), eval_id="e2", score_match="C")]
    assert values_of(table) == {"match": [[1.0]] * 4}


STRANGE = [None, "", float("nan"), "x", -1, 1.5, 10**400, "{", '{"a": {}}', [1], {"a": 1}, True, pd.NaT, b"x", object()]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: repr(value)[:12])
def test_strange_cells_are_read_or_refused(value):
    for column in (*rows()[0], "status", "created", "log", "epochs", "dataset_sample_ids", "task_id"):
        columns = {name: [row[name] for row in rows()] for name in rows()[0]}
        columns[column] = [value, *columns.get(column, [None] * 4)[1:]]
        try:
            logs_ = read_frame(pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}))
        except HarnessUqError:
            continue
        (last,) = [log for log in logs_ if "3" in log.questions.ids]
        for data in last.data:  # a score of the last question is that of its row; categories have no scores
            assert not hasattr(data, "values") or np.nanmax(data.values[last.questions.ids.index("3")]) == 0


def test_other_frames_are_tables():
    for table in ({"id": [1, 2], "score": [1, 0]}, {"sample_id": [1, 1], "epoch": [1, 2], "score": [1, 0]}):
        assert [log.source.harness for log in read_table(pd.DataFrame(table))] == ["table"]


RETRY = """
import json
from inspect_ai import Task, eval, eval_retry
from inspect_ai.analysis import EvalInfo, EvalModel, EvalTask, SampleSummary, prepare, samples_df
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
import harness_uq

attempts = {"n": 0}

@scorer(metrics=[accuracy()])
def odd():
    async def score(state, target):
        return Score(value="CI"[int(state.sample_id) % 2])
    return score

@solver
def flaky():
    async def solve(state, generate):
        if state.sample_id in (3, 4) and attempts["n"] == 0:
            raise RuntimeError("once")
        return state
    return solve

from inspect_ai import task

@task
def retried():
    dataset = [Sample(input=f"Question {number}?", target="t", id=number) for number in range(1, 9)]
    return Task(dataset=dataset, solver=flaky(), scorer=odd())

options = {"display": "none", "log_dir": sys.argv[1], "log_realtime": False}
(failed,) = eval(retried(), model="mockllm/model", fail_on_error=False, **options)
attempts["n"] = 1
failed.status = "error"
(done,) = eval_retry(failed, **options)
found = []
for columns in (SampleSummary, [*EvalInfo, *EvalTask, *EvalModel, *SampleSummary]):
    frame = samples_df(sys.argv[1], columns=columns, quiet=True)
    logs = harness_uq.read_table(frame)
    found.append([len(frame), [[len(log.questions), log.data[0].values[:, 0].tolist()] for log in logs]])
print(json.dumps(found))
"""


@pytest.mark.harness
@pytest.mark.slow
def test_a_run_that_inspect_retried_is_one_run_with_the_scores_of_the_retry(tmp_path, analysis):
    paths = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'adapters')]!r}\n"
    found = json.loads(run_with_uq("-c", paths + RETRY, tmp_path, cwd=tmp_path, HARNESS_UQ=None).splitlines()[-1])
    for n_rows, runs in found:
        assert n_rows > 8  # the failed trials are rows beside those of the retry
        assert runs == [[8, [0, 1, 0, 1, 0, 1, 0, 1]]]


# ---------------------------------------------------------------- frames that were saved as files


def save(frame: object, path: Path, *, index: bool = False) -> Path:
    """The frame as CSV or Parquet."""
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=index)
    return path


@pytest.mark.parametrize("name", ["samples.csv", "samples.parquet"])
@pytest.mark.parametrize("columns", ["default", "with evals", "joined"])
def test_a_saved_frame_is_read_like_the_frame(
    name: str, columns: str, two_runs: list[str], analysis: ModuleType, tmp_path: Path
) -> None:
    frame = frame_of(two_runs, analysis, columns)
    path = save(frame, tmp_path / name)
    expected = [row.to_dict() for row in harness_uq.estimate(frame)]
    assert len(expected) == 2
    assert [row.to_dict() for row in harness_uq.estimate(path)] == expected
    assert expected[0]["n_questions"] == N_QUESTIONS


def test_a_saved_index_and_textual_identifiers_change_nothing(tmp_path: Path) -> None:
    rows = [
        {"eval_id": "e", "id": f"00{question}", "epoch": epoch, "model": "m", "score_match": question > epoch}
        for question in range(4)
        for epoch in (1, 2)
    ]
    frame = pd.DataFrame(rows)
    path = save(frame, tmp_path / "samples.csv", index=True)
    (log,) = harness_uq.read_logs(path).logs
    assert log.questions.ids == ("000", "001", "002", "003")
    assert log.data[0].values.tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]


def test_a_saved_frame_without_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("sample_id,eval_id,epoch,score_match\nu1,e,1,C\nu2,e,2,I\n")
    ((_, message),) = harness_uq.read_logs(path).failures
    assert params_of(message, "frame-column-missing")["column"] == "id"


def test_named_columns_take_precedence_over_the_format(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("id,eval_id,epoch,score_match,right\n1,e,1,C,0\n2,e,1,C,1\n")
    (row,) = harness_uq.estimate(path, column={"score": "right"})
    assert (row.metric, row.value) == ("right", 0.5)
    (row,) = harness_uq.estimate(path)
    assert (row.metric, row.value) == ("match", 1.0)


@pytest.mark.parametrize("content", [b"", b"id,eval_id,epoch,score_x\n1,e", b"PAR1", b"\xff\xfe", b"id,epoch\n1,1\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_damaged_files_are_named_errors(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(HarnessUqError):
        harness_uq.estimate(tmp_path / name)


@pytest.mark.parametrize(
    ("usage", "system"),
    [
        (['{"openai/gpt-5": {"input_tokens": 3}}', '{"openai/gpt-5": {"input_tokens": 4}}'], "openai/gpt-5"),
        (['{"openai/gpt-5": {}}', '{"openai/gpt-5": {}, "grader": {}}'], "eval e"),
        ([None, None], "eval e"),
    ],
)
def test_samples_alone_are_named_by_the_only_model_that_they_used(usage, system):
    columns = {"eval_id": ["e", "e"], "id": [1, 2], "epoch": [1, 1], "score_match": ["C", "I"], "model_usage": usage}
    (log,) = read_columns(columns)
    assert log.system == system
    assert has(log.messages, "frame-without-model") == (system == "eval e")
