import pytest

from harness_uq_inspect.read.reported import Epochs
from harness_uq_inspect.read.schema import Config, Dataset, Header, Plan, Spec
from harness_uq_inspect.read.settings import run_facts, system_name


def header(*, plan=None, **spec):
    return Header(version=2, eval=Spec(task="t", model="openai/gpt-5", **spec), plan=Plan(plan))


def test_the_system_is_the_model_with_what_changes_its_answers():
    generation = {"reasoning_effort": "high", "max_connections": 20, "temperature": None}
    name = system_name(header(model_generate_config=generation, plan={"temperature": 0.5}))
    assert name == "openai/gpt-5 (temperature=0.5, reasoning_effort=high)"


def test_secrets_and_operation_do_not_name_a_system():
    secret = {"api_key": "s3cret", "auth_token": "s3cret", "device": "cuda:0", "base_url": "http://x", "seed": 1}
    assert system_name(header(model_args=secret)) == "openai/gpt-5"
    assert system_name(header(model_args=secret | {"quantized": True})) == "openai/gpt-5 (quantized=True)"


def test_a_solver_named_on_the_command_line_is_part_of_the_system():
    assert system_name(header(solver="react")) == "openai/gpt-5 (solver=react)"


@pytest.mark.parametrize(
    ("config", "dataset", "is_random"),
    [
        ({}, {"shuffled": True}, None),
        ({"limit": 10}, {"shuffled": False}, False),
        ({"limit": 10}, {"shuffled": True}, True),
        ({"limit": [5, 10], "sample_shuffle": 42}, {}, True),
        ({"sample_id": ["a"]}, {"shuffled": True}, False),
    ],
)
def test_a_limited_run_is_a_random_subset_only_if_shuffled(config, dataset, is_random):
    found = run_facts(header(config=Config(**config), dataset=Dataset(samples=100, **dataset)), Epochs(3))
    assert found.is_random_subset is bool(is_random)
    assert found.is_limited is (is_random is not None)
    assert (found.n_all, found.settings["epochs"]) == (100, 3)


def test_absent_settings_are_left_out():
    found = run_facts(header(task_args_passed={}), Epochs(1))
    assert found.settings == {"status": "started", "epochs": 1}
    assert not found.is_finished
