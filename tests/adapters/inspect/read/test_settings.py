import pytest

from harness_uq_inspect.read.harness_results import Epochs
from harness_uq_inspect.read.schema import (
    STOP_WHEN,
    Config,
    Dataset,
    EarlyStopping,
    Header,
    Plan,
    Results,
    Sample,
    Score,
    Spec,
)
from harness_uq_inspect.read.settings import chance_of, run_metadata, system_name


def header(*, plan=None, **spec):
    return Header(version=2, eval=Spec(task="t", model="openai/gpt-5", **spec), plan=Plan(plan))


def test_the_system_is_the_model_with_what_changes_its_answers():
    generation = {"reasoning_effort": "high", "max_connections": 20, "temperature": None}
    name = system_name(header(model_generate_config=generation, plan={"temperature": 0.5}))
    assert name == "openai/gpt-5 (temperature=0.5, reasoning_effort=high)"


def test_secrets_and_operational_settings_are_not_part_of_the_name():
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
    found = run_metadata(header(config=Config(**config), dataset=Dataset(samples=100, **dataset)), Epochs(3))
    assert found.is_random_subset is bool(is_random)
    assert found.is_limited is (is_random is not None)
    assert (found.n_all, found.settings["epochs"]) == (100, 3)


def test_absent_settings_are_left_out():
    found = run_metadata(header(task_args_passed={}), Epochs(1))
    assert found.settings == {"status": "started", "epochs": 1}
    assert not found.is_finished


def test_an_argument_with_its_default_is_the_same_setting_whether_it_was_passed_or_not():
    runs = [header(task_args={"x": "a"}, task_args_passed=passed) for passed in ({}, {"x": "a"})]
    assert [run_metadata(run, Epochs(1)).settings["task_args"] for run in runs] == [{"x": "a"}] * 2


def watched(codes, *, manager=STOP_WHEN):
    stopping = EarlyStopping(manager, metadata={"rule": {"valid": "anytime"}, "cluster": "passage", "clusters": codes})
    spec = Spec(task="t", model="m", dataset=Dataset(sample_ids=["c", "a", 3, "b"]))
    return Header(version=2, eval=spec, results=Results(total_samples=4, early_stopping=stopping))


def test_clusters_of_skipped_questions_follow_those_of_logged_ones():
    found = run_metadata(watched([0, 1, 0, 2]), Epochs(1), ["c", "3"])
    assert (found.n_watched, found.watched_clusters) == (4, (0, 0, 1, 2))


@pytest.mark.parametrize("codes", [[0, 1, 0], [0, 1, 0, -1], [0, 1, 0, 4], ["a"] * 4, "0102", None])
def test_clusters_that_do_not_match_the_questions_are_ignored(codes):
    assert run_metadata(watched(codes), Epochs(1), ["c"]).watched_clusters is None


def test_clusters_of_another_rule_or_of_unknown_questions_are_ignored():
    assert run_metadata(watched([0, 1, 0, 2], manager="theirs"), Epochs(1), ["c"]).watched_clusters is None
    assert run_metadata(watched([0, 1, 0, 2]), Epochs(1), ["elsewhere"]).watched_clusters is None


def sample(n_choices, scorer="choice", target="A"):
    choices = ["x"] * n_choices if n_choices else None
    return Sample(id=1, choices=choices, target=target, scores=None if scorer is None else {scorer: Score("C")})


def test_random_answers_are_right_as_often_as_one_of_the_choices():
    assert chance_of([sample(4), sample(2), sample(2, scorer=None)]) == pytest.approx((0.25 + 0.5 + 0.5) / 3)
    assert chance_of([]) is None


@pytest.mark.parametrize("other", [sample(0), sample(1), sample(4, scorer="match"), sample(4, target=["A", "B"])])
def test_other_samples_have_no_known_score_of_random_answers(other):
    assert chance_of([sample(4), other]) is None
