"""The joint posterior of the scores of several systems on one task: marginals, contrasts and draws.

A statement about one system comes from its marginal, a statement about two systems comes from their contrast, and only
statements about three or more systems (probabilities of ranks) come from draws.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, compress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.data.panel import Panel, build_panel
from harness_uq.data.selection import ScoreKey, SelectedRun, name_systems
from harness_uq.data.task_log import Classifications, FloatArray, IntArray, Scores, SufficientStatistics, TaskLog
from harness_uq.inference.contrasts import (
    Contrast,
    independent_contrast,
    own_questions_contrast,
    paired_contrast,
)
from harness_uq.inference.marginals import marginal, posterior_of
from harness_uq.inference.paired_records import PairedRecords, pair_records
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.comparison import (
    CONSTANT_DIFFERENCE,
    INDEPENDENT_COMPARISON,
    OTHER_ORDER_ON_OWN_QUESTIONS,
    OWN_QUESTIONS_USED,
    RANK_CLUSTERS,
    RANK_LONG_TAIL,
    RANKED_WITH_OWN_QUESTIONS,
    SEPARATE_POSTERIORS,
    STUDENT_DISTRIBUTION,
    SYSTEM_NOT_ESTIMABLE,
    SYSTEM_WITH_CONSTANT_SCORES,
    TOO_FEW_SYSTEMS,
    UNTESTED_PAIRS,
)
from harness_uq.messages.errors import NotEstimableError
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.pairs.joint_student import JointMeans, joint_means
from harness_uq.stats.pairs.paired import paired_tables
from harness_uq.stats.pairs.rank_sets import RankSets, has_long_tails, rank_sets, rank_sets_of_normal
from harness_uq.stats.trials.bayes_at_n import bayes_at_n
from harness_uq.stats.units.all_pairs import pair_moments, prob_better
from harness_uq.stats.units.contrasts import solve_together
from harness_uq.stats.units.draws import calibrated_draws, joint_draws

if TYPE_CHECKING:
    from harness_uq.options import Options

MOST_CONTRASTS = 300
"""With more pairs, those that need a table of their posterior are matched by their moments."""

ROUNDING = 1e-12
_N_QUANTILES = 200
_MOST_PAIRED_RECORDS = 10  # systems; each pair takes 10,000 draws


class JointPosterior(ABC):
    """The scores of S systems.

    `key`: task, metric and filter. `systems`: S unique names. `estimates`: the marginals, as `estimate` computes them
    for these questions. `panel`: the scores on the common questions; None if the posteriors of the systems are
    separate. `further_messages`: messages about the logs.
    """

    panel: Panel | None = None
    further_messages: tuple[Message, ...] = ()

    def __init__(
        self,
        key: ScoreKey,
        systems: tuple[str, ...],
        options: "Options",
        *,
        n_questions: int,
        messages: tuple[Message, ...] = (),
        n_draws: int = 10_000,
    ) -> None:
        self.key, self.systems, self.n_questions, self._notes = key, systems, n_questions, messages
        self.level, self.n_draws, self._options = options.level, n_draws, options

    @property
    @abstractmethod
    def values(self) -> FloatArray:
        """Observed scores; float (S,)."""

    @property
    @abstractmethod
    def estimates(self) -> tuple[Estimate, ...]:
        """The marginal of each system."""

    @abstractmethod
    def contrast(self, i: int, j: int) -> Contrast:
        """The difference of the scores of systems i and j. Raises NotEstimableError if it has no posterior."""

    @cached_property
    def draws(self) -> FloatArray:
        """Joint draws of the scores, float (S, n_draws); they do not depend on the order of systems and questions."""
        drawn = np.empty((len(self.systems), self.n_draws))
        drawn[self._order] = self._draw(self._order)
        return drawn

    @abstractmethod
    def _draw(self, order: IntArray) -> FloatArray:
        """Draw the scores of the systems in this order."""

    @cached_property
    def prob_positive(self) -> FloatArray:
        """P(score of system i > score of system j) for all pairs, float (S, S); 1/2 on the diagonal."""
        n = len(self.systems)
        if n > 2 and (known := self._all_pairs()) is not None:
            return known
        solve_together(self.contrast(i, j).posterior for i, j in combinations(range(n), 2))
        return _square({(i, j): _prob_positive(self.contrast(i, j)) for i, j in combinations(range(n), 2)}, n)

    def _all_pairs(self) -> FloatArray | None:
        """The probabilities of all pairs at once; None to take them from the contrasts."""
        return None

    @cached_property
    def is_apart(self) -> NDArray[np.bool_]:
        """Whether the interval of the difference of two systems excludes 0; bool (S, S)."""
        if len(self.systems) == 2:
            contrast = self.contrast(0, 1)
            plain = float(self.values[0] - self.values[1]) if contrast.values is None else np.subtract(*contrast.values)
            low, high = contrast.interval(self.level, float(plain))
            return np.asarray(~np.eye(2, dtype=bool) & (low > 0 or high < 0))
        tail = (1 - self.level) / 2
        return np.asarray((self.prob_positive < tail) | (self.prob_positive > 1 - tail))

    @cached_property
    def sets(self) -> RankSets:
        """Simultaneous confidence sets of the ranks, rank 1 is the highest score; of two systems, by their contrast."""
        if len(self.systems) == 2:
            better = self.is_apart & (self.prob_positive > 0.5)
            return RankSets(1 + better.sum(axis=0), 2 - better.sum(axis=1), better, np.nan, self.level)
        sets, place = self._sets(self._order), np.argsort(self._order)
        above = sets.above[np.ix_(place, place)] & self.is_apart
        return RankSets(1 + above.sum(axis=0), len(above) - above.sum(axis=1), above, sets.critical, sets.level)

    @abstractmethod
    def _sets(self, order: IntArray) -> RankSets:
        """Simultaneous confidence sets of the ranks of the systems in this order."""

    @property
    def _order(self) -> IntArray:
        """The systems by name, so that random numbers do not depend on the order in which they are given."""
        return np.array(sorted(range(len(self.systems)), key=self.systems.__getitem__))

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The interval of each score; that of the draws for a marginal without one."""
        return tuple(
            row.interval or Interval(*self._equal_tails(s), self.level, "quantile")
            for s, row in enumerate(self.estimates)
        )

    def _equal_tails(self, s: int) -> tuple[float, float]:
        low, high = np.quantile(self.draws[s], [(1 - self.level) / 2, (1 + self.level) / 2]).tolist()
        return low, high

    @property
    def messages(self) -> tuple[Message, ...]:
        """Notes and warnings."""
        return distinct((*self._notes, *self._assumptions, *self.further_messages))

    @property
    def _assumptions(self) -> tuple[Message, ...]:
        """What statements about these systems rest on."""
        return ()

    @property
    def p_values(self) -> FloatArray | None:
        """Two-sided p-values of paired tests, float (S, S); NaN for a pair without a test, None if there are none."""
        return None

    @property
    def bayes_at_n(self) -> FloatArray | None:
        """Means and standard deviations by Bayes@N, float (2, S); None without repeated answers that are 0 or 1."""
        return None

    def rng(self, purpose: str) -> np.random.Generator:
        """A random generator that depends on the seed, the score and the purpose only."""
        name = "\0".join((*self.key, purpose)).encode(errors="surrogatepass")
        return np.random.default_rng([self._options.seed, zlib.crc32(name)])


