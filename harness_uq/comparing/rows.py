"""From a posterior of A - B to a `Comparison`: interval, probabilities, verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness_uq.comparing.differences import CompareMethod, DifferenceFinding, Pair, correlation, saved
from harness_uq.comparing.verdicts import Evidence, judge, next_step
from harness_uq.errors import DataError
from harness_uq.estimands import Scope
from harness_uq.estimating.analysis import Options
from harness_uq.logs.newest import Key
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.estimate import Interval
from harness_uq.structure.facts import StructureOptions


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How to compare.

    Attributes
    ----------
    method : `dirichlet` (and its clustered, repeated and bounded forms), `latent_normal` for independent questions
        right or wrong once, `t` (paired, cluster-robust), or `independent`, which does not match questions
    level : coverage of the intervals, in (0, 1)
    margin : smallest difference that matters, >= 0, on the scale of the score
    margins : the same by task; stronger than `margin`
    power : probability with which `smallest_detectable` would have been found
    scope : `population` (new questions of the kind) or `benchmark` (exactly these, tried again and again)
    structure : what the user says about clusters and ranges
    seed : of the methods that sample
    """

    method: CompareMethod = "dirichlet"
    level: float = 0.95
    margin: float = 0.0
    power: float = 0.8
    scope: Scope = "population"
    structure: StructureOptions = field(default_factory=StructureOptions)
    seed: int = 0
    margins: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.level < 1 or not 0 < self.power < 1:
            raise DataError(f"level and power must lie strictly between 0 and 1; got {self.level} and {self.power}")
        for margin in (self.margin, *self.margins.values()):
            if not margin >= 0:
                raise DataError(f"the margin is the smallest difference that matters and not negative; got {margin}")
        if self.scope == "full":
            raise DataError("a comparison is about new questions (population) or exactly these (benchmark), not full")

    def margin_of(self, task: str) -> float:
        """The smallest difference that matters on this task."""
        return self.margins.get(task, self.margin)

    @property
    def estimation(self) -> Options:
        """How to estimate each system's own score."""
        return Options(level=self.level, scope=self.scope, structure=self.structure, seed=self.seed)


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What a row says besides the difference.

    Attributes
    ----------
    key : task, metric and filter
    names : of A and B
    values : plain scores of A and B; None where unknown
    pair : the matched questions; None where there are none, or where they are no scores
    others : as in `Comparison`
    """

    key: Key
    names: tuple[str, str]
    values: tuple[float | None, float | None]
    higher_is_better: bool
    bounds: tuple[float, float] | None = None
    pair: Pair | None = None
    n_matched: int | None = None
    n_unmatched: tuple[int | None, int | None] = (None, None)
    n_trials: int | None = None
    cluster_key: str | None = None
    n_clusters: int | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def comparison_row(found: DifferenceFinding, facts: Facts, options: CompareOptions) -> Comparison:
    """The comparison that a posterior of A - B gives."""
    posterior, pair = found.posterior, facts.pair
    low, high = posterior.interval(options.level)
    if not high > low:
        return undecided_row(facts, options, "the interval has zero width; the data do not determine it")
    value_a, value_b = facts.values
    plain = posterior.mean if value_a is None or value_b is None else value_a - value_b
    detectable = found.detectable(options.level, options.power)
    evidence = replace(_evidence(low, high, detectable, facts, options), seen=plain)
    verdict, text = judge(evidence)
    is_open = verdict == "undecided"
    return Comparison(
        task=facts.key[0],
        metric=facts.key[1],
        filter=facts.key[2],
        system_a=facts.names[0],
        system_b=facts.names[1],
        scope=options.scope,
        method=found.method,
        value_a=value_a,
        value_b=value_b,
        difference=Difference(plain, found.std_error, Interval(low, high, options.level, found.kind)),
        verdict=verdict,
        verdict_text=text,
        next_step=next_step(evidence) if is_open else "",
        n_more_questions=evidence.n_more if is_open else None,
        prob_positive=found.prob_positive,
        odds_ratio=found.odds_ratio,
        correlation=correlation(pair) if pair else None,
        table=pair.table if pair else None,
        n_matched=len(pair.a) if pair else facts.n_matched,
        n_unmatched_a=facts.n_unmatched[0],
        n_unmatched_b=facts.n_unmatched[1],
        n_trials=facts.n_trials,
        n_clusters=pair.n_units if pair else facts.n_clusters,
        cluster_key=facts.cluster_key,
        variance_saved=saved(pair) if pair and options.scope == "population" else None,
        margin=options.margin_of(facts.key[0]),
        smallest_detectable=detectable,
        prob_not_worse=prob_not_worse(found, options.margin_of(facts.key[0]), higher_is_better=facts.higher_is_better),
        p_value=found.p_value,
        higher_is_better=facts.higher_is_better,
        posterior=posterior,
        about=found.about,
        notes=(*found.notes, *facts.notes),
        warnings=facts.warnings,
    )


def undecided_row(facts: Facts, options: CompareOptions, reason: str) -> Comparison:
    """The comparison that says why there is none."""
    a, b = facts.names
    return Comparison(
        task=facts.key[0],
        metric=facts.key[1],
        filter=facts.key[2],
        system_a=a,
        system_b=b,
        scope=options.scope,
        method="not estimable",
        value_a=facts.values[0],
        value_b=facts.values[1],
        difference=None,
        verdict="undecided",
        verdict_text=f"These data could not tell {a} from {b}: {reason}.",
        n_matched=len(facts.pair.a) if facts.pair else facts.n_matched,
        margin=options.margin_of(facts.key[0]),
        higher_is_better=facts.higher_is_better,
        notes=facts.notes,
        warnings=(*facts.warnings, f"not estimable: {reason}"),
    )


def prob_not_worse(found: DifferenceFinding, margin: float, *, higher_is_better: bool) -> float:
    """P(A is not worse than B by more than the margin | data); of t the one-sided p-value of that."""
    if higher_is_better:
        return 1.0 - float(found.posterior.cdf(-margin))
    return float(found.posterior.cdf(margin))


def _evidence(low: float, high: float, detectable: float, facts: Facts, options: CompareOptions) -> Evidence:
    sign = 1.0 if facts.higher_is_better else -1.0
    return Evidence(
        low=min(sign * low, sign * high),
        high=max(sign * low, sign * high),
        name_a=facts.names[0],
        name_b=facts.names[1],
        margin=options.margin_of(facts.key[0]),
        detectable=detectable,
        power=options.power,
        in_points=facts.bounds == (0.0, 1.0),
        n_questions=_n_questions(facts) if options.scope == "population" else None,
    )


def _n_questions(facts: Facts) -> int | None:
    """Questions compared; of unmatched ones those of the smaller run."""
    if facts.pair is not None:
        return len(facts.pair.a)
    known = [n for n in facts.n_unmatched if n is not None]
    return facts.n_matched or (min(known) if len(known) == 2 else None)
