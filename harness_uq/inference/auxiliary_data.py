"""Estimate scores with data besides the logs: human labels, or runs of other systems on the whole benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness_uq.data.log_filter import Selection
from harness_uq.data.task_log import TaskLog
from harness_uq.inference.judge_correction import correct
from harness_uq.inference.subset import Probabilities, estimate_whole, read_probabilities
from harness_uq.io.human_labels import Label, check_systems, check_tasks, read_labels
from harness_uq.io.paths import is_file, is_remote
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import DataError, unknown_name
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate


@dataclass(frozen=True, slots=True)
class AuxiliaryData:
    """Data besides the logs that make an estimate more accurate.

    Attributes
    ----------
    labels : a CSV file of human labels, the metric of the logs that contains them, or labels
    reference_runs : runs of other systems on the whole benchmark
    inclusion_probabilities : with `reference_runs` the probability with which each question was drawn, by task and
        question id, or the file that `harness-uq subset` wrote; with a file of `labels` the name of its column with the
        probability of each label; None if all are equal
    """

    labels: str | Path | Sequence[Label] | None = None
    reference_runs: "Runs | None" = None
    inclusion_probabilities: str | Path | Probabilities | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and self.reference_runs is not None:
            raise DataError("labels cannot be combined with reference_runs. Give one of them.")
        if self.inclusion_probabilities is not None and self.reference_runs is None and self.labels is None:
            raise DataError("inclusion_probabilities requires reference_runs or labels.")

    def estimate(self, logs: Runs, selection: Selection, options: Options, plugins: Plugins) -> list[Estimate]:
        """Estimates corrected by the labels, or of the whole benchmark with the reference runs.

        Raises
        ------
        LogError : if a file cannot be read
        DataError : if there is no such file or metric of labels, or the combination of options is not supported
        """
        if self.reference_runs is None:
            labels, column = self.labels or (), self.inclusion_probabilities
            if column is not None and not isinstance(column, str):
                raise DataError("inclusion_probabilities must be the name of a column of the file of labels.")
            read = task_logs(logs, plugins, selection_with_labels(selection, labels))
            return estimate_with_labels(read, labels, options, plugins, column)
        if options.scope != "full":
            raise DataError("reference_runs requires scope='full'.")
        given = self.inclusion_probabilities
        drawn = read_probabilities(given) if isinstance(given, str | Path) else given
        selected = task_logs(logs, plugins, selection)
        return estimate_whole(selected, self.reference_runs, options, drawn=drawn, plugins=plugins)


def estimate_with_labels(
    logs: Sequence[TaskLog],
    labels: str | Path | Sequence[Label],
    options: Options,
    plugins: Plugins,
    inclusion_probabilities: str | None = None,
) -> list[Estimate]:
    """Estimates that are corrected by human labels: a CSV file, a metric of the logs, or labels.

    `inclusion_probabilities` is a column of the file.

    Raises
    ------
    LogError : if the file of labels cannot be read
    DataError : if there is no such file or metric, or a different scope or estimand is requested
    """
    human = human_labels(labels, logs, inclusion_probabilities)
    return correct(without_labels(logs, labels), human, options, plugins=plugins)


def require_labels(labels: object, inclusion_probabilities: str | None) -> None:
    """Make sure that labels are given with the column of their probabilities.

    Raises
    ------
    DataError : if they are not
    """
    if labels is None and inclusion_probabilities is not None:
        raise DataError("inclusion_probabilities requires labels.")


def without_labels(logs: Sequence[TaskLog], labels: str | Path | Sequence[Label]) -> list[TaskLog]:
    """The logs without those that were read from the file of labels, unless all of them are from this file."""
    path = Path(labels).absolute() if isinstance(labels, str | Path) else None
    return [log for log in logs if Path(log.source.path).absolute() != path] or list(logs)


def human_labels(
    labels: str | Path | Sequence[Label], logs: Sequence[TaskLog], inclusion_probabilities: str | None = None
) -> str | Sequence[Label]:
    """Labels that are read from a file, or the metric of the logs that contains them.

    `inclusion_probabilities` is the column of the file with the probability of each label; by default `probability`, if
    there is one.

    Raises
    ------
    LogError : if the file cannot be read
    DataError : if there is no such file or metric, all labels belong to systems that the logs do not contain, a label
        names no system although the logs contain several, labels without a task match questions of several tasks, or
        inclusion probabilities are invalid or given without a file
    """
    if inclusion_probabilities is not None and not (isinstance(labels, str | Path) and is_labels_file(str(labels))):
        raise DataError("inclusion_probabilities names a column of a file of labels, but labels are not in a file.")
    if isinstance(labels, str | Path) and not is_labels_file(source := str(labels)):
        metrics = {data.metric for log in logs for data in log.data}
        if logs and source not in metrics:
            raise DataError(unknown_name("file or metric of labels", source, metrics, plural="metrics"))
        return source
    found = read_labels(labels, inclusion_probabilities) if isinstance(labels, str | Path) else labels
    graded = without_labels(logs, labels)
    check_systems(found, tuple(dict.fromkeys(log.system for log in graded)))
    check_tasks(found, graded)
    return found


def selection_with_labels(selection: Selection, labels: str | Path | Sequence[Label] | None) -> Selection:
    """The selection with the metric of the logs that contains labels, if a selection of metrics would omit it."""
    if not isinstance(labels, str) or is_labels_file(labels) or not selection.filter.metrics:
        return selection
    return replace(selection, filter=replace(selection.filter, metrics=(*selection.filter.metrics, labels)))


def is_labels_file(source: str) -> bool:
    """Whether labels are in a file rather than in a metric; a remote file may turn out not to exist when it is read."""
    return is_remote(source) or is_file(source)
