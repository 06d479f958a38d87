"""The stock command `lm-eval run --uq bayes`, for those who install a hook that runs when Python starts.

The hook is one line in one file. It looks at the process's arguments, which costs microseconds, and only where they
name lm-eval does it wait for lm-eval's command line to be imported, and give `run` our arguments.
"""

import functools
import importlib.abc
import importlib.util
import sys
import sysconfig
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from harness_uq import HarnessUqError

FILE_NAME = "harness_uq_lm_eval_hook.pth"
LINE = (
    "import sys; any(part.endswith(('lm-eval', 'lm_eval', 'lm-eval.exe')) for part in sys.orig_argv[:6]) "
    "and __import__('importlib.util', fromlist=['util']).find_spec('harness_uq_lm_eval') "
    "and __import__('harness_uq_lm_eval.live.hook', fromlist=['hook']).activate()\n"
)
_COMMAND_LINE = "lm_eval._cli.harness"


def install(folder: Path | None = None) -> str:
    """Write the hook into this environment; what was done, in words.

    Raises
    ------
    HarnessUqError : if the folder cannot be written to
    """
    path = _path(folder)
    try:
        path.write_text(LINE, encoding="utf-8")
    except OSError as error:
        raise HarnessUqError(f"{path} cannot be written: {error.strerror}") from None
    return (
        f"lm-eval run --uq bayes now works in this environment; {path} does it, harness-uq lm-eval remove-hook ends it"
    )


def remove(folder: Path | None = None) -> str:
    """Delete the hook; what was done, in words.

    Raises
    ------
    HarnessUqError : if the file cannot be deleted
    """
    path = _path(folder)
    try:
        path.unlink()
    except FileNotFoundError:
        return f"no hook is installed at {path}"
    except OSError as error:
        raise HarnessUqError(f"{path} cannot be deleted: {error.strerror}") from None
    return f"removed {path}"


def _path(folder: Path | None) -> Path:
    return (folder or Path(sysconfig.get_path("purelib"))) / FILE_NAME


def activate() -> None:
    """Wait for lm-eval's command line to be imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Stands aside for every module but one, and then leaves."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname != _COMMAND_LINE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _then_extend(spec.loader.exec_module)  # type: ignore[method-assign, assignment]
        return spec


def _then_extend(execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        execute(module)
        try:
            _extend_every(module.HarnessCLI)
        except Exception as error:
            sys.stderr.write(f"harness-uq: this lm-eval does not take --uq ({type(error).__name__}: {error})\n")

    return exec_module


def _extend_every(command_line: type) -> None:
    """Let every instance of the class take our arguments."""
    from harness_uq_lm_eval.live.command import extend

    original: Callable[..., None] = command_line.__init__  # type: ignore[misc]

    @functools.wraps(original)
    def __init__(self: object, *args: object, **kwargs: object) -> None:  # noqa: N807 -- it is one
        original(self, *args, **kwargs)
        extend(self)  # type: ignore[arg-type]

    command_line.__init__ = __init__  # type: ignore[misc]
