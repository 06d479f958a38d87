"""What a live run takes from lm-eval, looked at before the run: where a part is gone, the run is lm-eval's own.

`EVALUATION` is needed for any uncertainty. `OWN_ERRORS` put back the standard errors that lm-eval prints without a
bootstrap, so that without them its bootstrap stays on. The others cost the part that they are for.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True, slots=True)
class Seam:
    """A name in a module of lm-eval.

    Attributes
    ----------
    module, name : its address; a dot in the name leads into a class
    parameters : that a function must have
    """

    module: str
    name: str
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        taken = f"({', '.join(self.parameters)})" if self.parameters else ""
        return f"{self.module}.{self.name}{taken}"

    def is_there(self) -> bool:
        """Whether lm-eval has it, with the parameters."""
        try:
            found: object = import_module(self.module)
            for part in self.name.split("."):
                found = getattr(found, part)
            names = inspect.signature(found).parameters if self.parameters else ()  # type: ignore[arg-type]
        except (ImportError, AttributeError, TypeError, ValueError):
            return False
        return set(self.parameters) <= set(names)


EVALUATE = Seam("lm_eval.evaluator", "evaluate", ("lm", "task_dict", "bootstrap_iters", "log_samples"))
SERIALISER = Seam("lm_eval.utils", "handle_non_serializable")
SIMPLE_EVALUATE = Seam("lm_eval.evaluator", "simple_evaluate")
TABLE = Seam("lm_eval.utils", "make_table")
CONFIGURATION = Seam("lm_eval.config.evaluate_config", "EvaluatorConfig.load_yaml_config")

EVALUATION = (EVALUATE, SERIALISER)
OWN_ERRORS = (
    Seam("lm_eval.api.metrics", "stderr_for_metric", ("metric", "bootstrap_iters")),
    Seam("lm_eval.api.metrics", "mean_stderr"),
    Seam("lm_eval.api.metrics", "mean"),
    Seam("lm_eval.api.metrics", "pooled_sample_stderr"),
)


def missing(seams: Iterable[Seam]) -> tuple[Seam, ...]:
    """Those that this lm-eval has not."""
    return tuple(seam for seam in seams if not seam.is_there())


def gone(seams: Iterable[object], consequence: str) -> str:
    """The one line that says which seams and which version, and what comes of it."""
    return f"harness-uq: lm-eval {_version()} has no {', '.join(map(str, seams))}; {consequence}"


def _version() -> str:
    try:
        return version("lm-eval")
    except PackageNotFoundError:
        return "of unknown version"
