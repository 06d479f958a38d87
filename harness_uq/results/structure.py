"""The detected structure of one metric of a task, as a result."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness_uq.results.declaration import Declared

ScoreType: TypeAlias = Literal["binary", "graded", "bounded", "real", "record"]


@dataclass(frozen=True, slots=True)
class StructureSummary(Declared):
    """Clusters, trials and score type of one task, metric and filter, with the evidence.

    Attributes
    ----------
    n_questions, n_trials, n_scores : scored questions, largest number of trials per question, scores
    n_clusters, cluster_key, cluster_evidence : clusters, the field that defines them, and how that is known
    score_type, score_evidence : type of the scores, and how that is known
    path : the log
    group_fields : fields by which `--by` can divide the questions into groups
    """

    system: str
    task: str
    metric: str
    filter: str
    n_questions: int
    n_trials: int
    n_scores: int
    n_clusters: int | None
    cluster_key: str | None
    cluster_evidence: str
    score_type: ScoreType
    score_evidence: str
    path: str
    group_fields: tuple[str, ...] = ()
