"""Further runs of the baseline's system, from which a gate learns which questions are flaky."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from harness_uq.comparison.sides import Side
from harness_uq.data.selection import ScoreKey, SelectedRun, copied_logs, superseded_attempts
from harness_uq.data.task_log import Scores, Source
from harness_uq.errors import DataError
from harness_uq.messages.catalogue.comparison import HISTORY_RUNS_USED, NO_HISTORY_RUNS
from harness_uq.messages.message import Message
from harness_uq.options import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.readers import task_logs
from harness_uq.plugins.runs import Runs
from harness_uq.structure.selection import Selection
from harness_uq.structure.structure import StructureOptions
from harness_uq.trends.history import runs_at_level_of


@dataclass(frozen=True, slots=True, eq=False)
class HistoryRuns:
    """Further runs of the baseline's system by task, metric and filter.

    Attributes
    ----------
    by_score : the runs that no change of the score separates from the baseline
    n_omitted : largest number of other runs of one score
    """

    by_score: Mapping[ScoreKey, list[SelectedRun]] = field(default_factory=dict)
    n_omitted: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """A note on the numbers of runs; none without a history."""
        if not self.by_score:
            return ()
        n_runs = max(map(len, self.by_score.values()))
        others = "1 other run is" if self.n_omitted == 1 else f"{self.n_omitted} other runs are"
        omitted = f"; {others} omitted because of a change of the score"
        return (HISTORY_RUNS_USED(n_runs=n_runs, omitted=omitted if self.n_omitted else ""),)

    @classmethod
    def read(
        cls,
        runs: Runs,
        baseline: Side,
        compared: Collection[Source],
        plugins: Plugins,
        structure: StructureOptions,
        selection: Selection,
    ) -> "HistoryRuns":
        """Read the runs of the baseline's system except those that the gate compares, whose logs are `compared`.

        Raises
        ------
        DataError : if there is none
        """
        logs = [log for log in task_logs(runs, plugins, selection) if not log.subtasks]
        sources = [*compared, *(log.source for log in logs)]
        copies = {*copied_logs(sources), *superseded_attempts(sources)}
        found: dict[ScoreKey, list[SelectedRun]] = {}
        for log in logs:
            for data in log.data if log.system == baseline.system and log.source not in copies else ():
                if isinstance(data, Scores):
                    found.setdefault((log.task, data.metric, data.filter), []).append(SelectedRun(log, data))
        by_score, n_omitted = dict[ScoreKey, list[SelectedRun]](), 0
        for key, entries in found.items():
            if (run := baseline.chosen.get(key)) is None:
                continue
            own = run.log.source
            others = [one for one in entries if one.log.source == own or one.log.source not in compared]
            by_score[key] = runs_at_level_of(run, others, Options(structure=structure), plugins)
            n_omitted = max(n_omitted, sum(one.log.source != own for one in others) - len(by_score[key]))
        if not any(by_score.values()) and not n_omitted:
            systems = sorted({log.system for log in logs}) or ["none"]
            raise DataError(NO_HISTORY_RUNS(system=baseline.system, systems=systems))
        return cls(by_score, n_omitted)
