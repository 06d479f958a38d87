"""The parts of the logs that an analysis uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness_uq.data.clusters import missing_field
from harness_uq.data.selection import LogFilter
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import TaskLog
from harness_uq.messages.catalogue.score_structure import UNKNOWN_NAME
from harness_uq.messages.errors import StructureError


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of the logs to use, and the names in keywords that must exist in the logs."""

    filter: LogFilter
    structure: StructureOptions | None = None  # clusters and ranges that were given as keywords
    tasks: tuple[str, ...] = ()  # for which a margin was given
    resources: bool = False  # whether to read tokens, cost and time, too
    prices: str | None = None  # file of prices of tokens; None for public prices
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)  # names of the columns of tables by role

    def of(self, logs: Sequence[TaskLog]) -> Sequence[TaskLog]:
        """The selected logs. Raises DataError if a pattern matches nothing, and StructureError if the logs lack a task,
        metric or cluster field that a keyword names.
        """
        if not logs:
            return logs
        self.filter.check(logs)
        selected = self.filter.of(logs)
        if self.structure is not None:
            metrics = (data.metric for log in selected for data in log.data)
            self.structure.check_names((log.task for log in selected if not log.subtasks), metrics)
            if wrong := missing_field(self.structure, selected):
                raise StructureError(wrong)
        known = {"overall", *(log.task for log in selected)}
        if unknown := sorted(set(self.tasks) - known):
            raise StructureError(UNKNOWN_NAME(kind="task", name=unknown[0], known=sorted(known)))
        return selected
