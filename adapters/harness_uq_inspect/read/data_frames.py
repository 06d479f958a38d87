"""Read data frames of `inspect_ai.analysis`: `samples_df`, alone or joined with `evals_df` on `eval_id`.

The rows are converted to the samples that they were made from and read like those of a log. A row is a trial: its
question is `id`, its trial `epoch`, and its scores are in `score_<scorer>`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeVar

import msgspec

import harness_uq.plugin_api as uq
from harness_uq_inspect.messages import FRAME_COLUMN_MISSING, FRAME_WITHOUT_MODEL
from harness_uq_inspect.read.log_notes import NEWEST_VERSION
from harness_uq_inspect.read.samples import REMOVED, Log
from harness_uq_inspect.read.schema import Header, Json, Sample
from harness_uq_inspect.read.task_log import task_log_of

_SCORE: Final = "score_"
_REQUIRED: Final = ("eval_id", "id", "epoch")
_DETAILS: Final = ("answer", "explanation", "reason", "metadata")
_LOG_NAME: Final = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:[+-]\d\d)?(?:-\d\d)?)_(?P<task>.+)_(?P<id>[^_-]+)(?:-\w+)?"
)
_USER_MESSAGE: Final = re.compile(r"user:\n(.*)\n", re.DOTALL)

Columns = Mapping[str, Sequence[object]]
Converted = TypeVar("Converted")


def is_inspect_frame(value: object) -> bool:
    """Whether an object is a data frame of evals, samples, messages or events."""
    if not uq.is_frame(value):
        return False
    names = set(map(str, uq.frame_column_names(value)))
    if "eval_id" not in names:
        return {"sample_id", "epoch"} <= names and any(name.startswith(_SCORE) for name in names)
    return bool(names & {"sample_id", "epoch", "run_id", "task_id", "message_id", "event_id"})


def read_frame(frame: object) -> list[uq.TaskLog]:
    """One log for each run of a task; a run that was retried is one run, and its `source.run` the newest `eval_id`.
    Raises LogError if a column that identifies the questions, trials or scores is missing.
    """
    _check_columns([str(name) for name in uq.frame_column_names(frame)])
    return read_columns(uq.frame_columns(frame))


def read_columns(columns: Columns) -> list[uq.TaskLog]:
    """One log for each run of a task in the columns of a data frame; missing values are None. Raises LogError as
    `read_frame`.
    """
    names = list(columns)
    _check_columns(names)
    scores = score_columns(columns)
    if not scores:
        raise uq.LogError(FRAME_COLUMN_MISSING(column="score_*", known=sorted(names)))
    evals = [_Run(rows, columns) for rows in _rows_by_run(columns).values()]
    return [_task_log(run, scores, _differing_arguments(run, evals)) for run in evals]


def _check_columns(names: Sequence[str]) -> None:
    for required in _REQUIRED:
        if required not in names:
            raise uq.LogError(FRAME_COLUMN_MISSING(column=required, known=sorted(names)))


def score_columns(columns: Columns) -> dict[str, str]:
    """Name of the scorer by column, without details of scores and without the metrics that `evals_df` contains."""
    named = [name for name in columns if name.startswith(_SCORE) and not name.startswith("score_headline_")]
    samples = [name for name in named if not _is_detail(name, named)]
    if "score_headline_name" in columns or "completed_samples" in columns:
        samples = [name for name in samples if not _is_metric(name, samples, columns)]
    return {name: name.removeprefix(_SCORE) for name in samples}


def _is_detail(name: str, named: Sequence[str]) -> bool:
    base, _, detail = name.rpartition("_")
    return detail in _DETAILS and base in named


def _is_metric(name: str, named: Sequence[str], columns: Columns) -> bool:
    """Whether a column is a metric of evals: one number for each eval, and no prefix of the name of another column."""
    if any(other.startswith(f"{name}_") for other in named):
        return False
    values: dict[object, set[object]] = {}
    for eval_id, value in zip(columns["eval_id"], columns[name], strict=True):
        if not isinstance(value, int | float | None) or isinstance(value, bool):
            return False
        values.setdefault(eval_id, set()).add(value)
    return all(len(of_eval) == 1 for of_eval in values.values())


def _rows_by_run(columns: Columns) -> dict[str, list[int]]:
    """Rows of each run; evals of one `task_id`, which Inspect keeps when it retries an eval, are one run."""
    rows: dict[str, list[int]] = {}
    for row, eval_id in enumerate(columns["eval_id"]):
        rows.setdefault(_task_id(columns, row) or str(eval_id), []).append(row)
    return rows


def _task_id(columns: Columns, row: int) -> str | None:
    """Identifier of the task; without a column for it, that in the name of the log file."""
    found = _cell(columns, "task_id", row) or _named_in_log(columns, row).get("id")
    return None if found is None else str(found)


def _cell(columns: Columns, name: str, row: int) -> Any:
    """The cell; of columns that a join renamed, the first; None if there is no such column."""
    for candidate in (name, f"{name}_x", f"{name}_y"):
        if candidate in columns:
            return columns[candidate][row]
    return None


def _named_in_log(columns: Columns, row: int) -> dict[str, str]:
    """Time, task and identifier of the task in the name of the log file."""
    name = uq.paths.name_of(str(_cell(columns, "log", row) or ""))
    match = _LOG_NAME.fullmatch(name.rpartition(".")[0])
    return match.groupdict() if match else {}


@dataclass(frozen=True)
class _Run:
    """The rows of one run, including those of its retries."""

    rows: Sequence[int]
    columns: Columns

    @cached_property
    def samples(self) -> list[int]:
        """One row of each question and trial: of a successful eval rather than a failed one, then of the newest."""
        chosen: dict[tuple[str, str], int] = {}
        for row in sorted(self.rows, key=self._order):
            chosen[_identifier(self.columns["id"][row]), str(_whole(self.columns["epoch"][row]))] = row
        return sorted(chosen.values())

    def _order(self, row: int) -> tuple[bool, str, bool, int]:
        status = _cell(self.columns, "status", row)
        created = self.created(row) or _named_in_log(self.columns, row).get("time") or ""
        return status in (None, "success"), created, not _cell(self.columns, "error", row), row

    def created(self, row: int) -> str | None:
        """Time of the eval, ISO 8601."""
        created = _cell(self.columns, "created", row)
        return created.isoformat() if hasattr(created, "isoformat") else created and str(created)

    @cached_property
    def newest(self) -> int:
        """A row of the eval that represents the run."""
        return max(self.rows, key=self._order)

    def fact(self, name: str) -> Any:
        """A setting of the run."""
        return _whole(_decoded(_cell(self.columns, name, self.newest)))

    @cached_property
    def arguments(self) -> Json:
        """Arguments of the task."""
        names = [name for name in self.columns if name.startswith("task_arg_")]
        given = {name.removeprefix("task_arg_"): self.fact(name) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    @cached_property
    def task(self) -> str:
        """Name of the task."""
        return str(self.fact("task_name") or _named_in_log(self.columns, self.newest).get("task") or "samples")

    @cached_property
    def model(self) -> str:
        """The model; if it is unknown, the identifier of the eval."""
        return self.known_model or f"eval {self.columns['eval_id'][self.newest]}"

    @cached_property
    def known_model(self) -> str:
        """The model in the column of models, or the only one whose usage the samples record; empty if unknown."""
        if model := self.fact("model"):
            return str(model)
        used = [_decoded(_cell(self.columns, "model_usage", row)) for row in self.rows]
        models = {str(name) for usage in used if isinstance(usage, dict) for name in usage}
        return models.pop() if len(models) == 1 else ""


def _differing_arguments(run: _Run, runs: Sequence[_Run]) -> Json:
    """Arguments of the task that differ between the runs of the same model and task."""
    alike = [other.arguments for other in runs if (other.task, other.model) == (run.task, run.model)]
    names = dict.fromkeys(name for arguments in alike for name in arguments)
    differing = [name for name in names if len({str(arguments.get(name)) for arguments in alike}) > 1]
    return {name: run.arguments.get(name) for name in differing}


def _task_log(run: _Run, scores: Mapping[str, str], differing: Json) -> uq.TaskLog:
    parsed = Log(_header(run))
    parsed.add(_samples(run, scores))
    path = _cell(run.columns, "log", run.newest) or "data frame"
    log = task_log_of(parsed, str(path))
    messages: tuple[uq.Message, ...] = () if run.known_model else (FRAME_WITHOUT_MODEL(system=run.model),)
    system = _with_arguments(log.system, differing)
    source = replace(log.source, run=str(run.columns["eval_id"][run.newest]))
    return replace(_with_short_names(log), system=system, source=source, messages=(*log.messages, *messages))


def _with_arguments(system: str, arguments: Json) -> str:
    """The name of a system with arguments of the task, such as `model (temperature=0.5, shots=5)`."""
    if not arguments:
        return system
    original = system.original if isinstance(system, uq.RedactedText) else system
    redacted = {name: uq.redact_value(value, name) for name, value in arguments.items()}
    shown, full = (
        f"{name[:-1]}, {_listed(values)})" if name.endswith(")") else f"{name} ({_listed(values)})"
        for name, values in ((str(system), redacted), (original, arguments))
    )
    return shown if shown == full else uq.RedactedText(shown, full)


def _listed(arguments: Json) -> str:
    return ", ".join(f"{name}={value}" for name, value in arguments.items())


def _header(run: _Run) -> Header:
    """The header of the log, as far as the frame contains it."""
    spec = {
        "task": run.task,
        "model": run.model,
        "created": run.created(run.newest),
        "eval_id": str(run.columns["eval_id"][run.newest]),
        "task_id": _task_id(run.columns, run.newest),
        "task_version": run.fact("task_version"),
        "task_args": run.arguments or None,
        "dataset": {
            "samples": run.fact("dataset_samples"),
            "sample_ids": run.fact("dataset_sample_ids"),
            "shuffled": run.fact("dataset_shuffled"),
        },
        "config": {"epochs": run.fact("epochs"), "epochs_reducer": run.fact("epochs_reducer")},
        "model_generate_config": run.fact("model_generate_config"),
        "solver": run.fact("solver"),
        "packages": run.fact("packages"),
    }
    return _converted({"version": NEWEST_VERSION, "status": run.fact("status") or "success", "eval": spec}, Header)


def _samples(run: _Run, scores: Mapping[str, str]) -> list[Sample]:
    cells = {scorer: [run.columns[name][row] for row in run.samples] for name, scorer in scores.items()}
    logged = {scorer: column for scorer, column in cells.items() if any(cell is not None for cell in column)}
    values = {scorer: _decoded_values(column) for scorer, column in logged.items()}
    documents = [name for name in run.columns if name.startswith("metadata_")]
    samples = []
    for position, row in enumerate(run.samples):
        metadata = {name.removeprefix("metadata_"): _decoded(run.columns[name][row]) for name in documents}
        samples.append(
            {
                "id": _identifier(run.columns["id"][row]),
                "epoch": _whole(run.columns["epoch"][row]),
                "input": _input(_cell(run.columns, "input", row)),
                "target": _cell(run.columns, "target", row),
                "metadata": {name: value for name, value in metadata.items() if value not in (None, REMOVED)},
                "scores": {
                    scorer: {"value": column[position]}
                    for scorer, column in values.items()
                    if column[position] is not None
                },
                "error": _cell(run.columns, "error", row) or None,
                "limit": _cell(run.columns, "limit", row) or None,
            }
        )
    return _converted(samples, list[Sample])


def _converted(content: object, kind: type[Converted]) -> Converted:
    """Content as a type of the schema. Raises LogError if a value has another type than in a log."""
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise uq.LogError(f"the data frame does not have the format that Inspect AI writes: {error}") from error


def _identifier(value: object) -> str:
    """The identifier of a question. Raises LogError if it is missing."""
    if uq.is_unknown(value):
        raise uq.LogError("a row of the data frame has no id")
    return str(_whole(value))


def _whole(value: object) -> object:
    """The value; a whole number as an integer, also in a column with missing values, which has floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _input(text: object) -> object:
    """The input; the frame contains it as messages with their roles, also if it is the text of one question."""
    match = _USER_MESSAGE.fullmatch(str(text))
    return match[1] if match else text


def _decoded_values(cells: Sequence[object]) -> list[object]:
    """The values of a score; dictionaries and lists are JSON text."""
    decoded = [_decoded(cell) for cell in cells]
    return decoded if all(isinstance(value, dict | list | None) for value in decoded) else list(cells)


def _decoded(cell: object) -> Any:
    """The cell; of JSON text of an object or a list, its content."""
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.loads(cell)
    return cell


def _with_short_names(log: uq.TaskLog) -> uq.TaskLog:
    """The log with keys of dictionaries of values as names of metrics, as Inspect reports them, if they are unique."""
    keys = [data.metric.rpartition("/")[2] for data in log.data]
    n_scorers = {key: len({data.metric for data in log.data if data.metric.rpartition("/")[2] == key}) for key in keys}
    return replace(
        log,
        data=tuple(
            replace(data, metric=key) if n_scorers[key] == 1 else data for data, key in zip(log.data, keys, strict=True)
        ),
    )
