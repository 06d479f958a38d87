"""From logged values to data: which kind a metric's values are, and what its harness computes from them."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq import Classifications, NotEstimableError, Records, Reported, Scores, Totals
from harness_uq.stats.means.weighted import NamedStatistic, corpus_statistic
from harness_uq_lm_eval.read import classes, corpus
from harness_uq_lm_eval.read.columns import AnswerRow, Column, Opaque, Other

TaskData: TypeAlias = Scores | Classifications | Records | Totals

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
class About:
    """What is known of one metric and filter besides its values.

    Attributes
    ----------
    aggregation : name of the harness's function of the values, None where the log does not say
    has_own_aggregation : that function is the task's own, whatever its name says
    reported : the harness's own numbers, None where it printed none
    n_questions : questions of the task in the samples
    is_complete : the samples hold every question that the harness scored
    logged_trials : trials a question of which `filter` kept one value
    """

    metric: str
    filter: str
    n_questions: int
    aggregation: str | None = None
    reported: Reported | None = None
    is_complete: bool = True
    logged_trials: int = 1
    has_own_aggregation: bool = False

    @property
    def known_aggregation(self) -> str | None:
        """The harness's function where its name says what it is."""
        if self.has_own_aggregation:
            return None
        return self.aggregation or ("mean" if self.metric in _MEAN_METRICS else None)

    @property
    def statistic(self) -> str | None:
        """The function of sums that the names speak of, None where they speak of none."""
        return _STATISTICS.get(self.aggregation or _STATISTIC_OF_METRIC.get(self.metric, ""))

    @property
    def label(self) -> str:
        """Name in messages."""
        return self.metric if self.filter == "none" else f"{self.metric},{self.filter}"

    @property
    def reported_value(self) -> float | None:
        """The harness's value where it was computed from these very questions."""
        return self.reported.value if self.reported is not None and self.is_complete else None

    def agrees(self, value: float, tolerance: float = EXACT) -> bool:
        """Whether `value` is what the harness printed."""
        printed = self.reported_value
        if printed is None:
            return False
        if float(np.float32(printed)) == printed:  # computed from numbers of 32 bits
            tolerance = max(tolerance, _FLOAT32)
        return math.isclose(value, printed, rel_tol=tolerance, abs_tol=tolerance)


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation:
    """Data of one metric and filter, with what a report should say of them."""

    data: TaskData
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def interpret(column: Column, about: About) -> Interpretation:
    """The data that a column holds; `Totals` with the reason where its values mean nothing here."""
    for kind in _KINDS:
        if (found := kind(column, about)) is not None:
            return _shown(found, about)
    return Interpretation(_opaque(column, about))


def is_length(metric: str) -> bool:
    """Whether the metric is named after a context length, as in RULER, where -1 stands for any other length."""
    return _LENGTH.fullmatch(metric) is not None


def totals(about: About, reason: str, n: int | None = None) -> Totals:
    """The harness's value alone."""
    reported = about.reported or Reported(None)
    is_mean = about.known_aggregation in (None, *_MEANS) and not about.has_own_aggregation
    return Totals(
        about.metric, about.filter, reported.value, reported.n if n is None else n, reason, None if is_mean else False
    )


def _shown(found: Interpretation, about: About) -> Interpretation:
    """Of a function of the task's own, only what gives the value that was printed."""
    data = found.data
    if not isinstance(data, Scores | Records) or not about.has_own_aggregation or about.reported is None:
        return found
    return found if about.agrees(_value(data), PRINTED) else Interpretation(_another_function(about))


def _another_function(about: About) -> Totals:
    function = f"by {about.aggregation}" if about.aggregation else "by a function that the log does not name"
    if not about.is_complete:
        what = "cannot be compared with the mean of the questions kept"
    elif about.reported_value is None:
        what = "gives no number"
    else:
        what = "is not their mean"
    return replace(totals(about, f"lm-eval combines the questions {function}, which {what}"), is_share=False)


# ---------------------------------------------------------------- numbers


def _numbers(column: Column, about: About) -> Interpretation | None:
    if column.n_numbers == 0 and not column.others:
        return Interpretation(totals(about, "no question has a score", n=0))
    if column.n_numbers <= len(column.others):
        return None
    values = column.by_question(about.n_questions)
    notes, warnings = _missing(column, about)
    if is_length(about.metric) and (values == -1).any():
        values[values == -1] = math.nan
        notes += (f"{about.label}: a score of -1 marks questions of another length; they are left out",)
    data = _of_numbers(values, about)
    checked = _checked(data, about)
    return Interpretation(data, notes, (*warnings, *checked.warnings))


