"""A plugin of harness_uq: reads scores from JSON Lines, and offers an interval that assumes nothing but a range."""

from harness_uq import hookimpl


@hookimpl
def harness_uq_estimators():
    """Offer the estimator."""
    from harness_uq_jsonl.estimator import Hoeffding

    return [Hoeffding()]


@hookimpl
def harness_uq_harnesses():
    """Offer the reader."""
    from harness_uq_jsonl.reader import JsonLines

    return [JsonLines()]
