"""Settings of a live run, from the command line, a config file, the environment or Python."""

import argparse
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal, TypeAlias

import harness_uq.plugin_api as uq
from harness_uq_lm_eval.live.options import OPTIONS
from harness_uq_lm_eval.read.replay import Trials

Scope: TypeAlias = Literal["population", "benchmark", "full"]

ENVIRONMENT = "HARNESS_UQ"
PREFIX = "uq"

_logger = logging.getLogger("harness_uq")


@dataclass(frozen=True, slots=True)
class LmEvalSettings(uq.LiveSettings):
    """Settings of the estimates of a run of lm-eval.

    `keep_bootstrap`: whether lm-eval also computes its own standard errors, with its bootstrap. `trials`: whether to
    score each of the repeated trials: `auto` (if that takes at most one minute and calls no other service), `on` or
    `off`.
    """

    rules: ClassVar[Mapping[str, uq.Rule]] = {option.name: option.rule for option in OPTIONS}

    keep_bootstrap: bool = False
    trials: Trials = "auto"

    def check(self) -> None:
        """Check before a run that the settings are valid and agree with each other. Raises HarnessUqError if they are
        not.
        """
        uq.LiveSettings.check(self)
        if self.estimand != "mean" and self.trials == "off":
            raise uq.UsageError(f"--uq-estimand {self.estimand} requires single trials. Remove --uq-trials off.")


@dataclass(slots=True)
class RequestedSettings:
    """Settings collected from several sources, by name without the prefix `uq_`; the first source of a value counts.

    If no source names a method, it is that of the environment variable HARNESS_UQ, or else `default`.
    """

    values: dict[str, object] = field(default_factory=dict)
    default: str | None = None

    def extract(self, source: Mapping[str, object]) -> dict[str, object]:
        """Collect the settings of harness_uq in `source`, and return its other entries."""
        names = {key: name for key in source if (name := _setting_name(key)) is not None}
        for key, name in names.items():
            if source[key] is not None:
                self.values.setdefault(name, source[key])
        return {key: value for key, value in source.items() if key not in names}

    def settings(self) -> LmEvalSettings | None:
        """The settings; None if no source names a method. Raises HarnessUqError if a setting is invalid."""
        chosen = self.values.get("method")
        if chosen is None:
            chosen = os.environ.get(ENVIRONMENT) or self.default or ""
        if (method := uq.live_method(str(chosen))) is None:
            return None
        values = {name: value for name, value in self.values.items() if value is not None}
        return LmEvalSettings.parse({**values, "method": method})

    def check(self) -> None:
        """Check before a long run that the method exists and the settings are valid. Raises HarnessUqError if they are
        not.
        """
        settings = self.settings()
        if settings is None:
            self._check_no_options()
            return
        settings.check()
        options = settings.options()
        try:
            uq.estimate_scores([0.0, 1.0, 1.0], options=options)
        except uq.HarnessUqError:
            raise
        except Exception as error:  # an error of harness_uq, not of the user: the run continues
            _logger.warning("the uq settings could not be tried: %s: %s", type(error).__name__, error)

    def _check_no_options(self) -> None:
        unused = sorted(option.flag for option in OPTIONS if option.name in self.values.keys() & _NAMES)
        if unused:
            raise uq.UsageError(f"{', '.join(unused)} can only be used with --{PREFIX}: add --{PREFIX} bayes.")


def _setting_name(key: str) -> str | None:
    """Name of the setting for a key such as `uq` or `uq_level`; None for any other key."""
    if key == PREFIX:
        return "method"
    name = key.removeprefix(f"{PREFIX}_")
    return name if name != key and name in _NAMES else None


_NAMES = frozenset(item.name for item in fields(LmEvalSettings)) - {"method"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the `--uq` options to a parser; those with underscores instead of hyphens are accepted, but not shown."""
    group = parser.add_argument_group("uncertainty (harness-uq)")
    for option in OPTIONS:
        if option.metavar is None:
            group.add_argument(option.flag, action="store_true", default=None, help=option.help)
        elif option.is_list:
            group.add_argument(option.flag, action="extend", nargs="+", metavar=option.metavar, help=option.help)
        else:
            group.add_argument(option.flag, metavar=option.metavar, help=option.help)
    for action in group._group_actions:
        parser._option_string_actions.update({f"--{action.dest}": action})
