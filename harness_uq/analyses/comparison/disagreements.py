"""The questions on which two systems disagree."""

import numpy as np

from harness_uq.analyses.comparison.flipped_questions import QuestionEvidence
from harness_uq.data.panel import Panel, pair_panel
from harness_uq.data.selection import higher_is_better
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Scores
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.sides import Side, common_keys
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError
from harness_uq.options import Options
from harness_uq.results.comparison import Disagreement, Disagreements


def disagreements(
    a: Runs, b: Runs, n: int, options: Options | None = None, *, plugins: Plugins | None = None
) -> list[Disagreements]:
    """Find the questions on which two systems differ most, for every task, metric and filter with question scores.

    `a`, `b`: as in `compare`. `n`: maximum number of questions per task, metric and filter. Questions are ordered by
    the size of the difference; among equal differences, those on which A is worse come first. If B has several right or
    wrong answers to each question, the questions with the strongest evidence for a difference come first. Raises
    LogError, DataError or NotEstimableError as for `compare`.
    """
    offered, chosen = plugins or load_plugins(), options or Options()
    side_a, side_b = (
        Side.read(runs, name, offered, StructureOptions(use_samples=True)) for runs, name in ((a, "A"), (b, "B"))
    )
    found = []
    for key_a, key_b in common_keys(side_a, side_b)[0]:
        mine, theirs = side_a.chosen[key_a], side_b.chosen[key_b]
        if mine.log.subtasks or not (isinstance(mine.data, Scores) and isinstance(theirs.data, Scores)):
            continue
        try:
            found.append(_of(pair_panel(mine, theirs, chosen.structure, offered), n))
        except (DataError, NotEstimableError, StructureError):
            continue  # `compare` reports why the questions do not match
    return found


def _of(panel: Panel, n: int) -> Disagreements:
    log, data = panel.runs[0].log, panel.runs[0].data
    sign = 1.0 if higher_is_better(log, data.metric) else -1.0
    difference = sign * panel.differences
    evidence = QuestionEvidence.of(panel)
    changes = None if evidence is None else evidence.changes
    strength = np.abs(difference) if changes is None else changes.probability
    order = np.lexsort((difference, -np.abs(difference), -strength))
    worst = [int(i) for i in order if difference[i]][:n]
    return Disagreements(
        task=log.task,
        metric=data.metric,
        filter=data.filter,
        n_questions=len(difference),
        n_a_better=int(np.sum(difference > 0)),
        n_b_better=int(np.sum(difference < 0)),
        questions=tuple(
            Disagreement(
                id=log.questions.ids[panel.rows[0][i]],
                value_a=float(panel.means[0, i]),
                value_b=float(panel.means[1, i]),
                probability=None if changes is None else float(changes.probability[i]),
                is_flaky=None if changes is None or evidence is None else evidence.is_flaky(i),
            )
            for i in worst
        ),
    )
