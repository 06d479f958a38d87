"""From logged values to data: which kind a metric's values are, and what its harness computes from them."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from harness_uq import Classifications, NotEstimableError, Records, Reported, Scores, Totals
from harness_uq.stats.weighted import NamedStatistic, corpus_statistic
from harness_uq_lm_eval import corpus
from harness_uq_lm_eval.columns import AnswerRow, Column, Opaque, Other

TaskData: TypeAlias = Scores | Classifications | Records | Totals

EXACT = 1e-9
PRINTED = 1e-6  # numpy prints probabilities with eight digits

_MEANS = ("mean", "nanmean")
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
_CONFUSION_FUNCTIONS = ("f1", "matthews_corrcoef")
_LENGTH = re.compile(r"\d+k?")
_CONFUSION = re.compile(r"(^|_)(f1|mcc|matthews|precision|recall|kappa|balanced)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class About:
    """What is known of one metric and filter besides its values.

    Attributes
    ----------
    aggregation : name of the harness's function of the values, None where the log does not say
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
        return printed is not None and math.isclose(value, printed, rel_tol=tolerance, abs_tol=tolerance)


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
            return found
    return Interpretation(_opaque(column, about))


def is_length(metric: str) -> bool:
    """Whether the metric is named after a context length, as in RULER, where -1 stands for any other length."""
    return _LENGTH.fullmatch(metric) is not None


def totals(about: About, reason: str, n: int | None = None) -> Totals:
    """The harness's value alone."""
    reported = about.reported or Reported(None)
    return Totals(about.metric, about.filter, reported.value, reported.n if n is None else n, reason)


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
    aggregation = about.aggregation
    statistic = _STATISTICS.get(aggregation or _STATISTIC_OF_METRIC.get(about.metric, ""))
    if statistic is not None:
        table = np.stack([values, np.where(np.isnan(values), math.nan, 1.0)], axis=1)
        return Records(about.metric, about.filter, table, statistic)
    if aggregation == "median":
        return _reproduced(Records(about.metric, about.filter, values[:, None], "median"), about, "median")
    scores = _scores(values, about)
    if aggregation in (None, *_MEANS) or about.reported is None or about.agrees(_value(scores)):
        return scores
    what = "is not their mean" if about.is_complete else "cannot be compared with the mean of the questions kept"
    return totals(about, f"lm-eval combines the questions by {aggregation}, which {what}")


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
    statistic = _STATISTICS.get(about.aggregation or _STATISTIC_OF_METRIC.get(about.metric, ""))
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
    if not pairs or not (_CONFUSION.search(about.metric) or _CONFUSION.search(about.aggregation or "")):
        return None
    coded = _coded(list(pairs.values()))
    if coded is None:
        return None
    targets = np.full(about.n_questions, -1)
    predictions = np.full((about.n_questions, 1), -1)
    targets[list(pairs)], predictions[list(pairs), 0] = coded[0][:, 0], coded[0][:, 1]
    return _checked(Classifications(about.metric, about.filter, targets, predictions, coded[1]), about)


def _coded(pairs: Sequence[tuple[object, object]]) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    """Codes (n, 2) and labels; None where the targets are free text rather than classes."""
    flat = [_class(value) for pair in pairs for value in pair]
    if None in flat:
        return None
    if all(isinstance(value, int) for value in flat):
        labels = {0, 1} if set(flat) <= {0, 1} else set(flat)
    elif len(set(flat[::2])) <= max(2, len(pairs) // 2):
        labels = set(flat)
    else:
        return None
    ordered = sorted(labels, key=lambda label: (isinstance(label, str), label))
    place = {label: code for code, label in enumerate(ordered)}
    codes = np.array([place[value] for value in flat], dtype=np.int64)
    return codes.reshape(-1, 2), tuple(str(label) for label in ordered)


def _class(value: object) -> int | str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else None


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


def _confusion_value(data: Classifications, function: str) -> float:
    scored = data.is_scored
    target, prediction = data.targets[scored] == 1, data.predictions[scored, 0] == 1
    tp, tn = float(np.sum(target & prediction)), float(np.sum(~target & ~prediction))
    fp, fn = float(np.sum(~target & prediction)), float(np.sum(target & ~prediction))
    if function == "f1":
        return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    spread = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / spread if spread else 0.0


def _checked(data: TaskData, about: About, *notes: str, tolerance: float = EXACT) -> Interpretation:
    warning = _contradiction(data, about, tolerance)
    return Interpretation(data, notes, (warning,) if warning else ())


def _contradiction(data: TaskData, about: About, tolerance: float = EXACT) -> str | None:
    """What to say where the samples do not give the value that the harness printed for them."""
    if isinstance(data, Scores | Records):
        value = _value(data)
    elif isinstance(data, Classifications) and len(data.labels) == 2 and about.aggregation in _CONFUSION_FUNCTIONS:
        value = _confusion_value(data, about.aggregation)
    else:
        return None
    printed = about.reported_value
    if math.isnan(value) or printed is None or about.agrees(value, tolerance):
        return None
    return f"{about.label}: the samples give {value:.10g} where the results file says {printed:.10g}"
