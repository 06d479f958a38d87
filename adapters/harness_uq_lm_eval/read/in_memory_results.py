"""Task logs from the results of a run in memory, identical to those that are read from its files."""

import json
from collections.abc import Callable, Iterable, Mapping

from harness_uq.plugin_api import TaskLog
from harness_uq_lm_eval.json_access import Table, items, table
from harness_uq_lm_eval.read.results import Results
from harness_uq_lm_eval.read.rows import FALLBACK, Row, is_unparsed
from harness_uq_lm_eval.read.tasks import logs_in_memory

THIS_RUN = "this run"
IN_MEMORY = "results in memory"

_PLAIN = frozenset({str, int, float, bool, type(None)})
_NOT_READ = frozenset({"target", "arguments", "resps", "filtered_resps"})


def task_logs(results: Table, *, path: str = THIS_RUN, replays: bool = False) -> list[TaskLog]:
    """The tasks and groups of a finished evaluation, exactly as they would be read from its files.

    `results`: return value of `lm_eval.evaluator.evaluate`; tasks without samples have totals only. `path`: name of the
    run in messages. `replays`: whether to score repeated trials one by one, as if they were read from files.
    """
    as_json = _serializer()
    tree = table(_round_trip({k: v for k, v in results.items() if k != "samples"}, as_json))
    parsed = Results(path, tree)
    rows: dict[str, Iterable[Row]] = {}
    for task, samples in table(results, "samples").items():
        if replays and parsed.repeats(task) > 1:
            rows[task] = [_row(table(sample), as_json, _NOT_READ - {"resps"}) for sample in items(samples)]
        else:
            rows[task] = (_row(table(sample), as_json, _NOT_READ) for sample in items(samples))
    return logs_in_memory(parsed, rows, replays=replays)


def _serializer() -> Callable[[object], object]:
    """The function with which lm-eval converts objects that are not JSON; `str` if it is not installed."""
    try:
        from lm_eval.utils import handle_non_serializable
    except ImportError:
        return str
    serializer: Callable[[object], object] = handle_non_serializable
    return serializer


def _row(sample: Mapping[str, object], as_json: Callable[[object], object], omitted: frozenset[str]) -> Row:
    """The columns that the reader uses, and the first prompt, as they are read from a file."""
    row = {name: _round_trip(value, as_json) for name, value in sample.items() if name not in omitted}
    first = next(iter(items(sample.get("arguments"))), ())
    prompt = next(iter(items(first)), None)
    unparsed = {"filtered_resps": [FALLBACK]} if is_unparsed(sample.get("filtered_resps")) else {}
    others = [None] * (len(items(sample.get("arguments"))) - 1)
    return {**row, **unparsed, "arguments": [_round_trip(prompt, as_json), *others]}


def _round_trip(value: object, as_json: Callable[[object], object]) -> object:
    """The value after writing it to JSON and reading it back."""
    if type(value) in _PLAIN:
        return value
    decoded: object = json.loads(json.dumps(value, default=as_json, ensure_ascii=False))
    return decoded
