"""The answer stands before the table, and a reason below it is said once for all tasks that it holds of."""

from dataclasses import replace

from harness_uq.messages import mark_ignored
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.output.sanitize import markdown_paragraph
from harness_uq.results.comparison import Comparison, comparison_answer, reasons
from harness_uq.results.report_page import headlines
from tests.message_checks import made
from tests.output.rendering import render
from tests.results import factory as make


def row(task: str, verdict: str = "undecided", low: float = -0.05, high: float = 0.05, **other: object) -> Comparison:
    base = make.comparison(task=task, verdict=verdict, text=f"sentence on {task}.")
    assert base.difference is not None
    interval = replace(base.difference.interval, low=low, high=high)
    fields = {"margin": 0.0, **other}
    return replace(base, difference=replace(base.difference, interval=interval), **fields)


MANY = [
    row("a", "better", 0.01, 0.1),
    row("b"),
    row("c", n_additional_questions=900),
    row("d", n_additional_questions=70),
]


def test_the_only_row_is_the_answer_with_its_next_step() -> None:
    assert comparison_answer([row("a", next_step="Ask 9 more.")]) == "sentence on a. Ask 9 more."
    assert reasons([row("a")]) == []


def test_a_few_rows_are_told_one_by_one() -> None:
    assert comparison_answer(MANY[:2]).splitlines() == ["a: sentence on a.", "b: sentence on b."]
    assert reasons(MANY[:2]) == []


def test_the_undecided_task_that_takes_least_is_named() -> None:
    text = comparison_answer(MANY)
    assert "Of 4 tasks, 1 is better and 3 are undecided. This holds after correction for 4 scores. " in text
    assert text.endswith(" d needs the fewest additional questions to be decided: about 70.")


def test_the_verdicts_that_do_not_hold_after_correction_are_named() -> None:
    rows = [*MANY, row("e", "better", 0.01, 0.1, verdict_corrected="undecided"), row("f", "worse", -0.1, -0.01)]
    text = comparison_answer(rows)
    assert "3 are undecided and 1 is worse. 2 of these 3 hold after correction for 6 scores; e does not. " in text
    alone = [replace(MANY[0], verdict_corrected="undecided"), *MANY[1:]]
    assert "After correction for 4 scores, a is undecided." in comparison_answer(alone)
    assert "Verdict" in render(rows, "table")
    assert "Alone" not in render(rows, "table")


DEPENDS = VERDICT_DEPENDS_ON_MISSING(
    conclusion="verdict", n_missing=9, dropped="better", worst="undecided", open="undecided"
)
CAVEAT = "The verdict depends on how missing scores are counted."


def test_a_verdict_that_depends_on_missing_scores_says_so_before_the_next_step() -> None:
    only = row("a", next_step="Ask 9 more.", messages=(DEPENDS,))
    assert comparison_answer([only]) == f"sentence on a. {CAVEAT} Ask 9 more."
    assert comparison_answer([only, row("b")]).splitlines()[1] == "b: sentence on b."
    corrected = row("a", "better", verdict_corrected="undecided", messages=(DEPENDS,))
    told = comparison_answer([corrected, row("b")]).splitlines()[0]
    assert told == f"a: sentence on a. After correction for all comparisons, this is undecided. {CAVEAT}"
    ignored = replace(only, messages=mark_ignored(only.messages, frozenset({"UQ207"})))
    assert comparison_answer([ignored]) == "sentence on a. Ask 9 more."


def test_of_many_tasks_those_whose_verdict_depends_on_missing_scores_are_named() -> None:
    many = [replace(MANY[0], messages=(DEPENDS,)), MANY[1], replace(MANY[2], messages=(DEPENDS,)), MANY[3]]
    sentence = "The verdicts on a, c depend on how missing scores are counted."
    assert f"3 are undecided. This holds after correction for 4 scores. {sentence} d needs" in comparison_answer(many)
    assert any(sentence in line.text for line in headlines([], [*many, row("e")], []))


def test_a_reason_is_said_once_for_all_tasks_that_it_holds_of() -> None:
    names = ("a", "b", "c", "d")
    (said,) = reasons([row(name, "undecided", -0.005, 0.1, margin=0.01) for name in names])
    assert said.startswith("a, b, c and 1 more: undecided: not worse by more than the margin")


def test_an_interval_that_contains_both_signs_needs_no_reason() -> None:
    assert reasons(MANY) == []


def test_a_margin_adds_what_is_shown_of_it() -> None:
    rows = [
        row("over", "better", 0.02, 0.1, margin=0.01),
        row("partly", "better", 0.005, 0.1, margin=0.01),
        row("alike", "equivalent", -0.005, 0.005, margin=0.01),
        row("inferior", "worse", -0.1, -0.02, margin=0.01),
        row("not worse", "undecided", -0.005, 0.1, margin=0.01),
        row("not better", "undecided", -0.1, 0.005, margin=0.01),
    ]
    assert reasons(rows) == [
        "over: better by more than the margin of 0.01.",
        "partly: better, but possibly by less than the margin of 0.01.",
        "alike: equivalent: the difference is smaller than the margin of 0.01. Choose by cost, speed or another test.",
        "inferior: worse by more than the margin of 0.01.",
        "not worse: undecided: not worse by more than the margin of 0.01, but the data do not show whether it is "
        "better.",
        "not better: undecided: not better by more than the margin of 0.01, but the data do not show whether it is "
        "worse.",
    ]


def test_where_less_is_better_the_margin_lies_on_the_other_side() -> None:
    rows = [*MANY, row("loss", "worse", 0.02, 0.1, margin=0.01, higher_is_better=False)]
    assert reasons(rows)[-1] == "loss: worse by more than the margin of 0.01."


def test_what_cannot_be_estimated_says_why() -> None:
    failed = replace(row("e"), difference=None, messages=(made("Other."), made("No scores.", "refusal")))
    assert reasons([*MANY, failed])[-1] == "e: undecided, not estimable: No scores."


def test_the_answer_opens_the_page_in_text_and_markdown() -> None:
    assert render(MANY, "table").startswith(comparison_answer(MANY))
    assert f"**{markdown_paragraph(comparison_answer(MANY))}**" in render(MANY, "markdown")
