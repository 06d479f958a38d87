"""The examples of the page on own metrics run."""

import doctest
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "howto" / "own-metric.md"


def test_the_examples_in_python_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(PAGE.read_text(), {}, PAGE.name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_functions_of_the_task_file_compute_the_metrics() -> None:
    code = re.search(r"```python\n(def .*?)```", PAGE.read_text(), re.DOTALL)
    assert code
    names: dict[str, object] = {}
    exec(code[1], names)
    process, weighted, trimmed = names["process"], names["weighted"], names["trimmed_mean"]
    assert callable(process)
    assert callable(weighted)
    assert callable(trimmed)
    assert process({"weight": 3}, [(-2.0,), (-1.0,)]) == {"weighted_acc": (0.0, 3), "trimmed": 3.0}
    assert weighted([(1.0, 3), (0.0, 1)]) == pytest.approx(0.75)
    assert trimmed([1000.0, -1000.0, *[2.0] * 8]) == pytest.approx(2.0)
