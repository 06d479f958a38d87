"""Entry point that Inspect AI imports when it starts: registers the metrics and, if `HARNESS_UQ` is set, the hook.

This module imports neither numpy nor scipy. Without `HARNESS_UQ` it prints nothing. If the
installed version of Inspect lacks a name that harness_uq needs, the run continues without harness_uq, and one line
names what is missing.
"""

import logging
from importlib.metadata import version

from harness_uq_inspect.live.environment import is_enabled

logger = logging.getLogger(__name__)


def _warn(what: str, error: Exception) -> None:
    logger.warning(
        "harness_uq: %s with inspect-ai %s: %s: %s", what, version("inspect-ai"), type(error).__name__, error
    )


try:
    from harness_uq_inspect.live.metrics import bayes_at_n, pass_k, uq  # noqa: F401 - they register themselves
except Exception as error:
    _warn("no registered metrics", error)

if is_enabled():
    try:
        from harness_uq_inspect.live.settings import settings_from_environment

        settings_from_environment()
        from harness_uq_inspect.live import hook, inspect_internals

        inspect_internals.install()
        inspect_internals.install_for_score(hook.annotate_scored_log)
    except Exception as error:
        _warn("no intervals", error)
