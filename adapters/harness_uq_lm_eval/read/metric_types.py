"""Convert logged values to data: determine the type of a metric's values, and what lm-eval computes from them."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_lm_eval import messages as catalogue
from harness_uq_lm_eval.read import class_predictions, corpus_metrics
from harness_uq_lm_eval.read.metric_values import AnswerRow, MetricValues, Opaque, Other

TaskData: TypeAlias = uq.Scores | uq.Classifications | uq.SufficientStatistics | uq.AggregateScore

EXACT = 1e-9
PRINTED = 1e-6  # numpy prints probabilities with eight digits

_MEANS = ("mean", "nanmean")
_MEAN_METRICS = ("acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match")
_STATISTICS = {
    "perplexity": "perplexity",
    "weighted_perplexity": "perplexity",
    "bits_per_byte": "bits_per_byte",
}
_STATISTIC_OF_METRIC = {
    "perplexity": "perplexity",
    "word_perplexity": "perplexity",
    "byte_perplexity": "perplexity",
    "bits_per_byte": "bits_per_byte",
}
_CONFUSION_FUNCTIONS = {"f1": "f1", "matthews_corrcoef": "mcc"}
_FLOAT32 = 1e-6
_LENGTH = re.compile(r"\d+k?")


@dataclass(frozen=True, slots=True)
class MetricType:
    """Facts about one metric and filter besides its values.

    `n_questions`: number of questions of the task in the samples. `aggregation`: name of the function with which the
    harness aggregates the values; None if it is not logged. `reported`: the harness's own numbers; None if it printed
    none. `is_complete`: whether the samples contain all questions that the harness scored. `logged_trials`: number of
    trials per question that `filter` reduced to one value. `has_own_aggregation`: whether the task defines the function
    itself, so that its name is not reliable. `stored`: interval of the reported value that the results file contains;
    None if there is none. `why_not_resampled`: why a live run could not compute one; None if it did not try.
    """

    metric: str
    filter: str
    n_questions: int
    aggregation: str | None = None
    reported: uq.HarnessResult | None = None
    is_complete: bool = True
    logged_trials: int = 1
    has_own_aggregation: bool = False
    stored: uq.StoredInterval | None = None
    why_not_resampled: str | None = None

    @property
    def known_aggregation(self) -> str | None:
        """The harness's function, if its name identifies it."""
        if self.has_own_aggregation:
            return None
        return self.aggregation or ("mean" if self.metric in _MEAN_METRICS else None)

    @property
    def statistic(self) -> str | None:
        """The function of sums that the names suggest; None if they suggest none."""
        return _STATISTICS.get(self.aggregation or _STATISTIC_OF_METRIC.get(self.metric, ""))

    @property
    def label(self) -> str:
        """Name for messages."""
        return self.metric if self.filter == "none" else f"{self.metric},{self.filter}"

    @property
    def reported_value(self) -> float | None:
        """The harness's value, if it was computed from exactly these questions."""
        return self.reported.value if self.reported is not None and self.is_complete else None

    def agrees(self, value: float, tolerance: float = EXACT) -> bool:
        """Whether `value` equals the printed value within the tolerance."""
        printed = self.reported_value
        if printed is None:
            return False
        if float(np.float32(printed)) == printed:  # computed from numbers of 32 bits
            tolerance = max(tolerance, _FLOAT32)
        return math.isclose(value, printed, rel_tol=tolerance, abs_tol=tolerance)


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation(uq.HasMessages):
    """Data of one metric and filter, with messages about them."""

    data: TaskData
    messages: tuple[uq.Message, ...] = ()


def interpret(column: MetricValues, about: MetricType) -> Interpretation:
    """The data of a column; an `AggregateScore` with the reason if its values cannot be used."""
    for parse in _PARSERS:
        if (interpretation := parse(column, about)) is not None:
            return _verified(interpretation, about)
    return Interpretation(_opaque(column, about))


def is_length(metric: str) -> bool:
    """Whether the name of the metric is a context length, as in RULER, where -1 marks questions of other lengths."""
    return _LENGTH.fullmatch(metric) is not None


