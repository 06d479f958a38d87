"""Which systems and parts of the logs a command is about, from end to end."""

import json
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from tests.commands.test_main import output, write_lm_eval

ROWS = 40


def system(folder: Path, name: str, right: int, task: str = "toy") -> Path:
    folder = folder / name
    folder.mkdir(exist_ok=True)
    write_lm_eval(folder, ROWS, right, task=task)
    results = next(folder.glob("results_*.json"))
    results.write_text(results.read_text().replace("toy-model", name))
    return folder


@pytest.fixture
def two(tmp_path: Path) -> Path:
    for name, right in (("large", 38), ("small", 20)):
        system(tmp_path, name, right)
    return tmp_path


def compared(capsys, *arguments: object) -> tuple[str, str]:
    code, out, err = output(capsys, "compare", *map(str, arguments), "--format", "json")
    assert code == 0, err
    row = json.loads(out)["comparisons"][0]
    return row["system_a"], row["system_b"]


def test_a_folder_of_two_systems_is_a_comparison(two, capsys):
    assert compared(capsys, two) == ("large", "small")


def test_of_more_systems_two_are_named_in_the_order_wanted(two, capsys):
    system(two, "other one", 30)
    code, out, err = output(capsys, "compare", str(two))
    assert (code, out) == (2, "")
    assert "The logs contain 3 systems: large, other one, small" in err
    assert "--model large --model 'other one'" in err
    assert compared(capsys, two, "--model", "small", "--model", "oth*") == ("small", "other one")


def test_a_system_is_named_as_tables_show_it(tmp_path, capsys):
    table = tmp_path / "scores.csv"
    rows = [f"{name},{k},{(k + len(name)) % 2}" for name in ("big (t=1)", "tiny (t=2)") for k in range(20)]
    table.write_text("\n".join(["system,question,score", *rows]))
    assert "big (t=1)" not in output(capsys, "compare", str(table))[1]
    assert compared(capsys, table, "--model", "tiny", "--model", "big (t=1)") == ("tiny (t=2)", "big (t=1)")


def test_three_paths_of_two_systems_are_a_comparison_too(two, capsys):
    system(two, "large", 30, task="second")
    paths = sorted(two.glob("*/results_*.json"))
    assert compared(capsys, two / "large", two / "small", *paths) == ("large", "small")


def test_one_system_is_no_comparison(two, capsys):
    code, _, err = output(capsys, "compare", str(two / "large"))
    assert code == 2
    assert "The logs contain one system: large" in err


@pytest.mark.parametrize("command", ["estimate", "structure", "compare", "rank", "effects", "plan", "report"])
def test_every_command_refuses_a_part_that_no_log_has(two, capsys, command):
    for option in ("--task", "--metric", "--filter", "--model"):
        code, out, err = output(capsys, command, str(two), option, "absent*")
        assert (code, out) == (2, "")
        assert f"No {option.removeprefix('--')} matches 'absent*'. Available " in err


def test_rescore_writes_only_what_is_asked_for(two, tmp_path, capsys):
    code, out, _ = output(capsys, "rescore", str(two), "--model", "large", "--output-dir", str(tmp_path / "out"))
    assert code == 0
    assert len(out.splitlines()) == 1
    assert "large" in out
    assert output(capsys, "rescore", str(two), "--task", "absent", "--output-dir", str(tmp_path / "out"))[0] == 2


def test_watch_looks_only_at_what_is_asked_for(two, capsys):
    assert output(capsys, "watch", str(two), "--once", "--task", "absent")[0] == 0


def test_the_method_has_one_name_and_an_alias(two, capsys):
    for option in ("--uq", "--method"):
        assert json.loads(json_of(capsys, "compare", two, option, "t"))["comparisons"][0]["method"] == "t"
        assert json.loads(json_of(capsys, "estimate", two, option, "wilson"))["estimates"][0]["method"] == "wilson"
    default, named = (json_of(capsys, "compare", two, *more) for more in ((), ("--uq", "bayes")))
    assert default == named


def json_of(capsys, *arguments: object) -> str:
    assert main([*map(str, arguments), "--format", "json"]) == 0
    return capsys.readouterr().out
