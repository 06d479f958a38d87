"""Limits on what one log or table may cost to read, and the environment variables that raise them.

Logs come from people who need not be trusted. Small files can expand to any size, so the limits apply before content is
expanded or tables are built. Variables of the environment reach worker processes and live runs without any option.
"""

import os
from typing import Final

from harness_uq.messages.catalogue.reading import EXPANDS_TOO_MUCH, TOO_MANY_CELLS
from harness_uq.messages.errors import DataError, LogError

MAX_EXPANSION: Final = "HARNESS_UQ_MAX_EXPANSION"
MAX_CELLS: Final = "HARNESS_UQ_MAX_CELLS"
ALWAYS_EXPANDED: Final = 256 << 20
"""Bytes that the content of a compressed file may always expand to, however small the file is."""
MAX_COLUMNS: Final = 10_000
MAX_SCORES: Final = 1000
"""Metrics, filters and keys of scores in one log."""
MAX_FIELDS: Final = 200
"""Metadata fields of the questions of one log that are considered as clusters."""

_DEFAULTS: Final = {MAX_EXPANSION: 100.0, MAX_CELLS: 2e7}


def limit_from_environment(variable: str) -> float:
    """The value of `MAX_EXPANSION` or `MAX_CELLS`, or its default; raises DataError if it is not a positive number."""
    text = os.environ.get(variable)
    if not text:
        return _DEFAULTS[variable]
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise DataError(f"{variable} must be a number such as {_DEFAULTS[variable]:.0f}; got {text!r}")
    return value


def max_expanded_size(n_bytes: int, always: int = ALWAYS_EXPANDED) -> float:
    """Return the number of bytes that compressed content of `n_bytes` may expand to."""
    return max(always, limit_from_environment(MAX_EXPANSION) * n_bytes)


def check_expansion(name: str, n_bytes: int, n_expanded: int, always: int = ALWAYS_EXPANDED) -> None:
    """Make sure that compressed content does not expand too much.

    Parameters
    ----------
    name : what expands, for the message
    n_bytes, n_expanded : size of the compressed content, and its size after expansion
    always : size that is accepted at any ratio

    Raises
    ------
    LogError : if it does. The message names the variable that raises the limit
    """
    if n_expanded > max_expanded_size(n_bytes, always):
        factor = limit_from_environment(MAX_EXPANSION)
        raise LogError(
            EXPANDS_TOO_MUCH(name=name, n_bytes=n_bytes, n_expanded=n_expanded, factor=factor, variable=MAX_EXPANSION)
        )


def check_cells(n_rows: int, n_columns: int, most_columns: int = MAX_COLUMNS) -> None:
    """Make sure that a table, or the scores of a log, are not too many.

    Parameters
    ----------
    n_rows, n_columns : rows or samples, and columns or scores of each sample
    most_columns : largest number of columns, unless the environment raises it

    Raises
    ------
    LogError : if it has too many columns or cells. The message names the variable that raises the limit
    """
    most = limit_from_environment(MAX_CELLS)
    # the limit on columns grows with that on cells, so that one variable raises both
    most_columns = int(most_columns * max(1.0, most / _DEFAULTS[MAX_CELLS]))
    if n_columns > most_columns or n_rows * n_columns > most:
        raise LogError(
            TOO_MANY_CELLS(
                n_rows=n_rows, n_columns=n_columns, most_cells=int(most), most_columns=most_columns, variable=MAX_CELLS
            )
        )