def _of_numbers(values: NDArray[np.float64], about: About) -> TaskData:
    if about.statistic is not None:
        table = np.stack([values, np.where(np.isnan(values), math.nan, 1.0)], axis=1)
        records = Records(about.metric, about.filter, table, about.statistic)
        if not about.has_own_aggregation or about.agrees(_value(records)):
            return records
    if about.aggregation == "median":
        return _reproduced(Records(about.metric, about.filter, values[:, None], "median"), about, "median")
    scores = _scores(values, about)
    if about.reported is None or about.known_aggregation in _MEANS or about.agrees(_value(scores)):
        return scores
    is_unknown = about.aggregation is None and (not about.is_complete or about.reported_value is None)
    return scores if is_unknown else _another_function(about)


def _scores(values: NDArray[np.float64], about: About) -> Scores:
    repeated = about.logged_trials > 1
    return Scores(
        about.metric,
        about.filter,
        values[:, None],
        logged_trials=about.logged_trials,
        reduction=about.filter if repeated else None,
    )


def _missing(column: Column, about: About) -> tuple[tuple[str, ...], tuple[str, ...]]:
    absent = about.n_questions - len(column)
    notes = (f"{about.label}: scored on {len(column)} of {about.n_questions} questions",) if absent else ()
    counts = {
        "no score (null)": column.n_null,
        "the score NaN": column.n_nan if about.aggregation != "nanmean" else 0,
        "an infinite score": column.n_infinite,
        "a score that is no number": len(column.others),
    }
    warnings = tuple(
        f"{about.label}: {n} of {about.n_questions} questions have {what} and are left out"
        for what, n in counts.items()
        if n
    )
    return notes, warnings


# ---------------------------------------------------------------- other kinds


def _answer_rows(column: Column, about: About) -> Interpretation | None:
    """`acc_all`: a question is right where all rows of its candidate answers are; the score stands on its first."""
    rows = [(question, row) for question, row in column.others.items() if isinstance(row, AnswerRow)]
    if not rows or len(rows) < len(column):
        return None
    first: dict[object, int] = {}
    values = np.full(about.n_questions, math.nan)
    for question, row in rows:
        place = first.setdefault(row.question, question)
        values[place] = row.is_right if place == question else min(values[place], row.is_right)
    data = _scores(values, about)
    note = f"{about.label}: {len(first)} questions of {len(rows)} answer rows, right where all their rows are"
    return _checked(data, about, note)


def _probabilities(column: Column, about: About) -> Interpretation | None:
    """`brier_score`: the class and the probabilities as numpy prints them."""
    values = np.full(about.n_questions, math.nan)
    for question, pair in column.others.items():
        score = _brier(pair)
        if score is None:
            return None
        values[question] = score
    if not column.others or column.n_numbers:
        return None
    note = f"{about.label}: rebuilt from probabilities logged with eight digits"
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
    return sum((p - (place == target)) ** 2 for place, p in enumerate(probabilities))


def _log_likelihoods(column: Column, about: About) -> Interpretation | None:
    """Log-likelihood and length of each document: perplexity and bits per byte are functions of their sums."""
    statistic = about.statistic
    pairs = [(_real(first), _real(second)) for first, second in _pairs(column).values()]
    if statistic is None or not pairs or None in {part for pair in pairs for part in pair}:
        return None
    table = np.full((about.n_questions, 2), math.nan)
    table[list(column.others)] = pairs
    infinite = ~np.isfinite(table[list(column.others)]).all(axis=1)
    table[np.isinf(table).any(axis=1)] = math.nan
    found = _checked(Records(about.metric, about.filter, table, statistic), about)
    left_out = f"{about.label}: {infinite.sum()} documents have no finite log-likelihood and are left out"
    return Interpretation(found.data, found.notes, (*([left_out] if infinite.any() else []), *found.warnings))


def _translations(column: Column, about: About) -> Interpretation | None:
    """References and output of each question, for BLEU, chrF and TER."""
    function = about.aggregation or about.metric
    statistic, pairs = corpus.statistic_of(function), corpus.translations(column)
    if statistic is None or not pairs:
        return None
    try:
        rows = corpus.sufficient_statistics(function, pairs.values())
    except NotEstimableError as error:
        return Interpretation(totals(about, str(error)))
    table = np.full((about.n_questions, rows.shape[1]), math.nan)
    table[list(pairs)] = rows
    return Interpretation(_reproduced(Records(about.metric, about.filter, table, statistic), about, function))


def _reproduced(data: Records, about: About, function: str) -> Records | Totals:
    """The data where they give lm-eval's value: only its name says that the function is lm-eval's own."""
    value, printed = _value(data), about.reported_value
    if about.agrees(value):
        return data
    n = int(data.is_scored.sum()) if about.is_complete else None
    if printed is None:
        return totals(about, f"lm-eval gives no value of these very questions, which would show its {function}", n)
    return totals(about, f"{function} of the samples is {value:.10g} where the results file says {printed:.10g}", n)


