"""`explain`: messages of harness_uq and of its adapters, and words of the output."""

import pytest

from harness_uq.commands.explain import TERMS
from harness_uq.commands.main import main


@pytest.mark.parametrize(
    ("label", "code"), [("UQ157", "UQ157"), ("LM102", "LM102"), ("IN102", "IN102"), ("interval-of-live-run", "LM117")]
)
def test_messages_of_adapters_are_known(label: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", label]) == 0
    assert capsys.readouterr().out.startswith(code)


@pytest.mark.parametrize(
    ("label", "term"),
    [
        *((term, term) for term in TERMS),
        ("deff", "Deff"),
        ("95% interval", "interval"),
        ("90/95% interval", "90% interval"),
        ("Pooled interval", "pooled interval"),
    ],
)
def test_words_of_the_output_are_explained(label: str, term: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", label]) == 0
    assert capsys.readouterr().out.startswith(f"{term}: ")


def test_the_help_refers_to_exit_codes_that_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "docs/" not in shown
    assert "harness-uq explain exit-codes" in shown or "://" in shown
