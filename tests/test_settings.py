"""The settings file: found upwards, checked, weaker than the command line, and shown by `structure`."""

import json
from pathlib import Path

import pytest

from harness_uq.data.resources import ModelPrice
from harness_uq.io.prices import PriceTable
from harness_uq.io.settings_file import Settings, SettingsError, find_settings
from tests.commands.test_main import output
from tests.commands.test_selection import system
from tests.conftest import ROOT

EVERYTHING = """
level = 0.9
scope = "benchmark"
cluster = "auto"
margin = 0.01
clusters = {drop = "section_id"}
margins = {gsm8k = 0.02}
ranges = {bleu = [0, 100], "mt:rating" = [1, 10]}
factors = {prompt = "description"}
ignore = ["few-clusters", "UQ113"]
weights = {gsm8k = 2, drop = 1}
chance = {arc = 0.25}
missing_tasks = "drop-system"
latex_caption = "Scores"
latex_label = "tab:scores"
engine = "joblib"
token_prices = {gpt = {input = 2, output = 8}}
gate = {improve_by = {gsm8k = 0.02}, by = "language"}
"""
AS_READ = {
    "level": 0.9,
    "scope": "benchmark",
    "cluster": "auto",
    "margin": 0.01,
    "clusters": {"drop": "section_id"},
    "margins": {"gsm8k": 0.02},
    "ranges": {"bleu": (0.0, 100.0), "mt:rating": (1.0, 10.0)},
    "factors": {"prompt": "description"},
    "ignore": ("few-clusters", "UQ113"),
    "weights": {"gsm8k": 2.0, "drop": 1.0},
    "chance": {"arc": 0.25},
    "missing_tasks": "drop-system",
    "latex_caption": "Scores",
    "latex_label": "tab:scores",
    "engine": "joblib",
    "gate.improve_by": {"gsm8k": 0.02},
    "gate.by": ("language",),
}


@pytest.fixture
def two(tmp_path, monkeypatch) -> Path:
    for name, right in (("large", 32), ("small", 28)):
        system(tmp_path, name, right)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, name: str = "harness-uq.toml") -> None:
    (folder / name).write_text(text)


def test_every_setting_is_read_from_either_file(tmp_path):
    for name, header in (("harness-uq.toml", ""), ("pyproject.toml", "[tool.harness_uq]\n")):
        write(tmp_path, header + EVERYTHING, name)
        prices = PriceTable({"gpt": ModelPrice(2.0, 8.0)}, f"{tmp_path / name}, [token_prices]")
        assert find_settings(tmp_path) == Settings(str(tmp_path / name), {**AS_READ, "token_prices": prices})
        (tmp_path / name).unlink()


def test_the_documented_file_is_one(tmp_path):
    page = (ROOT / "docs/reference/settings.md").read_text()
    write(tmp_path, page.partition("```toml\n")[2].partition("```")[0])
    found = find_settings(tmp_path).values
    assert (found["level"], found["clusters"]["drop"]) == (0.9, "section_id")
    assert found["ranges"]["mt_bench:rating"] == (1.0, 10.0)


