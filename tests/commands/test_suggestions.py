"""A mistyped name gets the nearest valid name, the valid names or where they are listed, and exit code 2."""

import shutil

import pytest

from tests.commands.test_main import output
from tests.commands.test_selection import system


@pytest.fixture
def logs(tmp_path, monkeypatch):
    for name, right in (("large", 32), ("small", 28)):
        system(tmp_path, name, right)
    shutil.copytree(tmp_path / "large", tmp_path / "again")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "table.csv").write_text("question,correct,system\nq1,1,a\nq2,0,a\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "suggestion", "valid"),
    [
        ("estmate .", "estimate", "harness-uq more"),
        ("estimate . --clustr q", "--cluster", "--help-all"),
        ("estimate . --scope bench", "benchmark", "benchmark, full, population"),
        ("estimate . --method wilsn", "wilson", "wilson, clustered-wilson, "),
        ("estimate . --task tyo", "toy", "toy"),
        ("estimate . --metric ac", "acc", "acc"),
        ("estimate . --model larg", "large", "large, small"),
        ("estimate . --filter nne", "none", "none"),
        ("estimate . --cluster tyo=q", "toy", "toy"),
        ("estimate . --range ac=0,1", "acc", "acc"),
        ("estimate . --labels ac", "acc", "acc"),
        ("estimate table.csv --column scor=correct", "score", "cluster, "),
        ("estimate table.csv --column score=corect", "correct", "question, correct, system"),
        ("compare large small --margin tyo=0.1", "toy", "overall, toy"),
        ("gate large --baseline small --margin ac=0.1", "acc", "acc, overall, toy"),
        ("effects . --factor prompt=repeat", "repeats", "output_type, path, repeats"),
        ("store lst .", "ls", "gc, ls, verify"),
    ],
)
def test_the_error_suggests_the_nearest_name_and_lists_the_valid_ones(logs, capsys, arguments, suggestion, valid):
    code, _, err = output(capsys, *arguments.split())
    assert code == 2
    assert f"Did you mean '{suggestion}'?" in err
    assert valid in err
    assert "Traceback" not in err
