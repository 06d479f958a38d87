"""How the samples of a log ended."""

import numpy as np

from harness_uq.plugin_api import TrialEndings, ending_code
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Sample
from harness_uq_inspect.read.score_columns import Frame


def endings_of(log: Log, frame: Frame) -> TrialEndings | None:
    """How each sample ended, by question and epoch; None if the log contains no samples.

    Samples that were not logged, for example because of early stopping, have an unknown ending.
    """
    if not log.cells:
        return None
    codes = frame.matrix(np.array([_code(cell) for cell in log.cells.values()], np.float64))
    return TrialEndings(np.where(np.isnan(codes), -1, codes).astype(np.int64))


def limit_type(limit: object) -> str:
    """The kind of a limit that ended a sample: an object in a sample, a text in a summary."""
    return str(limit.get("type") if isinstance(limit, dict) else limit)


def _code(cell: Sample) -> int:
    """An error counts before a limit, because Inspect does not score samples with an error unless asked to."""
    if cell.error is not None:
        return ending_code("error")
    if cell.limit is None:
        return ending_code("completed")
    code = ending_code(f"{limit_type(cell.limit)} limit")
    return ending_code("limit") if code < 0 else code
