"""Determine the clusters of the questions that runs share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from harness_uq.alignment.match_questions import CommonQuestions
from harness_uq.data.task_log import IntArray
from harness_uq.estimation.estimate import clusters_of
from harness_uq.messages import HasMessages, Message, distinct
from harness_uq.plugins.manager import Plugins
from harness_uq.structure.clusters import codes_of
from harness_uq.structure.task_groups import joined_labels
from harness_uq.structure.types import Clusters, StructureOptions


@dataclass(frozen=True, slots=True, eq=False)
class CommonClusters(HasMessages):
    """Clusters of the common questions.

    Attributes
    ----------
    labels : int (n_questions,); None if all questions are independent
    key : name of the field that defines the clusters, None without labels
    messages : notes and warnings
    """

    labels: IntArray | None
    key: str | None
    messages: tuple[Message, ...] = ()

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None without labels."""
        return None if self.labels is None else len(np.unique(self.labels))


def common_clusters(common: CommonQuestions, options: StructureOptions, plugins: Plugins) -> CommonClusters:
    """Find the clusters of the common questions; if the logs disagree, clusters that overlap in any log are merged."""
    cluster_sets = [clusters_of(entry.log, options, plugins) for entry in common.entries]
    messages = distinct(message for clusters in cluster_sets for message in clusters.warnings)
    present = _codes(common, cluster_sets)
    if not present:
        return CommonClusters(None, None, messages)
    labels = reduce(joined_labels, np.unique(present, axis=0))
    if len(np.unique(labels)) == len(labels):
        return CommonClusters(None, None, messages)
    return CommonClusters(
        labels, next((clusters.key for clusters in cluster_sets if clusters.key), "cluster"), messages
    )


def _codes(common: CommonQuestions, cluster_sets: Sequence[Clusters]) -> list[IntArray]:
    """Return cluster codes, from 0, of the common questions in each log that has clusters."""
    codes = [codes_of(entry.data, clusters) for entry, clusters in zip(common.entries, cluster_sets, strict=True)]
    code_rows = zip(codes, common.rows, strict=True)
    return [np.unique(code[rows], return_inverse=True)[1] for code, rows in code_rows if code is not None]
