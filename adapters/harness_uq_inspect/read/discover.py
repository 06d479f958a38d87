"""Find the logs of Inspect AI among files. The code that reads logs is loaded only if a file may be a log."""

import re
from collections.abc import Sequence
from typing import Final

from harness_uq.plugin_api import FILE_EMPTY, Discovery, LogError, Run
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.read.shards import join_shards

FRAME_SUFFIXES: Final = (".csv", ".parquet")
_HEAD: Final = 65536
_LOG_NAME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_.+_.+\.json")
_EVAL_NAME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d(?:[+-]\d\d)?)(?:-(\d\d))?_.+\.eval")


def find_logs(paths: Sequence[str], *, reads_tables: bool = False) -> Discovery:
    """Runs among these files, one for each log; shards that a merged log covers are ignored.

    `reads_tables`: whether data frames that were saved as CSV or Parquet are runs, too.
    """
    runs, unrecognised, problems = [], [], []
    for path in paths:
        try:
            run = _recognise(path)
            if run is None and reads_tables and path.endswith(FRAME_SUFFIXES):
                run = _recognise_frame(path)
        except LogError as error:
            problems.append((path, error.message))
            continue
        if run is None:
            unrecognised.append(path)
        else:
            runs.append(run)
    joined, covered = join_shards(runs)
    return Discovery(tuple(joined), (*unrecognised, *covered), tuple(problems))


def _recognise_frame(path: str) -> Run | None:
    from harness_uq_inspect.read.saved_frames import is_saved_frame

    return Run(path, (path,)) if is_saved_frame(path) else None


@io_paths.reading()
def _recognise(path: str) -> Run | None:
    name = io_paths.name_of(path)
    if name.endswith(".eval"):
        if io_paths.is_remote(path) and (match := _EVAL_NAME.fullmatch(name)):
            # recognised by its name, without a request to the store; defects of the file are reported when it is read
            return Run(path, (path,), ":".join(filter(None, match.groups())))
        from harness_uq_inspect.read.samples import run_in_archive

        return run_in_archive(path)
    if name.endswith(".json") and _resembles_log(path, name):
        from harness_uq_inspect.read.samples import run_in_json

        return run_in_json(path)
    return None


def _resembles_log(path: str, name: str) -> bool:
    """Whether the beginning of a JSON file may be that of a log. Raises LogError if a file with the name of a log is
    empty.
    """
    with io_paths.open_binary(path) as file:
        head = file.read(_HEAD)
    if not head and _LOG_NAME.fullmatch(name):
        raise LogError(FILE_EMPTY())
    return b'"eval"' in head and head.lstrip()[:1] == b"{"
