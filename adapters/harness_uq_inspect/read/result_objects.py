"""Read the objects that Inspect AI's Python functions return: logs, and entries of a list of logs."""

import sys
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from harness_uq.plugin_api import TaskLog
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.read.resources import Key, SampleResources, samples_in
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import JsonLog, Sample, decode
from harness_uq_inspect.read.task_log import read_task_log, task_log_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalLogInfo

_IN_MEMORY: Final = "log in memory"
_FIELDS: Final[dict[str, Any]] = {
    **dict.fromkeys(JsonLog.__struct_fields__, True),
    "samples": {"__all__": set(Sample.__struct_fields__)},
}


def is_result(value: object) -> "TypeGuard[EvalLog | EvalLogInfo]":
    """Whether an object is a log or an entry of a list of logs; if Inspect AI has not been imported, nothing is."""
    module = sys.modules.get("inspect_ai.log")
    return module is not None and isinstance(value, (module.EvalLog, module.EvalLogInfo))


def read_result(value: "EvalLog | EvalLogInfo", *, with_resources: bool = False) -> TaskLog:
    """The task of a log; of an entry, and of a log without samples whose file exists, the task in the file.

    `with_resources`: whether to read what the samples used, too. Raises LogError if the log or its file cannot be read.
    """
    if not hasattr(value, "eval"):
        return read_task_log(cast("EvalLogInfo", value).name, with_resources=with_resources)
    log = cast("EvalLog", value)
    if log.samples is None and log.location and io_paths.is_file(log.location):
        return read_task_log(log.location, with_resources=with_resources)
    resources = _sample_resources(log) if with_resources else None
    return task_log_of(_parsed(log), log.location or _IN_MEMORY, resources)


def _sample_resources(log: "EvalLog") -> dict[Key, SampleResources]:
    from pydantic_core import to_json

    fields: dict[str, Any] = {"samples": {"__all__": set(SampleResources.__struct_fields__)}}
    content = to_json(log, include=fields, exclude_none=True, fallback=lambda _: None)
    return samples_in(content, whose="the log")


def _parsed(log: "EvalLog") -> Log:
    """The parts of a log that are relevant to the scores, written to JSON as Inspect AI does and read from it."""
    from pydantic_core import to_json

    decoded = decode(
        to_json(log, include=_FIELDS, exclude_none=True, fallback=lambda _: None), JsonLog, whose="the log"
    )
    parsed = Log(decoded, reductions=decoded.reductions or [])
    parsed.add(decoded.samples or ())
    decoded.samples = None
    parsed.resolve_repeats()
    return parsed
