"""Environment variables that enable intervals; importing this module loads no other."""

import os
from collections.abc import Mapping
from typing import Final

VARIABLE: Final = "HARNESS_UQ"
DEFAULT: Final = "HARNESS_UQ_DEFAULT"
"""The method of a run of `harness-uq inspect`, unless `VARIABLE` names one, for example in the file `.env`."""
KEEP_STDERR: Final = "HARNESS_UQ_KEEP_STDERR"
_OFF: Final = frozenset({"", "0", "off", "false"})


def method_in(environment: Mapping[str, str] = os.environ) -> str:
    """The method that the environment names; empty if there is none."""
    return environment.get(VARIABLE) or environment.get(DEFAULT) or ""


def is_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment enables intervals."""
    return method_in(environment).lower() not in _OFF


def keeps_native_stderr(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment asks to leave the value of Inspect's `stderr` unchanged."""
    return environment.get(KEEP_STDERR, "").lower() not in _OFF
