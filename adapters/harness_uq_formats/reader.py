"""Readers of files of other tools. The module of a format is imported when there are files that it may read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast, runtime_checkable

if TYPE_CHECKING:
    from harness_uq.plugin_api import Discovery, ResourceOptions, Run, TaskLog

FORMATS: Final = {
    "every-eval-ever": "harness_uq_formats.every_eval_ever",
    "harbor": "harness_uq_formats.harbor",
    "terminal-bench": "harness_uq_formats.terminal_bench",
    "helm": "harness_uq_formats.helm",
    "lighteval": "harness_uq_formats.lighteval",
    "promptfoo": "harness_uq_formats.promptfoo",
}
"""Module of each format by the name of its reader."""
_SUFFIXES: Final = (".json", ".jsonl", ".parquet")  # each run of a format has a file with one of them


class FormatModule(Protocol):
    """What the module of a format defines.

    A module whose runs consist of several files also defines `parts(files)`: groups of files that may belong to one
    run, by their names alone.
    """

    def find(self, files: Sequence[str]) -> "Discovery":
        """Runs among these files."""

    def read(self, run: "Run", *, with_resources: bool) -> "Iterator[TaskLog]":
        """The tasks of the run, on request with tokens, cost and time as far as the files contain them. Raises LogError
        if the run cannot be read.
        """


@runtime_checkable
class _HasParts(Protocol):
    def parts(self, files: Sequence[str]) -> Iterable[Sequence[str]]: ...


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads the files of one format.

    `name`: name of the tool in messages and on the command line. `resources`: how tokens, cost and time of the trials
    become metrics; None to read scores only.
    """

    name: str
    module: str
    resources: "ResourceOptions | None" = None

    def with_resources(self, options: "ResourceOptions") -> "FormatReader":
        """A copy that also reads tokens, cost and time of each trial."""
        return replace(self, resources=options)

    def parts(self, paths: Sequence[str]) -> Iterable[Sequence[str]]:
        """Groups of files that may belong to one run: single files, unless the format has runs of several files."""
        format_module = self._format() if _may_have_run(paths) else None
        return format_module.parts(paths) if isinstance(format_module, _HasParts) else [[path] for path in paths]

    def find(self, paths: Sequence[str]) -> "Discovery":
        """Runs among these files."""
        if not _may_have_run(paths):
            from harness_uq.plugin_api import Discovery

            return Discovery((), tuple(paths), ())
        return self._format().find(paths)

    def read(self, run: "Run") -> "Iterator[TaskLog]":
        """The tasks of the run. Raises LogError if the run cannot be read."""
        return self._format().read(run, with_resources=self.resources is not None)

    def _format(self) -> FormatModule:
        return cast(FormatModule, import_module(self.module))


def _may_have_run(paths: Sequence[str]) -> bool:
    return any(path.endswith(_SUFFIXES) for path in paths)
