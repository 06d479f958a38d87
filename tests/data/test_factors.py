"""Which settings differ between logs, what they are called, and what is asked for by name."""

import pytest

from harness_uq.data.factors import find_factors, model_of, settings_of
from harness_uq.data.task_log import RunMetadata, Source, TaskLog
from harness_uq.messages.errors import DataError
from tests.data.toy import task_log
from tests.message_checks import raises_message


def logs(*settings: dict[str, object], system: str = "model") -> list[TaskLog]:
    return [
        task_log([1, 0], system=system, facts=RunMetadata(settings=held), source=Source(f"{i}.json", "lm-eval"))
        for i, held in enumerate(settings)
    ]


def test_settings_that_change_together_are_one_factor() -> None:
    found = find_factors(logs(*({"random_seed": s, "fewshot_seed": 10 * s, "num_fewshot": 5} for s in (0, 1, 2))), {})
    (factor,) = found
    assert (factor.name, len(set(factor.levels))) == ("seed", 3)
    assert factor.evidence == "random_seed and fewshot_seed have 3 values in 3 logs: 0, 1, 2"


def test_a_prompt_that_changes_with_the_seed_is_not_told_from_it() -> None:
    (factor,) = find_factors(logs(*({"seed": s, "description": f"text {s}"} for s in (0, 1))), {})
    assert factor.name == "prompt"
    assert factor.evidence == "description and seed have 2 values in 2 logs: text 0, text 1"


def test_crossed_settings_are_two_factors() -> None:
    crossed = [{"fewshot_seed": s, "description": d} for s in (0, 1) for d in ("a", "b")]
    found = {factor.name: factor.levels for factor in find_factors(logs(*crossed), {})}
    assert set(found) == {"seed", "prompt"}
    assert found["prompt"] == ("a", "b", "a", "b")


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("num_fewshot", "shots"),
        ("description", "prompt"),
        ("system_instruction", "prompt"),
        ("judge_model", "judge"),
        ("temperature", "temperature"),
        ("language", "language"),
        ("backend", "back end"),
        ("dataset_name", "dataset_name"),
    ],
)
def test_a_setting_has_its_common_name_or_its_own(field: str, name: str) -> None:
    assert [factor.name for factor in find_factors(logs({field: "x"}, {field: "y"}), {})] == [name]


def test_settings_within_a_setting_and_in_a_systems_name_are_seen() -> None:
    one = settings_of(logs({"generation_kwargs": {"temperature": 0.7}}, system="gpt (effort=high, top_p=1)")[0])
    assert (one["generation_kwargs.temperature"], one["effort"], one["top_p"]) == ("0.7", "high", "1")
    assert model_of(logs({}, system="gpt (effort=high)")[0]) == "gpt"
    assert model_of(logs({}, system="gpt (large)")[0]) == "gpt (large)"


def test_what_a_run_did_is_no_setting() -> None:
    (factor,) = find_factors(logs({"limit": 10, "status": "success"}, {"limit": 20, "status": "error"}), {})
    assert factor.name == "run"
    assert "repeats" in factor.evidence


def test_a_setting_asked_for_is_taken_by_the_name_given() -> None:
    found = find_factors(logs({"x": 1}, {"x": 2}), {"flavour": "x"})
    assert [(factor.name, factor.levels) for factor in found] == [("flavour", ("1", "2"))]
    assert find_factors(logs({}, {}), {"repeat": "path"})[0].levels == ("0.json", "1.json")


def test_a_setting_that_is_not_there_or_does_not_differ_is_refused() -> None:
    with raises_message(DataError, "unknown-setting-of-logs", field="y", known=("path", "run", "task", "x")):
        find_factors(logs({"x": 1}, {"x": 2}), {"flavour": "y"})
    with pytest.raises(DataError, match="cannot be used as a factor"):
        find_factors(logs({"x": 1}, {"x": 1}), {"flavour": "x"})


def test_two_prompts_of_their_own_have_names_of_their_own() -> None:
    held = [{"description": d, "system_instruction": s} for d in "ab" for s in "cd"]
    assert [factor.name for factor in find_factors(logs(*held), {})] == ["prompt", "prompt 2"]
