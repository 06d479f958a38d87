"""Plugin of harness_uq with a reader for the Test Anything Protocol and an interval method."""

from harness_uq.plugin_api import hookimpl


@hookimpl
def harness_uq_estimators():
    """Provide the interval method."""
    from harness_uq_tap.estimator import Hoeffding

    return [Hoeffding()]


@hookimpl
def harness_uq_harnesses():
    """Provide the reader."""
    from harness_uq_tap.reader import TestAnythingProtocol

    return [TestAnythingProtocol()]
