"""The reader of Inspect AI logs."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness_uq import CatalogueEntry, Found, Run, TaskLog
from harness_uq_inspect.catalogue import load_catalogue
from harness_uq_inspect.discover import find_logs
from harness_uq_inspect.read import HARNESS, read_task_log


@dataclass(frozen=True, slots=True)
class InspectHarness:
    """Reads `.eval` and `.json` logs of Inspect AI."""

    name: str = HARNESS

    def find(self, paths: Sequence[str]) -> Found:
        """Runs among these files, one for each log; side files such as `eval-set.json` are not recognised."""
        return find_logs(paths)

    def read(self, run: Run) -> list[TaskLog]:
        """The one task of the log.

        Raises
        ------
        LogError : if the log cannot be read
        """
        return [read_task_log(path) for path in run.files]

    def cluster_catalogue(self) -> Sequence[CatalogueEntry]:
        """What is known of the tasks of inspect_evals; the first match wins."""
        return load_catalogue()
