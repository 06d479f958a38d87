"""Other names of the glossary lead to the name that commands and options use."""

import re

import pytest

from harness_uq.messages.similar_names import _BY_SYNONYM, did_you_mean
from tests.commands.test_main import output
from tests.conftest import ROOT


def test_every_synonym_is_in_the_glossary():
    glossary = re.sub(r"\s+", " ", (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").lower())
    words = [word.replace("-", " ") for word in _BY_SYNONYM]
    assert [word for word in words if word not in glossary and word.removesuffix("s") not in glossary] == []


@pytest.mark.parametrize(
    ("given", "valid", "expected"),
    [
        ("--epochs", ["--trials", "--task"], "--trials"),
        ("--alpha", ["--level", "--label"], "--level"),
        ("judge", ["grader", "gate"], "grader"),
        ("--tolerance", ["--margin", "--per-task"], "--margin"),
        ("systems", ["model", "method"], "model"),
    ],
)
def test_a_synonym_is_preferred_to_similar_letters(given, valid, expected):
    assert did_you_mean(given, valid) == f" Did you mean {expected!r}?"


def test_an_option_that_exists_is_not_replaced(capsys):
    code, _, err = output(capsys, "judge", "x")
    assert code == 2
    assert "Did you mean 'grader'?" in err
