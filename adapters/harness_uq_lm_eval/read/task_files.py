"""The file of one lm-eval task, found by its name: nothing is parsed and lm-eval is not imported."""

import os
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_SUFFIXES = (".yaml", ".yml")
_DECLARED = re.compile(rb"""^(["']?)task\1[ \t]*:[ \t]*(["']?)([^"'#\s]+)\2[ \t]*(?:#.*)?$""", re.MULTILINE)


def task_file(name: str, folders_of_user: str = "") -> Path | None:
    """The YAML file whose `task:` is `name`, None where there is none.

    Parameters
    ----------
    folders_of_user : as in `PATH`; they come before lm-eval's own
    """
    for folder in filter(None, folders_of_user.split(os.pathsep)):
        if path := _among(_files(folder), name) or _index(folder).get(name):
            return Path(path)
    for folder in _own_folders():
        if path := _among(_own_files(folder), name) or _own_index(folder).get(name):
            return Path(path)
    return None


def _among(files: Sequence[str], name: str) -> str | None:
    """The file that is called as its task is, as most are."""
    return next((path for path in files if Path(path).stem == name and name in _declared(path)), None)


def _index(folder: str) -> dict[str, str]:
    """The file of every task; of several that declare one, the first."""
    return {name: path for path in reversed(_files(folder)) for name in _declared(path)}


def _own_folders() -> list[str]:
    spec = find_spec("lm_eval")
    return [os.path.join(place, "tasks") for place in (spec.submodule_search_locations or ())] if spec else []  # noqa: PTH118


def _files(folder: str) -> tuple[str, ...]:
    walk = os.walk(folder, followlinks=True)
    return tuple(os.path.join(place, name) for place, _, names in walk for name in names if name.endswith(_SUFFIXES))  # noqa: PTH118


def _declared(path: str) -> list[str]:
    """Names of the tasks that a file declares."""
    try:
        content = Path(path).read_bytes().replace(b"\r", b"")
    except OSError:
        return []
    return [name.decode(errors="replace") for _, _, name in _DECLARED.findall(content)]


_own_files, _own_index = cache(_files), cache(_index)  # an installed package does not change while a process lives