def test_the_nearest_file_counts_and_a_project_without_our_table_is_none(tmp_path):
    near = tmp_path / "a" / "b"
    near.mkdir(parents=True)
    write(tmp_path, "level = 0.9")
    write(near.parent, "[tool.other]\nharness_uq = 1\n", "pyproject.toml")
    assert find_settings(near).values["level"] == 0.9
    write(near.parent, "[tool.harness_uq]\nlevel = 0.8\n", "pyproject.toml")
    assert find_settings(near).values["level"] == 0.8
    assert find_settings(tmp_path.parent / "absent") == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "levle = 0.9",
            "Unknown setting: 'levle'. Did you mean 'level'? Available settings: level, ",
        ),
        ("level = 95", "Invalid level: 95. Give a number between 0 and 1, such as 0.95."),
        ("level = true", "Invalid level: True. Give a number between 0 and 1"),
        ('scope = "full"', "Invalid scope: 'full'. Give population or benchmark."),
        ("cluster = 3", "Invalid cluster: 3. Give the name of a field, none or auto."),
        ('clusters = "passage"', "Invalid clusters: 'passage'. Give a table of fields by task"),
        ("ranges = {bleu = [100, 0]}", "Give a table of [low, high]"),
        ("ranges = {bleu = [0, 50, 100]}", "Give a table of [low, high]"),
        ("margins = {gsm8k = -1}", "Give a table of margins by task"),
        ('ignore = "few-clusters"', "Give a list of codes or names of notes and warnings"),
        ('weights = "weights.csv"', "Give equal, questions, group, subtasks or a table of weights by task"),
        ("weights = {gsm8k = 0}", "Invalid weights: {'gsm8k': 0}."),
        ('missing_tasks = "zero"', "Invalid missing_tasks: 'zero'. Give common, drop-system or error."),
        ('latex_label = "a}\\\\input{b"', "Invalid latex_label"),
        ('token_prices = "prices.toml"', "Give a table of prices by model"),
        ("token_prices = {gpt = {input = 2}}", "[token_prices]: 'gpt' has no 'output' price"),
        ('store = "results"', "A settings file cannot set store, because results would be read from and written to"),
        (
            'scheduler = "tcp://a:1"',
            "A settings file cannot set scheduler, because",
        ),
        ("level = .9", "cannot be read: Invalid value"),
        ("gate = 3", "Invalid gate: 3. Give a table with improve_by and by."),
        ("[gate]\nimprove-by = 0.1", "[gate]: Unknown setting: 'improve-by'. Did you mean 'improve_by'?"),
        ("[gate]\nimprove_by = -0.1", "[gate]: Invalid improve_by: -0.1. Give an improvement of 0 or more"),
        ("[gate]\nby = [3]", "[gate]: Invalid by: [3]. Give a field of the questions"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_the_file_and_what_is_right(tmp_path, text, said):
    write(tmp_path, text)
    with pytest.raises(SettingsError) as error:
        find_settings(tmp_path)
    assert str(tmp_path / "harness-uq.toml") in str(error.value)
    assert said in str(error.value)


def rows(capsys, command: str, *arguments: str) -> list[dict]:
    code, out, err = output(capsys, command, *arguments, "--format", "json")
    assert (code, err.splitlines()[0]) == (0, "Using settings from harness-uq.toml")
    return json.loads(out)["comparisons" if command == "compare" else "estimates"]


def test_the_command_line_is_stronger_than_the_file_and_the_file_than_the_default(two, capsys):
    write(two, 'level = 0.9\nscope = "benchmark"\nmargin = 0.3\nmargins = {toy = 0.4}')
    assert rows(capsys, "estimate", ".")[0]["interval"]["level"] == 0.9
    assert rows(capsys, "estimate", ".")[0]["scope"] == "benchmark"
    named = rows(capsys, "estimate", ".", "--level", "0.95", "--scope", "population")[0]
    assert (named["interval"]["level"], named["scope"]) == (0.95, "population")
    plain = ("compare", ".", "--scope", "population")
    assert rows(capsys, *plain)[0]["margin"] == 0.4
    assert rows(capsys, *plain, "--margin", "0.2")[0]["margin"] == 0.2
    assert rows(capsys, *plain, "--margin", "toy=0.1")[0]["margin"] == 0.1


def test_structure_shows_which_was_used(two, capsys):
    write(two, 'level = 0.9\nclusters = {toy = "q", elsewhere = "absent"}')
    _, out, _ = output(capsys, "structure", ".")
    assert "every question has a 'q' of its own (named by the user (harness-uq.toml))" in out
    assert f"Settings from {two / 'harness-uq.toml'}: level 0.9; cluster toy=q; cluster elsewhere=absent" in out
    _, out, _ = output(capsys, "structure", ".", "--cluster", "none")
    assert "set by the user (--cluster none)" in out
    assert "named by the user (harness-uq.toml)" not in out


def test_a_range_of_one_task_is_that_tasks_alone(two, capsys):
    system(two, "large", 30, task="second")
    write(two, 'ranges = {"second:acc" = [0, 2]}')
    _, out, _ = output(capsys, "structure", ".", "--model", "large")
    toy, second = (next(part for part in out.split("\n\n") if f"{task} of large" in part) for task in ("toy", "second"))
    assert "acc: binary" in toy
    assert "acc: bounded to [0, 2]" in second


def test_a_broken_file_is_exit_code_2_and_help_of_the_whole_needs_none(two, capsys):
    write(two, "level = 95")
    code, out, err = output(capsys, "estimate", ".")
    assert (code, out) == (2, "")
    assert "Invalid level: 95" in err
    assert output(capsys, "--help")[0] == 0


def test_a_gate_takes_its_margin_from_the_file_and_passes_over_what_the_logs_lack(two, capsys):
    gate = ("gate", "large", "--baseline", "small", "--format", "json")
    code, _, err = output(capsys, *gate)
    assert code == 2
    assert "--margin 0.01, or in the settings file" in err
    write(two, "margin = 0.3\nmargins = {elsewhere = 0.1}")
    assert output(capsys, *gate)[0] == 0


def test_weights_of_the_file_change_the_overall_score_but_not_what_a_gate_tests(two, capsys):
    for name, right in (("large", 20), ("small", 24)):
        system(two, name, right, task="second")

    def overall(*arguments: str) -> list[float]:
        _, out, _ = output(capsys, "estimate", ".", "--format", "json", *arguments)
        return [one["value"] for one in json.loads(out)["overall"]["systems"]]

    def gated(*arguments: str) -> list[str]:
        gate = ("gate", "large", "--baseline", "small", "--margin", "0.01", "--format", "json")
        return [one["task"] for one in json.loads(output(capsys, *gate, *arguments)[1])["gates"][0]["rows"]]

    equal, tasks = overall(), gated()
    write(two, 'weights = {toy = 3, second = 1, absent = 5}\nchance = {absent = 0.1}\nmissing_tasks = "error"')
    assert overall() != equal
    assert overall("--weights", "equal") == equal
    assert gated() == tasks
    assert gated("--overall") == ["overall"]
    write(two, "weights = {toy = 3, absent = 5}")
    assert overall() == equal
    assert output(capsys, "estimate", ".", "--chance", "absent=0.1")[0] == 2


def test_the_file_sets_the_caption_and_label_of_latex_tables(two, capsys):
    write(two, 'latex_caption = "50 % of it"\nlatex_label = "tab:a"')
    assert r"\caption{50 \% of it\label{tab:a}}" in output(capsys, "estimate", ".", "--format", "latex")[1]
    named = output(capsys, "estimate", ".", "--format", "latex", "--latex-caption", "Mine")[1]
    assert r"\caption{Mine\label{tab:a}}" in named
    assert output(capsys, "estimate", ".", "--latex-label", "a}b")[0] == 2


def test_prices_of_the_file_apply_only_if_costs_are_analyzed(two, capsys):
    write(two, "token_prices = {large = {input = 2, output = 8}}")
    assert "resource_use" not in json.loads(output(capsys, "estimate", ".", "--format", "json")[1])
    assert "Keys of harness-uq.toml: " in output(capsys, "estimate", "--help-all")[1]