def totals(about: MetricType, reason: str, n: int | None = None) -> uq.AggregateScore:
    """The harness's value without values of questions; pass@1 of one trial is a proportion of correct answers."""
    reported = about.reported or uq.HarnessResult(None)
    is_mean = about.known_aggregation in (None, *_MEANS) and not about.has_own_aggregation
    is_share = True if about.metric == "pass@1" and about.logged_trials == 1 else None
    return uq.AggregateScore(
        about.metric,
        about.filter,
        reported.value,
        reported.n if n is None else n,
        about.why_not_resampled or reason,
        is_share if is_mean else False,
        stored=about.stored,
    )


def _verified(interpretation: Interpretation, about: MetricType) -> Interpretation:
    """The interpretation; if the task defines the aggregation itself, only if it reproduces the printed value."""
    data = interpretation.data
    if (
        not isinstance(data, uq.Scores | uq.SufficientStatistics)
        or not about.has_own_aggregation
        or about.reported is None
    ):
        return interpretation
    return interpretation if about.agrees(_value(data), PRINTED) else Interpretation(_another_function(about))


def _another_function(about: MetricType) -> uq.AggregateScore:
    function = about.aggregation or "a function that the log does not name"
    if not about.is_complete:
        what = "cannot be compared with the mean of the questions kept"
    elif about.reported_value is None:
        what = "gives no number"
    else:
        what = "is not their mean"
    return replace(totals(about, f"lm-eval combines the questions by {function}, which {what}"), is_share=False)


# ---------------------------------------------------------------- numbers


def _numbers(column: MetricValues, about: MetricType) -> Interpretation | None:
    if column.n_numbers == 0 and not column.others:
        return Interpretation(totals(about, "No question has a score", n=0))
    if column.n_numbers <= len(column.others):
        return None
    values = column.by_question(about.n_questions)
    messages = _missing(column, about)
    if is_length(about.metric) and (values == -1).any():
        values[values == -1] = math.nan
        messages += (catalogue.OTHER_CONTEXT_LENGTH(label=about.label),)
    data = _of_numbers(values, about)
    if column.n_infinite and _is_infinite(data, about):
        return _infinite(data, about, column.n_infinite)
    if isinstance(data, uq.Scores) and column.n_numbers < len(column):
        data = replace(data, is_complete=False)
    return Interpretation(data, (*messages, *_checked(data, about).messages))


def _of_numbers(values: NDArray[np.float64], about: MetricType) -> TaskData:
    if about.statistic is not None:
        table = np.stack([values, np.where(np.isnan(values), math.nan, 1.0)], axis=1)
        records = uq.SufficientStatistics(about.metric, about.filter, table, about.statistic)
        if not about.has_own_aggregation or about.agrees(_value(records)):
            return records
    if about.aggregation == "median":
        return _reproduced(
            uq.SufficientStatistics(about.metric, about.filter, values[:, None], "median"), about, "median"
        )
    scores = _scores(values, about)
    if about.reported is None or about.known_aggregation in _MEANS or about.agrees(_value(scores)):
        return scores
    is_unknown = about.aggregation is None and (not about.is_complete or about.reported_value is None)
    return scores if is_unknown else _another_function(about)


def _scores(values: NDArray[np.float64], about: MetricType) -> uq.Scores:
    repeated = about.logged_trials > 1
    return uq.Scores(
        about.metric,
        about.filter,
        values[:, None],
        logged_trials=about.logged_trials,
        reduction=about.filter if repeated else None,
        is_complete=True,  # a question without this metric is not a question whose score is missing
    )


