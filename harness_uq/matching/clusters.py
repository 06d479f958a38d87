"""The clusters that hold on the questions that runs share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from harness_uq.estimating.analysis import clusters_of
from harness_uq.logs.data import IntArray
from harness_uq.matching.questions import CommonQuestions
from harness_uq.plugins.manager import Plugins
from harness_uq.structure.clusters import codes_of
from harness_uq.structure.facts import Clusters, StructureOptions
from harness_uq.structure.task_groups import joined_labels


@dataclass(frozen=True, slots=True, eq=False)
class CommonClusters:
    """Clusters of the common questions.

    Attributes
    ----------
    labels : int (n_questions,); None where every question is independent
    key : what groups them, None without labels
    warnings : for the report
    """

    labels: IntArray | None
    key: str | None
    warnings: tuple[str, ...] = ()

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None without labels."""
        return None if self.labels is None else len(np.unique(self.labels))


def common_clusters(common: CommonQuestions, options: StructureOptions, plugins: Plugins) -> CommonClusters:
    """Clusters of the common questions; where the logs disagree, whatever any of them puts together."""
    found = [clusters_of(entry.log, options, plugins) for entry in common.entries]
    warnings = tuple(dict.fromkeys(text for clusters in found for text in clusters.warnings))
    present = _codes(common, found)
    if not present:
        return CommonClusters(None, None, warnings)
    labels = reduce(joined_labels, np.unique(present, axis=0))
    if len(np.unique(labels)) == len(labels):
        return CommonClusters(None, None, warnings)
    return CommonClusters(labels, next((clusters.key for clusters in found if clusters.key), "cluster"), warnings)


def _codes(common: CommonQuestions, found: Sequence[Clusters]) -> list[IntArray]:
    """Codes from 0 of the common questions in each log that knows clusters."""
    codes = [codes_of(entry.data, clusters) for entry, clusters in zip(common.entries, found, strict=True)]
    held = zip(codes, common.rows, strict=True)
    return [np.unique(code[rows], return_inverse=True)[1] for code, rows in held if code is not None]
