"""`--percent`, and the note on scores that look like per cent."""

from dataclasses import replace

import numpy as np
import pytest

from harness_uq import estimate_scores
from harness_uq.commands.main import main
from harness_uq.messages.catalogue.score_structure import PERCENT_SCORES, RANGE_UNKNOWN
from harness_uq.output.table_options import PERCENT_NOTE, in_percent
from harness_uq.results.documents import lists_of, result_set
from harness_uq.results.result_list import ResultList
from tests.output.test_terminal_widths import SYSTEMS, overall
from tests.results import factory as make


def scaled(result: object) -> object:
    ((scaled,),) = in_percent(result_set(lists_of([result]))).lists.values()
    return scaled


def test_scores_from_0_to_1_are_multiplied_by_100() -> None:
    row, twice = make.estimate(successes=160, n=200), scaled(make.estimate(successes=160, n=200))
    assert twice.value == pytest.approx(80)
    assert (twice.interval.low, twice.std_error) == pytest.approx((100 * row.interval.low, 100 * row.std_error))
    assert twice.harness.std_error == pytest.approx(100 * row.harness.std_error)


def test_differences_overall_results_and_rankings_are_multiplied_by_100() -> None:
    one, result, ranking = make.comparison(), overall(3, 3, SYSTEMS[0]), make.ranking(3)
    assert scaled(one).difference.interval.high == pytest.approx(100 * one.difference.interval.high)
    assert (scaled(one).value_a, scaled(one).margin) == pytest.approx((100 * one.value_a, 100 * one.margin))
    assert scaled(result).systems[1].value == pytest.approx(77)
    assert scaled(result).differences[0].interval.low == pytest.approx(-7)
    assert scaled(ranking).systems[0].interval.width == pytest.approx(100 * ranking.systems[0].interval.width)


@pytest.mark.parametrize(
    "row",
    [
        make.perplexity(),
        replace(make.estimate(), structure=make.structure(score_type="real", bounds=None)),
        replace(make.estimate(), structure=make.structure(score_type="graded", bounds=(0.0, 5.0))),
        replace(make.comparison(), value_a=8.2, value_b=7.9),
    ],
)
def test_other_scores_are_not_changed(row: object) -> None:
    assert scaled(row) == row


@pytest.mark.parametrize(("name", "value"), [("table", "80.00"), ("markdown", "80.00"), ("latex", "80.0")])
def test_tables_in_per_cent_have_two_decimals_less_and_a_note(name: str, value: str) -> None:
    text = str(ResultList([make.estimate(successes=160, n=200)]).render(name, percent=True))
    assert value in text
    assert PERCENT_NOTE in " ".join(text.split())


def test_formats_for_programs_have_no_per_cent(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("system,task,question,score\n" + "".join(f"a,t,{k},{k % 2}\n" for k in range(20)))
    assert main(["estimate", str(table), "--percent", "--format", "json"]) == 2
    assert "--percent" in capsys.readouterr().err
    assert main(["estimate", str(table), "--percent"]) == 0
    assert " 50.00 " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ([0, 35.5, 60, 100], PERCENT_SCORES.code),
        ([12.5, 35.5, 60, 100], PERCENT_SCORES.code),
        ([0, 35.5, 60, 80], PERCENT_SCORES.code),
        ([12.5, 35.5, 60, 80], RANGE_UNKNOWN.code),
        ([0, 35.5, 60, 101], RANGE_UNKNOWN.code),
        ([-1, 35.5, 60, 100], RANGE_UNKNOWN.code),
        ([0, 1, 2, 5], RANGE_UNKNOWN.code),
    ],
)
def test_scores_that_look_like_per_cent_without_a_range_have_a_note(scores: list[float], code: str) -> None:
    codes = {message.code for message in estimate_scores(np.tile(scores, 5)).messages}
    assert codes & {PERCENT_SCORES.code, RANGE_UNKNOWN.code} == {code}


def test_a_declared_range_has_no_note() -> None:
    row = estimate_scores(np.tile([0.0, 35.5, 100.0], 5), range=(0, 100))
    assert PERCENT_SCORES.code not in {message.code for message in row.messages}
