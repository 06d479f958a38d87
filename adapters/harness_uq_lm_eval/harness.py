"""lm-eval as a harness of harness_uq."""

from collections.abc import Mapping, Sequence

from harness_uq import CatalogueEntry, Estimate, Found, Run, TaskLog
from harness_uq_lm_eval import discover
from harness_uq_lm_eval.catalogue import load_catalogue
from harness_uq_lm_eval.discover import LmEvalRun
from harness_uq_lm_eval.tasks import HARNESS, read_run


class LmEvalHarness:
    """Runs lm-eval 0.4.11 and later; reads and rescores the results and samples files of 0.4.0 and later."""

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

    def main(self, argv: Sequence[str]) -> int:
        """Run lm-eval's command line, whose `run` also takes `--uq`; the exit code."""
        from harness_uq_lm_eval import cli

        return cli.main(argv)

    def write(
        self, run: Run, estimates: Sequence[Estimate], destination: str | None, *, settings: Mapping[str, str | float]
    ) -> list[str]:
        """Put the estimates into the results file of the run; the paths written.

        Raises
        ------
        LogError : if the run has no results file or cannot be written
        """
        from harness_uq_lm_eval import writeback

        parts = [run] if isinstance(run, LmEvalRun) else self.find(run.files).runs
        known = [part for part in parts if isinstance(part, LmEvalRun)]
        return [path for part in known for path in writeback.write(part, estimates, destination, settings)]

    def restore(self, path: str) -> list[str]:
        """Bring back a results file that was written in place; the paths brought back.

        Raises
        ------
        LogError : if it cannot be brought back
        """
        from harness_uq_lm_eval import writeback

        return writeback.restore(path)
