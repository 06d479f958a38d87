"""Names of logs are text in every format, without markup; a damaged text affects its own log only."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from harness_uq.commands.main import main
from harness_uq.output.sanitize import markdown, markdown_paragraph
from tests.security.hostile_names import HOSTILE, MARKUP, problems_in, write_table


def test_a_lone_surrogate_in_a_table_does_not_end_the_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    logs = [write_table(tmp_path / "a.jsonl", task="\ud800x"), write_table(tmp_path / "b.jsonl", task="good")]
    for store in ([], ["--store", str(tmp_path / "store")]):
        assert main(["estimate", *logs, "--format", "json", *store]) == 0
        tasks = [row["task"] for row in json.loads(capsys.readouterr().out)["estimates"]]
        assert tasks == [r"\ud800x", "good"]


@pytest.mark.parametrize("command", ["estimate", "rank", "compare"])
def test_a_plot_shows_names_as_they_are_and_is_valid(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    name = "".join(HOSTILE)
    logs = [
        write_table(tmp_path / f"{system}.jsonl", task=f"$\\frac{{${name}", model=f"{system}$\\frac{{$\x1b\ufffe{name}")
        for system in ("a", "bb")
    ]
    assert main([command, *logs, "--plot", str(tmp_path / "plot.svg")]) == 0
    svg = (tmp_path / "plot.svg").read_text("utf-8")
    ElementTree.fromstring(svg)
    assert not problems_in(svg)


def test_an_html_page_contains_no_control_characters(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    logs = [
        write_table(tmp_path / f"{system}.jsonl", task="".join(HOSTILE), model=f"{system}{''.join(HOSTILE)}")
        for system in ("a", "bb")
    ]
    assert main(["report", *logs, "--output", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert not [problem for problem in problems_in(page) if problem.startswith("U+")]
    assert not re.search(r"<img|<script|onerror=alert\(1\)>|href=.?http://evil", page)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_cell_of_text_in_markdown(name: str) -> None:
    table = f"| {markdown(name)} | b |\n| :-- | --: |\n| {markdown(name)} | 1 |\n\n- {markdown_paragraph(name)}"
    assert set(_tokens(table)) <= {"text", "text_special"}
    for line in table.splitlines()[:3]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3  # an even number of backslashes escapes no bar
    page = MarkdownIt("gfm-like", {"linkify": False}).render(table)
    assert page.count("<th ") == page.count("<td ") == 2
    assert not set(re.findall(r"<(\w+)", page)) - {"table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert not problems_in(table)


def _tokens(text: str) -> list[str]:
    blocks = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    return [child.type for block in blocks for child in block.children or () if child.content or child.type != "text"]


def test_commands_in_sentences_remain_code() -> None:
    sentence = "Run `harness-uq plan a_b` for <b>x</b>."
    assert MarkdownIt().render(markdown_paragraph(sentence)) == (
        "<p>Run <code>harness-uq plan a_b</code> for &lt;b&gt;x&lt;/b&gt;.</p>\n"
    )


@pytest.mark.parametrize("name", MARKUP)
def test_a_markdown_table_of_results_has_its_own_cells_only(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write_table(tmp_path / "a.jsonl", task=name, model=name)
    assert main(["estimate", log, "--format", "markdown"]) == 0
    page = MarkdownIt("gfm-like", {"linkify": False}).render(capsys.readouterr().out)
    assert page.count("<th ") == page.count("<td ")
    assert not re.search("<(img|a|script|code|s|em)[ >]", page)


@pytest.mark.parametrize("file", ["harness-uq.toml", "pyproject.toml"])
def test_deeply_nested_settings_are_an_error_that_names_the_file(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_text(f"harness_uq = {'[' * 100_000}{']' * 100_000}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["estimate", write_table(tmp_path / "a.jsonl")]) == 2
    assert file in capsys.readouterr().err