def _prob_positive(contrast: Contrast) -> float:
    probability = contrast.prob_positive
    return 1.0 - float(contrast.posterior.cdf(0.0)) if probability is None else probability


def _square(upper: dict[tuple[int, int], float], n: int) -> FloatArray:
    table = np.full((n, n), 0.5)
    for (i, j), p in upper.items():
        table[i, j], table[j, i] = p, 1.0 - p
    return table


# ---------------------------------------------------------------- systems on common questions


class PairedPosterior(JointPosterior):
    """The scores of systems that answered the same questions."""

    panel: Panel

    def __init__(
        self,
        panel: Panel,
        options: "Options",
        plugins: Plugins,
        *,
        method: str = "bayes",
        n_draws: int = 10_000,
    ) -> None:
        super().__init__(
            panel.key, panel.systems, options, n_questions=panel.n_questions, messages=panel.messages, n_draws=n_draws
        )
        self.panel, self._plugins, self._method = panel, plugins, method
        self._contrasts: dict[tuple[int, int], Contrast] = {}

    @property
    def values(self) -> FloatArray:
        return self.panel.scores

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        panel = self.panel
        return tuple(
            marginal(run, self._options, self._plugins, rows=rows, units=panel.units)
            for run, rows in zip(panel.runs, panel.rows, strict=True)
        )

    def contrast(self, i: int, j: int) -> Contrast:
        if (i, j) not in self._contrasts:
            self._contrasts[i, j] = self._find_contrast(i, j)
        return self._contrasts[i, j]

    def _find_contrast(self, i: int, j: int) -> Contrast:
        pair = self.panel.pair(i, j)
        own = own_questions_contrast(pair, self._method) if len(self.systems) == 2 else None
        return own or paired_contrast(pair, self._method)

    @cached_property
    def _assumptions(self) -> tuple[Message, ...]:
        return tuple(self._find_assumptions())

    def _find_assumptions(self) -> Iterator[Message]:
        panel = self.panel
        yield from other_order(panel)
        if len(self.systems) == 2:
            yield from self._own_questions()
        if panel.units is not None:
            yield RANK_CLUSTERS(key=panel.cluster_key, n_clusters=panel.n_units)
        if panel.bounds is None:
            yield STUDENT_DISTRIBUTION(result="ranking")
        p = self.p_values[np.triu_indices(len(self.systems), 1)]
        if n := int(np.isnan(p).sum()):
            yield UNTESTED_PAIRS(n_untested=n, n_pairs=len(p))
        if panel.bounds is None and has_long_tails(panel.means, clusters=panel.units):
            yield RANK_LONG_TAIL(metric=panel.key[1])

    def _own_questions(self) -> Iterator[Message]:
        """A note that the difference of two systems also rests on questions that only one of them answered."""
        for used in self.contrast(0, 1).messages:
            if used.code == OWN_QUESTIONS_USED.code:
                a, b = self.systems
                yield RANKED_WITH_OWN_QUESTIONS(**used.params, system_a=a, system_b=b)

    @cached_property
    def _student(self) -> JointMeans:
        """Means with their joint errors. Raises NotEstimableError if a difference is constant and not 0."""
        fit = joint_means(self.panel.means, self.panel.units)
        size = np.abs(fit.mean)
        gap = np.abs(fit.mean[:, None] - fit.mean)
        shifted = np.isnan(fit.pair_p_values()) & (gap > ROUNDING * (size[:, None] + size))
        if shifted.any():
            a, b = (self.systems[k] for k in np.argwhere(shifted)[0])
            raise NotEstimableError(CONSTANT_DIFFERENCE(system_a=a, system_b=b))
        return fit

    def check(self) -> None:
        """Check that the systems can be ranked. Raises NotEstimableError if the range of scores is unknown, and a
        difference is constant and not 0.
        """
        if self.panel.bounds is None:
            self._student  # noqa: B018

    def _all_pairs(self) -> FloatArray | None:
        panel, n = self.panel, len(self.systems)
        if panel.bounds is None:
            fit = self._student
            covariance = fit.residuals @ fit.residuals.T
            variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
            gap = fit.mean[:, None] - fit.mean
            is_open = variance > 0
            t = np.where(is_open, gap / np.sqrt(np.where(is_open, variance, 1.0)), 0.0)
            return np.asarray(np.where(np.isnan(fit.pair_p_values()), 0.5, special.stdtr(fit.df, t)))
        if panel.has_repeated_answers:
            return None if n * (n - 1) // 2 <= MOST_CONTRASTS else self._matched()
        table = prob_better(panel.means, *panel.bounds, clusters=panel.units)
        return np.where(np.isnan(table), self._matched(), table) if np.isnan(table).any() else table

    def _matched(self) -> FloatArray:
        """The probabilities of distributions with the moments of the contrasts."""
        mean, sd = self._moments
        width = np.ptp(np.array(self.panel.bounds))
        table = np.full(mean.shape, 0.5)
        upper = np.triu_indices(len(mean), 1)
        share, spread = (mean[upper] / width + 1.0) / 2.0, (sd[upper] / (2.0 * width)) ** 2
        total = share * (1.0 - share) / spread - 1.0
        table[upper] = special.betainc((1.0 - share) * total, share * total, 0.5)
        return np.asarray(table + np.tril(1.0 - table.T, -1) - np.tril(table, -1))

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations of all contrasts; float (S, S) each."""
        n, panel = len(self.systems), self.panel
        if panel.bounds is not None and n * (n - 1) // 2 > MOST_CONTRASTS:
            n_answers = panel.n_questions * panel.n_repeated if panel.has_repeated_answers else None
            return pair_moments(panel.means, *panel.bounds, clusters=panel.units, n_answers=n_answers)
        return _moments_of(self.contrast, n)

    def _draw(self, order: IntArray) -> FloatArray:
        panel, rng = self.panel, self.rng("draws")
        means, units = canonical_questions(panel.means[order], panel.units)
        if panel.bounds is None:
            self.check()
            return joint_means(means, units).draws(self.n_draws, rng)
        draws = joint_draws(means, *panel.bounds, clusters=units, n_draws=self.n_draws, rng=rng)
        if len(order) < 3 or (panel.has_two_values and panel.n_trials == 1 and units is None):
            return draws  # their differences have the distributions of the contrasts
        mean, sd = (table[np.ix_(order, order)] for table in self._moments)
        return calibrated_draws(draws, mean, sd)

    def _sets(self, order: IntArray) -> RankSets:
        panel = self.panel
        means, units = canonical_questions(panel.means[order], panel.units)
        is_wide = panel.has_two_values or has_long_tails(means, clusters=units)
        widest = panel.bounds if is_wide else None  # otherwise the largest observed difference
        return rank_sets(means, clusters=units, bounds=widest, level=self.level, rng=self.rng("sets"))

    @cached_property
    def p_values(self) -> FloatArray:
        """McNemar's exact test for single binary trials, otherwise a (cluster-robust) t test."""
        panel = self.panel
        try:
            p = joint_means(panel.means, panel.units).pair_p_values()
        except NotEstimableError:
            p = np.where(np.eye(len(panel.means), dtype=bool), 1.0, np.nan)
        single = np.array([panel.has_two_values and values.shape[1] == 1 for values in panel.values])
        if panel.units is None and single.any():
            low, high = panel.bounds or (0.0, 1.0)
            tables = paired_tables((panel.means[single] - low) / (high - low))
            fewer, n = np.minimum(tables[..., 1], tables[..., 2]), (tables[..., 1] + tables[..., 2]).astype(int)
            p[np.ix_(single, single)] = np.minimum(1.0, 2 * special.bdtr(fewer, n, 0.5))
        return np.asarray(p)

    @property
    def bayes_at_n(self) -> FloatArray | None:
        panel = self.panel
        if not panel.is_binary or panel.n_trials == 1:
            return None
        return np.array([bayes_at_n(values) for values in panel.values]).T


