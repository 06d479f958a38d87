"""Find the file of an lm-eval task by its name, without importing lm-eval or parsing the file."""

import os
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_SUFFIXES = (".yaml", ".yml")
_DECLARED = re.compile(rb"""^(["']?)task\1[ \t]*:[ \t]*(["']?)([^"'#\s]+)\2[ \t]*(?:#.*)?$""", re.MULTILINE)


def task_file(name: str, folders_of_user: str = "") -> Path | None:
    """The YAML file whose `task:` is `name`; None if there is none.

    `folders_of_user`: folders separated as in `PATH`, searched before lm-eval's own.
    """
    for folder in filter(None, folders_of_user.split(os.pathsep)):
        if path := _file_of_same_name(_files(folder), name) or _index(folder).get(name):
            return Path(path)
    for folder in _lm_eval_folders():
        if path := _file_of_same_name(_cached_files(folder), name) or _cached_index(folder).get(name):
            return Path(path)
    return None


def _file_of_same_name(files: Sequence[str], name: str) -> str | None:
    """The file with the name of the task, which is the case for most tasks."""
    return next((path for path in files if Path(path).stem == name and name in _declared(path)), None)


def _index(folder: str) -> dict[str, str]:
    """The file of each task; the first, if several files declare it."""
    return {name: path for path in reversed(_files(folder)) for name in _declared(path)}


def _lm_eval_folders() -> list[str]:
    spec = find_spec("lm_eval")
    locations = (spec.submodule_search_locations if spec else None) or ()
    return [os.path.join(location, "tasks") for location in locations]  # noqa: PTH118


def _files(folder: str) -> tuple[str, ...]:
    walk = os.walk(folder, followlinks=True)
    return tuple(os.path.join(root, name) for root, _, names in walk for name in names if name.endswith(_SUFFIXES))  # noqa: PTH118


def _declared(path: str) -> list[str]:
    """Names of the tasks that a file declares."""
    try:
        content = Path(path).read_bytes().replace(b"\r", b"")
    except OSError:
        return []
    return [name.decode(errors="replace") for _, _, name in _DECLARED.findall(content)]


_cached_files, _cached_index = cache(_files), cache(_index)  # an installed package does not change during a process
