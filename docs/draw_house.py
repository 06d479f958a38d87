"""Draw the rooms of harness_uq and what imports what: `python docs/draw_house.py docs/images/house.svg`.

A floor is a layer of the contract in pyproject.toml, a box a room with its modules and lines, an arc the imports of one
room by another; all arcs lead down.
"""

import sys
import tomllib
from collections import Counter
from pathlib import Path

import grimp
import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "harness_uq"


def floors() -> list[list[str]]:
    """Rooms of each layer, top first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract.get("containers") == [PACKAGE])
    return [[name.strip() for name in layer.split("|")] for layer in layers]


def imports() -> Counter[tuple[str, str]]:
    """Number of imports from each room into each other one."""
    graph = grimp.build_graph(PACKAGE)
    found: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for target in graph.find_modules_directly_imported_by(module):
            rooms = room_of(module), room_of(target)
            if all(rooms) and rooms[0] != rooms[1]:
                found[rooms] += 1
    return found


def room_of(module: str) -> str:
    """The part of a module's name that names its room; empty for the package itself."""
    return module.split(".")[1] if "." in module else ""


def size(room: str) -> str:
    """Modules and lines of a room."""
    path = ROOT / PACKAGE / room
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    n_lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return f"{len(files)} modules, {n_lines:,} lines" if len(files) > 1 else f"{n_lines:,} lines"


def main(target: str) -> None:
    """Draw to a file."""
    mpl.rcParams["svg.hashsalt"] = PACKAGE
    rows = floors()
    figure, axes = plt.subplots(figsize=(9, 0.72 * len(rows)), layout="constrained")
    places = {}
    for floor, rooms in enumerate(reversed(rows)):
        for at, room in enumerate(rooms):
            places[room] = (3.0 * (at - (len(rooms) - 1) / 2), float(floor))
            _box(axes, room, *places[room])
    for (source, goal), n in imports().items():
        if source in places and goal in places:
            _arc(axes, places[source], places[goal], n)
    axes.set_xlim(-5.4, 5.4)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axis("off")
    figure.savefig(target, metadata={"Date": None} if target.endswith(".svg") else None, dpi=120)


def _box(axes: Axes, room: str, x: float, y: float) -> None:
    box = FancyBboxPatch((x - 1.2, y - 0.3), 2.4, 0.6, boxstyle="round,pad=0.02", fc="#eef3f8", ec="#33597a", zorder=2)
    axes.add_patch(box)
    axes.text(x, y + 0.08, room, ha="center", va="center", fontsize=10, fontweight="bold", zorder=3)
    axes.text(x, y - 0.15, size(room), ha="center", va="center", fontsize=7, color="#444444", zorder=3)


def _arc(axes: Axes, source: tuple[float, float], goal: tuple[float, float], n: int) -> None:
    side = 1.2 if (source[1] + goal[1]) % 2 else -1.2
    ends = (source[0] + side, source[1]), (goal[0] + side, goal[1])
    bend = -0.25 if side > 0 else 0.25
    style = f"arc3,rad={bend}"
    arrow = FancyArrowPatch(
        *ends, connectionstyle=style, arrowstyle="-|>", mutation_scale=7, lw=0.3 + 0.05 * min(n, 30)
    )
    arrow.set(color="#8796a5", alpha=0.6, zorder=1)
    axes.add_patch(arrow)


if __name__ == "__main__":
    main(sys.argv[1])
