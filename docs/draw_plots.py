"""Draw the plots of docs/howto/plots.md: `python docs/draw_plots.py docs/images/plots`."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from harness_uq import (  # noqa: E402
    compare,
    estimate,
    plots,
    rank,
)
from harness_uq.data.task_log import log_of_array  # noqa: E402
from harness_uq.plugin_api import MetadataField  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness_uq.data.task_log import TaskLog

SUBJECTS = (
    *("anatomy", "astronomy", "biology", "chemistry", "economics", "ethics", "geography", "history", "law", "logic"),
    *("mathematics", "medicine", "physics", "psychology"),
)
SIZES = {"2x3": (2, 3), "12x30": (12, 30)}
SYSTEMS = [
    *("org/model-7b-instruct", "org/model-70b-instruct", "org/model-13b-base", "mini", "large-2026", "nano"),
    *("pro-preview", "org/model-7b-base", "reasoner-8b", "coder-32b", "flash", "ultra-405b"),
]
TASKS = [
    *("arc_challenge", "gsm8k", "boolq", "drop", "hellaswag", "ifeval", "piqa", "winogrande", "truthfulqa", "gpqa"),
    *(f"mmlu_{subject}" for subject in ("algebra", "anatomy", "astronomy", "biology", "chemistry", "ethics", "logic")),
    *(f"mmlu_{subject}" for subject in ("computer_security", "conceptual_physics", "electrical_engineering")),
    *(f"bbh_{subject}" for subject in ("boolean_expressions", "causal_judgement", "date_understanding", "hyperbaton")),
    *("musr_murder_mysteries", "musr_team_allocation", "math_geometry", "math_number_theory", "race", "triviaqa"),
]


def scores(n_systems: int, n_tasks: int) -> "list[TaskLog]":
    """Scores of a Rasch model with abilities of systems, which vary between tasks, and difficulties of questions."""
    rng = np.random.default_rng(26)
    abilities, logs = rng.normal(0, 0.5, n_systems), []
    for task in TASKS[:n_tasks]:
        difficulties = rng.normal(rng.normal(-0.6, 1.0), 1.2, rng.integers(60, 300))
        for system, ability in zip(SYSTEMS, abilities, strict=False):
            chance = 1 / (1 + np.exp(difficulties - ability - rng.normal(0, 0.2)))
            log = log_of_array((rng.random(len(chance)) < chance).astype(float), system, clusters=None, metric="acc")
            logs.append(replace(log, task=task))
    return logs


def drawings(n_systems: int, n_tasks: int) -> "Iterator[tuple[str, Axes | list[Axes]]]":
    """Name and axes of each plot."""
    logs = scores(n_systems, n_tasks)
    by_system = {system: [log for log in logs if log.system == system] for system in SYSTEMS[:n_systems]}
    baseline, *others = by_system
    board, differences = rank(logs, overall=True).overall, compare(logs, baseline=baseline, overall=True).overall
    if board is None or differences is None:
        raise RuntimeError("no overall result")
    estimates = estimate(logs)
    comparisons = [
        row for system in others for row in compare(by_system[system], by_system[baseline]) if row.task != "overall"
    ]
    noise = np.random.default_rng(1).normal(0, 0.8, n_systems)
    costs = {one.system: np.exp(8 * one.value - 4 + e) for one, e in zip(board.systems, noise, strict=True)}
    cost = {system: (c, 0.9 * c, 1.15 * c) for system, c in costs.items()}
    yield "forest", plots.plot_forest([board, *estimates])
    yield "difference", plots.plot_difference([differences, *comparisons])
    yield "ranks", plots.plot_ranks(board)
    yield "ranks_by_task", plots.plot_ranks([board, *rank(logs)])
    yield "heatmap", plots.plot_heatmap([board, *estimates])
    yield "pareto", plots.plot_pareto(board, cost, resource_name="cost per question", score_name="overall score")


def by_subject(system: str, ability: float, weak: str) -> "TaskLog":
    """Scores of one task whose questions belong to 14 subjects."""
    rng, noise = np.random.default_rng(7), np.random.default_rng(len(system))
    sizes, effects = rng.integers(40, 160, len(SUBJECTS)), rng.normal(0, 0.6, len(SUBJECTS))
    codes = np.repeat(np.arange(len(SUBJECTS)), sizes)
    logits = ability + effects[codes] + rng.normal(0, 1.2, len(codes)) - 0.8 * (codes == SUBJECTS.index(weak))
    log = log_of_array(
        (noise.random(len(codes)) < 1 / (1 + np.exp(-logits))).astype(float), system, clusters=None, metric="acc"
    )
    fields = {"subject": MetadataField(codes, values=SUBJECTS)}
    return replace(log, task="exam", questions=replace(log.questions, fields=fields))


def main(folder: Path) -> None:
    """Write a PNG for each plot and size."""
    folder.mkdir(parents=True, exist_ok=True)
    for size, (n_systems, n_tasks) in SIZES.items():
        for name, axes in drawings(n_systems, n_tasks):
            figure = (axes[0] if isinstance(axes, list) else axes).figure
            figure.savefig(folder / f"{name}_{size}.png", dpi=75, metadata={"Software": None})
    large, small = by_subject("large", 1.2, "law"), by_subject("small", 0.8, "ethics")
    for name, breakdown in (
        ("groups", estimate(large, by="subject")[0]),
        ("group_differences", compare(large, small, by="subject")[0]),
    ):
        plots.plot_groups(breakdown).figure.savefig(folder / f"{name}.png", dpi=75, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
