"""Settings of a live run, from the command line, a config file, the environment or Python."""

import argparse
import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias, get_args

import harness_uq.plugin_api as uq
from harness_uq_lm_eval.read.replay import Trials

Scope: TypeAlias = Literal["population", "benchmark", "full"]

ENVIRONMENT = "HARNESS_UQ"
PREFIX = "uq"
TRIALS: tuple[Trials, ...] = get_args(Trials)
SCOPES: tuple[Scope, ...] = get_args(Scope)

_logger = logging.getLogger("harness_uq")


def _whole(value: object, smallest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or int(value) < smallest:
        raise ValueError
    return int(value)


def _text_or_texts(value: object) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value)  # type: ignore[arg-type]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError
    return texts


@dataclass(frozen=True, slots=True)
class LmEvalSettings(uq.LiveSettings):
    """Settings of the estimates of a run of lm-eval.

    `keep_bootstrap`: whether lm-eval also computes its own standard errors, with its bootstrap. `questions`: number of
    documents of each task to run, chosen in rounds; None to run all. `reference_runs`: paths of runs of other systems
    on all documents, with `questions`. `rounds`: number of rounds, with `questions`. `trials`: whether to score each of
    the repeated trials: `auto` (if that takes at most one minute and calls no other service), `on` or `off`.
    """

    rules: ClassVar[Mapping[str, uq.Rule]] = {
        **uq.LiveSettings.rules,
        "keep_bootstrap": uq.one_of(True, False),
        "trials": uq.one_of(*TRIALS),
        "questions": uq.Rule(partial(_whole, smallest=2), "a whole number of at least 2"),
        "reference_runs": uq.Rule(_text_or_texts, "the path of a logged run, or several paths"),
        "rounds": uq.Rule(partial(_whole, smallest=1), "a whole number of at least 1"),
    }

    live_options: ClassVar[Collection[str]] = (
        *uq.LiveSettings.live_options,
        *("estimand", "trials", "questions", "reference-runs", "rounds", "keep-bootstrap"),
    )

    keep_bootstrap: bool = False
    trials: Trials = "auto"
    questions: int | None = None
    reference_runs: tuple[str, ...] = ()
    rounds: int = 5

    def check(self) -> None:
        """Check before a run that the settings are valid and agree with each other. Raises HarnessUqError if they are
        not.
        """
        uq.LiveSettings.check(self)
        if self.estimand != "mean" and self.trials == "off":
            raise uq.UsageError(f"--uq-estimand {self.estimand} requires single trials. Remove --uq-trials off.")
        if self.questions is not None or self.reference_runs:
            self._check_active()

    def _check_active(self) -> None:
        if self.questions is None or not self.reference_runs:
            raise uq.UsageError("--uq-questions and --uq-reference-runs can only be used together.")
        for path in self.reference_runs:
            if not (uq.paths.is_remote(path) or Path(path).exists()):
                raise uq.UsageError(f"Reference run not found: {path}. Give the path of a logged run.")
        if self.scope != "full" or self.estimand != "mean" or self.compare is not None:
            raise uq.UsageError(
                "--uq-questions estimates the mean score on all questions. Remove --uq-scope, --uq-estimand and "
                "--uq-compare."
            )

    def recorded(self) -> dict[str, str | float]:
        """The settings that are recorded with the estimates."""
        active = {} if self.questions is None else {"questions": self.questions, "rounds": self.rounds}
        return uq.LiveSettings.recorded(self) | active

    def compare_options(self) -> uq.Options:
        """Options of the comparison, which has no scope `full`."""
        scope: Scope = "benchmark" if self.scope == "benchmark" else "population"
        return uq.Options(level=self.level, scope=scope, structure=self.options().structure)


@dataclass(slots=True)
class RequestedSettings:
    """Settings collected from several sources, by name without the prefix `uq_`; the first source of a value counts.

    If no source names a method, the environment variable HARNESS_UQ is used.
    """

    values: dict[str, object] = field(default_factory=dict)

    def extract(self, source: Mapping[str, object]) -> dict[str, object]:
        """Collect the settings of harness_uq in `source`, and return its other entries."""
        names = {key: name for key in source if (name := _setting_name(key)) is not None}
        for key, name in names.items():
            if source[key] is not None:
                self.values.setdefault(name, source[key])
        return {key: value for key, value in source.items() if key not in names}

    def settings(self) -> LmEvalSettings | None:
        """The settings; None if no source names a method. Raises HarnessUqError if a setting is invalid."""
        method = self.values.get("method") or _method_in(os.environ.get(ENVIRONMENT, ""))
        if not method:
            return None
        values = {name: value for name, value in self.values.items() if value is not None}
        if "questions" in values:
            values.setdefault("scope", "full")
        elif "rounds" in values:
            raise uq.UsageError("--uq-rounds can only be used together with --uq-questions.")
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
        unused = sorted(f"{PREFIX}_{name}" for name in self.values.keys() & _NAMES)
        if unused:
            raise uq.UsageError(f"{', '.join(unused)} can only be used with {PREFIX}: add --{PREFIX} bayes.")


def _method_in(variable: str) -> str | None:
    """The method in HARNESS_UQ: None if it is empty, 0 or off; `bayes` if it is 1 or true."""
    lowered = variable.lower()
    if lowered in ("", "0", "off"):
        return None
    return "bayes" if lowered in ("1", "true") else variable


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
    group.add_argument("--uq", metavar="METHOD", help="Compute intervals with bayes, wilson, t, clt or another method")
    group.add_argument(
        "--uq-level", type=float, metavar="P", help="Set the nominal coverage of the intervals (default: 0.95)"
    )
    group.add_argument(
        "--uq-scope",
        choices=SCOPES,
        help="Estimate the score on similar new questions (population), on these questions (benchmark), or on all "
        "questions if the run uses --limit (full) (default: population)",
    )
    group.add_argument(
        "--uq-cluster",
        action="append",
        metavar="[TASK=]FIELD",
        help="Cluster questions by FIELD; 'auto' detects FIELD, 'none' ignores clusters (default: auto, repeatable)",
    )
    group.add_argument(
        "--uq-questions",
        metavar="N",
        help="Run N questions of each task, chosen in rounds, and estimate the score on all its questions",
    )
    group.add_argument(
        "--uq-reference-runs",
        nargs="+",
        metavar="RUN",
        help="Choose the questions by the scores of these runs of other systems on all questions",
    )
    group.add_argument("--uq-rounds", metavar="N", help="Choose the questions in N rounds (default: 5)")
    group.add_argument(
        "--uq-compare", metavar="RUN", help="Compare the new run with this logged run, question by question"
    )
    group.add_argument(
        "--uq-estimand",
        metavar="ESTIMAND",
        help="Estimate mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K (default: mean)",
    )
    group.add_argument(
        "--uq-trials",
        choices=TRIALS,
        help="Score each of the repeated trials always (on), never (off), or only if scoring takes at most one minute "
        "and calls no other service (auto) (default: auto)",
    )
    group.add_argument(
        "--uq-keep-bootstrap",
        action="store_true",
        default=None,
        help="Also run the bootstrap of lm-eval, which may take several minutes",
    )
    for action in group._group_actions:
        parser._option_string_actions.update({f"--{action.dest}": action})
