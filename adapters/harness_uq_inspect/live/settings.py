"""Settings of a live run, from the environment or from `--uq` options."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from harness_uq.plugin_api import LiveSettings
from harness_uq_inspect.live.environment import OPTIONS, VARIABLE, keeps_native_stderr

_VARIABLES: Final = {option.removeprefix("--uq-"): variable for option, variable in OPTIONS.items() if option != "--uq"}
Scope = Literal["population", "benchmark", "full"]
_TASK_SCOPES: Final = ("population", "benchmark")


@dataclass(frozen=True, slots=True)
class InspectSettings(LiveSettings):
    """Settings of the estimation and of the annotation of the log.

    Attributes
    ----------
    swaps_stderr : whether the posterior standard deviation replaces the value of Inspect's `stderr`
    """

    swaps_stderr: bool = True

    def recorded(self) -> dict[str, str | float]:
        """The settings that are recorded with the estimates."""
        settings = LiveSettings.recorded(self)
        return settings | ({"cluster": ",".join(self.cluster)} if self.cluster else {})


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> InspectSettings:
    """Read and check the settings in the environment.

    Raises
    ------
    HarnessUqError : if a variable has an invalid value
    """
    variables = {name: environment[variable] for name, variable in _VARIABLES.items() if environment.get(variable)}
    method = environment.get(VARIABLE, "")
    values: dict[str, object] = {**variables, "method": "bayes" if method.lower() in ("1", "true") else method}
    if "cluster" in variables:
        values["cluster"] = list(filter(None, variables["cluster"].split(",")))
    settings = replace(InspectSettings.parse(values), swaps_stderr=not keeps_native_stderr(environment))
    settings.check()
    return settings


def check_options(*, scope: str, **options: str | float) -> None:
    """Check arguments of `harness_uq.Options` when a task is created, before the run costs anything.

    Raises
    ------
    DataError : if an argument is invalid
    """
    from harness_uq.plugin_api import DataError, Options

    if scope not in _TASK_SCOPES:
        raise DataError(f"scope must be {' or '.join(_TASK_SCOPES)}; got {scope!r}")
    Options(**options)  # type: ignore[arg-type]
