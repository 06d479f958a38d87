"""The committed calibration: its page, the published figures, and the rules that defaults keep."""

import json
from pathlib import Path

import pytest

import benchmarks.calibration
from benchmarks.calibration.published_coverage import FIGURES
from benchmarks.calibration.results import CalibrationReport, read_report
from benchmarks.calibration.summary import page
from benchmarks.calibration.verdicts import FALSE_ALARMS, FLOOR, alarms, coverage_of, default_of, judge_method
from tests.schemas import schema

FOLDER = Path(benchmarks.calibration.__file__).parent
DOCS = FOLDER.parents[1] / "docs"


@pytest.fixture(scope="module")
def report() -> CalibrationReport:
    return read_report(DOCS / "calibration/results.json")


def test_the_page_is_generated_from_the_results(report):
    assert (DOCS / "calibration.md").read_text(encoding="utf-8") == page(report)


def test_the_schema_describes_the_results() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    text = (FOLDER / "calibrate-v1.json").read_text(encoding="utf-8")
    assert text == schema("calibrate", CalibrationReport, {})
    declared = json.loads(text)
    for definition in declared["$defs"].values():
        definition["additionalProperties"] = False
    jsonschema.validate(json.loads((DOCS / "calibration/results.json").read_text(encoding="utf-8")), declared)


def test_defaults_raise_no_alarm(report):
    assert alarms(report.cells, report.uniformity, report.reliability) == []


# Bowyer et al. (2025), Figures 3 and 5: 100 values of theta, so that the figures themselves err by up to .02
@pytest.mark.parametrize("key", FIGURES)
def test_published_coverage_is_reproduced(report, key):
    (cell,) = [cell for cell in report.cells if cell.key == key]
    for method, theirs in FIGURES[key].items():
        result = cell.methods[method]
        ours, error = result.coverage[cell.at_nominal], result.mc_error[cell.at_nominal]
        assert abs(ours - theirs) <= 0.015 + 2 * error, (method, ours, theirs)


@pytest.mark.parametrize("family", ["factorial", "hard"])
def test_clustered_default_covers_90_percent_or_warns(report, family):
    cells = [cell for cell in report.cells if cell.setting == "clustered" and cell.family == family]
    for cell in cells:
        error = default_of(cell).mc_error[cell.at_nominal]
        assert coverage_of(cell) + 2 * error >= FLOOR or default_of(cell).warned >= 0.5, cell.label


@pytest.mark.parametrize("setting", ["independent", "paired", "paired_clustered"])
def test_comparisons_raise_few_false_alarms(report, setting):
    verdict = judge_method(setting, report.cells)
    assert verdict.false_alarms is not None
    assert verdict.false_alarms <= FALSE_ALARMS
