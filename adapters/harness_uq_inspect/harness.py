"""Inspect AI as one of the harnesses: reads its logs, runs it with intervals, writes them back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_uq import CatalogueEntry, Estimate, Found, LogError, Run, TaskLog
from harness_uq_inspect.catalogue import load_catalogue
from harness_uq_inspect.discover import find_logs
from harness_uq_inspect.read import HARNESS, read_task_log


@dataclass(frozen=True, slots=True)
class InspectHarness:
    """Reads and writes `.eval` and `.json` logs of Inspect AI, and runs `inspect`."""

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

    def main(self, argv: Sequence[str]) -> int:
        """Run `inspect ARGV…` with intervals where `--uq` is among the arguments; the exit code."""
        from harness_uq_inspect.cli import main

        return main(argv)

    def write(
        self,
        run: Run,
        estimates: Sequence[Estimate],
        destination: str | None,
        *,
        settings: Mapping[str, str | float],
    ) -> list[str]:
        """Put estimates into the header of the log, or of a copy; samples are copied byte by byte.

        Raises
        ------
        LogError : if the log has no results, or cannot be written; it is as it was
        """
        from harness_uq_inspect.stamp import stamp

        (path,) = run.files
        target = path if destination is None else str(Path(destination) / Path(path).name)
        if destination is not None:
            Path(destination).mkdir(parents=True, exist_ok=True)
            if Path(target).exists():
                raise LogError(f"{target} exists already")
        stamp(path, estimates, settings, target=target, keeps_original=destination is None)
        return [target]

    def restore(self, path: str) -> list[str]:
        """Undo the in-place `write`s of a log byte for byte; what a live run wrote stays.

        Raises
        ------
        LogError : if others wrote to the log since
        """
        from harness_uq_inspect.writeback import restore

        is_log = path.endswith((".eval", ".json")) and bool(find_logs([path]).runs)
        return [path] if is_log and restore(path) else []
