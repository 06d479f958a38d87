"""Optional hook that runs when Python starts and adds the `--uq` options to the command `lm-eval run`.

The hook is one line in a `.pth` file. It inspects the arguments of the process, which takes microseconds. If they name
lm-eval, it waits until lm-eval's command line is imported, and then adds the options to `run`.
"""

import functools
import importlib.abc
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from harness_uq.plugin_api import HarnessUqError

FILE_NAME = "harness_uq_lm_eval_hook.pth"
LINE = (
    "import sys; any(part.endswith(('lm-eval', 'lm_eval', 'lm_eval.__main__', 'lm-eval.exe')) "
    "for part in sys.orig_argv[:6]) "
    "and __import__('importlib.util', fromlist=['util']).find_spec('harness_uq_lm_eval') "
    "and __import__('harness_uq_lm_eval.live.startup_hook', fromlist=['hook']).activate()\n"
)
_COMMAND_LINE = "lm_eval._cli.harness"


def install(folder: Path | None = None) -> str:
    """Write the hook into this environment and return a message that describes the result. Raises HarnessUqError if the
    folder cannot be written to.
    """
    path = _path(folder)
    try:
        path.write_text(LINE, encoding="utf-8")
    except OSError as error:
        raise HarnessUqError(f"{path} cannot be written: {error.strerror}") from None
    return (
        f"lm-eval run now accepts --uq and HARNESS_UQ in this environment. To undo this, run harness-uq lm-eval "
        f"remove-hook, which deletes {path}"
    )


def remove(folder: Path | None = None) -> str:
    """Delete the hook and return a message that describes the result. Raises HarnessUqError if the file cannot be
    deleted.
    """
    path = _path(folder)
    try:
        path.unlink()
    except FileNotFoundError:
        return f"no hook is installed at {path}"
    except OSError as error:
        raise HarnessUqError(f"{path} cannot be deleted: {error.strerror}") from None
    return f"removed {path}"


def offer() -> None:
    """Tell a person once how the command `lm-eval` gets the options as well."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    mark = state / "harness-uq" / "hook-offered"
    if not sys.stderr.isatty() or _path(None).exists() or mark.exists():
        return
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:  # it would be repeated after every run
        return
    sys.stderr.write(
        "To use --uq or HARNESS_UQ with the command lm-eval as well, run: harness-uq lm-eval install-hook\n"
    )


def _path(folder: Path | None) -> Path:
    return (folder or Path(sysconfig.get_path("purelib"))) / FILE_NAME


def activate() -> None:
    """Add the `--uq` options when lm-eval's command line is imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Finder that handles the module of lm-eval's command line only, and removes itself afterwards."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname != _COMMAND_LINE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _extend_after(spec.loader.exec_module)  # type: ignore[method-assign, assignment]
        return spec


def _extend_after(execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        execute(module)
        try:
            _extend_instances(module.HarnessCLI)
        except Exception as error:
            sys.stderr.write(f"harness-uq: this lm-eval does not take --uq ({type(error).__name__}: {error})\n")

    return exec_module


def _extend_instances(command_line: type) -> None:
    """Add the `--uq` options to every new instance of the class."""
    from harness_uq_lm_eval.live.run_arguments import add_uq_options

    original: Callable[..., None] = command_line.__init__  # type: ignore[misc]

    @functools.wraps(original)
    def __init__(self: object, *args: object, **kwargs: object) -> None:  # noqa: N807 - replaces the method
        original(self, *args, **kwargs)
        add_uq_options(self)  # type: ignore[arg-type]

    command_line.__init__ = __init__  # type: ignore[misc]
