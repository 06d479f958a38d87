"""Data besides the logs: human labels, and runs of other systems on the whole benchmark."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import loading as _loading
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import DataError, UsageError

if TYPE_CHECKING:
    from harness_uq.data.task_log import TaskLog
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.readers import Reading
    from harness_uq.results.estimate import Estimate


def add_auxiliary_data(parser: CommandParser) -> None:
    """Declare `--labels`, `--reference-runs` and `--inclusion-probabilities`."""
    _add_labels(parser, "id and score")
    data = parser.groups["Data"]
    data.add_argument(
        "--reference-runs",
        nargs="+",
        metavar="RUN",
        help="Use runs of other systems on all questions to adjust for questions that were not run (with --scope full)",
    )
    data.add_argument(
        "--inclusion-probabilities",
        metavar="FILE|COLUMN",
        help="Read inclusion probabilities from a FILE of `harness-uq subset`, or from a COLUMN of the labels",
    )


def add_labels_of_systems(parser: CommandParser) -> None:
    """Declare `--labels` and the column of its probabilities for a command about several systems."""
    _add_labels(parser, "id, system and score")
    add_label_probabilities(parser)


def add_label_probabilities(parser: CommandParser) -> None:
    """Declare the column of probabilities of a table of labels."""
    parser.groups["Data"].add_argument(
        "--inclusion-probabilities",
        metavar="COLUMN",
        help="Weight human labels by 1/COLUMN of their table (default: column 'probability', if it exists)",
    )


def add_labels_of_two_systems(parser: CommandParser) -> None:
    """Declare `--labels`, the column of its probabilities and `--grader-shift` for a comparison of two systems."""
    add_labels_of_systems(parser)
    parser.groups["Method"].add_argument(
        "--grader-shift",
        type=_argument_types.share,
        default=0.1,
        metavar="SHIFT",
        help="If only one system has labels, allow grader error rates to differ by up to SHIFT (default: %(default)s)",
    )


def _add_labels(parser: CommandParser, columns: str) -> None:
    parser.groups["Data"].add_argument(
        "--labels",
        metavar="FILE|METRIC",
        help=f"Correct model grades with human labels from a table (columns {columns}) or a metric of the log",
    )


def check_label_probabilities(args: argparse.Namespace) -> None:
    """Check that labels are given with the column of their probabilities.

    Raises
    ------
    UsageError : if they are not
    """
    if args.inclusion_probabilities and not args.labels:
        raise UsageError("--inclusion-probabilities requires --labels.")


def label_metrics(labels: str | None) -> tuple[str, ...]:
    """The metric with human labels, if they are not in a file."""
    if not labels:
        return ()
    from harness_uq.estimation.auxiliary_data import is_labels_file

    return () if is_labels_file(labels) else (labels,)


@dataclass(frozen=True, slots=True)
class AuxiliaryPaths:
    """Data besides the logs that make an estimate more accurate.

    Attributes
    ----------
    labels : file of human labels, or the metric of the logs that contains them
    reference_runs : paths of runs of other systems on the whole benchmark
    inclusion_probabilities : file that `harness-uq subset` wrote, or column of the file of labels
    """

    labels: str | None = None
    reference_runs: tuple[str, ...] = ()
    inclusion_probabilities: str | None = None

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> "AuxiliaryPaths":
        """The auxiliary data given by the arguments.

        Raises
        ------
        UsageError : if an option is missing that another one requires, or two exclude each other
        """
        data = cls(args.labels, tuple(args.reference_runs or ()), args.inclusion_probabilities)
        if data.reference_runs and args.scope != "full":
            raise UsageError("--reference-runs requires --scope full.")
        if data.reference_runs and data.labels:
            raise UsageError("--labels cannot be combined with --reference-runs. Give one of them.")
        if data.inclusion_probabilities and not data:
            raise UsageError("--inclusion-probabilities requires --labels or --reference-runs.")
        return data

    def __bool__(self) -> bool:
        return bool(self.labels or self.reference_runs)

    @property
    def label_metrics(self) -> tuple[str, ...]:
        """The metric with human labels, which has to be read even if `--metric` does not select it."""
        return label_metrics(self.labels)

    def select_logs(self, logs: "Sequence[TaskLog]") -> "list[TaskLog]":
        """The logs without those of the tables of labels or reference runs."""
        from harness_uq.estimation.auxiliary_data import without_labels

        paths = {Path(path).absolute() for path in self.reference_runs}
        others = [log for log in logs if Path(log.source.path).absolute() not in paths]
        return without_labels(others, self.labels or ())

    def estimate(
        self,
        logs: "Sequence[TaskLog]",
        options: "Options",
        plugins: "Plugins",
        read: "Callable[[Sequence[str]], Reading]",
    ) -> "list[Estimate]":
        """Estimates corrected by the labels, or of the whole benchmark with the reference runs, which `read` reads.

        Raises
        ------
        UsageError : if there is no such file or metric of labels, or the combination of options is not supported
        """
        if self.labels:
            from harness_uq.estimation.auxiliary_data import estimate_with_labels

            try:
                return estimate_with_labels(logs, self.labels, options, plugins, self.inclusion_probabilities)
            except DataError as error:
                raise UsageError(str(error)) from error
        from harness_uq.estimation.subset import estimate_whole, read_probabilities

        probabilities = read_probabilities(self.inclusion_probabilities) if self.inclusion_probabilities else None
        reference = read(self.reference_runs)
        _loading.report_read_errors(reference)
        with _argument_values.checking_arguments():
            return estimate_whole(logs, reference.logs, options, drawn=probabilities, plugins=plugins)
