"""A plugin of harness_uq: reads the Test Anything Protocol, and offers an interval that assumes nothing but a range."""

from harness_uq import hookimpl


@hookimpl
def harness_uq_estimators():
    """Offer the estimator."""
    from harness_uq_tap.estimator import Hoeffding

    return [Hoeffding()]


@hookimpl
def harness_uq_harnesses():
    """Offer the reader."""
    from harness_uq_tap.reader import TestAnythingProtocol

    return [TestAnythingProtocol()]
