"""lm-eval as a harness of harness_uq."""

from collections.abc import Sequence

from harness_uq import CatalogueEntry, Found, Run, TaskLog
from harness_uq_lm_eval import discover
from harness_uq_lm_eval.catalogue import load_catalogue
from harness_uq_lm_eval.discover import LmEvalRun
from harness_uq_lm_eval.tasks import HARNESS, read_run


class LmEvalHarness:
    """Reads results and samples files of lm-eval 0.4.0 and later."""

    name = HARNESS

    def find(self, paths: Sequence[str]) -> Found:
        """Runs among these files. Partners of a file that is named alone are looked up beside it."""
        return discover.find(paths)

    def read(self, run: Run) -> list[TaskLog]:
        """The run's tasks and groups.

        Raises
        ------
        LogError : if none of the run's files can be read
        """
        if isinstance(run, LmEvalRun):
            return read_run(run)
        return [log for part in self.find(run.files).runs for log in self.read(part)]

    def cluster_catalogue(self) -> Sequence[CatalogueEntry]:
        """What is known of lm-eval's own tasks; the first match wins."""
        return load_catalogue()
