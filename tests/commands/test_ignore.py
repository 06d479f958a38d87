"""`--ignore`, and the messages that the commands emit."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness_uq_formats.messages
import harness_uq_inspect.messages
import harness_uq_lm_eval.messages
from harness_uq.commands.console import ignoring
from harness_uq.commands.load import reading_errors, report_read_errors
from harness_uq.commands.main import main
from harness_uq.io.readers import Reading
from harness_uq.messages import CORE
from harness_uq.messages.catalogue.estimation import FEW_CLUSTERS
from tests.conftest import ROOT

KINDS = {
    kind.code: kind
    for catalogue in (
        CORE,
        harness_uq_lm_eval.messages.CATALOGUE,
        harness_uq_inspect.messages.CATALOGUE,
        harness_uq_formats.messages.CATALOGUE,
    )
    for kind in catalogue.types
}
PAGE = (ROOT / "docs/reference/messages.md").read_text(encoding="utf-8")


def clustered_table(path: Path, n_right: int) -> str:
    """A table of four clusters of ten questions."""
    lines = [f"q{i},{int(i % 10 < n_right)},p{i // 10}\n" for i in range(40)]
    path.write_text("id,correct,passage\n" + "".join(lines))
    return str(path)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return clustered_table(tmp_path / "new.csv", 6)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    """`printed(*arguments)` gives the exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments])
        return code, *capsys.readouterr()

    return run


def messages_in(document: object) -> Iterator[dict[str, object]]:
    """All messages of a JSON document."""
    if isinstance(document, dict):
        if {"code", "severity", "text"} <= document.keys():
            yield document
        for item in document.values():
            yield from messages_in(item)
    elif isinstance(document, list):
        for item in document:
            yield from messages_in(item)


def without_marks(document: object) -> object:
    """The document with no message marked as ignored."""
    if isinstance(document, dict):
        return {name: without_marks(item) for name, item in document.items() if name != "ignored"}
    return [without_marks(item) for item in document] if isinstance(document, list) else document


COMMANDS = [("estimate",), ("rank",), ("report",), ("plan", "--width", "0.1")]


@pytest.mark.parametrize("command", COMMANDS)
def test_json_marks_ignored_messages_and_changes_nothing_else(printed, table, tmp_path, command):
    name, *options = command
    arguments = (name, table, clustered_table(tmp_path / "old.csv", 7), "--cluster", "passage", *options)
    code, text, _ = printed(*arguments, "--format", "json")
    plain = json.loads(text)
    codes = sorted({str(one["code"]) for one in messages_in(plain) if one["severity"] in ("note", "warning")})
    assert codes
    again, text, _ = printed(*arguments, "--format", "json", "--ignore", ",".join(codes))
    document = json.loads(text)
    assert again == code
    assert {one.get("ignored", False) for one in messages_in(document) if one["code"] in codes} == {True}
    assert without_marks(document) == plain


@pytest.mark.parametrize("label", ["UQ140", "few-informative-clusters", "uq140"])
def test_an_ignored_message_is_not_printed(printed, table, label):
    arguments = ("estimate", table, "--cluster", "passage", "--notes")
    assert "(UQ140)" in printed(*arguments)[1]
    code, text, _ = printed(*arguments, "--ignore", label)
    assert code == 0
    assert "(UQ140)" not in text


def test_the_settings_file_and_the_option_both_count(printed, table, tmp_path):
    (tmp_path / "harness-uq.toml").write_text('ignore = ["few-informative-clusters"]\n')
    text = printed("estimate", table, "--cluster", "passage", "--ignore", "UQ157", "--format", "json")[1]
    ignored = {one["code"] for one in messages_in(json.loads(text)) if one.get("ignored")}
    assert ignored == {"UQ140", "UQ157"}


def test_a_gate_decides_as_without_the_option(printed, table, tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("".join(Path(table).read_text().splitlines(keepends=True)[:39]))
    arguments = ("gate", table, "--baseline", str(old), "--margin", "0.01")
    code, text, _ = printed(*arguments, "--format", "json")
    plain = json.loads(text)
    codes = {str(one["code"]) for one in messages_in(plain["gates"])}
    assert codes
    again, text, _ = printed(*arguments, "--format", "json", "--ignore", ",".join(codes))
    assert again == code
    assert all(one["ignored"] for one in messages_in(json.loads(text)["gates"]))
    assert without_marks(json.loads(text)) == plain


def test_a_warning_of_reading_is_not_printed(capsys):
    reading = Reading((), warnings=(("new.csv", FEW_CLUSTERS(n_clusters=3, clusters="passage")),))
    assert report_read_errors(reading) == 0
    assert "(UQ104)" in capsys.readouterr().err
    with ignoring(["few-clusters"]):
        assert report_read_errors(reading) == 0
        assert [one["ignored"] for one in reading_errors(reading)] == [True]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("label", [kind.code for kind in KINDS.values() if kind.severity in ("refusal", "error")][::20])
def test_refusals_and_errors_cannot_be_ignored(printed, table, label):
    code, text, errors = printed("estimate", table, "--ignore", label)
    assert (code, text) == (2, "")
    assert f"{label} {KINDS[label].name} cannot be ignored" in errors


def test_an_unknown_message_is_an_error_with_the_nearest_name(printed, table):
    code, text, errors = printed("estimate", table, "--ignore", "few-cluster")
    assert (code, text) == (2, "")
    assert "'few-cluster'. Did you mean 'few-clusters'?" in errors


@pytest.mark.parametrize("label", ["LM205", "IN206"])
def test_messages_of_the_adapters_can_be_ignored(printed, table, label):
    assert printed("estimate", table, "--ignore", label)[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        *(("estimate",), ("rank",), ("report",), ("effects",), ("plan", "--width", "0.1")),
        *(("estimate", "--uq", "nothing"), ("estimate", "--method", "wilson"), ("estimate", "--estimand", "pass@2")),
    ],
)
def test_every_message_is_in_the_catalogue_and_on_the_page(printed, lm_eval_runs, inspect_runs, command):
    name, *options = command
    _, text, _ = printed(name, str(lm_eval_runs), str(inspect_runs), *options, "--format", "json")
    messages = list(messages_in(json.loads(text)))
    assert messages
    for message in messages:
        kind = KINDS[str(message["code"])]
        assert message["name"] == kind.name
        assert f"### {kind.code} {kind.name}" in PAGE
