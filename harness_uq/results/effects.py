"""Variance components of the scores of one model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import Declared
from harness_uq.results.estimate import Interval


@dataclass(frozen=True, slots=True)
class Component:
    """Contribution of one source of variation to the variance of a single score.

    Attributes
    ----------
    name : a factor, an interaction such as `question × seed`, or `residual`
    n_levels : number of observed levels; of scores for the residual
    sd, sd_interval : standard deviation on the scale of the scores, with its interval
    share, share_interval : share of the variance of one score, in [0, 1], with its interval
    """

    name: str
    n_levels: int
    sd: float
    sd_interval: tuple[float, float]
    share: float
    share_interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effects(Declared, HasMessages):
    """Effects of crossed factors on the scores of one model.

    Attributes
    ----------
    model : the model, with the settings that all of its logs share
    task, metric, filter : the scores that are analyzed
    value : mean score
    interval : interval for the mean over new levels of the factors in `new`
    interval_questions_only : interval for the mean over new questions with the observed levels of all other factors
    new : factors to generalize over, whose observed levels are a sample
    unit : sampling unit of the questions: `question`, or the field that groups them
    n_questions, n_scores : number of questions that all logs share, and of their scores
    evidence : for each factor, where it was detected and its levels
    components : variance components from coarse to fine; the residual is last
    uncertainty : for each factor in `new`, its expected share of the variance of the mean
    not_identifiable : interactions that cannot be separated from the residual
    is_share : whether scores lie in [0, 1], so that differences are given in points
    sentence : the largest source of uncertainty and the effect of more levels, as text
    messages : notes and warnings
    """

    json_properties: ClassVar = ("status",)
    record_rows: ClassVar = "components"

    model: str
    task: str
    metric: str
    filter: str
    value: float
    interval: Interval
    interval_questions_only: Interval
    new: tuple[str, ...]
    unit: str
    n_questions: int
    n_scores: int
    evidence: Mapping[str, str]
    components: tuple[Component, ...]
    uncertainty: Mapping[str, float]
    not_identifiable: tuple[str, ...]
    is_share: bool
    sentence: str
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`: effects that cannot be estimated are an error."""
        return status_of(self.messages, has_result=True)