def other_order(panel: Panel) -> Iterator[Message]:
    """A note that names systems whose scores on the common questions and on all own questions are in another order."""
    if not any(panel.n_unmatched):
        return
    used = [run.data.values[run.data.is_scored] for run in panel.runs if isinstance(run.data, Scores)]
    own, common = np.array([np.nanmean(table, axis=1).mean() for table in used]), panel.scores
    is_reversed = (common[:, None] > common + ROUNDING) & (own[:, None] < own - ROUNDING)
    is_other = np.any(is_reversed | is_reversed.T, axis=1).tolist()
    if any(is_other):
        yield OTHER_ORDER_ON_OWN_QUESTIONS(systems=tuple(compress(panel.systems, is_other)))


def canonical_questions(means: FloatArray, units: IntArray | None) -> tuple[FloatArray, IntArray | None]:
    """The scores with the questions, and the units, in an order that depends on the scores only."""
    if units is None:
        return means[:, np.lexsort(means)], None
    codes = np.unique(units, return_inverse=True)[1]
    totals = np.stack([np.bincount(codes, row) for row in means])
    place = np.empty(totals.shape[1], np.int64)
    place[np.lexsort((*totals.round(9), np.bincount(codes)))] = np.arange(totals.shape[1])
    order = np.lexsort((*means, place[codes]))
    return means[:, order], place[codes][order]


