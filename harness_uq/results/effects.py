"""What the scores of one model depend on: a value."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness_uq.results.estimate import Interval
from harness_uq.results.notebook import NotebookTable


@dataclass(frozen=True, slots=True)
class Component:
    """What one source of variation contributes to a single score.

    Attributes
    ----------
    name : a factor, an interaction such as `question × seed`, or `residual`
    n_levels : levels seen; scores for the residual
    sd, sd_interval : on the scale of the scores
    share, share_interval : of the variance of one score, in [0, 1]
    """

    name: str
    n_levels: int
    sd: float
    sd_interval: tuple[float, float]
    share: float
    share_interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effects(NotebookTable):
    """Crossed effects on the scores of one model.

    Attributes
    ----------
    model, task, metric, filter : whose scores
    value : their plain mean
    interval : of the mean over new levels of `new`
    interval_alone : the same where only the questions are new, and these are the settings
    new : factors whose levels are a sample of those to come
    unit : what questions are drawn in: `question`, or the field that groups them
    n_questions, n_scores : questions that all logs share, and their scores
    evidence : by factor, where it was found and its values
    components : VarianceComponent rows, coarse to fine, the residual last
    uncertainty : by new factor, its expected share of the variance of the mean
    untold : interactions that cannot be told from the residual
    is_share : scores lie in [0, 1], so that differences are points
    sentence : whose the uncertainty is, and what more levels are worth
    notes, warnings : for the report
    """

    model: str
    task: str
    metric: str
    filter: str
    value: float
    interval: Interval
    interval_alone: Interval
    new: tuple[str, ...]
    unit: str
    n_questions: int
    n_scores: int
    evidence: Mapping[str, str]
    components: tuple[Component, ...]
    uncertainty: Mapping[str, float]
    untold: tuple[str, ...]
    is_share: bool
    sentence: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Plain values, as in the JSON form."""
        return {
            "model": self.model,
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "value": self.value,
            "interval": self.interval.to_dict(),
            "interval_alone": self.interval_alone.to_dict(),
            "new": list(self.new),
            "n_questions": self.n_questions,
            "n_scores": self.n_scores,
            "factors": dict(self.evidence),
            "components": [_component_dict(part) for part in self.components],
            "uncertainty": dict(self.uncertainty),
            "untold": list(self.untold),
            "sentence": self.sentence,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def _component_dict(part: Component) -> dict[str, object]:
    return {
        "name": part.name,
        "n_levels": part.n_levels,
        "sd": part.sd,
        "sd_low": part.sd_interval[0],
        "sd_high": part.sd_interval[1],
        "share": part.share,
        "share_low": part.share_interval[0],
        "share_high": part.share_interval[1],
    }
