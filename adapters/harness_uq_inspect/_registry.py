"""What Inspect AI imports at its start: registered metrics and, only where `HARNESS_UQ` asks for it, the hook.

Nothing here imports numpy; an unset environment costs a few milliseconds and prints nothing.
"""

from harness_uq_inspect.metrics import bayes_at_n, pass_k, uq
from harness_uq_inspect.wanted import from_environment, is_wanted

__all__ = ["bayes_at_n", "pass_k", "uq"]


def _start() -> None:
    import logging

    try:
        from_environment()
        from harness_uq_inspect import hook, seam  # noqa: F401 - the hook registers itself

        seam.install()
    except Exception as error:
        logging.getLogger(__name__).warning("harness_uq is off: %s: %s", type(error).__name__, error)


if is_wanted():
    _start()
