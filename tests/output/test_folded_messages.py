"""Messages below text tables: named in one line, with a sentence if they change how a number is read."""

from dataclasses import replace

from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.messages.catalogue.estimation import FEW_CLUSTERS, FEW_EFFECTIVE_UNITS
from harness_uq.output.document import Cells, Document, Section
from harness_uq.output.terminal import documents_text
from tests.output.rendering import render
from tests.results import factory as make

FEW = FEW_CLUSTERS(n_clusters=3, clusters="passage")
UNITS = FEW_EFFECTIVE_UNITS(n_units=5, effective=2.0)
ROWS = [make.estimate(messages=(FEW, UNITS)), make.estimate(task="other", messages=(FEW,))]


def test_messages_are_named_in_one_line_and_those_that_matter_have_a_sentence() -> None:
    lines = render(ROWS, width=500).splitlines()
    assert lines[-1].startswith("2 warnings: few-clusters, few-effective-units (--notes)")
    sentence = FEW.text.partition(". ")[0]
    assert [line for line in lines if sentence in line] == [f"all tasks: {sentence}."]
    assert FEW.text not in "\n".join(lines)
    assert UNITS.text not in "\n".join(lines)


def test_notes_prints_all_messages_and_quiet_none() -> None:
    whole, brief, quiet = (render(ROWS, width=500, detail=detail) for detail in ("notes", "brief", "quiet"))
    assert f"- all tasks: {FEW.text} (UQ104)" in whole
    assert UNITS.text in whole
    assert "few-clusters" not in whole
    assert "few-clusters" in brief
    assert "Warnings" not in quiet
    assert "few-" not in quiet
    assert "Estimand" not in quiet
    assert brief.startswith(quiet)


def test_other_formats_print_all_messages_whatever_the_detail() -> None:
    for name in ("markdown", "csv", "json"):
        assert len({render(ROWS, name, detail=detail) for detail in ("notes", "brief", "quiet")}) == 1
    assert FEW.text in render(ROWS, "markdown")


def test_ignored_messages_are_not_counted() -> None:
    ignored = replace(ROWS[0], messages=(replace(FEW, is_ignored=True), UNITS))
    assert "1 warning: few-effective-units (--notes)" in render([ignored], width=120)


def test_at_most_three_sentences_are_printed_and_names_without_room_are_left_out() -> None:
    texts = [f"task {k}: {FEW.text} (UQ104)" for k in range(9)]
    notes = [f"{UNITS.text} (UQ109)", "A sentence without a code."]
    document = Document([Section("", [Cells("A", ["1"])])], {"Warnings": texts, "Notes": notes})
    lines = documents_text([document], RenderOptions(width=40)).splitlines()
    assert sum("is unreliable" in line for line in lines) == 3
    assert lines[-1] == "2 notes, 9 warnings: … (--notes)"
    assert documents_text([document], RenderOptions(width=70)).splitlines()[-1] == (
        "2 notes, 9 warnings: few-clusters, few-effective-units (--notes)"
    )


def test_a_sentence_of_the_headline_is_not_repeated() -> None:
    sentence = FEW.text.partition(". ")[0]
    document = Document([Section("", [Cells("A", ["1"])], answer=f"{sentence}.")], {"Warnings": [f"{FEW} (UQ104)"]})
    assert documents_text([document], RenderOptions(width=500)).count(sentence) == 1


def test_a_legend_that_several_tables_share_is_printed_once_below_the_last() -> None:
    section = Section("Title", [Cells("A", ["1"])], legend={"A": "A: first letter."})
    text = documents_text([Document([section]), Document([section])], RenderOptions(width=80))
    assert text.splitlines()[-1] == "A: first letter."
    assert text.count("first letter") == 1


def test_pipes_have_the_width_of_the_environment_or_100(monkeypatch) -> None:
    document = Document([Section("", [Cells("A", ["1"])], lines=["word " * 100])])
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, documents_text([document], RenderOptions()).splitlines())) <= 60
    monkeypatch.delenv("COLUMNS")
    assert 95 <= max(len(line.rstrip()) for line in documents_text([document], RenderOptions()).splitlines()) <= 100
