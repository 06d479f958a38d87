"""What Inspect AI imports at its start: registered metrics and, only where `HARNESS_UQ` asks for it, the hook.

Nothing here imports numpy; an unset environment costs a few milliseconds and prints nothing. Where a version of Inspect
lacks something that is needed, the run is Inspect's own, and one line says what it lacks.
"""

import logging
from importlib.metadata import version

from harness_uq_inspect.live.wanted import from_environment, is_wanted

logger = logging.getLogger(__name__)


def _say(what: str, error: Exception) -> None:
    logger.warning(
        "harness_uq: %s with inspect-ai %s: %s: %s", what, version("inspect-ai"), type(error).__name__, error
    )


try:
    from harness_uq_inspect.live.metrics import bayes_at_n, pass_k, uq  # noqa: F401 - they register themselves
except Exception as error:
    _say("no registered metrics", error)

if is_wanted():
    try:
        from_environment()
        from harness_uq_inspect.live import hook, seam  # noqa: F401 - the hook registers itself

        seam.install()
    except Exception as error:
        _say("no intervals", error)
