"""Bayes@N and avg@N under the names of the paper, and the only scope that they support."""

import pytest

import harness_uq
from harness_uq import DataError
from tests.commands.test_main import output

SCORES = [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]


@pytest.mark.parametrize(("spelling", "name"), [("bayes@n", "bayes-at-n"), ("avg@N", "avg-at-n")])
def test_the_spelling_of_the_paper_is_the_method_with_the_scope_benchmark(spelling, name):
    row, expected = (
        harness_uq.estimate_scores(SCORES, method=method, **scope)
        for method, scope in ((spelling, {}), (name, {"scope": "benchmark"}))
    )
    assert row.to_dict() == expected.to_dict()
    assert (row.method, row.scope) == (name, "benchmark")


@pytest.mark.parametrize("scope", ["population", "full"])
def test_another_scope_is_an_error(scope):
    with pytest.raises(DataError, match="benchmark"):
        harness_uq.estimate_scores(SCORES, method="bayes@n", scope=scope)


def test_the_command_names_the_scope(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    rows = "".join(f"q{k},{trial},{score}\n" for k, row in enumerate(SCORES) for trial, score in enumerate(row))
    path.write_text(f"question,trial,score\n{rows}")
    code, _, err = output(capsys, "estimate", str(path), "--method", "bayes@n")
    assert code == 0
    assert "scope is benchmark" in err
    code, _, err = output(capsys, "estimate", str(path), "--method", "bayes@n", "--scope", "population")
    assert code == 2
    assert "bayes-at-n" in err
    assert "scope is benchmark" not in output(capsys, "estimate", str(path), "--scope", "benchmark")[2]


def test_a_live_run_uses_the_scope_too():
    from harness_uq.plugin_api import LiveSettings

    settings = LiveSettings.parse({"method": "bayes@n"})
    assert (settings.method, settings.scope, settings.options().scope) == ("bayes-at-n", "benchmark", "benchmark")
    with pytest.raises(DataError):
        LiveSettings.parse({"method": "bayes@n", "scope": "population"})
