"""The prose check finds the faults of its list and accepts texts without them."""

import subprocess
import sys
import tomllib
from pathlib import Path

import check_prose
import pytest

from tests.conftest import ROOT

ENTRIES = tomllib.loads(check_prose.IDIOMS.read_text(encoding="utf-8"))["idiom"]
RULES = (*check_prose.read_idioms(), *check_prose.NUMBER_RULES)


def find(text: str, source: str = "page.md") -> list[tuple[int, str]]:
    return [(hit.line, hit.use) for hit in check_prose.check_text(text, source, RULES)]


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["example"] for entry in ENTRIES])
def test_every_idiom_of_the_list_is_found_in_its_example(entry: dict[str, str]) -> None:
    assert (1, entry["use"]) in find(entry["example"])


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("an interval of [.04, 0.77]", "leading zero"),
        ("coverage rose from 0.77 to .9.", "leading zero"),
        ("the difference is -0 %", "no negative zero"),
        ("the difference is -0.0 points", "no negative zero"),
        ("after 1 questions", "singular"),
        ("where all trials agree", "if"),
    ],
)
def test_a_number_format_is_found(text: str, use: str) -> None:
    assert find(text) == [(1, use)]


@pytest.mark.parametrize(
    "text",
    [
        "an interval of [0.04, 0.77], version 1.2.3, f'{x:.3f}' and a `.7z` file",
        "the difference is -0.5 points, or 10 % of it",
        "0/1 scores of 1 question and 21 questions",
        "the folder where you keep the logs",
    ],
)
def test_correct_text_has_no_hit(text: str) -> None:
    assert find(text) == []


def test_code_in_markdown_is_not_checked() -> None:
    assert find("Text.\n\n```\n1 questions\n```\n\nSet `--x .95`.\n") == []


def test_comments_and_strings_of_python_are_checked_and_names_are_not() -> None:
    source = 'hopeless = 1  # a hopeless case\ntext = f"in the making: {hopeless}"\n'
    uses = {entry["example"]: entry["use"] for entry in ENTRIES}
    assert find(source, "module.py") == [(1, uses["5 % hopeless questions"]), (2, uses["a run in the making"])]


def test_a_sentence_may_have_35_words() -> None:
    words = " ".join(["word"] * 35)
    assert find(f"First line.\n\n- {words[:-5]}.\n") == []
    assert find(f"First line.\n\n{words} and\none more.\n") == [(3, check_prose.TOO_LONG)]


def test_tables_headings_and_separate_items_are_not_joined_into_sentences() -> None:
    item = "- " + " ".join(["word"] * 20)
    assert find(f"{item}\n{item}\n\n| {' | '.join(['word'] * 40)} |\n") == []


def test_a_marked_line_is_ignored() -> None:
    assert find("He looks after the house. <!-- prose: ignore -->") == []
    assert find("x = 1  # a hopeless case, prose: ignore\n", "module.py") == []


def test_long_sentences_can_be_accepted(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(" ".join(["word"] * 40), encoding="utf-8")
    assert [check_prose.main([str(page), *option]) for option in ([], ["--any-length"])] == [1, 0]


@pytest.mark.parametrize(("limit", "code"), [(0, 1), (1, 0)])
def test_the_exit_code_depends_on_the_number_of_hits(
    limit: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("A run in the making.\n", encoding="utf-8")
    assert check_prose.main([str(tmp_path), "--max", str(limit)]) == code
    assert capsys.readouterr().out.splitlines() == [
        f"{page}:1: 'in the making' -> in progress",
        "1 hits in 1 texts",  # prose: ignore
    ]


def test_the_help_text_of_every_command_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_prose, "_help_text", lambda *command: "help")
    names = {name for name, _ in check_prose.read_help_texts()}
    assert {"harness-uq  --help", "harness-uq estimate --help", "harness-uq lm-eval --help"} <= names


def test_it_runs_as_a_script() -> None:
    program = [sys.executable, str(ROOT / "tools" / "check_prose.py"), str(ROOT / "SECURITY.md"), "--max", "99"]
    assert subprocess.run(program, check=True, capture_output=True, text=True).stdout.endswith("in 1 texts\n")