def _classes(column: Column, about: About) -> Interpretation | None:
    """Target and prediction of each question, for F1, MCC and other functions of the confusion matrix."""
    pairs = _pairs(column)
    hint = classes.hinted(about.aggregation, about.metric)
    if not pairs or hint is None or (found := classes.coded(list(pairs.values()))) is None:
        return None
    own = _CONFUSION_FUNCTIONS.get(about.known_aggregation or "")
    function = (own, found) if own else classes.function_of(found, hint, about.agrees)
    if function is None:
        return Interpretation(_unknown_function(about))
    warning = _contradiction_of(found.value(own), about) if own and len(found.labels) == 2 else None
    note = None if own else f"{about.label}: lm-eval's {about.aggregation or 'function'} is the {function[0]} here"
    data = _classifications(*function, list(pairs), about)
    return Interpretation(data, (note,) if note else (), (warning,) if warning else ())


def _classifications(function: str, found: classes.Classes, questions: list[int], about: About) -> Classifications:
    targets = np.full(about.n_questions, -1)
    predictions = np.full((about.n_questions, 1), -1)
    targets[questions], predictions[questions, 0] = found.targets, found.predictions
    return Classifications(about.metric, about.filter, targets, predictions, found.labels, function=function)


def _unknown_function(about: About) -> Totals:
    function = about.aggregation or "its function"
    if about.reported_value is None:
        return totals(about, f"lm-eval gives no value of these very questions, which would show what {function} is")
    return totals(about, f"lm-eval combines the classes by {function}, whose value is not that of one known function")


def _flags(column: Column, about: About) -> Interpretation | None:
    """One flag an instruction, several a prompt: the mean over all flags is a ratio of sums."""
    flags = [row for row in column.others.values() if isinstance(row, tuple) and all(isinstance(f, bool) for f in row)]
    if not any(flags) or len(flags) < len(column):
        return None
    table = np.full((about.n_questions, 2), math.nan)
    table[list(column.others)] = [(sum(map(bool, row)), len(row)) for row in flags]
    data = Records(about.metric, about.filter, table, "ratio")
    if about.reported_value is not None and not about.agrees(_value(data)):
        return None
    note = f"{about.label}: {sum(map(len, flags))} flags on {len(flags)} questions; the questions are the units"
    return Interpretation(data, (note,))


def _masked(column: Column, about: About) -> Interpretation | None:
    """A score and whether the question is disambiguated, as in BBQ; `accuracy_amb` counts the others."""
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
            return Interpretation(data, (f"{about.label}: scored on {data.is_scored.sum()} of {len(rows)} questions",))
    return None


def _opaque(column: Column, about: About) -> Totals:
    example = next(iter(column.others.values()))
    kind = example.kind if isinstance(example, Opaque) else "lists"
    function = about.aggregation or "its aggregation"
    n = len(column) if about.is_complete else None
    return totals(about, f"the scores are {kind}, from which {function} cannot be recomputed here", n)


_KINDS: tuple[Callable[[Column, About], Interpretation | None], ...] = (
    _numbers,
    _answer_rows,
    _probabilities,
    _log_likelihoods,
    _translations,
    _classes,
    _flags,
    _masked,
)


def _pairs(column: Column) -> dict[int, tuple[object, object]]:
    """The column as pairs, empty where any value is something else."""
    rows = column.others.items()
    pairs: dict[int, tuple[object, object]] = {
        question: (row[0], row[1]) for question, row in rows if isinstance(row, tuple) and len(row) == 2
    }
    return pairs if len(pairs) == len(column) else {}


def _real(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# ---------------------------------------------------------------- agreement with the harness


def _value(data: Scores | Records) -> float:
    """The harness's statistic of the data; NaN where nothing is scored."""
    if isinstance(data, Scores):
        values = data.values[data.is_scored]
        return float(values.mean()) if values.size else math.nan
    rows = data.statistics[data.is_scored]
    return corpus_statistic(rows, cast("NamedStatistic", data.statistic)) if len(rows) else math.nan


def _checked(data: TaskData, about: About, *notes: str, tolerance: float = EXACT) -> Interpretation:
    warning = _contradiction(data, about, tolerance)
    return Interpretation(data, notes, (warning,) if warning else ())


def _contradiction(data: TaskData, about: About, tolerance: float = EXACT) -> str | None:
    """What to say where the samples do not give the value that the harness printed for them."""
    return _contradiction_of(_value(data), about, tolerance) if isinstance(data, Scores | Records) else None


def _contradiction_of(value: float, about: About, tolerance: float = EXACT) -> str | None:
    printed = about.reported_value
    if math.isnan(value) or printed is None or about.agrees(value, tolerance):
        return None
    return f"{about.label}: the samples give {value:.10g} where the results file says {printed:.10g}"
