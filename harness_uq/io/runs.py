"""What callers pass as runs: paths, task logs, results in memory, and lists and mappings of these."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from harness_uq.data.task_log import TaskLog
from harness_uq.io.plugins.protocols import FallbackReader, Reader, ReadsObjects
from harness_uq.messages.catalogue.reading import FILE_CLAIMED_TWICE
from harness_uq.messages.errors import LogError

# The last member covers lists of runs, mappings from names to runs, and the objects that readers accept, which are no
# plain lists or tuples. Results of Inspect AI and data frames are iterable; any other object can be passed in a list.
Runs: TypeAlias = "str | Path | TaskLog | Iterable[object]"


@dataclass(frozen=True, slots=True)
class ResultObject:
    """A result in memory and the reader that accepts it."""

    reader: ReadsObjects
    result: object

    @property
    def label(self) -> str:
        """Name of the object in messages."""
        return _type_name(self.result)


@dataclass(frozen=True, slots=True)
class GivenRuns:
    """The runs that a caller passes, without a name or under one name: paths and patterns, and results in memory."""

    paths: list[str] = field(default_factory=list)
    results: list[TaskLog | ResultObject] = field(default_factory=list)


def sort_runs(runs: Runs, readers: Mapping[str, Reader]) -> dict[str | None, GivenRuns]:
    """Sort runs by the name of their system; the name is None for runs that are not in a mapping. Raises TypeError if
    no reader accepts an object, and LogError if two readers do.
    """
    sorted_runs: dict[str | None, GivenRuns] = {}
    for name, item in _items(runs, None, readers):
        given = sorted_runs.setdefault(name, GivenRuns())
        if isinstance(item, str):
            given.paths.append(item)
        else:
            given.results.append(item)
    return sorted_runs


def _items(
    runs: object, name: str | None, readers: Mapping[str, Reader]
) -> Iterator[tuple[str | None, str | TaskLog | ResultObject]]:
    if isinstance(runs, str | Path):
        yield name, str(runs)
    elif isinstance(runs, TaskLog):
        yield name, runs
    elif type(runs) not in (list, tuple) and (reader := reader_of(runs, readers)) is not None:
        yield name, ResultObject(reader, runs)
    elif isinstance(runs, Mapping):
        for system, system_runs in runs.items():
            yield from _items(system_runs, str(system), readers)
    elif isinstance(runs, Sequence | Set | ValuesView | Iterator):
        for item in runs:
            yield from _items(item, name, readers)
    else:
        raise TypeError(_unsupported(runs, readers))


def reader_of(result: object, readers: Mapping[str, Reader]) -> ReadsObjects | None:
    """The reader that accepts an object; readers of general types are asked after all others. Raises LogError if two
    readers accept the object.
    """
    accepting = {
        name: reader
        for name, reader in readers.items()
        if isinstance(reader, ReadsObjects) and reader.accepts_object(result)
    }
    own = [name for name, reader in accepting.items() if not isinstance(reader, FallbackReader)]
    if len(own) > 1:
        raise LogError(FILE_CLAIMED_TWICE(path=_type_name(result), first=own[0], second=own[1]))
    return next((accepting[name] for name in (*own, *accepting)), None)


def _unsupported(result: object, readers: Mapping[str, Reader]) -> str:
    types = sorted({name for reader in readers.values() if isinstance(reader, ReadsObjects) for name in reader.objects})
    return (
        f"Cannot read runs from an object of type {_type_name(result)}. Accepted: paths, TaskLog, "
        f"{', '.join(types)}, and lists and mappings of these. For arrays of scores, use estimate_scores, "
        "compare_scores or rank_scores."
    )


def _type_name(result: object) -> str:
    kind = type(result)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
