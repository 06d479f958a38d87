"""Expressions of mappings: a part of JMESPath."""

import pytest

from harness_uq import LogError

pytest.importorskip("jmespath")

from harness_uq.io.tables.json_paths import compile_expression, evaluate_expression, label_cell, named_values

RECORD = {"a": {"b": 1, "c d": 2}, "list": [{"k": "x", "v": 3}, {"k": "y", "v": 4}], "scores": {"acc": 1, "f1": None}}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a.b", 1),
        ('a."c d"', 2),
        ("list[?k=='y'].v | [0]", 4),
        ("list[-1].k", "y"),
        ("absent || a.b", 1),
        ("'constant'", "constant"),
        ("absent.member", None),
        ("$.model", "m"),
        ("to_number('3')", 3),
    ],
)
def test_values_of_expressions(expression: str, value: object) -> None:
    assert evaluate_expression(expression, RECORD, {"model": "m"}) == value


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("scores.*", {"acc": 1, "f1": None}),
        ("scores", {"acc": 1, "f1": None}),
        ("scores.acc", {"acc": 1}),
        ("$.runs.*.score", {"r1": 0.5, "r2": None}),
        ("absent.*", {}),
    ],
)
def test_wildcards_name_the_scores(expression: str, values: dict[str, object]) -> None:
    assert named_values(expression, RECORD, {"runs": {"r1": {"score": 0.5}, "r2": {}}}) == values


@pytest.mark.parametrize(
    "expression",
    ["a.", "", "[a, b]", "{x: a}", "map(&a, list)", "sort_by(list, &k)", "a." * 300 + "a", "(" * 400, "@.[@,@].[@,@]"],
)
def test_expressions_that_are_invalid_or_could_multiply_data_are_refused(expression: str) -> None:
    with pytest.raises(LogError):
        compile_expression(expression)


def test_an_error_of_a_function_names_the_expression() -> None:
    with pytest.raises(LogError, match="length"):
        evaluate_expression("length(a.b)", RECORD, None)


def test_the_label_of_an_object_does_not_depend_on_the_order_of_its_members() -> None:
    assert label_cell({"a": 1, "b": [2]}) == label_cell({"b": [2], "a": 1}) != label_cell({"a": 1, "b": [3]})
    assert label_cell("text") == "text"
