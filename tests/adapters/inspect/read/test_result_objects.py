"""Logs in memory are read as their files are."""

import json

import numpy as np
import pytest

from harness_uq import read_logs
from harness_uq_inspect.harness import InspectHarness
from tests.adapters.inspect import logs
from tests.adapters.inspect.environment import run_with_uq
from tests.conftest import ROOT

PATHS = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'adapters')]!r}\n"
RETURNED = """
import json
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
import harness_uq

@scorer(metrics=[accuracy()])
def thirds():
    async def score(state, target):
        return Score(value="CIP"[(int(state.sample_id) * state.epoch) % 3])
    return score

@solver
def silent():
    async def solve(state, generate):
        return state
    return solve

dataset = [Sample(input="Question?" * number, target="t", id=number, metadata={"passage": number // 3})
           for number in range(1, 31)]
task = Task(dataset=dataset, solver=silent(), scorer=thirds(), name="thirds")
logs = eval(task, model="mockllm/model", epochs=5, display="none", log_dir=sys.argv[1], log_realtime=False)
both = [harness_uq.estimate(source, harness_uq.Options()) for source in (logs, sys.argv[1])]
print(json.dumps([[[row.value, row.interval.low, row.interval.high, row.n_questions, row.n_trials] for row in rows]
                  for rows in both]))
"""


@pytest.mark.harness
@pytest.mark.slow
def test_what_eval_returns_gives_the_numbers_of_the_log_that_it_wrote(tmp_path):
    pytest.importorskip("inspect_ai")
    found, expected = json.loads(
        run_with_uq("-c", PATHS + RETURNED, tmp_path, cwd=tmp_path, HARNESS_UQ=None).splitlines()[-1]
    )
    assert found == expected
    assert found[0][3:] == [30, 5]


def test_logs_of_all_versions_are_read_as_their_files_are(shared, inspect_log):
    paths = sorted(str(path) for path in (shared / "data" / "inspect").rglob("*.eval"))
    n_read = 0
    for run in InspectHarness().find(paths).runs:
        (expected,) = read_logs(run.files[0]).logs
        (log,) = read_logs(inspect_log.read_eval_log(run.files[0])).logs
        for part in ("system", "task", "reported", "declared", "facts", "messages"):
            assert getattr(log, part) == getattr(expected, part)
        assert log.questions.ids == expected.questions.ids
        assert log.questions.hashes == expected.questions.hashes
        assert {name: field.codes.tolist() for name, field in log.questions.fields.items()} == {
            name: field.codes.tolist() for name, field in expected.questions.fields.items()
        }
        for data, other in zip(log.data, expected.data, strict=True):
            assert (data.metric, data.filter, data.levels) == (other.metric, other.filter, other.levels)
            np.testing.assert_array_equal(data.values, other.values)
        n_read += 1
    assert n_read > 5


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([[float("nan"), 1.0], [0.25, 0.5]], id="NaN"),
        pytest.param([[{"a": 1, "b": "C"}, {"a": 0, "b": "I"}], [{"a": 1, "b": "P"}, {"a": 1, "b": "C"}]], id="dict"),
        pytest.param([["C", None], ["I", "P"]], id="unscored"),
        pytest.param([["A", "B"], ["C", "D"]], id="categories"),
        pytest.param([[True, False], [True, True]], id="bool"),
    ],
)
def test_values_of_all_types_are_read_as_from_a_file(values, tmp_path, inspect_log):
    head = logs.header(total=4, epochs=2, task_id="t", task_version=0)
    path = logs.write_eval(tmp_path / "log.eval", head, logs.grid(values))
    (expected,) = read_logs(str(path)).logs
    (log,) = read_logs(inspect_log.read_eval_log(str(path))).logs
    assert [(data.metric, data.filter) for data in log.data] == [(data.metric, data.filter) for data in expected.data]
    for data, other in zip(log.data, expected.data, strict=True):
        np.testing.assert_array_equal(getattr(data, "values", data), getattr(other, "values", other))


def test_nothing_is_a_result_before_inspect_is_imported(run_python, tmp_path):
    script = (
        "from harness_uq_inspect.harness import InspectHarness\n"
        "print(InspectHarness().accepts_object(object()), 'inspect_ai' in sys.modules)"
    )
    assert run_python("-c", PATHS + script, cwd=tmp_path) == "False False\n"
