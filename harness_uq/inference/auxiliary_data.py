"""Estimate scores with data besides the logs: human labels, or runs of other systems on the whole benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_uq.data.log_filter import Selection
from harness_uq.inference.labels import estimate_with_labels
from harness_uq.inference.subset import Probabilities, estimate_whole, read_probabilities
from harness_uq.io.human_labels import Label, selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import DataError
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
