"""Lists of results: still lists, with forms for notebooks, data frames and papers."""

import pytest

from harness_uq import ResultList, compare, estimate, plan, rank
from harness_uq.errors import DataError, MissingDependencyError
from harness_uq.results import result_list as module
from tests.data.toy import task_log
from tests.results import factory as make

LOGS = [task_log([1, 0, 1, 1, 0, 1] * 5, system="a"), task_log([1, 0, 0, 1, 0, 0] * 5, system="b")]
KINDS = {
    "estimate": lambda: estimate(LOGS),
    "compare": lambda: compare([LOGS[0]], [LOGS[1]]),
    "rank": lambda: rank(LOGS),
    "plan": lambda: plan(LOGS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_lists_with_forms(kind):
    rows = KINDS[kind]()
    assert isinstance(rows, ResultList)
    assert rows == list(rows)
    assert "<table>" in rows._repr_html_()
    assert rows.to_latex().count(r"\begin{table}") == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_hold_the_flat_records(kind, library):
    pytest.importorskip(library)
    rows = KINDS[kind]()
    frame = getattr(rows, f"to_{library}")()
    assert len(frame) == len(rows.to_dicts())
    assert list(frame.columns) == list(rows.to_dicts()[0])


def test_a_missing_library_is_named(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", absent)
    with pytest.raises(MissingDependencyError, match="pip install polars"):
        ResultList(make.estimates()).to_polars()


def test_no_rows_have_every_form():
    assert ResultList().to_latex() == ""
    assert ResultList()._repr_html_() == ""


def test_a_layout_that_a_kind_lacks_is_an_error():
    with pytest.raises(DataError, match="Layout 'grid' is not available for comparisons"):
        ResultList(make.comparisons()).to_latex(layout="grid")


def test_options_reach_the_table():
    text = ResultList(make.estimates()).to_latex(layout="grid", digits=1, caption="Mine", label="tab:mine")
    assert r"\caption{Mine\label{tab:mine}}" in text
    assert r"0.8 \newline" in text