def _missing(column: MetricValues, about: MetricType) -> tuple[uq.Message, ...]:
    absent = about.n_questions - len(column)
    counts = {
        "no score (null)": column.n_null,
        "the score NaN": column.n_nan if about.aggregation != "nanmean" else 0,
        "an infinite score": column.n_infinite,
        "a score that is not a number": len(column.others),
    }
    scored_on_part = (
        [catalogue.SCORED_ON_PART(label=about.label, n_scored=len(column), n_questions=about.n_questions)]
        if absent
        else []
    )
    warnings = (
        catalogue.UNUSABLE_SCORES(label=about.label, n_left_out=n, n_questions=about.n_questions, problem=problem)
        for problem, n in counts.items()
        if n
    )
    return (*scored_on_part, *warnings)


def _is_infinite(data: TaskData, about: MetricType) -> bool:
    """Whether the value of all questions is not finite, if `data` lack the questions that have no finite score."""
    if isinstance(data, uq.SufficientStatistics):
        return not about.agrees(_value(data))
    return about.is_complete and about.reported is not None and about.reported.value is None


def _infinite(data: TaskData, about: MetricType, n_infinite: int) -> Interpretation:
    """No value, and a warning with the value of the other questions."""
    rest = _value(data) if isinstance(data, uq.Scores | uq.SufficientStatistics) else math.nan
    left_out = "this question" if n_infinite == 1 else "these questions"
    warning = catalogue.INFINITE_SCORES(
        label=about.label,
        n_infinite=n_infinite,
        n_questions=about.n_questions,
        others="No other question has a score"
        if math.isnan(rest)
        else f"Without {left_out}, the value would be {rest:.6g}",
    )
    reason = f"the value of {about.label!r} on all questions is not finite"
    score = uq.AggregateScore(
        about.metric, about.filter, None, about.n_questions, reason, is_share=False, is_contradicted=True
    )
    return Interpretation(score, (warning,))


# ---------------------------------------------------------------- other kinds


def _answer_rows(column: MetricValues, about: MetricType) -> Interpretation | None:
    """`acc_all`: a question is right if all rows of its candidate answers are; its first row gets the score."""
    rows = [(question, row) for question, row in column.others.items() if isinstance(row, AnswerRow)]
    if not rows or len(rows) < len(column):
        return None
    first: dict[object, int] = {}
    values = np.full(about.n_questions, math.nan)
    for question, row in rows:
        index = first.setdefault(row.question, question)
        values[index] = row.is_right if index == question else min(values[index], row.is_right)
    data = _scores(values, about)
    note = catalogue.ANSWER_ROWS_COMBINED(label=about.label, n_rows=len(rows), n_questions=len(first))
    return _checked(data, about, note)


def _probabilities(column: MetricValues, about: MetricType) -> Interpretation | None:
    """`brier_score`: the target class, and the probabilities as printed by numpy."""
    values = np.full(about.n_questions, math.nan)
    for question, pair in column.others.items():
        score = _brier(pair)
        if score is None:
            return None
        values[question] = score
    if not column.others or column.n_numbers:
        return None
    note = catalogue.ROUNDED_PROBABILITIES(label=about.label)
    return _checked(_scores(values, about), about, note, tolerance=PRINTED)


def _brier(pair: Other) -> float | None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        return None
    target, printed = pair
    if not isinstance(target, int) or not isinstance(printed, str) or not printed.startswith("["):
        return None
    try:
        probabilities = [float(word) for word in printed.strip("[]").split()]
    except ValueError:
        return None
    if not 0 <= target < len(probabilities):
        return None
    return sum((p - (index == target)) ** 2 for index, p in enumerate(probabilities))


def _log_likelihoods(column: MetricValues, about: MetricType) -> Interpretation | None:
    """Log-likelihood and length of each document: perplexity and bits per byte are functions of their sums."""
    statistic = about.statistic
    pairs = [(_real(first), _real(second)) for first, second in _pairs(column).values()]
    if statistic is None or not pairs or None in {part for pair in pairs for part in pair}:
        return None
    table = np.full((about.n_questions, 2), math.nan)
    table[list(column.others)] = pairs
    infinite = ~np.isfinite(table[list(column.others)]).all(axis=1)
    table[np.isinf(table).any(axis=1)] = math.nan
    data = uq.SufficientStatistics(about.metric, about.filter, table, statistic)
    n_infinite = int(infinite.sum())
    if n_infinite and _is_infinite(data, about):
        return _infinite(data, about, n_infinite)
    left_out = catalogue.UNUSABLE_SCORES(
        label=about.label,
        n_left_out=n_infinite,
        n_questions=about.n_questions,
        problem="no finite log-likelihood",
    )
    return _checked(data, about, *([left_out] if n_infinite else []))


