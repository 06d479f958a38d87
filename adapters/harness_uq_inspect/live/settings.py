"""Settings of a live run, from the environment or from `--uq` options."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from harness_uq.plugin_api import LiveSettings, UsageError
from harness_uq_inspect.live.environment import OPTIONS, VARIABLE, keeps_native_stderr

_VARIABLES: Final = {option.removeprefix("--uq-"): variable for option, variable in OPTIONS.items() if option != "--uq"}
Scope = Literal["population", "benchmark", "full"]
_ACTIVE: Final = ("questions", "reference-runs")
_TASK_SCOPES: Final = ("population", "benchmark")


@dataclass(frozen=True, slots=True)
class InspectSettings(LiveSettings):
    """Settings of the estimation and of the annotation of the log.

    `swaps_stderr`: whether the posterior standard deviation replaces the value of Inspect's `stderr`. `n_questions`:
    number of samples to run, chosen actively; None to run all. `reference_runs`: paths of runs of other systems on all
    samples, with `n_questions`.
    """

    live_options: ClassVar[Collection[str]] = (*LiveSettings.live_options, "questions", "reference-runs")

    swaps_stderr: bool = True
    n_questions: int | None = None
    reference_runs: tuple[str, ...] = ()

    def recorded(self) -> dict[str, str | float]:
        """The settings that are recorded with the estimates."""
        settings = LiveSettings.recorded(self)
        return settings | ({"cluster": ",".join(self.cluster)} if self.cluster else {})


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> InspectSettings:
    """Read and check the settings in the environment. Raises HarnessUqError if a variable has an invalid value."""
    variables = {name: environment[variable] for name, variable in _VARIABLES.items() if environment.get(variable)}
    method = environment.get(VARIABLE, "")
    values: dict[str, object] = {**variables, "method": "bayes" if method.lower() in ("1", "true") else method}
    if "cluster" in variables:
        values["cluster"] = list(filter(None, variables["cluster"].split(",")))
    n_questions, reference_runs = _active_settings(variables)
    if n_questions is not None:
        values["scope"] = "full"
    for name in _ACTIVE:
        values.pop(name, None)
    settings = replace(
        InspectSettings.parse(values),
        swaps_stderr=not keeps_native_stderr(environment),
        n_questions=n_questions,
        reference_runs=reference_runs,
    )
    settings.check()
    return settings


def _active_settings(variables: Mapping[str, str]) -> tuple[int | None, tuple[str, ...]]:
    """Number of samples to run, and the reference runs; None and no runs if all samples are run. Raises UsageError if
    one is given without the other, or the number is invalid.
    """
    count, runs = (variables.get(name) for name in _ACTIVE)
    if count is None and runs is None:
        return None, ()
    if count is None or runs is None:
        raise UsageError("--uq-questions and --uq-reference-runs can only be used together.")
    if not count.isdecimal() or int(count) < 2:
        raise UsageError(f"--uq-questions must be a whole number of at least 2; got {count}")
    if "compare" in variables:
        raise UsageError("--uq-compare cannot be used with --uq-questions: it would not account for their choice.")
    if variables.get("scope") in ("population", "benchmark"):
        raise UsageError("--uq-questions estimates the score on all questions: use --uq-scope full or omit it.")
    return int(count), tuple(filter(None, runs.split(",")))


def check_options(*, scope: str, **options: str | float) -> None:
    """Check arguments of `harness_uq.Options` when a task is created, before the run costs anything. Raises DataError
    if an argument is invalid.
    """
    from harness_uq.plugin_api import DataError, Options

    if scope not in _TASK_SCOPES:
        raise DataError(f"scope must be {' or '.join(_TASK_SCOPES)}; got {scope!r}")
    Options(**options)  # type: ignore[arg-type]
