"""Flat records for data frames, and results in a notebook."""

from dataclasses import replace

import pytest

from harness_uq.output.notebook import html_of
from harness_uq.results.result_list import ResultList
from tests.results import factory as make

RESULTS = {
    "estimate": make.clustered(),
    "comparison": make.comparison(),
    "ranking": make.ranking(4),
    "plan": make.plan(),
}


def test_distances_of_the_ends_lead_back_to_the_interval():
    # inspect_viz 0.4.2 draws score - lower and score + upper
    records = ResultList([make.ceiling(), make.comparison()]).to_dicts()
    for record, name in zip(records, ("", "difference_"), strict=True):
        value = record[f"{name}value"]
        assert value - record[f"{name}interval_low_delta"] == pytest.approx(record[f"{name}interval_low"])
        assert value + record[f"{name}interval_high_delta"] == pytest.approx(record[f"{name}interval_high"])


def test_a_result_without_interval_has_the_same_columns():
    without = replace(make.comparison(), difference=None)
    rows = ResultList([make.ceiling(), make.unknown(), make.comparison(), without]).to_dicts()
    assert rows[0].keys() == rows[1].keys()
    assert rows[2].keys() == rows[3].keys()
    assert rows[1]["interval_low"] is None
    assert rows[3]["difference_interval_high_delta"] is None


def test_a_ranking_gives_a_record_a_system_and_a_plan_one_a_design():
    ranked, designs = ResultList([RESULTS["ranking"]]).to_dicts(), ResultList([RESULTS["plan"]]).to_dicts()
    assert [row["system"] for row in ranked] == [system.system for system in RESULTS["ranking"].systems]
    assert (ranked[0]["rank_interval_low"], ranked[0]["n_questions"]) == (1, 300)
    assert (ranked[3]["rank_set_low"], ranked[3]["rank_set_high"]) == RESULTS["ranking"].systems[3].rank_set
    assert ranked[0]["neighbours_undecided"] == 1
    assert [row["n_questions"] for row in designs if row["is_recommended"]] == [800]


@pytest.mark.parametrize("kind", RESULTS)
def test_every_cell_is_a_plain_value(kind):
    cells = [cell for row in RESULTS[kind].to_records() for cell in row.values()]
    assert all(isinstance(cell, str | int | float | None) for cell in cells)


@pytest.mark.parametrize("kind", RESULTS)
def test_every_result_shows_itself_in_a_notebook_with_its_texts_escaped(kind):
    shown = RESULTS[kind]._repr_html_()
    assert shown.startswith("<table>")
    assert "<base>" not in shown
    assert "None" not in shown
    assert ("&lt;base&gt;" in shown) == (kind in ("comparison", "ranking"))


def test_an_interval_is_written_with_its_level_and_kind():
    assert html_of(make.interval(0.5, 0.75).to_dict()) == "[0.5, 0.75] (95 %, hdi)"
