"""Operation for `inspect_ai.analysis.prepare` that adds intervals to data frames of evals."""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Unpack

from harness_uq.plugin_api import DataError, Estimate, EstimateKeywords, estimate
from harness_uq_inspect.read.data_frames import read_frame

if TYPE_CHECKING:
    import pandas as pd


def uncertainty(samples: object, **options: Unpack[EstimateKeywords]) -> "Callable[[pd.DataFrame], pd.DataFrame]":
    """Add the intervals of the scores to a data frame of evals.

    For each score, the columns `score_<name>_lower`, `_upper`, `_std_error`, `_n_questions` and `_design_effect` are
    added. They are missing for evals without samples in `samples` and for scores that cannot be estimated.

    Parameters
    ----------
    samples : data frame of `inspect_ai.analysis.samples_df` with the samples of the evals
    **options : options of `harness_uq.estimate`, such as `level` and `cluster`

    Returns
    -------
    operation for `inspect_ai.analysis.prepare`

    Raises
    ------
    LogError : when it is applied, if a column that identifies questions, trials or scores is missing in `samples`
    DataError : when it is applied, if the data frame of evals has no column `eval_id`

    Examples
    --------
    `prepare(evals_df(logs), [model_info(), uncertainty(samples_df(logs))])`
    """

    def transform(df: "pd.DataFrame") -> "pd.DataFrame":
        if "eval_id" not in df.columns:
            raise DataError("Column 'eval_id' not found in the data frame. Pass a data frame of evals_df.")
        by_column = _numbers_by_eval(estimate(read_frame(samples), **options))
        evals = df["eval_id"].tolist()
        return df.assign(**{name: [numbers.get(one, math.nan) for one in evals] for name, numbers in by_column.items()})

    return transform


def _numbers_by_eval(estimates: Iterable[Estimate]) -> dict[str, dict[object, float]]:
    """The numbers of each column by `eval_id`; unknown numbers are left out."""
    columns: dict[str, dict[object, float]] = {}
    for row in estimates:
        low, high = (row.interval.low, row.interval.high) if row.interval is not None else (None, None)
        numbers = {
            "lower": low,
            "upper": high,
            "std_error": row.std_error,
            "n_questions": row.n_questions,
            "design_effect": row.design_effect,
        }
        for name, number in numbers.items():
            column = columns.setdefault(f"score_{row.metric.replace('/', '_')}_{name}", {})
            if number is not None:
                column[row.source.run] = number
    return columns
