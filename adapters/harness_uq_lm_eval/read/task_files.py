"""The file of one lm-eval task, found by its name: nothing is parsed and lm-eval is not imported."""

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_SUFFIXES = (".yaml", ".yml")


def task_file(name: str, folders_of_user: str = "") -> Path | None:
    """The YAML file whose `task:` is `name`, None where there is none.

    Parameters
    ----------
    folders_of_user : as in `PATH`; they come before lm-eval's own
    """
    # a file is mostly called as its task is: that is looked at first
    declared = re.compile(rb"^task:[ \t]*[\"']?" + re.escape(name.encode()) + rb"[\"']?[ \t]*(#.*)?$", re.MULTILINE)
    for folder in (*filter(None, folders_of_user.split(os.pathsep)), *_own_folders()):
        files = sorted(_files(folder), key=lambda path: Path(path).stem != name)
        for path in files:
            if declared.search(_content(path)):
                return Path(path)
    return None


def _own_folders() -> list[str]:
    spec = find_spec("lm_eval")
    return [os.path.join(place, "tasks") for place in (spec.submodule_search_locations or ())] if spec else []  # noqa: PTH118


def _files(folder: str) -> Iterator[str]:
    for place, _, names in os.walk(folder, followlinks=True):
        yield from (os.path.join(place, name) for name in names if name.endswith(_SUFFIXES))  # noqa: PTH118


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes().replace(b"\r", b"")
    except OSError:
        return b""
