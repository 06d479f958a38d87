"""`--uq-questions`: replace the dataset of each task that Inspect loads by one that is chosen during the run.

Inspect has no public way to change the dataset of a task given on its command line. The private function that loads
tasks is wrapped, so that a retry of a failed run replaces the dataset in the same way.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, ParamSpec

from harness_uq.plugin_api import ActiveHistory, LiveSettings, UsageError

if TYPE_CHECKING:
    from inspect_ai import Task

P = ParamSpec("P")
LOAD: Final = "inspect_ai._eval.loader", "load_tasks"
_COMMANDS: Final = ("eval", "eval-retry")
_CONFLICTS: Final = ("--limit", "--sample-id", "--detach")


def check_arguments(arguments: list[str]) -> None:
    """Check that the command of Inspect can run a part of its samples. Raises UsageError if the command or one of its
    options cannot be combined with `--uq-questions`.
    """
    if not arguments or arguments[0] not in _COMMANDS:
        raise UsageError(f"--uq-questions can only be used with {' and '.join(_COMMANDS)}.")
    for option in _CONFLICTS:
        if any(argument.partition("=")[0] == option for argument in arguments):
            raise UsageError(f"--uq-questions cannot be combined with {option}.")


def install(settings: LiveSettings) -> Callable[[], None]:
    """Wrap the function that loads tasks, and return a function that undoes this. Raises UsageError if the installed
    version of Inspect lacks this function.
    """
    module = import_module(LOAD[0])
    load = getattr(module, LOAD[1], None)
    if not callable(load):
        raise UsageError(
            f"inspect-ai {version('inspect-ai')} has no {'.'.join(LOAD)}, which --uq-questions requires. Use "
            "harness_uq_inspect.ActiveSource as the dataset of the task."
        )
    setattr(module, LOAD[1], _choosing(load, settings))
    return lambda: setattr(module, LOAD[1], load)


def _choosing(load: "Callable[P, list[Task]]", settings: LiveSettings) -> "Callable[P, list[Task]]":
    @wraps(load)
    def load_and_choose(*args: P.args, **kwargs: P.kwargs) -> "list[Task]":
        tasks = load(*args, **kwargs)
        for task in tasks:
            _choose(task, settings)
        return tasks

    return load_and_choose


def _choose(task: "Task", settings: LiveSettings) -> None:
    """Replace the dataset of a task by a source of samples. Raises UsageError if the task generates its samples itself,
    and DataError, LogError or NotEstimableError as for `ActiveSource`.
    """
    from inspect_ai.dataset import MemoryDataset

    from harness_uq_inspect.live.active_source import ActiveSource

    if task.sample_source is not None:
        raise UsageError(f"--uq-questions cannot be used with {task.name}, which generates its samples itself.")
    dataset = task.dataset
    history = _history(settings.reference_runs, str(task.name))
    source = ActiveSource(dataset, history, n_questions=settings.questions or 0, n_rounds=settings.rounds)
    task.sample_source = source
    task.dataset = MemoryDataset(source.initial_samples(), name=dataset.name, location=dataset.location)


@lru_cache(maxsize=4)
def _history(reference_runs: tuple[str, ...], task: str) -> ActiveHistory:
    """The history of a task, fitted once if several models run it."""
    return ActiveHistory(list(reference_runs), task=task)
