"""The posterior of the difference of two overall scores, from the questions of all tasks.

It equals that of the row in `compare` that has the same weights: the row of a group, or of all questions. These rows
pool the questions of all tasks, so that their intervals include the variation between the differences on the tasks.
With right-or-wrong answers this variation is small, and questions are pooled with any weights: a task of a few
questions with a large weight then counts as few questions.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from harness_uq.analyses.overall.combine import SAME_VALUE, Combination
from harness_uq.analyses.overall.rank import group_estimate
from harness_uq.analyses.rank import JointTasks
from harness_uq.data.panel import pool
from harness_uq.data.selection import ScoreKey
from harness_uq.inference.contrasts import Contrast, independent_contrast, paired_contrast
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import Options
from harness_uq.results.estimate import Posterior
from harness_uq.stats.common.posterior import ScaledPosterior
from harness_uq.stats.common.student import StudentPosterior

_Found: TypeAlias = tuple[Contrast, tuple[float, float]]


@dataclass(frozen=True, slots=True, eq=False)
class DifferencePosteriors:
    """Posteriors of differences of overall scores.

    `tasks`: joint scores of the tasks. `combination`: tasks and weights. `group`: the group whose weights the tasks
    have; None for other weights.
    """

    tasks: JointTasks
    combination: Combination
    group: ScoreKey | None
    options: Options

    def find(self, names: tuple[str, str], value: float) -> Contrast | None:
        """Return the posterior of the difference of two systems.

        If the questions of a task do not match, the estimates of a group count as independent, as in its row. `names`:
        the systems A and B. `value`: their difference A - B. Returns: The posterior; None if questions cannot be
        pooled, such as for new tasks, in the scope `benchmark` and with human labels.
        """
        if (
            self.options.generalizes_over_tasks
            or self.options.scope != "population"
            or self.tasks.runs.labels is not None
        ):
            return None
        try:
            found = self._paired(names) or self._independent(names)
        except (DataError, NotEstimableError):
            return None
        if found is None:
            return None
        finding, (a, b) = found
        total = float(self.combination.coefficients.sum())
        is_same = abs(total * (a - b) - value) <= SAME_VALUE * max(1.0, abs(value))
        low, high = finding.posterior.interval(self.options.level)
        return replace(finding, posterior=_scaled(finding.posterior, total)) if is_same and low < high else None

    def _paired(self, names: tuple[str, str]) -> _Found | None:
        """Pool the questions of all tasks that have a weight; None if that is not possible."""
        if self.options.method == "independent":
            return None
        members, weights = [], []
        for part, weight in zip(self.combination.parts, self.combination.coefficients.tolist(), strict=True):
            panel = self.tasks.joint[part].panel
            if panel is None:
                return None
            if weight > 0:
                members.append(panel.pair(*(panel.systems.index(name) for name in names)))
                weights.append(weight)
        is_row = self.group is not None or self.options.weights == "questions" or len(members) == 1
        if len({member.bounds for member in members}) > 1 or not (
            is_row or all(member.is_single_binary for member in members)
        ):
            return None
        pair = pool(members, (np.array(weights) / sum(weights)).tolist())
        value_a, value_b = pair.scores.tolist()
        return paired_contrast(pair, self.options.method), (value_a, value_b)

    def _independent(self, names: tuple[str, str]) -> _Found | None:
        """Subtract the independent estimates of a group."""
        if self.group is None:
            return None
        a, b = (group_estimate(self.tasks, name, self.group, self.options.estimation) for name in names)
        if a is None or b is None or a.value is None or b.value is None:
            return None
        return independent_contrast(a, b), (a.value, b.value)


def _scaled(posterior: Posterior, factor: float) -> Posterior:
    """Return the distribution of `factor` times the parameter."""
    if abs(factor - 1) <= 1e-12:
        return posterior
    if isinstance(posterior, StudentPosterior):
        return StudentPosterior(factor * posterior.mean, factor * posterior.std_error, posterior.df)
    return ScaledPosterior(posterior, factor)
