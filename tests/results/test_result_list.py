"""Lists of results: still lists, with forms for notebooks, data frames and papers."""

import json
import re
import subprocess
import sys

import pytest

from harness_uq import ResultList, compare, detect_structure, effects, estimate, gate, plan, rank, report
from harness_uq.messages.errors import DataError, MissingDependencyError
from tests.data.toy import task_log
from tests.results import factory as make

LOGS = [task_log([1, 0, 1, 1, 0, 1] * 5, system="a"), task_log([1, 0, 0, 1, 0, 0] * 5, system="b")]
SEEDS = [task_log(scores, system=f"m (seed={i})") for i, scores in enumerate(([1, 0, 1] * 9, [1, 1, 0] * 9))]
KINDS = {
    "estimate": lambda: estimate(LOGS),
    "compare": lambda: compare([LOGS[0]], [LOGS[1]]),
    "rank": lambda: rank(LOGS),
    "plan": lambda: plan(LOGS, width=0.1),
    "effects": lambda: effects(SEEDS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_lists_with_forms(kind):
    rows = KINDS[kind]()
    assert isinstance(rows, ResultList)
    assert rows == list(rows)
    assert "<table>" in rows._repr_html_()
    assert rows.to_latex().count(r"\begin{table}") == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_hold_the_flat_records(kind, library):
    pytest.importorskip(library)
    rows = KINDS[kind]()
    frame = rows.to_frame(library)
    assert type(frame).__module__.partition(".")[0] == library
    assert len(frame) == len(rows.to_dicts())
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert names == list(rows.to_dicts()[0])
    assert len(rows[0].to_frame(library)) == len(rows[0].to_records())


@pytest.mark.parametrize(
    "result",
    [
        *make.estimates(),
        make.comparison(),
        make.ranking(),
        make.ranking().systems[0],
        make.plan(),
        make.effects(),
        make.history(),
        make.interval(0.2, 0.4),
        detect_structure(LOGS)[0],
        detect_structure(LOGS)[0].summaries()[0],
        gate(LOGS[0], LOGS[1], margin=0.1),
        report(LOGS),
    ],
    ids=lambda result: type(result).__name__,
)
def test_a_result_is_one_line_at_the_prompt_and_a_table_when_printed(result):
    line = repr(result)
    assert line.startswith(f"{type(result).__name__}(")
    assert "\n" not in line
    assert len(line) < 400
    assert not {"Source(", "messages=", "posterior="} & set(line.replace("(", "( ").replace("=", "= ").split())
    has_table = hasattr(type(result), "KIND") or type(result).__name__ == "Report"
    assert ("\n" in str(result)) == (has_table and type(result).__name__ != "StructureSummary")


def test_the_line_of_a_result_names_it_with_its_value_and_interval():
    assert repr(make.interval(0.25, 0.5)) == "Interval(low=0.25, high=0.5, level=0.95, kind='hdi')"
    (row,) = estimate(LOGS[0])
    assert repr(row).startswith(
        "Estimate(system='a', task='toy', metric='acc', filter='none', value=0.666667, interval=["
    )
    assert repr(make.unknown()).endswith("status='not_estimable')")


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_printed_as_the_table_of_the_command(kind):
    rows = KINDS[kind]()
    printed, shown = (re.split(r"\n.*\((?:--|\.)", text)[0] for text in (rows.render("table"), str(rows)))
    assert shown == printed
    assert repr(rows) == f"<ResultList of {len(rows)} {type(rows[0]).__name__} results; print() shows the table>"


def test_lists_without_results_say_so():
    assert repr(ResultList()) == "<ResultList of no results>"
    assert str(ResultList()) == "[]"


@pytest.mark.parametrize(("missing", "library"), [((), "pandas"), (("pandas",), "polars")])
def test_the_first_installed_library_makes_the_data_frame(missing, library):
    pytest.importorskip(library)
    hide = f"import sys; sys.modules.update(dict.fromkeys({missing})); from harness_uq import estimate_scores"
    show = "print(type(estimate_scores([1, 0, 1, 1]).to_frame()).__module__)"
    done = subprocess.run([sys.executable, "-c", f"{hide}; {show}"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(library)


def test_without_a_library_for_data_frames_the_extra_is_named(monkeypatch):
    import narwhals

    def unavailable(*_: object, **__: object) -> None:
        raise ImportError

    monkeypatch.setattr(narwhals, "from_dict", unavailable)
    with pytest.raises(MissingDependencyError, match=r"pip install 'harness-uq\[tables\]'"):
        ResultList(make.estimates()).to_frame()


def test_pandas_is_the_default():
    pd = pytest.importorskip("pandas")
    assert isinstance(ResultList(make.estimates()).to_frame(), pd.DataFrame)
    assert len(ResultList().to_frame()) == 0


def test_an_unknown_library_is_an_error():
    with pytest.raises(DataError, match="Did you mean 'pandas'"):
        ResultList(make.estimates()).to_frame("panda")


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "modin", None)
    with pytest.raises(MissingDependencyError, match="pip install modin"):
        ResultList(make.estimates()).to_frame("modin")


@pytest.mark.parametrize("kind", KINDS)
def test_dictionaries_are_the_json_documents(kind):
    rows = KINDS[kind]()
    assert rows.to_dict() == json.loads(rows.to_json())


@pytest.mark.parametrize("kind", KINDS)
def test_lists_and_their_results_have_a_figure(kind):
    figure = pytest.importorskip("matplotlib.figure").Figure
    rows = KINDS[kind]()
    assert isinstance(rows.plot(), figure)
    assert isinstance(rows[0].plot(), figure)


def test_a_gate_and_a_report_have_the_same_forms():
    figure = pytest.importorskip("matplotlib.figure").Figure
    decision, summary = gate(LOGS[0], LOGS[1], margin=0.1), report(LOGS)
    assert {"schema", "estimates", "comparisons", "rankings", "errors"} <= summary.to_dict().keys()
    assert summary.to_dict() == json.loads(summary.render("json"))
    assert "<title>Mine</title>" in summary.render(title="Mine")
    for result, n_rows in ((decision, 1), (summary, 2)):
        assert isinstance(result.plot(title="Mine"), figure)
        assert len(result.to_frame("polars")) == n_rows
        assert "<table>" in result._repr_html_()


def test_the_structure_of_logs_has_the_same_forms():
    pytest.importorskip("polars")
    rows = detect_structure(LOGS)
    assert rows.to_dict() == json.loads(rows.to_json())
    assert list(rows.to_frame("polars")["system"]) == ["a", "b"]
    assert rows[0].to_dict()["structures"] == rows.to_dict()["structures"][:1]
    assert all("<table>" in one._repr_html_() for one in (rows, rows[0]))
    with pytest.raises(DataError, match="no figure of TaskStructure"):
        rows.plot()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ResultList(), "no results"),
        (ResultList([*KINDS["plan"](), *KINDS["plan"]()]), "one result of type Plan; got 2"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(rows, message):
    with pytest.raises(DataError, match=message):
        rows.plot()


def test_figures_are_an_attribute_of_the_package():
    loads = "import sys, harness_uq; harness_uq.plots; print('matplotlib' in sys.modules, harness_uq.plots.plot_forest)"
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False <function plot_forest")


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
