"""Settings of a live run, from the environment or from `--uq` options."""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from harness_uq.plugin_api import LIVE_OPTIONS, LiveOption, LiveSettings, UsageError, live_method
from harness_uq_inspect.live.environment import keeps_native_stderr, method_in

Scope = Literal["population", "benchmark", "full"]
_TASK_SCOPES: Final = ("population", "benchmark")
_OPTIONS: Final = {option.flag: option for option in LIVE_OPTIONS}
_OTHER_FLAGS: Final = {"--method": "--uq"}


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Separate the arguments for Inspect from the `--uq` options, which become environment variables. Raises UsageError
    if an option has no value.

    >>> split_arguments(["eval", "task.py", "--uq", "bayes", "--uq-level=0.9"])
    (['eval', 'task.py'], {'HARNESS_UQ': 'bayes', 'HARNESS_UQ_LEVEL': '0.9'})
    >>> split_arguments(["eval", "task.py", "--method", "bayes", "--uq_keep_stderr"])
    (['eval', 'task.py'], {'HARNESS_UQ': 'bayes', 'HARNESS_UQ_KEEP_STDERR': '1'})
    """
    rest: list[str] = []
    variables: dict[str, str] = {}
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        name, equals, value = argument.partition("=")
        flag = name.replace("_", "-") if name.startswith("--uq_") else _OTHER_FLAGS.get(name, name)
        if flag.startswith("--uq-") and flag not in _OPTIONS:
            raise UsageError(f"Unknown option: {name!r}. Available options: {', '.join(_OPTIONS)}.")
        if flag not in _OPTIONS:
            rest.append(argument)
            continue
        option = _OPTIONS[flag]
        if not equals:
            value = _value_in(queue, option)
        is_further = option.is_list and option.variable in variables
        variables[option.variable] = f"{variables[option.variable]},{value}" if is_further else value
    return rest, variables


def _value_in(queue: list[str], option: LiveOption) -> str:
    """Remove the value of an option from the arguments behind it."""
    if option.metavar is None:
        return "1"
    if not queue or queue[0].startswith("--"):
        raise UsageError(f"{option.flag} requires a value, such as {option.flag} {option.example}.")
    return queue.pop(0)


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> LiveSettings:
    """Read and check the settings in the environment. Raises HarnessUqError if a variable has an invalid value."""
    values: dict[str, object] = {}
    for option in LIVE_OPTIONS:
        if value := environment.get(option.variable):
            values[option.name] = list(filter(None, value.split(","))) if option.is_list else value
    values |= {"method": live_method(method_in(environment)) or "", "keep_stderr": keeps_native_stderr(environment)}
    settings = LiveSettings.parse(values)
    settings.check()
    return settings


def check_options(*, scope: str, **options: str | float) -> None:
    """Check arguments of `harness_uq.Options` when a task is created, before the run costs anything. Raises DataError
    if an argument is invalid.
    """
    from harness_uq.plugin_api import DataError, Options

    if scope not in _TASK_SCOPES:
        raise DataError(f"scope must be {' or '.join(_TASK_SCOPES)}; got {scope!r}")
    Options(**options)  # type: ignore[arg-type]
