"""Draw the plots of docs/howto/gallery.md: `python docs/draw_gallery.py docs/images/gallery`."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples" / "audit")]

import make_results  # noqa: E402

from harness_uq import Options, estimate, plan, plots, rank, read_table  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(results: Path) -> Iterator[tuple[str, "Figure"]]:
    """Name and picture, by the function that draws it, of a table of results."""
    reading = [log for log in read_table(results) if log.task == "reading"]
    (ranking,) = rank(reading)
    first, last = reading[0], reading[-1]
    (pilot,) = plan([first, last], Options(difference=0.05))
    yield "gradient_intervals", plots.gradient_intervals(estimate(reading[:6]))
    yield "pairwise_probabilities", plots.pairwise_probabilities(ranking)
    yield "precision_curve", plots.precision_curve(pilot)
    yield "power_curve", plots.power_curve(pilot, [0.03, 0.05, 0.1])


def main(folder: Path) -> None:
    """Write a PNG for each figure."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        results = Path(temporary, "results.csv")
        make_results.write(results)
        for name, figure in figures(results):
            figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
