"""lm-eval as a harness of harness_uq."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_uq import Catalogue, Estimate, Found, Run, Settings, TaskLog


class LmEvalHarness:
    """Runs lm-eval 0.4.11 and later; reads and rescores the results and samples files of 0.4.0 and later."""

    name = "lm-eval"
    reads_stores = True

    @property
    def version(self) -> str:
        """The installed lm-eval, whose aggregations are replayed."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"lm-eval {version('lm-eval')}"
        except PackageNotFoundError:
            return "no lm-eval"

    def find(self, paths: Sequence[str]) -> "Found":
        """Runs among these files. Partners of a file that is named alone are looked up beside it."""
        from harness_uq_lm_eval.read import discover

        return discover.find(paths)

    def parts(self, paths: Sequence[str]) -> "Iterable[Sequence[str]]":
        """The files of a folder whose names hold the same time; all of a folder where some have none."""
        from harness_uq_lm_eval.read import discover

        return discover.parts(paths)

    def read(self, run: "Run") -> "Iterator[TaskLog]":
        """The run's tasks and groups.

        Raises
        ------
        LogError : if none of the run's files can be read
        """
        from harness_uq_lm_eval.read.discover import LmEvalRun
        from harness_uq_lm_eval.read.tasks import read_run

        if isinstance(run, LmEvalRun):
            yield from read_run(run)
            return
        for part in self.find(run.files).runs:
            yield from self.read(part)

    def catalogue(self) -> "Catalogue":
        """What is known of lm-eval's own tasks and metrics."""
        from harness_uq_lm_eval.read.catalogue import load_catalogue

        return load_catalogue()

    def main(self, argv: Sequence[str]) -> int:
        """Run lm-eval's command line, whose `run` also takes `--uq`; the exit code."""
        from harness_uq_lm_eval.live import cli

        return cli.main(argv)

    def write(
        self, run: "Run", estimates: "Sequence[Estimate]", destination: str | None, *, settings: "Settings"
    ) -> list[str]:
        """Put the estimates into the results file of the run; the paths written.

        Raises
        ------
        LogError : if the run has no results file or cannot be written
        """
        from harness_uq_lm_eval.read.discover import LmEvalRun
        from harness_uq_lm_eval.write import writeback

        parts = [run] if isinstance(run, LmEvalRun) else self.find(run.files).runs
        known = [part for part in parts if isinstance(part, LmEvalRun)]
        return [path for part in known for path in writeback.write(part, estimates, destination, settings)]

    def restore(self, path: str) -> list[str]:
        """Bring back a results file that was written in place; the paths brought back.

        Raises
        ------
        LogError : if it cannot be brought back
        """
        from harness_uq_lm_eval.write import writeback

        return writeback.restore(path)
