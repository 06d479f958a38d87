"""Tokens, cost, time and messages of the samples of Inspect AI logs."""

import sys
from pathlib import Path

import numpy as np
import pytest

from harness_uq.data.resources import ResourceOptions
from harness_uq.io.readers import read_logs
from harness_uq_inspect.harness import InspectHarness
from tests.adapters.inspect.environment import run_with_uq
from tests.adapters.inspect.logs import header, sample, write_eval, write_json

NAN = float("nan")
PRICED_RUN = str(Path(__file__).with_name("priced_run.py"))


def tokens(input_, output, **more):
    return {"input_tokens": input_, "output_tokens": output, **more}


def used(id_, epoch=1, **fields):
    return {**sample(id_, epoch, match="C"), **fields}


def resources_of(log, *, reader=None):
    reader = reader or InspectHarness().with_resources(ResourceOptions())
    (read,) = read_logs([log], harnesses={"inspect": reader}, strict=True).logs
    return read.resources


def with_model(name, **more):
    head = header(**more)
    head["eval"] |= {"model": name}
    return head


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.eval"


def test_resources_are_read_only_on_request(path):
    write_eval(path, header(), [used(1, model_usage={"m": tokens(1, 2)}, total_time=1.0)])
    assert resources_of(str(path), reader=InspectHarness()) is None
    assert resources_of(str(path)) is not None


def test_tokens_of_the_cache_are_input_tokens(path):
    usage = tokens(10, 5, input_tokens_cache_read=100, input_tokens_cache_write=1, reasoning_tokens=2, total_cost=0.5)
    write_eval(path, header(), [used(1, model_usage={"m": usage})])
    (model,) = resources_of(str(path)).usage
    counts = model.input_tokens, model.output_tokens, model.cache_read_tokens, model.reasoning_tokens, model.cost
    assert [float(array[0, 0]) for array in counts] == [111, 5, 100, 2, 0.5]


def test_unknown_usage_is_not_zero(path):
    samples = [used(1, model_usage={"m": tokens(10, 5)}), used(2), used(3, model_usage={})]
    write_eval(path, header(), samples)
    resources = resources_of(str(path))
    np.testing.assert_array_equal(resources.usage[0].input_tokens, [[10], [NAN], [0]])
    assert resources.usage[0].cost is None
    assert resources.total_time is None


def test_arrays_have_the_questions_and_epochs_of_the_scores(path):
    samples = [used(1, 2, total_time=4.0), used(2, 1, total_time=3.0), used(1, 1, total_time=1.0, working_time=0.5)]
    write_eval(path, with_model("m", epochs=2), samples)
    resources = resources_of(str(path))
    np.testing.assert_array_equal(resources.total_time, [[1, 4], [3, NAN]])
    np.testing.assert_array_equal(resources.working_time, [[0.5, NAN], [NAN, NAN]])


def test_the_role_grader_is_separate_from_the_system(path):
    usage = {"lab/model": tokens(10, 5), "lab/judge": tokens(7, 1)}
    write_eval(path, with_model("lab/model"), [used(1, model_usage=usage, role_usage={"grader": tokens(7, 1)})])
    resources = resources_of(str(path))
    assert [(one.model, one.is_grader) for one in resources.usage] == [("lab/model", False), ("lab/judge", True)]
    assert resources.is_grader_separate


def test_a_model_that_grades_its_own_answers_is_split(path):
    usage = {"lab/model": tokens(30, 8, total_cost=3.0)}
    write_eval(
        path,
        with_model("lab/model"),
        [used(1, model_usage=usage, role_usage={"grader": tokens(10, 2, total_cost=1.0)})],
    )
    answering, grading = resources_of(str(path)).usage
    assert [float(one.input_tokens[0, 0]) for one in (answering, grading)] == [20, 10]
    assert [float(one.cost[0, 0]) for one in (answering, grading)] == [2, 1]
    assert (answering.is_grader, grading.is_grader) == (False, True)


def test_a_second_model_without_a_role_is_not_told_apart(path):
    write_eval(path, with_model("lab/model"), [used(1, model_usage={"lab/model": tokens(1, 1), "x": tokens(1, 1)})])
    resources = resources_of(str(path))
    assert not resources.is_grader_separate
    assert not any(one.is_grader for one in resources.usage)


def test_a_scorer_may_name_its_model(path):
    head = with_model("lab/model")
    head["eval"] |= {"scorers": [{"name": "graded", "options": {"model": "x"}}]}
    write_eval(path, head, [used(1, model_usage={"lab/model": tokens(1, 1), "x": tokens(1, 1)})])
    resources = resources_of(str(path))
    assert resources.is_grader_separate
    assert [one.is_grader for one in resources.usage] == [False, True]


def test_json_logs_count_their_messages(tmp_path):
    path = write_json(tmp_path / "log.json", header(), [used(1, messages=[{"role": "user"}] * 3, turn_count=2)])
    resources = resources_of(str(path))
    assert (resources.messages.tolist(), resources.turns.tolist()) == ([[3]], [[2]])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of Inspect AI with costs of its own."""
    from inspect_ai.log import read_eval_log

    folder = tmp_path_factory.mktemp("logs")
    run_with_uq(sys.executable, PRICED_RUN, folder, cwd=folder, HARNESS_UQ=None)
    (path,) = folder.glob("*.eval")
    return read_eval_log(str(path))


def test_a_run_of_inspect_has_its_own_costs(run):
    resources = resources_of(run.location)
    by_model = {one.model: one for one in resources.usage}
    logged = {(str(one.id), one.epoch): one.model_usage for one in run.samples}
    for model, usage in by_model.items():
        expected = [[logged[str(q), epoch][model].total_cost for epoch in (1, 2)] for q in range(4)]
        np.testing.assert_array_equal(usage.cost, expected)
    assert {name: one.is_grader for name, one in by_model.items()} == {"mockllm/model": False, "mockllm/judge": True}
    assert resources.messages.min() >= 2


def test_a_log_in_memory_has_the_resources_of_its_file(run):
    of_file, of_object = resources_of(run.location), resources_of(run)
    for first, second in zip(of_file.arrays(), of_object.arrays(), strict=True):
        np.testing.assert_array_equal(first, second)
