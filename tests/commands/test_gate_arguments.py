"""How `harness-uq gate` takes the runs of two systems in tables, and what it says if it cannot."""

from pathlib import Path

import pytest

import harness_uq
from harness_uq.commands.main import main
from tests.commands.test_main import output

N = 60


def scores(system: str) -> list[str]:
    return [f"q{k},{system},{int((k * len(system)) % 7 > 1)}" for k in range(N)]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files `alpha.csv`, `beta.csv`, and `both.csv` with both systems."""
    monkeypatch.chdir(tmp_path)
    for name, systems in (("alpha", ["alpha"]), ("beta", ["beta"]), ("both", ["alpha", "beta"])):
        rows = [row for system in systems for row in scores(system)]
        Path(f"{name}.csv").write_text("\n".join(["question,system,score", *rows]))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "compare alpha.csv beta.csv",
        "compare alpha.csv beta.csv --baseline beta",
        "gate alpha.csv --baseline beta.csv --margin 0.2",
        "rank alpha.csv beta.csv",
    ],
)
def test_tables_that_are_compared_have_a_task_of_the_same_name(tables, capsys, command):
    main(command.split())
    printed = capsys.readouterr().out
    assert "scores" in printed
    assert "different-tasks" not in printed


def test_tables_that_are_compared_in_python_have_a_task_of_the_same_name(tables):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.read_csv(f"{name}.csv") for name in ("alpha", "beta")]
    for a, b in (("alpha.csv", "beta.csv"), frames):
        (row,) = harness_uq.compare(a, b)
        (decided,) = harness_uq.gate(a, b, margin=0.2).rows
        (ranking,) = harness_uq.rank([a, b])
        assert {row.task, decided.comparison.task, ranking.task} == {"scores"}
        assert "UQ225" not in {message.code for message in row.messages}


def test_a_file_that_is_not_compared_with_another_names_its_task(tables):
    assert {row.task for row in harness_uq.estimate("alpha.csv")} == {"alpha"}
    assert {row.task for row in harness_uq.compare("both.csv")} == {"both"}


@pytest.mark.parametrize(
    "arguments", [["both.csv", "--baseline", "beta"], ["alpha=both.csv", "--baseline", "beta=both.csv"]]
)
def test_two_systems_of_one_file_are_compared(tables, capsys, arguments):
    main(["gate", *arguments, "--margin", "0.2"])
    assert "new: alpha, baseline: beta" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["both.csv", "--baseline", "both.csv", "--margin", "0.2"], "such as --baseline beta"),
        (["alpha.csv", "beta.csv"], "use harness-uq gate alpha.csv --baseline beta.csv --margin 0.01"),
        (["alpha.csv", "alpha.csv"], "use harness-uq gate alpha.csv --baseline alpha.csv --margin 0.01"),
        (["alpha.csv", "--baseline", "alpha", "--margin", "0.2"], "contain only the system of --baseline: alpha"),
        (["alpha.csv", "--baseline", "beta.csv", "--junit", "x.xml"], "Use --format junit --output FILE."),
    ],
)
def test_an_error_shows_the_command_that_works(tables, capsys, arguments, advice):
    code, _, err = output(capsys, "gate", *arguments)
    assert code == 2
    assert advice in err
