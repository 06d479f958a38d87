"""Warnings and notes name whom they are about: no more than it takes, and no less."""

from dataclasses import replace

import pytest

from harness_uq.messages.catalogue.estimation import BINOMIAL_UPPER_BOUND, NON_RANDOM_SUBSET
from harness_uq.output.table_notes import footnotes, warnings_of
from harness_uq.results.estimate import Estimate
from tests.message_checks import made
from tests.output.rendering import render, report_html
from tests.results import factory as make

SAID = (made("The run did not finish."),)


def row(system: str, *, task: str = "t", metric: str = "acc", says: bool = False, day: int = 1) -> Estimate:
    source = replace(make.SOURCE, time=f"2025-05-0{day}T10:00:00")
    found = make.estimate(system=system, task=task, metric=metric, messages=SAID if says else ())
    return replace(found, source=source)


def who(*rows: Estimate) -> str:
    ((found, _),) = warnings_of(rows)
    return found


def test_one_of_two_systems_is_named() -> None:
    assert who(row("a", says=True), row("b")) == "t of a"


def test_a_system_is_not_named_where_all_share_what_is_said() -> None:
    assert who(row("a", says=True), row("b", says=True)) == "t"
    assert who(row("a", says=True), row("b", says=True), row("a", task="u"), row("b", task="u")) == "t"


def test_the_only_system_is_not_named() -> None:
    assert who(row("a", says=True), row("a", task="u")) == "t"


def test_what_all_tasks_share_names_none() -> None:
    assert who(*(row("a", task=task, says=True) for task in ("t", "u", "v", "w"))) == "all tasks"


def test_tasks_of_the_same_systems_stand_together() -> None:
    said = [row("a", task=task, says=True) for task in ("t", "u")] + [row("b", task="v", says=True)]
    silent = [row("b", task=task) for task in ("t", "u")] + [row("a", task="v")]
    assert who(*said, *silent) == "t, u of a; v of b"


def test_more_than_three_similar_notes_are_one_that_names_the_others() -> None:
    def notes(n: int) -> list[str]:
        said = [made(f"The column x{k} is ignored.", "note") for k in range(n)]
        return footnotes([make.estimate(task=f"t{k}", messages=(one,)) for k, one in enumerate(said)])["Notes"]

    assert len(notes(3)) == 3
    (text,) = notes(5)
    assert text.startswith("t0: The column x0 is ignored. 4 similar notes concern t1, t2, t3 and 1 more. (")


def test_one_of_two_metrics_is_named() -> None:
    assert who(row("a", says=True), row("a", metric="f1")) == "t, acc"
    assert who(row("a", says=True), row("a", metric="f1", says=True)) == "t"


def test_one_of_two_runs_of_a_system_is_named() -> None:
    assert who(row("a", says=True), row("a", day=2)) == "t of a (run 2025-05-01 10:00)"
    assert who(row("a", says=True), row("a", day=2, says=True), row("b")) == "t of a"


def test_a_plan_from_numbers_has_nobody_to_name() -> None:
    plan = replace(make.plan(), task="", metric="", filter="none", messages=SAID)
    assert footnotes([plan]) == {"Warnings": ["The run did not finish. (XX001)"], "Notes": []}


def test_a_comparison_names_the_metric() -> None:
    rows = [
        replace(make.comparison(), metric=metric, messages=(made(f"Error of {metric}.", "note"),))
        for metric in ("f1", "mcc")
    ]
    task = rows[0].task
    assert footnotes(rows)["Notes"] == [f"{task}, f1: Error of f1. (XX001)", f"{task}, mcc: Error of mcc. (XX001)"]


def test_numbers_that_differ_between_tasks_become_ranges() -> None:
    sizes = {"t": (20, 250), "u": (50, 250), "v": (30, 1319)}
    rows = [
        replace(row("a", task=task), messages=(NON_RANDOM_SUBSET(n_questions=n, n_all=n_all),))
        for task, (n, n_all) in sizes.items()
    ]
    ((subject, text),) = warnings_of([*rows, row("a", task="w")])
    assert subject == "t, u, v"
    assert text.startswith("The run covers only 20 to 50 of the benchmark's 250 to 1,319 questions, ")
    assert text.endswith("(UQ114)")


def test_messages_about_different_words_stay_separate() -> None:
    notes = [BINOMIAL_UPPER_BOUND(share=share, reason=reason) for share, reason in ((1.0, "a"), (0.2, "a"), (0.5, "b"))]
    rows = [replace(row("a", task=f"t{k}"), messages=(note,)) for k, note in enumerate(notes)]
    assert [text.partition(":")[0] for text in footnotes(rows)["Notes"]] == ["t0, t1", "t2"]
    assert "20 to 100 %" in footnotes(rows)["Notes"][0]


@pytest.mark.parametrize("name", ["table", "markdown", "latex", "html"])
def test_every_report_names_the_system(name: str) -> None:
    text = render([row("a", says=True), row("b")], name, detail="notes").replace("<b>", "").replace("</b>", "")
    assert "t of a: The run did not finish." in text


def test_the_page_says_once_what_scores_and_ranks_share() -> None:
    ranking = replace(make.ranking(2), task="t", messages=SAID)
    page = report_html([row("a", says=True), row("b")], (), [ranking])
    assert "1 warning<" in page
    assert "<b>t of a</b>" in page