def _translations(column: MetricValues, about: MetricType) -> Interpretation | None:
    """References and output of each question, for BLEU, chrF and TER."""
    function = about.aggregation or about.metric
    statistic, pairs = corpus_metrics.statistic_of(function), corpus_metrics.translations(column)
    if statistic is None or not pairs:
        return None
    try:
        rows = corpus_metrics.sufficient_statistics(function, pairs.values())
    except uq.NotEstimableError as error:
        return Interpretation(totals(about, str(error)))
    table = np.full((about.n_questions, rows.shape[1]), math.nan)
    table[list(pairs)] = rows
    return Interpretation(
        _reproduced(uq.SufficientStatistics(about.metric, about.filter, table, statistic), about, function)
    )


def _reproduced(
    data: uq.SufficientStatistics, about: MetricType, function: str
) -> uq.SufficientStatistics | uq.AggregateScore:
    """The data, if they reproduce lm-eval's value; the name alone does not prove that the function is lm-eval's own."""
    value, printed = _value(data), about.reported_value
    if about.agrees(value):
        return data
    n = int(data.is_scored.sum()) if about.is_complete else None
    if printed is None:
        return totals(about, f"lm-eval reports no value for these questions, which would confirm its {function}", n)
    return totals(about, _difference(function, value, printed), n)


def _difference(function: str, value: float, printed: float) -> str:
    return f"{function} of the samples is {value:.10g}, but the results file reports {printed:.10g}"


def _classes(column: MetricValues, about: MetricType) -> Interpretation | None:
    """Target and prediction of each question, for F1, MCC and other functions of the confusion matrix."""
    pairs = _pairs(column)
    hint = class_predictions.suggested_function(about.aggregation, about.metric)
    if not pairs or hint is None or (classes := class_predictions.encode_classes(list(pairs.values()))) is None:
        return None
    known_function = _CONFUSION_FUNCTIONS.get(about.known_aggregation or "")
    function = class_predictions.function_of(classes, known_function or hint, about.agrees)
    if function is None and known_function and about.reported_value is None and known_function in classes.functions:
        function = known_function, classes
    if function is None:
        return Interpretation(
            _unknown_function(about) if known_function is None else _contradicted(known_function, classes, about)
        )
    aggregation = about.aggregation or "function"
    note = catalogue.FUNCTION_INFERRED(label=about.label, aggregation=aggregation, function=function[0])
    data = _classifications(*function, list(pairs), about)
    return Interpretation(data, () if function[0] == known_function else (note,))


def _classifications(
    function: str, classes: class_predictions.Classes, questions: list[int], about: MetricType
) -> uq.Classifications:
    targets = np.full(about.n_questions, -1)
    predictions = np.full((about.n_questions, 1), -1)
    targets[questions], predictions[questions, 0] = classes.targets, classes.predictions
    return uq.Classifications(about.metric, about.filter, targets, predictions, classes.labels, function=function)


def _contradicted(function: str, classes: class_predictions.Classes, about: MetricType) -> uq.AggregateScore:
    """The printed value, if no function of the classes gives it although the harness's function is known."""
    data = _unknown_function(about)
    if about.reported_value is None:
        return data
    if function in classes.functions:
        data = replace(data, reason=_difference(function, classes.value(function), about.reported_value))
    return replace(data, is_contradicted=True)


def _unknown_function(about: MetricType) -> uq.AggregateScore:
    function = about.aggregation or "its function"
    if about.reported_value is None:
        return totals(about, f"lm-eval reports no value for these questions, which would show what {function} is")
    return totals(about, f"lm-eval computes the score with {function}, which is no function that harness_uq knows")


