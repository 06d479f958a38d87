"""Refusing what makes no sense when a task is made, before anything is paid for."""

from typing import Final

SCOPES: Final = ("population", "benchmark")


def check(*, scope: str, **others: str | float) -> None:
    """Make sure that these can be arguments of `harness_uq.Options`.

    Raises
    ------
    DataError : if one of them cannot
    """
    from harness_uq import DataError, Options

    if scope not in SCOPES:
        raise DataError(f"scope must be {' or '.join(SCOPES)}; got {scope!r}")
    Options(**others)  # type: ignore[arg-type]
