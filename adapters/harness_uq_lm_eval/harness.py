"""Implementation of the harness protocol for lm-eval."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_uq.plugin_api import Catalogue, Discovery, Estimate, Run, Settings, TaskLog


class LmEvalHarness:
    """Runs lm-eval 0.4.11 and later, and reads and rescores results and samples files of lm-eval 0.4.0 and later."""

    name = "lm-eval"
    reads_stores = True
    objects = ("dict returned by lm_eval.simple_evaluate",)

    @property
    def version(self) -> str:
        """Version of the installed lm-eval, whose aggregations are used for repeated trials."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"lm-eval {version('lm-eval')}"
        except PackageNotFoundError:
            return "no lm-eval"

    def find(self, paths: Sequence[str]) -> "Discovery":
        """Runs among these files; for a single file, the other files of its run are searched in its folder."""
        from harness_uq_lm_eval.read import discover

        return discover.find(paths)

    def parts(self, paths: Sequence[str]) -> "Iterable[Sequence[str]]":
        """Groups of files: those in a folder with the same time in their names; the whole folder if some have none."""
        from harness_uq_lm_eval.read import discover

        return discover.parts(paths)

    def read(self, run: "Run") -> "Iterator[TaskLog]":
        """The run's tasks and groups. Raises LogError if none of the run's files can be read."""
        from harness_uq_lm_eval.read.discover import LmEvalRun
        from harness_uq_lm_eval.read.tasks import read_run

        if isinstance(run, LmEvalRun):
            yield from read_run(run)
            return
        for part in self.find(run.files).runs:
            yield from self.read(part)

    def accepts_object(self, result: object) -> bool:
        """Whether an object is a dictionary with `results` and `configs`."""
        from harness_uq_lm_eval.read.results import is_results

        return is_results(result)

    def read_object(self, result: object) -> "Iterable[TaskLog]":
        """The tasks and groups of a dictionary returned by `simple_evaluate`; without samples, their totals."""
        from harness_uq_lm_eval.json_access import table
        from harness_uq_lm_eval.read.in_memory_results import IN_MEMORY, task_logs

        return task_logs(table(result), path=IN_MEMORY, replays=True)

    def catalogue(self) -> "Catalogue":
        """Facts about lm-eval's own tasks and metrics."""
        from harness_uq_lm_eval.read.catalogue import load_catalogue

        return load_catalogue()

    def main(self, argv: Sequence[str]) -> int:
        """Run lm-eval's command line, whose `run` also accepts `--uq`, and return the exit code."""
        from harness_uq_lm_eval.live import cli

        return cli.main(argv)

    def write(
        self, run: "Run", estimates: "Sequence[Estimate]", destination: str | None, *, settings: "Settings"
    ) -> list[str]:
        """Write the estimates into the results file of the run, and return the paths written. Raises LogError if the
        run has no results file or cannot be written.
        """
        from harness_uq_lm_eval.read.discover import LmEvalRun
        from harness_uq_lm_eval.write import writeback

        runs = [run] if isinstance(run, LmEvalRun) else self.find(run.files).runs
        lm_eval_runs = [run for run in runs if isinstance(run, LmEvalRun)]
        return [path for run in lm_eval_runs for path in writeback.write(run, estimates, destination, settings)]

    def restore(self, path: str) -> list[str]:
        """Restore a results file that was written in place, and return the paths restored. Raises LogError if it cannot
        be restored.
        """
        from harness_uq_lm_eval.write import writeback

        return writeback.restore(path)
