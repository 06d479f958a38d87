"""Readers of files of other tools. The module of a format is imported when files are searched for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:
    from harness_uq.plugin_api import Discovery, Run, TaskLog

FORMATS: Final = {
    "openai-evals": "harness_uq_formats.openai_evals",
    "promptfoo": "harness_uq_formats.promptfoo",
}
"""Module of each format by the name of its reader."""


class FormatModule(Protocol):
    """What the module of a format defines."""

    def find(self, files: Sequence[str]) -> "Discovery":
        """Runs among these files."""

    def read(self, run: "Run", *, with_resources: bool) -> "Iterator[TaskLog]":
        """The tasks of the run, on request with tokens, cost and time as far as the files contain them.

        Raises
        ------
        LogError : if the run cannot be read
        """


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads the files of one format.

    Attributes
    ----------
    name : name of the tool in messages and on the command line
    module : name of the module of the format
    reads_resources : whether to read tokens, cost and time of the trials
    """

    name: str
    module: str
    reads_resources: bool = False

    def with_resources(self) -> "FormatReader":
        """A copy that also reads tokens, cost and time of each trial."""
        return replace(self, reads_resources=True)

    def find(self, paths: Sequence[str]) -> "Discovery":
        """Runs among these files."""
        return self._format().find(paths)

    def read(self, run: "Run") -> "Iterator[TaskLog]":
        """The tasks of the run.

        Raises
        ------
        LogError : if the run cannot be read
        """
        return self._format().read(run, with_resources=self.reads_resources)

    def _format(self) -> FormatModule:
        return cast(FormatModule, import_module(self.module))
