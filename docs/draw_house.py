"""Draw the rooms of harness_uq and what imports what: `python docs/draw_house.py docs/images/house.svg`.

A floor is a layer of the contract in pyproject.toml, a box a room, an arc the imports of one room by another; all arcs
lead down.
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
from pictures import hash_of

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


def source() -> str:
    """Hash of what the picture shows: rooms and which imports which."""
    return hash_of(str(floors()), str(sorted(imports())))


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
    for (room, below), n in imports().items():
        if room in places and below in places:
            _arc(axes, places[room], places[below], n)
    half = max(x for x, _ in places.values()) + 1.4
    axes.set_xlim(-half, half)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axis("off")
    figure.savefig(target, metadata={"Date": None, "Source": source()})


def _box(axes: Axes, room: str, x: float, y: float) -> None:
    box = FancyBboxPatch((x - 1.2, y - 0.3), 2.4, 0.6, boxstyle="round,pad=0.02", fc="#eef3f8", ec="#33597a", zorder=2)
    axes.add_patch(box)
    axes.text(x, y, room, ha="center", va="center", fontsize=10, fontweight="bold", zorder=3)


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
