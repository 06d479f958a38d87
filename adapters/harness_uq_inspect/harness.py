"""Inspect AI as one of the harnesses: reads its logs, runs it with intervals, writes them back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_uq.errors import LogError

if TYPE_CHECKING:
    from harness_uq import Catalogue, Estimate, Found, Run, Settings, TaskLog


@dataclass(frozen=True, slots=True)
class InspectHarness:
    """Reads and writes `.eval` and `.json` logs of Inspect AI, and runs `inspect`."""

    name: str = "inspect"
    reads_stores: bool = True

    def find(self, paths: Sequence[str]) -> "Found":
        """Runs among these files, one for each log; side files such as `eval-set.json` are not recognised."""
        from harness_uq_inspect.read.discover import find_logs

        return find_logs(paths)

    def parts(self, paths: Sequence[str]) -> "Iterable[Sequence[str]]":
        """Each file by itself, but for shards, which stay with the log that they become."""
        from harness_uq_inspect.read.shards import with_shards

        return with_shards(paths)

    def read(self, run: "Run") -> "Iterator[TaskLog]":
        """The one task of the log.

        Raises
        ------
        LogError : if the log cannot be read
        """
        from harness_uq_inspect.read.task_log import read_task_log

        yield read_task_log(*run.files)

    def catalogue(self) -> "Catalogue":
        """What is known of the tasks of inspect_evals, and of Inspect's metrics."""
        from harness_uq_inspect.read.catalogue import load_catalogue

        return load_catalogue()

    def read_running(self, run: "Run") -> "Iterator[TaskLog]":
        """The task of the log with the samples that are not written there yet; none where its run has ended.

        Raises
        ------
        LogError : if the log or the buffer beside it cannot be read
        """
        from harness_uq_inspect.read.running import read_running

        if (log := read_running(*run.files)) is not None:
            yield log

    def main(self, argv: Sequence[str]) -> int:
        """Run `inspect ARGV…` with intervals where `--uq` is among the arguments; the exit code."""
        from harness_uq_inspect.live.cli import main

        return main(argv)

    def write(
        self, run: "Run", estimates: "Sequence[Estimate]", destination: str | None, *, settings: "Settings"
    ) -> list[str]:
        """Put estimates into the header of the log, or of a copy; samples are copied byte by byte.

        Raises
        ------
        LogError : if the log has no results, or cannot be written; it is as it was
        """
        from harness_uq.logs import places
        from harness_uq_inspect.live.wanted import keeps_stderr
        from harness_uq_inspect.write.stamp import stamp

        path, *shards = run.files
        if shards:
            raise LogError("a log in the making cannot be written to: Inspect has not merged its shards yet")
        target = path if destination is None else places.join(destination, places.name_of(path))
        if destination is not None:
            places.make_folder(destination)
            if places.exists(target):
                raise LogError(f"{target} exists already")
        stamp(
            path,
            estimates,
            settings,
            target=target,
            keeps_original=destination is None,
            swaps_stderr=not keeps_stderr(),
        )
        return [target]

    def restore(self, path: str) -> list[str]:
        """Undo the in-place `write`s of a log byte for byte; what a live run wrote stays.

        Raises
        ------
        LogError : if others wrote to the log since
        """
        from harness_uq_inspect.read.discover import find_logs
        from harness_uq_inspect.write.writeback import restore

        is_log = path.endswith((".eval", ".json")) and bool(find_logs([path]).runs)
        return [path] if is_log and restore(path) else []
