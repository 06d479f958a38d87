"""The pictures of README and docs are what `python docs/pictures.py` draws."""

import importlib
import re
from contextlib import chdir
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from harness_uq.commands.main import main
from tests.conftest import ROOT

pytest.importorskip("matplotlib")
IMAGES = ROOT / "docs" / "images"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    """`script("draw_layers")` is that module of docs."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


def test_every_picture_has_a_command_that_draws_it(script) -> None:
    assert {path.name for path in IMAGES.iterdir()} == set(script("pictures").COMMANDS)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"\]\([^)]*images/([^/)]+)", page.read_text("utf-8"))}
    assert shown == set(script("pictures").COMMANDS)


def test_the_diagram_of_layers_is_current(script) -> None:
    pytest.importorskip("grimp")
    drawn = script("pictures").stamped(IMAGES / "layers.svg")
    assert drawn == script("draw_layers").source(), "run: python docs/pictures.py layers.svg"


def test_the_picture_of_scores_before_and_after_is_current(tmp_path: Path, script) -> None:
    script("draw_before_after").main(tmp_path / "drawn.svg")
    kept = (IMAGES / "before-after.svg").read_text("utf-8")
    assert (tmp_path / "drawn.svg").read_text("utf-8") == kept, "run: python docs/pictures.py before-after.svg"


@pytest.mark.harness
def test_the_picture_of_the_report_shows_what_the_report_says(ready: Path, script) -> None:
    pytest.importorskip("playwright")
    draw = script("draw_report")
    with chdir(ready):
        assert main(draw.COMMAND) == 0
    source = draw.source((ready / "report.html").read_text("utf-8"))
    assert script("pictures").stamped(IMAGES / "report.png") == source, "run: python docs/pictures.py report.png"


@pytest.mark.slow
@pytest.mark.harness
def test_the_picture_of_the_viewer_shows_the_scores_that_the_run_gives(tmp_path: Path, script) -> None:
    pytest.importorskip("playwright")
    draw = script("draw_viewer")
    source = draw.source(draw.run(tmp_path))
    assert script("pictures").stamped(IMAGES / "inspect-view.png") == source, (
        "run: python docs/pictures.py inspect-view.png"
    )


def test_the_plot_of_the_first_comparison_is_current(tmp_path: Path, script) -> None:
    from matplotlib.image import imread

    script("draw_comparison").main(tmp_path / "drawn.png")
    drawn, kept = imread(tmp_path / "drawn.png"), imread(IMAGES / "comparison.png")
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 0.01, "run: python docs/pictures.py comparison.png"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gallery", "plots"])
def test_plots_are_what_is_drawn(name: str, tmp_path: Path, script) -> None:
    pytest.importorskip("pyarrow")
    from matplotlib.image import imread

    script(f"draw_{name}").main(tmp_path)
    pictures = {path.name for path in tmp_path.iterdir()}
    assert pictures == {path.name for path in (IMAGES / name).iterdir()}
    for picture in sorted(pictures):
        drawn, kept = imread(tmp_path / picture), imread(IMAGES / name / picture)
        assert drawn.shape == kept.shape, picture
        # another release of matplotlib may set letters a little differently
        assert np.abs(drawn - kept).mean() < 0.01, f"{picture}: run: python docs/pictures.py {name}"


def test_a_stamp_is_read_as_it_was_written(tmp_path: Path, script) -> None:
    from PIL import Image

    pictures = script("pictures")
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    assert pictures.stamped(tmp_path / "a.png") == ""
    pictures.stamp(tmp_path / "a.png", pictures.hash_of("a", "b"))
    assert pictures.stamped(tmp_path / "a.png") == pictures.hash_of("a", "b")
