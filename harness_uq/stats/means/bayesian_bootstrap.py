"""Bayesian bootstrap: posterior of any statistic of records, by random Dirichlet weights."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.posterior import DrawsPosterior
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, as_floats, validated_codes
from harness_uq.stats.common.validate_scalars import MAX_DRAWS, check_rng, check_whole
from harness_uq.stats.units.records import gamma_blocks, record_draws

NamedStatistic: TypeAlias = Literal["mean", "ratio", "perplexity", "bits_per_byte", "median", "bleu", "chrf", "ter"]
SumStatistic: TypeAlias = Callable[[FloatArray], FloatArray]


def bayesian_bootstrap(
    statistics: ArrayLike,
    statistic: NamedStatistic | SumStatistic,
    *,
    clusters: ArrayLike | None = None,
    n_draws: int = 10_000,
    rng: np.random.Generator | None = None,
) -> DrawsPosterior:
    """Posterior of a statistic T of the records' sums under Dirichlet(1, ..., 1) weights.

    Each draw is T(n sum_i w_i s_i) with w ~ Dirichlet(1, ..., 1) over records, or over clusters if these are given; the
    records of a cluster are summed first and share its weight. The implicit prior has no mass outside the observed
    records. Therefore, the posterior is too narrow with few records, or few distinct ones.

    Parameters
    ----------
    statistics : array_like, shape (n_records, n_columns) or (n_records,)
        Sufficient statistics, in columns:

        ============= ==================================================================================
        statistic     columns; value
        ============= ==================================================================================
        mean          score; mean over records
        ratio         numerator, denominator; sum / sum (a weighted mean has columns w x and w)
        perplexity    log-likelihood, number of words (or tokens, bytes); exp(-sum / sum)
        bits_per_byte log-likelihood, number of bytes; -sum / sum / ln 2
        median        score; smallest x with more than half of the weight at or below it
        bleu          length of output, length of reference, matched 1- to 4-grams, output's 1- to 4-grams
        chrf          for each n-gram order: output's, reference's, matched n-grams (beta = 2)
        ter           edits, length of reference
        ============= ==================================================================================

        ``bleu``, ``chrf`` and ``ter`` follow sacrebleu 2 (exponential smoothing; effective order).
    statistic : str or callable
        One of the names above, or a function from sums of shape (n_draws, n_columns) to values of shape (n_draws,).
    clusters : array_like, shape (n_records,), optional
        Cluster labels.
    n_draws : int, optional
        Number of draws (default 10,000). The Monte Carlo error is `mc_error` of the result.
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0, so that equal data give equal results).

    Returns
    -------
    DrawsPosterior
        Draws of the statistic.

    Raises
    ------
    DataError
        If shapes do not match, a number is not finite, or the name is unknown.
    NotEstimableError
        If there is only one record or cluster, all are equal (zero width), or a draw is not finite.

    References
    ----------
    Rubin (1981), Annals of Statistics 9, 130-134.

    Examples
    --------
    With two records 0 and 1 the mean is the weight of the second, which is uniform on [0, 1]:

    >>> posterior = bayesian_bootstrap([0.0, 1.0], "mean")
    >>> abs(posterior.mean - 1 / 2) < 5 * posterior.mc_error
    True
    """
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    s = check_records(statistics)
    codes = np.arange(len(s)) if clusters is None else validated_codes(clusters, (len(s),))
    rng = check_rng(rng)
    if statistic == "median":
        return _spread_posterior(_median_draws(s, codes, n_draws, rng), len(s))
    s, function = sum_statistic(s, statistic)
    totals = _cluster_sums(s, codes)
    rows, counts = np.unique(totals, axis=0, return_counts=True)
    if len(rows) == 1:
        raise NotEstimableError(f"all {len(totals)} records (or clusters) are equal, so that no variance is estimable")
    draws = record_draws(np.column_stack([rows, np.ones(len(rows))]), counts, n_draws, rng)
    return _spread_posterior(function(len(totals) * draws[:, :-1] / draws[:, -1:]), len(totals))


def corpus_statistic(statistics: ArrayLike, statistic: NamedStatistic | SumStatistic) -> float:
    """Value of a statistic on the records themselves.

    Arguments and errors are those of `bayesian_bootstrap`.

    Examples
    --------
    >>> round(corpus_statistic([[-6.0, 2.0], [-2.0, 2.0]], "perplexity"), 6)  # exp(8 / 4)
    7.389056
    """
    s = check_records(statistics)
    if statistic == "median":
        return float(_weighted_median(np.sort(s[:, 0]), np.ones((1, len(s))))[0])
    s, function = sum_statistic(s, statistic)
    return float(function(s.sum(axis=0, keepdims=True))[0])


def resampled(
    n_records: int,
    evaluate: Callable[[IntArray], float],
    *,
    clusters: ArrayLike | None = None,
    n_draws: int = 1000,
    rng: np.random.Generator | None = None,
) -> DrawsPosterior:
    """Bootstrap distribution of an aggregation that does not accept weights, as an approximate posterior.

    Records (or clusters) are resampled with replacement. The resulting integer weights have the same mean as the
    weights of the Bayesian bootstrap, and nearly the same variance.

    Parameters
    ----------
    n_records : int
        Number of records.
    evaluate : callable
        Maps the indices of the resampled records (with repeats) to the aggregate.
    clusters : array_like, shape (n_records,), optional
        Cluster labels.
    n_draws : int, optional
        Number of evaluations (default 1000). The Monte Carlo error is `mc_error` of the result.
    rng : numpy.random.Generator, optional
        Random generator (default: seed 0, so that equal data give equal results).

    Returns
    -------
    DrawsPosterior
        Resampled aggregates.

    Raises
    ------
    DataError
        If clusters have another length.
    NotEstimableError
        If there is only one record or cluster, all draws are equal, or one is not finite.

    References
    ----------
    Efron (1979), Annals of Statistics 7, 1-26; Rubin (1981) for the similarity of both bootstraps.
    """
    check_whole(n_records, "n_records", 0)
    check_whole(n_draws, "n_draws", 1, MAX_DRAWS)
    if n_records < 1:
        raise NotEstimableError("there are no records to resample")
    codes = np.arange(n_records) if clusters is None else validated_codes(clusters, (n_records,))
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    rng = check_rng(rng)
    draws = np.empty(n_draws)
    for k in range(len(draws)):
        chosen = rng.integers(len(members), size=len(members))
        draws[k] = evaluate(np.concatenate([members[i] for i in chosen]))
    return _spread_posterior(draws, len(members))


def check_records(statistics: ArrayLike) -> FloatArray:
    """Return statistics as a float array of shape (n_records, n_columns); a vector becomes one column.

    Raises DataError if the shape is invalid or an entry is not finite; NotEstimableError if there are no records.
    """
    s = as_floats(statistics, "statistics")
    s = s[:, None] if s.ndim == 1 else s
    if s.ndim != 2:
        raise DataError(f"statistics must have shape (n_records, n_columns); got {s.shape}")
    if not np.isfinite(s).all():
        row = np.flatnonzero(~np.isfinite(s).all(axis=1))[0]
        raise DataError(f"statistics must be finite; record {row} has {s[row].tolist()}")
    if not len(s):
        raise NotEstimableError("there are no records")
    return s


def sum_statistic(s: FloatArray, statistic: NamedStatistic | SumStatistic) -> tuple[FloatArray, SumStatistic]:
    """Return the columns to sum, and the function of their sums."""
    if callable(statistic):
        return s, statistic
    if not isinstance(statistic, str) or statistic not in _SUM_STATISTICS:
        names = ", ".join(sorted([*_SUM_STATISTICS, "median"]))
        raise DataError(f"unknown statistic {statistic!r}; available are {names}")
    columns, function = _SUM_STATISTICS[statistic]
    if statistic == "chrf" and (s.shape[1] % 3 or not s.shape[1]):
        raise DataError(f"chrf needs three columns per n-gram order; got {s.shape[1]}")
    if columns is not None and s.shape[1] != columns:
        raise DataError(f"{statistic} needs {columns} column(s) of statistics; got {s.shape[1]}")
    return (np.column_stack([s, np.ones(len(s))]) if statistic == "mean" else s), function


def _require_two_units(codes: IntArray) -> int:
    n_units = int(codes.max()) + 1
    if n_units < 2:
        raise NotEstimableError("a single record (or cluster) has no variance")
    return n_units


def _cluster_sums(s: FloatArray, codes: IntArray) -> FloatArray:
    _require_two_units(codes)
    return np.column_stack([np.bincount(codes, column) for column in s.T])


def _median_draws(s: FloatArray, codes: IntArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    if s.shape[1] != 1:
        raise DataError(f"median needs 1 column(s) of statistics; got {s.shape[1]}")
    n_clusters = _require_two_units(codes)
    order = np.argsort(s[:, 0], kind="stable")
    values, owner = s[order, 0], codes[order]
    blocks = gamma_blocks(np.ones(n_clusters, np.int64), n_draws, len(values), rng)
    return np.concatenate([_weighted_median(values, weights[:, owner]) for weights in blocks])


def _weighted_median(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Smallest of the increasing values with more than half of the weight at or below it."""
    below = np.cumsum(weights, axis=1)
    return np.asarray(values[np.argmax(below > below[:, -1:] / 2.0, axis=1)])