def _flags(column: MetricValues, about: MetricType) -> Interpretation | None:
    """One flag per instruction, several per prompt: the mean over all flags is a ratio of sums."""
    flags = [row for row in column.others.values() if isinstance(row, tuple) and all(isinstance(f, bool) for f in row)]
    if not any(flags) or len(flags) < len(column):
        return None
    table = np.full((about.n_questions, 2), math.nan)
    table[list(column.others)] = [(sum(map(bool, row)), len(row)) for row in flags]
    data = uq.SufficientStatistics(about.metric, about.filter, table, "ratio")
    if about.reported_value is not None and not about.agrees(_value(data)):
        return None
    note = catalogue.FLAGS_PER_QUESTION(label=about.label, n_flags=sum(map(len, flags)), n_questions=len(flags))
    return Interpretation(data, (note,))


def _masked(column: MetricValues, about: MetricType) -> Interpretation | None:
    """A score, and whether the question is disambiguated, as in BBQ; `accuracy_amb` is of the ambiguous questions."""
    rows = [(q, _real(a), b) for q, (a, b) in _pairs(column).items() if isinstance(b, bool)]
    if not rows or len(rows) < len(column) or about.reported_value is None:
        return None
    for wanted in (False, True) if about.metric.endswith("_amb") else (True, False):
        values = np.full(about.n_questions, math.nan)
        for question, score, flag in rows:
            if flag is wanted and score is not None:
                values[question] = score
        data = _scores(values, about)
        if about.agrees(_value(data)):
            n_scored = data.is_scored.sum()
            return Interpretation(
                data, (catalogue.SCORED_ON_PART(label=about.label, n_scored=n_scored, n_questions=len(rows)),)
            )
    return None


def _opaque(column: MetricValues, about: MetricType) -> uq.AggregateScore:
    example = next(iter(column.others.values()))
    kind = example.kind if isinstance(example, Opaque) else "lists"
    function = about.aggregation or "its aggregation"
    n = len(column) if about.is_complete else None
    return totals(about, f"The scores are {kind}, from which {function} cannot be recomputed", n)


_PARSERS: tuple[Callable[[MetricValues, MetricType], Interpretation | None], ...] = (
    _numbers,
    _answer_rows,
    _probabilities,
    _log_likelihoods,
    _translations,
    _classes,
    _flags,
    _masked,
)


def _pairs(column: MetricValues) -> dict[int, tuple[object, object]]:
    """The column as pairs; empty if any value is something else."""
    rows = column.others.items()
    pairs: dict[int, tuple[object, object]] = {
        question: (row[0], row[1]) for question, row in rows if isinstance(row, tuple) and len(row) == 2
    }
    return pairs if len(pairs) == len(column) else {}


def _real(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# ---------------------------------------------------------------- agreement with the harness


def _value(data: uq.Scores | uq.SufficientStatistics) -> float:
    """The harness's statistic of the data; NaN if no question has a score."""
    if isinstance(data, uq.Scores):
        values = data.values[data.is_scored]
        return float(values.mean()) if values.size else math.nan
    rows = data.statistics[data.is_scored]
    return uq.corpus_statistic(rows, cast("uq.NamedStatistic", data.statistic)) if len(rows) else math.nan


def _checked(data: TaskData, about: MetricType, *notes: uq.Message, tolerance: float = EXACT) -> Interpretation:
    warning = _contradiction(data, about, tolerance)
    return Interpretation(data, (*notes, warning) if warning else notes)


def _contradiction(data: TaskData, about: MetricType, tolerance: float = EXACT) -> uq.Message | None:
    """The message if the samples do not reproduce the value that the harness printed for them."""
    printed = about.reported_value
    if printed is None or not isinstance(data, uq.Scores | uq.SufficientStatistics):
        return None
    value = _value(data)
    if math.isnan(value) or about.agrees(value, tolerance):
        return None
    return catalogue.VALUE_NOT_REPRODUCED(label=about.label, value=value, reported=printed)
