"""Select the runs of several systems, and infer their scores on each task jointly."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness_uq.data.match_questions import identical_pairs
from harness_uq.data.selection import ScoreKey, SelectedRun, higher_is_better, messages_of_systems, select_runs
from harness_uq.data.task_log import AggregateScore, Scores, TaskLog
from harness_uq.inference.evidence import OpenLogs, with_best_evidence
from harness_uq.inference.joint_posterior import JointPosterior, joint_posterior
from harness_uq.inference.labels import Human, labeled_posterior
from harness_uq.inference.scenarios import ExtremeRuns, OpenRanks, extreme_runs, open_ranks
from harness_uq.io.human_labels import human_labels, without_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import IDENTICAL_SYSTEMS, SINGLE_SYSTEM
from harness_uq.messages.errors import DataError, NotEstimableError, error_summary
from harness_uq.options import Options

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label


@dataclass(frozen=True, slots=True, eq=False)
class ComparableRuns:
    """The runs of several systems.

    Attributes
    ----------
    logs : all logs
    by_system : the data that represent each system
    by_key : the data of each task, metric and filter that at least two systems share
    extremes : the same runs with extreme scores of the trials without a score; empty if all trials have one
    labels : human labels that correct the scores; None if there are none
    """

    logs: Sequence[TaskLog]
    by_system: Mapping[str, Mapping[ScoreKey, SelectedRun]]
    by_key: Mapping[ScoreKey, Sequence[SelectedRun]]
    extremes: ExtremeRuns = field(default_factory=dict)
    labels: Human | None = None

    def is_higher_better(self, key: ScoreKey) -> bool:
        """Whether higher scores are better."""
        return higher_is_better(self.by_key[key][0].log, key[1])


@dataclass(frozen=True, slots=True, eq=False)
class JointTasks:
    """Joint inference about the scores of several systems on each task, metric and filter.

    Attributes
    ----------
    runs : the runs
    joint : joint scores by task, metric and filter; only of those for which they can be computed
    reasons : why there are none for the others
    plugins : the plugins that computed them
    open_ranks : rank sets for other scores of the trials without a score, of the tasks that have such trials
    """

    runs: ComparableRuns
    joint: Mapping[ScoreKey, JointPosterior]
    reasons: tuple[str, ...]
    plugins: Plugins
    open_ranks: Mapping[ScoreKey, OpenRanks] = field(default_factory=dict)


def comparable_runs(
    logs: Sequence[TaskLog],
    options: Options,
    plugins: Plugins,
    *,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
) -> ComparableRuns:
    """Select the runs that represent each system.

    Parameters
    ----------
    labels, inclusion_probabilities : human labels that correct the scores, as for `rank`

    Raises
    ------
    NotEstimableError : if all logs belong to one system
    DataError : if labels do not name the system
    LogError : if the file of labels cannot be read
    """
    if labels is not None:
        return _labeled_runs(logs, labels, inclusion_probabilities, options, plugins)
    read = with_best_evidence(logs, plugins, options.structure)
    by_system = select_runs(read)
    if len(by_system) == 1:
        raise NotEstimableError(SINGLE_SYSTEM(system=next(iter(by_system))))
    others = OpenLogs(logs, options.structure, plugins)
    has_missing = any(isinstance(data, Scores) and data.missing is not None for log in read for data in log.data)
    extremes = extreme_runs(others) if has_missing and others.are_open else {}
    return ComparableRuns(read, by_system, _by_key(by_system, read), extremes)


def _labeled_runs(
    logs: Sequence[TaskLog],
    labels: "str | Path | Sequence[Label]",
    inclusion_probabilities: str | None,
    options: Options,
    plugins: Plugins,
) -> ComparableRuns:
    graded = without_labels(logs, labels)
    runs, human = comparable_runs(graded, options, plugins), human_labels(labels, graded, inclusion_probabilities)
    by_system = {
        system: {key: entry for key, entry in by_key.items() if key[1] != human}
        for system, by_key in runs.by_system.items()
    }
    by_key = {key: entries for key, entries in runs.by_key.items() if key[1] != human}
    return ComparableRuns(runs.logs, by_system, by_key, labels=human)


def joint_tasks(
    runs: ComparableRuns, options: Options, plugins: Plugins, keys: Collection[ScoreKey] | None = None
) -> JointTasks:
    """Compute the joint scores of the tasks.

    Parameters
    ----------
    keys : tasks, metrics and filters; None for all
    """
    joint: dict[ScoreKey, JointPosterior] = {}
    open_of: dict[ScoreKey, OpenRanks] = {}
    reasons: list[str] = []
    for key, entries in runs.by_key.items():
        if keys is not None and key not in keys:
            continue
        try:
            scores = _joint(entries, runs, options, plugins)
            if (found := _open_ranks(key, scores, runs, options, plugins)) is not None:
                open_of[key] = found
            scores.intervals, scores.prob_positive  # noqa: B018 - a failure concerns this task only
            joint[key] = scores
        except (DataError, NotEstimableError) as error:
            reasons.append(f"metric {key[1]!r} of task {key[0]!r}: {error}")
        except Exception as error:
            reasons.append(f"metric {key[1]!r} of task {key[0]!r}: {error_summary(error)}")
    return JointTasks(runs, joint, tuple(reasons), plugins, open_of)


def _open_ranks(
    key: ScoreKey, joint: JointPosterior, runs: ComparableRuns, options: Options, plugins: Plugins
) -> OpenRanks | None:
    """Rank sets for other scores of the trials without a score; None if there are none.

    Raises
    ------
    NotEstimableError : if the policy is `bounds` and they cannot be computed
    """
    if not runs.extremes:
        return None
    try:
        return open_ranks(key, joint, runs.by_key[key], runs.extremes, options.estimation, plugins)
    except NotEstimableError:
        if options.structure.missing.has_bounds:
            raise
        return None


def _by_key(
    systems: Mapping[str, Mapping[ScoreKey, SelectedRun]], logs: Sequence[TaskLog]
) -> dict[ScoreKey, list[SelectedRun]]:
    """Return the data of the tasks that at least two systems were run on, and of groups of which only totals exist."""
    runs_by_key: dict[ScoreKey, list[SelectedRun]] = {}
    for system, by_key in systems.items():
        own = [log for log in logs if log.system == system]
        for key, entry in by_key.items():
            if not entry.log.subtasks or _has_only_totals(entry.log, own):
                runs_by_key.setdefault(key, []).append(entry)
    return {key: entries for key, entries in runs_by_key.items() if len(entries) > 1}


def _has_only_totals(group: TaskLog, logs: Sequence[TaskLog]) -> bool:
    members = [log for log in logs if log.task in group.subtasks]
    return all(isinstance(data, AggregateScore) for log in members for data in log.data)


def _joint(entries: Sequence[SelectedRun], runs: ComparableRuns, options: Options, plugins: Plugins) -> JointPosterior:
    if runs.labels is not None:
        joint: JointPosterior = labeled_posterior(
            entries, runs.labels, options.estimation, plugins, n_draws=options.n_draws
        )
    else:
        joint = joint_posterior(entries, options.estimation, plugins, logs=runs.logs, n_draws=options.n_draws)
    of_logs = messages_of_systems(entries, [entry.log.system for entry in entries], options.scope)
    identical = (
        IDENTICAL_SYSTEMS(systems=(first.log.system, second.log.system), n_questions=len(first.log.questions))
        for first, second in identical_pairs(entries)
    )
    joint.further_messages = (*of_logs, *identical)
    return joint