def _spread_posterior(draws: FloatArray, n_units: int) -> DrawsPosterior:
    if not np.isfinite(draws).all():
        share = 1.0 - float(np.isfinite(draws).mean())
        raise NotEstimableError(f"the statistic is not finite in {share:.1%} of the draws over {n_units} records")
    if np.ptp(draws) <= 1e-12 * np.abs(draws).max():
        raise NotEstimableError(f"all draws over {n_units} records (or clusters) are equal; no variance is estimable")
    return DrawsPosterior(draws)


def _ratio(sums: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])


def _perplexity(sums: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-_ratio(sums)))


def _bleu(sums: FloatArray) -> FloatArray:
    """Papineni et al. (2002) with sacrebleu's exponential smoothing: 2^-k for the k-th order without a match."""
    length, reference, matched, total = sums[:, 0], sums[:, 1], sums[:, 2:6], sums[:, 6:10]
    missed = matched == 0
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=1), matched)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_precision = np.log(smoothed / total).mean(axis=1)
        log_penalty = np.minimum(0.0, 1.0 - reference / length)
        score = 100.0 * np.exp(log_precision + log_penalty)
    empty = missed.all(axis=1) | (total == 0).any(axis=1) | (length == 0)
    return np.where(empty, 0.0, score)


def _chrf(sums: FloatArray) -> FloatArray:
    """F2 score of precision and recall, averaged over the n-gram orders that both sides have: Popović (2015)."""
    output, reference, matched = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
    reached = (output > 0) & (reference > 0)
    orders = np.maximum(reached.sum(axis=1), 1)
    precision = np.divide(matched, output, out=np.zeros_like(matched), where=reached).sum(axis=1) / orders
    recall = np.divide(matched, reference, out=np.zeros_like(matched), where=reached).sum(axis=1) / orders
    below = 4.0 * precision + recall
    return np.asarray(np.divide(500.0 * precision * recall, below, out=np.zeros_like(below), where=below > 0))


def _ter(sums: FloatArray) -> FloatArray:
    """Edits per reference word, in per cent; 100 if there are edits but no words: Snover et al. (2006)."""
    edits, words = sums[:, 0], sums[:, 1]
    return np.asarray(100.0 * np.divide(edits, words, out=(edits > 0).astype(float), where=words > 0))


_SUM_STATISTICS: dict[str, tuple[int | None, SumStatistic]] = {
    "mean": (1, _ratio),
    "ratio": (2, _ratio),
    "perplexity": (2, _perplexity),
    "bits_per_byte": (2, lambda sums: -_ratio(sums) / np.log(2.0)),
    "bleu": (10, _bleu),
    "chrf": (None, _chrf),
    "ter": (2, _ter),
}
