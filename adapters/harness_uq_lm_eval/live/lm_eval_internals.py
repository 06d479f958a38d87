"""Names of lm-eval that a live run needs, checked before the run.

Without `EVALUATION`, lm-eval runs without uncertainty. `NATIVE_STDERR` recomputes the standard errors that lm-eval
prints without a bootstrap; without these functions lm-eval's bootstrap is not disabled. Without one of the other names,
only the feature that uses it is missing.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True, slots=True)
class Internal:
    """A name in a module of lm-eval.

    `module`, `name`: module, and name in it; a dot in the name separates a class from its attribute. `parameters`:
    parameters that the function must have.
    """

    module: str
    name: str
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        parameters = f"({', '.join(self.parameters)})" if self.parameters else ""
        return f"{self.module}.{self.name}{parameters}"

    def is_available(self) -> bool:
        """Whether the installed lm-eval has the name, with these parameters."""
        try:
            attribute: object = import_module(self.module)
            for part in self.name.split("."):
                attribute = getattr(attribute, part)
            names = inspect.signature(attribute).parameters if self.parameters else ()  # type: ignore[arg-type]
        except (ImportError, AttributeError, TypeError, ValueError):
            return False
        return set(self.parameters) <= set(names)


EVALUATE = Internal("lm_eval.evaluator", "evaluate", ("lm", "task_dict", "bootstrap_iters", "log_samples"))
SERIALISER = Internal("lm_eval.utils", "handle_non_serializable")
SIMPLE_EVALUATE = Internal("lm_eval.evaluator", "simple_evaluate")
TABLE = Internal("lm_eval.utils", "make_table")
TRACKER = Internal("lm_eval.loggers", "EvaluationTracker.save_results_aggregated", ("results", "samples"))
CONFIGURATION = Internal("lm_eval.config.evaluate_config", "EvaluatorConfig.load_yaml_config")

EVALUATION = (EVALUATE, SERIALISER)
NATIVE_STDERR = (
    Internal("lm_eval.api.metrics", "stderr_for_metric", ("metric", "bootstrap_iters")),
    Internal("lm_eval.api.metrics", "mean_stderr"),
    Internal("lm_eval.api.metrics", "mean"),
    Internal("lm_eval.api.metrics", "pooled_sample_stderr"),
)


def missing_internals(internals: Iterable[Internal]) -> tuple[Internal, ...]:
    """The names that the installed lm-eval lacks."""
    return tuple(internal for internal in internals if not internal.is_available())


def missing_message(names: Iterable[object], consequence: str) -> str:
    """One line with the missing names, the version of lm-eval and the consequence."""
    return f"harness-uq: lm-eval {_version()} has no {', '.join(map(str, names))}; {consequence}"


def _version() -> str:
    try:
        return version("lm-eval")
    except PackageNotFoundError:
        return "of unknown version"
