"""Draw the packages of harness_uq and their imports: `python docs/draw_layers.py docs/images/layers.svg`.

Each row is a layer of the import contract in pyproject.toml, each box a package or module, and each arrow the imports
of one package by another. All arrows point down.
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


def layers() -> list[list[str]]:
    """Packages of each layer, top first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (rows,) = (contract["layers"] for contract in contracts if contract.get("containers") == [PACKAGE])
    return [[name.strip() for name in layer.split("|")] for layer in rows]


def imports() -> Counter[tuple[str, str]]:
    """Number of imports of each package by each other package."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    counts: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for target in graph.find_modules_directly_imported_by(module):
            pair = package_of(module), package_of(target)
            if all(pair) and pair[0] != pair[1]:
                counts[pair] += 1
    return counts


def package_of(module: str) -> str:
    """First part of a module's name below `harness_uq`; empty for `harness_uq` itself."""
    return module.split(".")[1] if "." in module else ""


def source() -> str:
    """Hash of the layers and imports that the picture shows."""
    return hash_of(str(layers()), str(sorted(imports())))


def main(target: str) -> None:
    """Draw to a file."""
    mpl.rcParams["svg.hashsalt"] = PACKAGE
    rows = layers()
    figure, axes = plt.subplots(figsize=(9, 0.72 * len(rows)), layout="constrained")
    positions = {}
    for height, names in enumerate(reversed(rows)):
        for at, name in enumerate(names):
            positions[name] = (3.0 * (at - (len(names) - 1) / 2), float(height))
            _box(axes, name, *positions[name])
    for (importer, imported), n in sorted(imports().items()):
        if importer in positions and imported in positions:
            _arrow(axes, positions[importer], positions[imported], n)
    half = max(x for x, _ in positions.values()) + 1.4
    axes.set_xlim(-half, half)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axis("off")
    figure.savefig(target, metadata={"Date": None, "Source": source()})


def _box(axes: Axes, name: str, x: float, y: float) -> None:
    box = FancyBboxPatch((x - 1.2, y - 0.3), 2.4, 0.6, boxstyle="round,pad=0.02", fc="#eef3f8", ec="#33597a", zorder=2)
    axes.add_patch(box)
    axes.text(x, y, name, ha="center", va="center", fontsize=10, fontweight="bold", zorder=3)


def _arrow(axes: Axes, source: tuple[float, float], goal: tuple[float, float], n: int) -> None:
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
