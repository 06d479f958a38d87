"""The score that a task calls its headline, as `inspect_ai.log.headline_metric` finds it."""

from harness_uq_inspect.read.schema import Header, Headline, ScoreTotals


def headline_score(header: Header) -> ScoreTotals | None:
    """The score; None where nothing is declared, or what is declared matches none."""
    results = header.results
    declared = (results.headline if results else None) or header.eval.headline_metric
    if results is None or declared is None:
        return None
    return next((score for score in results.scores if _fits(score, declared)), None)


def _fits(score: ScoreTotals, declared: Headline) -> bool:
    wanted = (declared.reducer, declared.scorer, declared.score)
    found = (score.reducer, score.scorer, score.name)
    has_metric = declared.metric is None or declared.metric in score.metrics
    return has_metric and all(want in (None, have) for want, have in zip(wanted, found, strict=True))
