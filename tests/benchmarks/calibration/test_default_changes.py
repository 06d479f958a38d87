"""Former defaults beside those of now."""

from dataclasses import replace

from benchmarks.calibration.default_changes import FORMER, before_and_after, beside
from benchmarks.calibration.results import CalibrationReport, CellResult, MethodSummary
from benchmarks.calibration.summary import page


def cell(d: str, coverage: float, width: float, warned: float = 0.0, family: str = "few") -> CellResult:
    result = MethodSummary(200, (coverage,), (width,), warned=warned)
    return CellResult(
        f"nested/{family}/{d}", "nested", family, d, {"d": d}, False, False, (0.95,), 200, 0, "0", {"bayes": result}
    )


NOW = [cell("1", 0.94, 0.3), cell("2", 0.89, 0.5, warned=0.8), cell("new", 0.95, 0.1)]
EARLIER = [cell("1", 0.94, 0.3), cell("2", 0.80, 0.4), cell("gone", 0.5, 0.1)]


def test_only_other_results_of_the_same_cells_are_put_beside():
    found = beside(NOW, EARLIER)
    assert [FORMER in one.methods for one in found] == [False, True, False]
    assert found[1].methods[FORMER] == EARLIER[1].methods["bayes"]


def test_a_family_is_a_row_of_what_was_and_what_is():
    more = beside([cell("3", 0.96, 0.1)], [cell("3", 0.85, 0.2, warned=1.0)])
    (row,) = before_and_after([*beside(NOW, EARLIER), *more])
    # widths (.5 + .1) / (.4 + .2); before .80 without and .85 with a warning, now .89 with one
    assert row == ("nested: few", "2", "0.825 → 0.925", "0.800 → 0.890", "2 → 1", "1 → 0", "1.00")


def test_the_page_says_which_settings_are_of_an_earlier_run_and_shows_former_defaults():
    report = CalibrationReport("standard", 0, {}, "2026-02-02", 1.0, tuple(beside(NOW, EARLIER)), ())
    assert "from an earlier run are shown for" not in page(report)
    text = page(replace(report, earlier={"iid": "2026-01-01", "f1": "2026-01-01"}))
    assert (
        "from an earlier run are shown for the settings whose methods have not changed: iid, f1 (2026-01-01)." in text
    )
    assert "## Changes of defaults" in text
    assert "## Changes of defaults" not in page(replace(report, cells=tuple(NOW)))
