"""Runs Python programs in processes forked from one that has imported what they need: `python fork_server.py MODULE…`.

Each line of the input asks for a run, and each line of the output has its exit code, its CPU seconds and its largest
memory in kB. `tests/forked_runs.py` and `tools/live_matrix.py` ask.
"""

import gc
import json
import os
import runpy
import sys
from importlib import import_module
from pathlib import Path


def main(modules: list[str]) -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.disable()
    for module in modules:
        prepare = getattr(import_module(module), "prepare_forks", None)
        if prepare:
            prepare()
    gc.freeze()  # no process walks what all of them share, and each would copy what it walks
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            run(**json.loads(line))
            sys.exit()
        _, status, used = os.wait4(child, 0)
        code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        print(code, seconds, used.ru_maxrss, file=replies, flush=True)


def run(arguments: list[str], environment: dict[str, str], cwd: str, before: str, out: str, err: str) -> None:
    """Become the process that `python ARGUMENTS` starts, and execute `before` first."""
    gc.enable()
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        os.dup2(os.open(path, flags), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    exec(before, {})
    match arguments:
        case ["-m", module, *rest]:
            sys.argv, sys.path[0] = [module, *rest], cwd
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv, sys.path[0] = ["-c", *rest], ""
            exec(compile(code, "<string>", "exec"), vars(sys.modules["__main__"]) | {"__name__": "__main__"})
        case [program, *rest]:
            sys.argv, sys.path[0] = [program, *rest], str(Path(program).parent)
            runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
