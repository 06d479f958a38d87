"""Finding the runs under given paths: expand the paths, let each reader find its runs, explain paths without runs."""

import glob
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from harness_uq.io import paths as io_paths
from harness_uq.io.listing_cache import Fingerprint
from harness_uq.io.plugins.protocols import FallbackReader, Reader, ReadsObjects, Run, SupportsUrls
from harness_uq.messages import Message
from harness_uq.messages.catalogue.reading import (
    FILE_CLAIMED_TWICE,
    FILE_EMPTY,
    FILE_UNREADABLE,
    FOLDER_EMPTY,
    INVALID_JSON,
    LOG_UNREADABLE,
    NO_LOG_IN_FOLDER,
    NOT_A_LOG,
    NOT_A_REGULAR_FILE,
    NOT_A_TABLE,
    OBJECT_MISSING,
    PATH_MISSING,
    PATTERN_WITHOUT_MATCH,
    READER_FAILED,
)
from harness_uq.messages.errors import HarnessUqError, LogError, MissingDependencyError, error_summary


@dataclass(frozen=True, slots=True)
class Listing:
    """The files under each of the paths that the caller gave."""

    files_by_path: Mapping[str, Sequence[str]]

    @property
    def files(self) -> list[str]:
        """Each file once, in the order of the paths."""
        return list(dict.fromkeys(file for files in self.files_by_path.values() for file in files))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The runs among some files."""

    runs: tuple[tuple[Reader, Run], ...]  # sorted by folder, then by time
    claimed: frozenset[str]  # files of these runs
    problems: tuple[tuple[str, Message], ...]  # (path, message) of files that look like logs but cannot be read


def find_runs(path: str, harnesses: Mapping[str, Reader]) -> tuple[list[tuple[Reader, Run]], list[tuple[str, Message]]]:
    """Readers and runs under one path, and (path, message) of files that look like damaged logs."""
    result = search(expand_path(path), harnesses)
    return list(result.runs), list(result.problems)


def expand_path(path: str) -> list[str]:
    """Regular files that a file name, folder or pattern stands for; empty if it cannot be read, see `why_no_run`."""
    return [file.url for file in list_files(path)]


def list_files(path: str) -> list[Fingerprint]:
    """The files of `expand_path` with their sizes and tags, which show whether a file has changed."""
    with suppress(OSError, MissingDependencyError):
        return list(io_paths.listing(path))
    return []


def search(files: Sequence[str], readers: Mapping[str, Reader]) -> SearchResult:
    """Let each reader find its runs among the files; raises LogError if two harnesses claim the same file.

    Only the reader that finds a run reports on its files.
    """
    runs: list[tuple[Reader, Run]] = []
    owner: dict[str, str] = {}
    problems: list[tuple[str, Message]] = []
    for name, harness in sorted(readers.items(), key=lambda pair: isinstance(pair[1], FallbackReader)):
        known = {*owner, *(file for file, _ in problems)} if isinstance(harness, FallbackReader) else set()
        try:
            discovery = harness.find([file for file in _readable_files(files, harness) if file not in known])
        except Exception as error:
            problems.append((f"harness {name}", failure_message(harness, error)))
            continue
        problems += [(path, LOG_UNREADABLE(reason=p) if isinstance(p, str) else p) for path, p in discovery.problems]
        for run in discovery.runs:
            for file in run.files:
                if owner.setdefault(file, name) != name:
                    raise LogError(FILE_CLAIMED_TWICE(path=file, first=owner[file], second=name))
            runs.append((harness, run))
    problems = [(file, message) for file, message in problems if file not in owner]
    order = {file: position for position, file in enumerate(files)}
    runs.sort(key=lambda pair: run_order(pair[1].files[0], pair[1].time, order))
    return SearchResult(tuple(runs), frozenset(owner), tuple(dict.fromkeys(problems)))


def run_order(path: str, time: str | None, order: Mapping[str, int]) -> tuple[str, str, int]:
    """Sort key of a run: folder of its first file, time, and position of the file."""
    return io_paths.folder_of(path), time or "", order.get(path, 0)


def _readable_files(files: Sequence[str], harness: Reader) -> Sequence[str]:
    """The files that a reader supports: all, or local files only."""
    if isinstance(harness, SupportsUrls) and harness.reads_stores:
        return files
    return [file for file in files if not io_paths.is_remote(file)]


def failure_message(harness: Reader | ReadsObjects, error: Exception) -> Message:
    """Message for an error of a reader; an unexpected error names the reader."""
    if isinstance(error, HarnessUqError):
        return error.message
    package = type(harness).__module__.partition(".")[0]
    return READER_FAILED(harness=harness.name, error=error_summary(error), package=package)


def why_no_run(name: str, files: Sequence[str], harnesses: Mapping[str, Reader]) -> Message:
    """Why a path, which stands for `files`, contains no run of these harnesses."""
    try:
        return _why_no_run(name, files, harnesses)
    except OSError as error:
        return FILE_UNREADABLE(reason=str(error.strerror or error))
    except MissingDependencyError as error:
        return error.message


def _why_no_run(name: str, files: Sequence[str], harnesses: Mapping[str, Reader]) -> Message:
    if not files:
        return _why_no_files(name)
    if not io_paths.is_file(name):
        return NO_LOG_IN_FOLDER(n_files=len(files), harnesses=sorted(harnesses) or ["none"])
    if not io_paths.size(name):
        return FILE_EMPTY()
    if io_paths.is_remote(name):
        harnesses = {key: harness for key, harness in harnesses.items() if _readable_files([name], harness)}
    reasons = [harness.why_not(name) for harness in harnesses.values() if isinstance(harness, FallbackReader)]
    if broken := _broken_json(name):
        return broken
    from harness_uq.io.nearest_format import nearest_format

    if resembling := nearest_format(name):
        return resembling
    if reason := "; ".join(filter(None, reasons)):
        return NOT_A_TABLE(reason=reason)
    return NOT_A_LOG(harnesses=sorted(harnesses) or ["none"])


def _why_no_files(name: str) -> Message:
    if glob.has_magic(name):
        return PATTERN_WITHOUT_MATCH()
    if io_paths.is_remote(name):
        list(io_paths.listing(name))  # raises if the store refuses
        return OBJECT_MISSING()
    path = io_paths.local_path(name)
    if path.is_dir():
        return FOLDER_EMPTY()
    return NOT_A_REGULAR_FILE() if path.exists() else PATH_MISSING()


def _broken_json(name: str) -> Message | None:
    """Why the content of a file with the suffix `.json` is not JSON; None if it is."""
    if not io_paths.name_of(name).endswith(".json"):
        return None
    try:
        json.loads(io_paths.read_bytes(name))
    except ValueError as error:
        return INVALID_JSON(reason=str(error))
    except RecursionError:
        return INVALID_JSON(reason="it is nested too deeply")
    return None
