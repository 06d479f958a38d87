"""Output formats: each renders every result that it accepts, and a plugin adds one without any change elsewhere."""

import csv
import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness_uq import DataError, ResultList
from harness_uq.commands.main import main
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins import manager
from harness_uq.io.plugins.manager import InstalledPlugin
from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.output.formats import all_formats, format_named, format_of_file, formats_for
from harness_uq.plugin_api import hookimpl
from harness_uq.results.documents import KINDS, list_name, result_set
from tests.conftest import ROOT
from tests.data.toy import task_log
from tests.output.rendering import render
from tests.results import factory as make
from tests.test_public_names import plugin_of

RESULTS = {
    "estimates": make.estimates(),
    "comparisons": make.comparisons(),
    "rankings": [make.ranking(4)],
    "plans": [make.plan()],
    "effects": [make.effects()],
}
FORMATS = all_formats(load_plugins())
COMMANDS = {
    "estimate": ("scores.csv",),
    "structure": ("scores.csv",),
    "compare": ("scores.csv",),
    "gate": ("scores.csv", "--self-test", "--margin", "0.1", "--n-simulations", "5"),
    "rank": ("scores.csv",),
    "effects": ("scores.csv",),
    "plan": ("scores.csv", "--width", "0.2"),
    "report": ("scores.csv",),
}


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table of two systems, which is the working directory."""
    path = tmp_path / "scores.csv"
    rows = [f"q{k},{system},{(k * n) % 3 > 0:d}" for n, system in enumerate("ab", 1) for k in range(40)]
    path.write_text("\n".join(["question,system,score", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("name", FORMATS)
def test_each_format_renders_what_it_accepts(name: str, kind: str) -> None:
    chosen = FORMATS[name]
    if chosen.accepts is not None and kind not in chosen.accepts:
        assert name not in formats_for([kind], load_plugins())
        return
    assert chosen.name == name
    text = chosen.render(result_set({kind: RESULTS[kind]}), RenderOptions())
    assert len(text) > 100


def test_a_suffix_names_one_format() -> None:
    assert len({one.suffix for one in FORMATS.values()}) == len(FORMATS)
    for name, one in FORMATS.items():
        assert format_of_file(f"some.where/results{one.suffix.upper()}", load_plugins()).name == name
    with pytest.raises(DataError, match=r"\.csv \(csv\)"):
        format_of_file("results.xyz")
    with pytest.raises(DataError, match="Available formats: csv, eee, github, html"):
        format_named("xyz", load_plugins())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_writes_a_file_in_the_format_of_its_suffix(command: str, scores: Path) -> None:
    output = scores / "results.json"
    code = main([command, *COMMANDS[command], "--output", str(output)])
    assert code in (0, 1, 3)
    document = json.loads(output.read_text())
    assert document["schema"] == 1
    if command != "effects":  # a table has no runs that differ in a setting
        assert document["errors"] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_lists_a_path_that_cannot_be_read(
    command: str, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [argument.replace("scores.csv", "absent") for argument in COMMANDS[command]]
    assert main([command, *arguments, "--format", "json"]) in (1, 4)
    document = json.loads(capsys.readouterr().out)
    error = document["errors"][0]
    assert (error["path"], error["code"]) == ("absent", "UQ305")
    results = [rows for name, rows in document.items() if name not in ("schema", "overall", "summary", "errors")]
    assert results == [[]] * len(results)
    assert document.get("overall") is None
    assert document.get("summary", {"n_scores": 0})["n_scores"] == 0


def test_an_error_of_the_options_is_listed_without_a_path(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("compare", "rank", "plan", "report"):
        assert main([command, *COMMANDS[command], "--task", "absent", "--format", "json"]) == 2
        captured = capsys.readouterr()
        (error,) = json.loads(captured.out)["errors"]
        assert error["path"] is None
        assert error["code"]
        assert error["text"] in captured.err


def test_columns_of_a_table_and_of_the_input_are_two_options(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--column", "score=score", "--columns", "task,value", "--format", "latex"]
    assert main(["estimate", "scores.csv", *arguments]) == 0
    assert "Task & Value" in capsys.readouterr().out
    assert main(["estimate", "scores.csv", "--columns", "task,absent", "--format", "latex"]) == 2
    assert "Unknown column: 'absent'" in capsys.readouterr().err


@pytest.fixture
def two_tasks(tmp_path: Path) -> str:
    """A table with an overall score: two systems on two tasks."""
    rows = [f"{s},{t},{q},{q % k}" for s, k in (("a", 2), ("b", 3)) for t in "uv" for q in range(12)]
    (tmp_path / "two.csv").write_text("\n".join(["model,task,question,score", *rows]), encoding="utf-8")
    return str(tmp_path / "two.csv")


@pytest.mark.parametrize("name", ["table", "markdown"])
def test_tables_without_the_named_columns_are_left_out(
    two_tasks: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", two_tasks, "--columns", "task,value", "--format", name]) == 0
    text = capsys.readouterr().out
    assert "Value" in text
    assert "Overall: mean score of" not in text
    assert main(["estimate", two_tasks, "--columns", "score,value", "--format", name]) == 0
    text = capsys.readouterr().out
    assert "Overall: mean score of" in text
    assert [header in text for header in ("System", "Score", "Value", "SE", "Questions")] == [True] * 3 + [False] * 2


def test_the_rows_of_a_table_with_some_of_the_columns_have_names(
    two_tasks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", two_tasks, "--columns", "task,verdict"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["System", "Verdict"] in lines
    assert ["Task", "Verdict"] in lines


def test_formats_without_tables_reject_columns(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("json", "csv", "html"):
        assert main(["estimate", "scores.csv", "--columns", "task", "--format", name]) == 2
        assert "--columns supports" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["estimates", "comparisons"])
def test_csv_of_a_report_has_the_columns_of_the_single_results(name: str) -> None:
    rows = RESULTS[name]
    (alone,) = csv.reader(render(rows, "csv").splitlines()[:1])
    lists = {"estimates": RESULTS["estimates"], "comparisons": RESULTS["comparisons"]}
    both = str(FORMATS["csv"].render(result_set(lists), RenderOptions())).splitlines()
    header, *records = csv.reader(both)
    assert header[0] == "kind"
    assert set(alone) <= set(header)
    assert {record[0] for record in records} == {"estimate", "comparison"}


def test_estimate_and_report_print_the_same_csv_columns(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["estimate", "scores.csv", "--format", "csv"])
    (*alone,) = csv.DictReader(capsys.readouterr().out.splitlines())
    main(["report", "scores.csv", "--format", "csv"])
    reported = [row for row in csv.DictReader(capsys.readouterr().out.splitlines()) if row["kind"] == "estimate"]
    assert [{name: row[name] for name in alone[0]} for row in reported] == alone


def test_every_result_knows_its_list() -> None:
    for name, rows in RESULTS.items():
        assert list_name(rows[0]) == name
        assert KINDS[name].document(rows, 4).sections
    with pytest.raises(DataError, match="str is not a result class"):
        list_name("text")


PLUGIN = plugin_of(ROOT / "docs/howto/add-an-output-format.md")


@pytest.fixture
def yaml_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The format of the how-to page, installed as a plugin."""
    monkeypatch.setitem(sys.modules, "yaml_plugin", PLUGIN)
    plugin = InstalledPlugin("yaml", "yaml_plugin"), EntryPoint("yaml", "yaml_plugin", "harness_uq")
    installed = (*manager.installed_plugins(), plugin)
    monkeypatch.setattr(manager, "installed_plugins", lambda: installed)


