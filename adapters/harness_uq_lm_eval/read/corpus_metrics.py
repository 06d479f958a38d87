"""Corpus metrics of texts: BLEU, chrF and TER are functions of sums of the counts of sacrebleu on each question."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import NotEstimableError
from harness_uq_lm_eval.messages import STATISTICS_UNAVAILABLE
from harness_uq_lm_eval.read.metric_values import MetricValues, Other, Texts

Translation: TypeAlias = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class _Counter:
    """A metric of sacrebleu with the settings of lm-eval's function; `statistic` names the function of its sums."""

    statistic: Literal["bleu", "chrf", "ter"]
    name: str
    settings: Mapping[str, int] = field(default_factory=dict)


# `force` suppresses a warning of sacrebleu that was printed when lm-eval called it
_COUNTERS = {
    "bleu": _Counter("bleu", "BLEU", {"force": True}),
    "chrf": _Counter("chrf", "CHRF"),
    "chrf++": _Counter("chrf", "CHRF", {"word_order": 2}),
    "chrfpp": _Counter("chrf", "CHRF", {"word_order": 2}),
    "ter": _Counter("ter", "TER"),
}


def statistic_of(function: str) -> Literal["bleu", "chrf", "ter"] | None:
    """The statistic that lm-eval's aggregation computes; None if it is not one of sacrebleu's."""
    counter = _COUNTERS.get(function)
    return None if counter is None else counter.statistic


def translations(column: MetricValues) -> dict[int, Translation]:
    """References and output by question; empty if any value of the column is something else."""
    parsed = {question: _translation(value) for question, value in column.others.items()}
    pairs = {question: pair for question, pair in parsed.items() if pair is not None}
    return pairs if len(pairs) == len(column) else {}


def _translation(value: Other) -> Translation | None:
    if isinstance(value, Texts):
        return value.references, value.output
    # `MetricValues` converts the texts "True" and "False" to booleans
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, str | bool) for part in value):
        return (str(value[0]),), str(value[1])
    return None


def sufficient_statistics(function: str, pairs: Iterable[Translation]) -> NDArray[np.float64]:
    """Sufficient statistics of `function` for `harness_uq.stats.bayesian_bootstrap`; float (n_questions, p).

    If questions have different numbers of references, only as many are used as the question with the fewest has:
    lm-eval passes no more to sacrebleu. `function`: name of lm-eval's aggregation. `pairs`: references and output of
    each question. Raises NotEstimableError if sacrebleu is not installed, or does not provide its counts for each
    question.
    """
    references, outputs = zip(*pairs, strict=True)
    counter = _COUNTERS[function]
    try:
        metric = getattr(import_module("sacrebleu.metrics"), counter.name)(**counter.settings)
        rows = metric._extract_corpus_statistics(outputs, list(zip(*references, strict=False)))
    except ImportError:
        raise NotEstimableError(
            STATISTICS_UNAVAILABLE(function=function, reason="sacrebleu is not installed")
        ) from None
    except AttributeError as error:
        reason = f"this version of sacrebleu does not expose its counts ({error})"
        raise NotEstimableError(STATISTICS_UNAVAILABLE(function=function, reason=reason)) from None
    return np.array(rows, dtype=np.float64)