# ---------------------------------------------------------------- systems without common questions


class SeparatePosterior(JointPosterior):
    """The scores of systems whose posteriors are independent.

    `rows`: the estimates, each with an interval and a value.
    """

    def __init__(
        self,
        key: ScoreKey,
        rows: Sequence[Estimate],
        options: "Options",
        *,
        messages: tuple[Message, ...] = (),
        n_draws: int = 10_000,
    ) -> None:
        fewest = min(row.n_questions or 0 for row in rows)
        names = tuple(row.system for row in rows)
        super().__init__(key, names, options, n_questions=fewest, messages=messages, n_draws=n_draws)
        self._rows = tuple(rows)

    @property
    def values(self) -> FloatArray:
        return np.array([row.value for row in self._rows], float)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        return self._rows

    def contrast(self, i: int, j: int) -> Contrast:
        return independent_contrast(self._rows[i], self._rows[j])

    def _all_pairs(self) -> FloatArray | None:
        n = len(self._rows)
        if n * (n - 1) // 2 <= MOST_CONTRASTS:
            return None
        posteriors = [posterior_of(row) for row in self._rows]
        grid = np.stack([one.quantile((np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES) for one in posteriors])
        below = np.stack([one.cdf(grid).mean(axis=1) for one in posteriors], axis=1)
        return np.asarray((below + 1.0 - below.T) / 2)

    def _draw(self, order: IntArray) -> FloatArray:
        rng = self.rng("draws")
        return np.stack([posterior_of(self._rows[k]).quantile(rng.random(self.n_draws)) for k in order])

    def _sets(self, order: IntArray) -> RankSets:
        posteriors = [posterior_of(self._rows[k]) for k in order]
        covariance = np.diag([posterior.sd**2 for posterior in posteriors])
        means = [posterior.mean for posterior in posteriors]
        return rank_sets_of_normal(means, covariance, level=self.level, rng=self.rng("sets"))


class RecordsPosterior(SeparatePosterior):
    """Scores that are not means, such as perplexity or F1, of systems that answered the same questions.

    The marginals are those of `estimate`, and the differences are paired. `differences`: one for each pair i < j.
    """

    def __init__(
        self,
        key: ScoreKey,
        rows: Sequence[Estimate],
        differences: Mapping[tuple[int, int], PairedRecords],
        options: "Options",
        *,
        messages: tuple[Message, ...] = (),
        n_draws: int = 10_000,
    ) -> None:
        found = [message for one in differences.values() for message in (*one.messages, *one.difference.messages)]
        super().__init__(key, rows, options, messages=distinct((*found, *messages)), n_draws=n_draws)
        self._differences = differences

    def contrast(self, i: int, j: int) -> Contrast:
        return self._differences[i, j].difference

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        return _moments_of(self.contrast, len(self.systems))

    def _draw(self, order: IntArray) -> FloatArray:
        mean, sd = (table[np.ix_(order, order)] for table in self._moments)
        return calibrated_draws(super()._draw(order), mean, sd)

    def _sets(self, order: IntArray) -> RankSets:
        mean, sd = (table[np.ix_(order, order)] for table in self._moments)
        centring = np.eye(len(order)) - 1.0 / len(order)
        values, vectors = np.linalg.eigh(-0.5 * centring @ sd**2 @ centring)
        covariance = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return rank_sets_of_normal(mean.mean(axis=1), covariance, level=self.level, rng=self.rng("sets"))


def _moments_of(contrast: Callable[[int, int], Contrast], n: int) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of all contrasts; float (n, n) each."""
    mean, sd = np.zeros((n, n)), np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        posterior = contrast(i, j).posterior
        mean[i, j], mean[j, i] = posterior.mean, -posterior.mean
        sd[i, j] = sd[j, i] = posterior.sd
    return mean, sd


# ---------------------------------------------------------------- construction


def joint_posterior(
    runs: Sequence[SelectedRun],
    options: "Options",
    plugins: Plugins,
    *,
    logs: Sequence[TaskLog] = (),
    n_draws: int = 10_000,
) -> JointPosterior:
    """The joint posterior of the scores of systems on one task.

    A system that answered fewer than half of the questions that most others answered is left out. The others are
    compared on the questions that all of them answered or, if questions do not match, as independent. `runs`: data of
    one task, metric and filter, one entry per system. `logs`: all logs, which contain the tasks of groups. Raises
    NotEstimableError if fewer than two systems have an interval.
    """
    try:
        if options.scope == "population":
            return paired_posterior(runs, options, plugins, n_draws=n_draws)
        panel = build_panel(runs, options.structure, plugins)
        rows = [marginal(run, options, plugins, rows=at) for run, at in zip(panel.runs, panel.rows, strict=True)]
        notes: tuple[Message, ...] = (SEPARATE_POSTERIORS(), *panel.messages, *other_order(panel))
    except NotEstimableError as error:
        rows = [marginal(run, options, plugins, logs=logs) for run in runs]
        if (differences := _paired_records(runs, rows, options, plugins)) is not None:
            of_rows = name_systems([row.warnings for row in rows], [row.system for row in rows])
            key = runs[0].log.task, runs[0].data.metric, runs[0].data.filter
            return RecordsPosterior(key, rows, differences, options, messages=of_rows, n_draws=n_draws)
        is_separate = options.scope == "benchmark"
        notes = (SEPARATE_POSTERIORS() if is_separate else INDEPENDENT_COMPARISON(reason=str(error)),)
    key = runs[0].log.task, runs[0].data.metric, runs[0].data.filter
    why = [None if row.interval is None else _why_without_posterior(row) for row in rows]
    known = [row for row, error in zip(rows, why, strict=True) if row.interval is not None and error is None]
    if len(known) < 2:
        raise next(
            (error for error in why if error is not None), NotEstimableError(TOO_FEW_SYSTEMS(what="an interval"))
        )
    reasons = [row.reason if error is None else error.message for row, error in zip(rows, why, strict=True)]
    left_out = [
        SYSTEM_NOT_ESTIMABLE(system=row.system, reason_code=reason.code)
        for row, reason in zip(rows, reasons, strict=True)
        if row not in known and reason is not None
    ]
    of_rows = name_systems([row.warnings for row in known], [row.system for row in known])
    return SeparatePosterior(key, known, options, messages=(*notes, *left_out, *of_rows), n_draws=n_draws)


def _paired_records(
    runs: Sequence[SelectedRun], rows: Sequence[Estimate], options: "Options", plugins: Plugins
) -> dict[tuple[int, int], PairedRecords] | None:
    """The differences of a metric that is not a mean; None if not all of them are paired on all questions."""
    if (
        options.scope == "benchmark"
        or not 1 < len(runs) <= _MOST_PAIRED_RECORDS
        or not all(isinstance(run.data, SufficientStatistics | Classifications) for run in runs)
        or any(row.interval is None or _why_without_posterior(row) is not None for row in rows)
    ):
        return None
    differences = {}
    for i, j in combinations(range(len(runs)), 2):
        try:
            found = pair_records(runs[i], runs[j], options.structure, plugins, seed=options.seed)
        except NotEstimableError:
            return None
        if any(found.n_unmatched):
            return None
        differences[i, j] = found
    return differences


def _why_without_posterior(row: Estimate) -> NotEstimableError | None:
    """Why an estimate cannot be compared with others although it has an interval; None if it can be."""
    try:
        posterior_of(row)
    except NotEstimableError as error:
        return error
    return None


def paired_posterior(
    runs: Sequence[SelectedRun], options: "Options", plugins: Plugins, *, n_draws: int = 10_000
) -> PairedPosterior:
    """The joint posterior on new questions of systems that answered the same questions. Raises NotEstimableError if
    fewer than two systems have questions in common, or their scores do not vary.
    """
    return _paired(build_panel(runs, options.structure, plugins), options, plugins, n_draws)


def _paired(panel: Panel, options: "Options", plugins: Plugins, n_draws: int) -> PairedPosterior:
    """The posterior of the systems whose scores vary, if the range of scores is unknown."""
    if len(panel.systems) < 2:
        raise NotEstimableError(TOO_FEW_SYSTEMS(what="questions in common"))
    constant = _constant(panel)
    if not constant:
        posterior = PairedPosterior(panel, options, plugins, n_draws=n_draws)
        posterior.check()
        return posterior
    rest = [run for s, run in enumerate(panel.runs) if s not in constant]
    if not rest:
        raise NotEstimableError(TOO_FEW_SYSTEMS(what="scores that vary"))
    varying = build_panel(rest, options.structure, plugins)
    return _paired(
        replace(varying, messages=(*panel.notes, *constant.values(), *varying.messages)), options, plugins, n_draws
    )


def _constant(panel: Panel) -> dict[int, Message]:
    """Notes on systems without usable information: all their scores are equal, and the range is unknown."""
    if panel.bounds is not None:
        return {}
    return {
        s: SYSTEM_WITH_CONSTANT_SCORES(system=name, value=row[0], metric=panel.key[1])
        for s, (name, row) in enumerate(zip(panel.systems, panel.means, strict=True))
        if np.ptp(row) <= ROUNDING * np.abs(row).max()
    }