@pytest.mark.usefixtures("yaml_installed")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_offers_the_format_of_a_plugin(
    command: str, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    yaml = pytest.importorskip("yaml")
    main([command, *COMMANDS[command], "--format", "yaml"])
    printed = capsys.readouterr().out
    assert yaml.safe_load(printed)["schema"] == 1
    main([command, *COMMANDS[command], "--output", "results.yaml"])
    assert (scores / "results.yaml").read_text() == printed
    main([command, *COMMANDS[command], "--format", "json"])
    assert yaml.safe_load(printed) == json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("yaml_installed")
def test_results_in_python_have_the_format_of_a_plugin() -> None:
    from harness_uq import estimate

    rows = estimate([task_log([1, 0, 1, 1])])
    assert rows.to_yaml() == rows.render("yaml")
    assert rows.to_markdown() == rows.render("markdown")
    with pytest.raises(AttributeError, match="to_xyz"):
        rows.to_xyz()


def test_a_plugin_may_not_take_the_name_of_a_format() -> None:
    class Clash:
        name, suffix, accepts, has_errors, needs_logs = "json", ".j", None, False, False

        def render(self, results: object, options: object) -> str:
            return ""

    class Plugin:
        @hookimpl
        def harness_uq_formats(self) -> list[object]:
            return [Clash()]

    plugins = load_plugins([Plugin()])
    assert all_formats(plugins)["json"] is FORMATS["json"]
    (warning,) = plugins.warnings
    assert "output format 'json' has the name of a built-in output format" in warning.text


def test_a_list_without_results_renders_as_nothing() -> None:
    assert ResultList().to_latex() == ""
