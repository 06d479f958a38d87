"""Implementation of the harness protocol for Inspect AI: read its logs, run it with intervals, write them to logs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness_uq.plugin_api import LogError

if TYPE_CHECKING:
    from harness_uq.plugin_api import Catalogue, Discovery, Estimate, ResourceOptions, Run, Settings, TaskLog


@dataclass(frozen=True, slots=True)
class InspectHarness:
    """Reads and writes `.eval` and `.json` logs of Inspect AI, and runs `inspect`.

    `reads_tables`: whether to read data frames of `inspect_ai.analysis`, in memory and saved as CSV or Parquet.
    """

    name: str = "inspect"
    reads_stores: bool = True
    objects: tuple[str, ...] = (
        "inspect_ai.log.EvalLog",
        "inspect_ai.log.EvalLogInfo",
        "data frame of inspect_ai.analysis.samples_df",
    )
    resources: "ResourceOptions | None" = None
    reads_tables: bool = True

    def with_resources(self, options: "ResourceOptions") -> "InspectHarness":
        """A copy that also reads tokens, cost, time, messages and turns of each sample."""
        return replace(self, resources=options)

    def with_columns(self, columns: "Mapping[str, str | Sequence[str]]") -> "InspectHarness":  # noqa: ARG002
        """A copy that leaves data frames to the reader of tables, because the user named their columns."""
        return replace(self, reads_tables=False)

    def find(self, paths: Sequence[str]) -> "Discovery":
        """Runs among these files, one for each log; other files such as `eval-set.json` are not recognised."""
        from harness_uq_inspect.read.discover import find_logs

        return find_logs(paths, reads_tables=self.reads_tables)

    def parts(self, paths: Sequence[str]) -> "Iterable[Sequence[str]]":
        """Groups of files that belong together: each log, with the shards that Inspect merges into it."""
        from harness_uq_inspect.read.shards import with_shards

        return with_shards(paths)

    def read(self, run: "Run") -> "Iterator[TaskLog]":
        """The one task of the log, or the tasks of a saved data frame. Raises LogError if the log cannot be read."""
        from harness_uq_inspect.read.discover import FRAME_SUFFIXES
        from harness_uq_inspect.read.task_log import read_task_log

        if run.files[0].endswith(FRAME_SUFFIXES):
            from harness_uq_inspect.read.saved_frames import read_saved_frame

            yield from read_saved_frame(run.files[0])
            return

        yield read_task_log(*run.files, with_resources=self.resources is not None)

    def accepts_object(self, result: object) -> bool:
        """Whether an object is an `EvalLog`, an `EvalLogInfo` or a data frame of `inspect_ai.analysis`."""
        from harness_uq_inspect.read.data_frames import is_inspect_frame
        from harness_uq_inspect.read.result_objects import is_result

        return is_result(result) or (self.reads_tables and is_inspect_frame(result))

    def read_object(self, result: object) -> "Iterator[TaskLog]":
        """The one task of an `EvalLog` or of the log that an `EvalLogInfo` names, or the tasks of a data frame. Raises
        LogError if the log cannot be read, or the data frame lacks a column.
        """
        from harness_uq_inspect.read.data_frames import read_frame
        from harness_uq_inspect.read.result_objects import is_result, read_result

        if is_result(result):
            yield read_result(result, with_resources=self.resources is not None)
        else:
            yield from read_frame(result)

    def catalogue(self) -> "Catalogue":
        """Facts about the tasks of inspect_evals and about Inspect's metrics."""
        from harness_uq_inspect.read.catalogue import load_catalogue

        return load_catalogue()

    def read_running(self, run: "Run") -> "Iterator[TaskLog]":
        """The task of a running log, including samples that are still in Inspect's buffer; nothing if the run ended.
        Raises LogError if the log or its buffer cannot be read.
        """
        from harness_uq_inspect.read.running_logs import read_running

        if (log := read_running(*run.files)) is not None:
            yield log

    def main(self, argv: Sequence[str]) -> int:
        """Run `inspect ARGV…`, with intervals if `--uq` is among the arguments, and return the exit code."""
        from harness_uq_inspect.live.cli import main

        return main(argv)

    def write(
        self, run: "Run", estimates: "Sequence[Estimate]", destination: str | None, *, settings: "Settings"
    ) -> list[str]:
        """Write estimates into the header of the log or of a copy; the samples are copied unchanged. Raises LogError if
        the log has no results or cannot be written; the log is then unchanged.
        """
        from harness_uq.plugin_api import paths as io_paths
        from harness_uq_inspect.live.environment import keeps_native_stderr
        from harness_uq_inspect.write.annotate import annotate_log

        path, *shards = run.files
        if shards:
            raise LogError(
                "the log of a run in progress cannot be changed, because Inspect has not merged its buffer files yet"
            )
        target = path if destination is None else io_paths.join(destination, io_paths.name_of(path))
        if destination is not None:
            io_paths.make_folder(destination)
            if io_paths.exists(target):
                raise LogError(f"{target} exists already")
        annotate_log(
            path,
            estimates,
            settings,
            target=target,
            keeps_original=destination is None,
            swaps_stderr=not keeps_native_stderr(),
        )
        return [target]

    def restore(self, path: str) -> list[str]:
        """Undo all in-place `write`s of a log, byte for byte; annotations of a live run stay. Raises LogError if
        another program wrote to the log since.
        """
        from harness_uq_inspect.read.discover import find_logs
        from harness_uq_inspect.write.writeback import restore

        is_log = path.endswith((".eval", ".json")) and bool(find_logs([path]).runs)
        return [path] if is_log and restore(path) else []
