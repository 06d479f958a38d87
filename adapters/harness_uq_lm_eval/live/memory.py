"""The results of a run that is still in memory, in the form in which its files will hold them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from harness_uq import TaskLog
from harness_uq_lm_eval.jsontree import Table, items, table
from harness_uq_lm_eval.read.results import Results
from harness_uq_lm_eval.read.rows import Row
from harness_uq_lm_eval.read.tasks import logs_in_memory

THIS_RUN = "this run"

_PLAIN = frozenset({str, int, float, bool, type(None)})
_NOT_READ = frozenset({"target", "arguments", "resps", "filtered_resps"})


def task_logs(results: Table, *, path: str = THIS_RUN) -> list[TaskLog]:
    """The tasks and groups of a finished evaluation, exactly as they would be read from its files.

    Parameters
    ----------
    results : what `lm_eval.evaluator.evaluate` returns with `log_samples=True`
    path : what messages call the run
    """
    as_json = _serialiser()
    tree = table(json.loads(json.dumps({k: v for k, v in results.items() if k != "samples"}, default=as_json)))
    rows = {str(name): _rows(items(found), as_json) for name, found in table(results, "samples").items()}
    return logs_in_memory(Results(path, tree), rows)


def _serialiser() -> Callable[[object], object]:
    """What lm-eval makes of values that JSON has not, in the version that is installed."""
    from lm_eval.utils import handle_non_serializable

    convert: Callable[[object], object] = handle_non_serializable
    return convert


def _rows(samples: Iterable[object], as_json: Callable[[object], object]) -> Iterator[Row]:
    for sample in samples:
        yield _row(table(sample), as_json)


def _row(sample: Mapping[str, object], as_json: Callable[[object], object]) -> Row:
    """The columns that are read, as JSON; of the prompts, the first."""
    row = {name: logged(value, as_json) for name, value in sample.items() if name not in _NOT_READ}
    first = next(iter(items(sample.get("arguments"))), ())
    prompt = next(iter(items(first)), None)
    return {**row, "arguments": [logged(prompt, as_json)]}


def logged(value: object, as_json: Callable[[object], object]) -> object:
    """A value as it comes back from a file."""
    if type(value) in _PLAIN:
        return value
    written: object = json.loads(json.dumps(value, default=as_json, ensure_ascii=False))
    return written
