"""lighteval: details of each question as Parquet files, and the results file of the run.

Details have one row per question, or two if a task has metrics of both generations and log probabilities. Samples of a
question are scored together, so there are no trials.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.util import find_spec
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

import harness_uq.plugin_api as uq
from harness_uq_formats.json_files import content_of, decode, finite_number, head_of, question_count
from harness_uq_formats.log_parts import differences, known_amounts, system_name
from harness_uq_formats.messages import METRICS_WITHOUT_SCORES

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

NAME: Final = "lighteval"
_TIME: Final = r"(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_RESULTS_NAME: Final = re.compile(rf"results_{_TIME}\.json")
_DETAILS_NAME: Final = re.compile(rf"details_(?P<task>.+)_{_TIME}\.parquet")
_KIND_OF_FOLDER: Final = re.compile(r"^(.*/)?(?:results|details)/")  # the innermost folder of one of these names
_BATCH: Final = 256  # rows, each of which can contain a long prompt
_COLUMNS: Final = (
    *("doc.id", "doc.query", "doc.choices", "doc.task_name", "metric"),
    *("doc.num_samples", "doc.specific.extracted_predictions"),
    *("__doc__.id", "__doc__.query", "__doc__.choices", "__doc__.task_name", "__metric__"),
    *("example", "metrics"),  # until 2025
)
_TOKEN_COLUMNS: Final = ("model_response.input_tokens", "model_response.output_tokens")
_EVENTS: Final = {
    r"pass@(?:k.*\bk=)?(\d+)\b.*": "pass@{}",
    r"maj@(?:[nk].*\b[nk]=)?(\d+)\b.*": "maj@{}",
}
_AVERAGE: Final = re.compile(r"avg@(?:[nk].*\b[nk]=)?(\d+)\b.*")
_BINARY: Final = re.compile(
    r"(?:acc|em|qem|pem|pqem|perfect_em|exact_match|extractive_match|loglikelihood_acc)(?:[_:].*)?"
)
_SHARES: Final = re.compile(
    r"(?:acc|em|qem|pem|pqem|perfect_em|exact_match|extractive_match|loglikelihood_acc|f1|rouge\w+)(?:[_:].*)?"
    r"|(?:avg|pass|maj)@.*"
)


class GeneralConfig(msgspec.Struct):
    """`config_general`."""

    model_name: str | None = None
    model_config: Any = None
    generation_parameters: Any = None
    lighteval_sha: str | None = None
    max_samples: float | None = None


class TaskMetric(msgspec.Struct):
    """An entry of `metrics` of a task."""

    metric_name: Any = None
    higher_is_better: Any = None


class TaskConfig(msgspec.Struct):
    """An entry of `config_tasks`; the numbers are -1 if they are unknown."""

    metrics: list[TaskMetric] | None = None
    original_num_docs: float | None = None
    effective_num_docs: float | None = None


class Results(msgspec.Struct):
    """`results_<time>.json`."""

    config_general: GeneralConfig
    results: dict[str, dict[str, Any]] = {}
    config_tasks: dict[str, TaskConfig | None] = {}


@dataclass(slots=True)
class Row:
    """A row of the details.

    `id`: identifier of the question; None before 2025. `content`: hash of the question with its choices.
    `input_tokens`, `output_tokens`: numbers of tokens; NaN if unknown. `is_parsed`: whether a metric found an answer in
    the output; None if unknown.
    """

    id: str | None
    content: str
    metrics: dict[str, Any]
    input_tokens: float = np.nan
    output_tokens: float = np.nan
    is_parsed: bool | None = None


@dataclass(slots=True)
class Task:
    """The rows of a task."""

    path: str
    rows: list[Row] = field(default_factory=list)


# ---------------------------------------------------------------- files


def find(files: Sequence[str]) -> uq.Discovery:
    """A run for each time and model: its results file and its details, which are recognized by their names."""
    runs, others, problems = list[uq.Run](), list[str](), list[tuple[str, uq.Message | str]]()
    for group in parts(files):
        mine = list[str]()
        for path in group:
            try:
                is_ours = _is_lighteval(path)
            except uq.LogError as error:
                problems.append((path, error.message))
                continue
            (mine if is_ours else others).append(path)
        if mine:
            mine.sort(key=lambda path: not path.endswith(".json"))
            runs.append(uq.Run(mine[0], tuple(mine), _time_of(mine[0])))
    return uq.Discovery(tuple(runs), tuple(others), tuple(problems))


def _is_lighteval(path: str) -> bool:
    name = uq.paths.name_of(path)
    if _RESULTS_NAME.fullmatch(name):
        return b'"config_general"' in head_of(path)
    return _DETAILS_NAME.fullmatch(name) is not None


def parts(files: Sequence[str]) -> list[list[str]]:
    """Files with the same time, of the same model; other files alone."""
    groups = dict[tuple[str, str], list[str]]()
    for path in files:
        groups.setdefault(_key_of(path), []).append(path)
    return list(groups.values())


def _key_of(path: str) -> tuple[str, str]:
    """Time and folder of a run, in which `results` and `details` are the same; the path of any other file."""
    time = _time_of(path)
    if time is None:
        return "", path
    folder = uq.paths.folder_of(path)
    if uq.paths.name_of(folder) == _match(path)["time"]:
        folder = uq.paths.folder_of(folder)
    return time, _KIND_OF_FOLDER.sub(r"\1", folder)


def _match(path: str) -> re.Match[str]:
    name = uq.paths.name_of(path)
    match = _RESULTS_NAME.fullmatch(name) or _DETAILS_NAME.fullmatch(name)
    if match is None:
        raise uq.LogError("the name of the file is neither that of a results file nor that of a details file")
    return match


def _time_of(path: str) -> str | None:
    """The time in the name of a file, ISO 8601; None if there is none."""
    try:
        day, _, time = _match(path)["time"].partition("T")
    except uq.LogError:
        return None
    return f"{day}T{time.replace('-', ':')}"


def read(run: uq.Run, *, with_resources: bool = False) -> Iterator[uq.TaskLog]:
    """The tasks of the run; those without details have totals alone. Raises LogError if a file cannot be read."""
    results, results_path = Results(GeneralConfig()), None
    tasks = dict[str, Task]()
    for path in run.files:
        if path.endswith(".json"):
            results, results_path = decode(content_of(path), Results), path
        else:
            for name, row in _rows_of(path, with_resources=with_resources):
                tasks.setdefault(name, Task(path)).rows.append(row)
    for name, task in tasks.items():
        yield _task_log(name, task, results, with_resources=with_resources)
    for name in results.results:
        if name not in tasks and name != "all" and ":_average" not in name and results_path:
            yield _totals_log(name, results, results_path)


def _rows_of(path: str, *, with_resources: bool) -> Iterator[tuple[str, Row]]:
    """Name of the task and content of each row of a file of details. Raises LogError if the file is damaged, expands
    too much or has no metrics.
    """
    columns = [*_COLUMNS, *(_TOKEN_COLUMNS if with_resources else ())]
    task_in_name = _match(path)["task"]
    with _parquet(path) as file:
        _check_size(path, file)
        for batch in file.iter_batches(_BATCH, columns=columns):
            batch.validate(full=True)  # a damaged file can refer to values that it does not have
            tokens = {name: _n_tokens(batch, name) for name in ("input_tokens", "output_tokens")}
            light = batch.select([name for name in batch.schema.names if name != "model_response"])
            for at, cells in enumerate(light.to_pylist()):
                task, row = _row(cells)
                row.input_tokens, row.output_tokens = tokens["input_tokens"][at], tokens["output_tokens"][at]
                yield task or task_in_name, row


@contextmanager
def _parquet(path: str) -> "Iterator[pq.ParquetFile]":
    if find_spec("pyarrow") is None:
        raise uq.MissingDependencyError("details of lighteval need pyarrow: pip install 'harness-uq[tables]'")
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with uq.paths.open_binary(path) as content, ParquetFile(content) as file:
            yield file
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise uq.LogError(uq.FILE_UNREADABLE(reason=" ".join(str(error).split())[:200])) from None


def _check_size(path: str, file: "pq.ParquetFile") -> None:
    """Make sure that a file has metrics, and does not expand to much more than its size. Raises LogError if it has
    none, or expands too much.
    """
    metadata = file.metadata
    metrics = [field for field in file.schema_arrow if field.name.strip("_") in ("metric", "metrics")]
    if not metrics:
        raise uq.LogError("the details have no column `metric` or `metrics`")
    uq.check_cells(metadata.num_rows, sum(max(field.type.num_fields, 1) for field in metrics), uq.MAX_SCORES)
    # the metadata of the columns are not used: those of a damaged file can end the process
    n_expanded = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    uq.check_expansion(path, uq.paths.size(path), n_expanded)


def _n_tokens(batch: "pa.RecordBatch", name: str) -> Sequence[float]:
    """Number of tokens of each row; NaN if they were not recorded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    unknown = [np.nan] * len(batch)
    if "model_response" not in batch.schema.names:
        return unknown
    response = batch.column("model_response")
    if not pa.types.is_struct(response.type) or response.type.get_field_index(name) < 0:
        return unknown
    tokens = pc.struct_field(response, name)
    numbers = np.zeros(len(batch))
    parents = np.arange(len(batch))
    while pa.types.is_list(tokens.type) or pa.types.is_large_list(tokens.type):
        parents = parents[pc.list_parent_indices(tokens).to_numpy()]
        tokens = pc.list_flatten(tokens)
    np.add.at(numbers, parents, 1)
    return [number or np.nan for number in numbers.tolist()]


def _row(cells: Mapping[str, Any]) -> tuple[str | None, Row]:
    """Name of the task, and content of a row. Raises LogError if a column has another type."""
    doc, metrics = cells.get("doc", cells.get("__doc__")), cells.get("metric", cells.get("__metric__"))
    if doc is None and "example" in cells:
        doc, metrics = {"query": cells["example"]}, cells.get("metrics")
    if not isinstance(doc, dict) or not isinstance(metrics, dict):
        raise uq.LogError("a row of the details has no question or no metrics")
    content = repr((doc.get("query"), doc.get("choices"))).encode(errors="surrogatepass")
    identifier = doc.get("id")
    row = Row(
        None if identifier in (None, "") else str(identifier),
        blake2b(content, digest_size=8).hexdigest(),
        metrics,
        is_parsed=_is_parsed(doc),
    )
    return doc.get("task_name"), row


def _is_parsed(doc: Mapping[str, Any]) -> bool | None:
    """Whether a metric found an answer; None if unknown. Of several samples, only the last one is described."""
    specific = doc.get("specific")
    extracted = specific.get("extracted_predictions") if isinstance(specific, dict) else None
    return bool(extracted) if isinstance(extracted, list) and doc.get("num_samples") == 1 else None


# ---------------------------------------------------------------- questions


def joined_rows(rows: Sequence[Row]) -> dict[str, Row]:
    """One row per question, with the metrics of all its rows.

    Identifiers start again in each split, so those of several questions are followed by the hash of the question.
    Without identifiers, questions with the same text are numbered. Raises LogError if two rows of one question have
    different values of a metric.
    """
    contents = dict[str, set[str]]()
    for row in rows:
        if row.id is not None:
            contents.setdefault(row.id, set()).add(row.content)
    joined = dict[str, Row]()
    for row in rows:
        name = row.content if row.id is None else row.id
        if row.id is not None and len(contents[row.id]) > 1:
            name = f"{row.id} {row.content}"
        metrics = {metric: value for metric, value in row.metrics.items() if value is not None}
        if row.id is None:
            candidates = chain([name], (f"{name} #{number}" for number in count(2)))
            name = next(
                one for one in candidates if one not in joined or joined[one].metrics.keys().isdisjoint(metrics)
            )
        known = joined.setdefault(name, Row(row.id, row.content, {}, row.input_tokens, row.output_tokens))
        if any(known.metrics.get(metric, value) != value for metric, value in metrics.items()):
            raise uq.LogError(f"question {name!r} has several rows with different values of a metric")
        known.metrics |= metrics
        known.is_parsed = row.is_parsed if known.is_parsed is None else known.is_parsed
    return joined


# ---------------------------------------------------------------- task logs


def _task_log(name: str, task: Task, results: Results, *, with_resources: bool) -> uq.TaskLog:
    rows = joined_rows(task.rows)
    reported = _reported(name, results)
    metrics = dict.fromkeys(metric for row in rows.values() for metric in row.metrics)
    uq.check_cells(len(rows), len(metrics), uq.MAX_SCORES)
    data, without_scores = list[uq.Scores | uq.AggregateScore](), list[str]()
    for metric in metrics:
        values = [row.metrics.get(metric) for row in rows.values()]
        if all(isinstance(value, int | float | None) for value in values):
            data.append(_scores(metric, values))
        elif (total := reported.get((metric, "none"))) is not None:
            reason = "the details contain parts of a corpus metric"
            data.append(uq.AggregateScore(metric, "none", total.value, len(rows), reason))
        else:
            without_scores.append(metric)
    messages = [METRICS_WITHOUT_SCORES(metrics=without_scores, n_metrics=len(without_scores))] if without_scores else []
    for item in data:
        total = reported.get((item.metric, "none"))
        if isinstance(item, uq.Scores) and total is not None:
            scored = item.values[np.isfinite(item.values)]
            messages += differences(item.metric, scored.tolist(), total.value, NAME)
    return uq.TaskLog(
        system=_system(results, task.path),
        task=name,
        source=_source(results, task.path),
        questions=uq.Questions(tuple(rows), tuple(row.content for row in rows.values())),
        data=tuple(data),
        reported=reported,
        facts=_facts(name, results, len(rows)),
        higher_is_better=_directions(name, results),
        messages=tuple(messages),
        resources=_resources(rows, results, task.path) if with_resources else None,
        ended_by=_endings(rows),
    )


def _endings(rows: Mapping[str, Row]) -> uq.TrialEndings | None:
    """How the answers ended; None if it is unknown for all questions."""
    if all(row.is_parsed is None for row in rows.values()):
        return None
    names = {None: "unknown", False: "unparsed", True: "completed"}
    return uq.TrialEndings(np.array([[uq.ending_code(names[row.is_parsed])] for row in rows.values()]))


def _totals_log(name: str, results: Results, path: str) -> uq.TaskLog:
    """The log of a task without details."""
    reported = _reported(name, results)
    config = _config(name, results)
    n = question_count(config.effective_num_docs)
    reason = "there are no details of the task"
    return uq.TaskLog(
        system=_system(results, path),
        task=name,
        source=_source(results, path),
        questions=uq.Questions(()),
        data=tuple(
            uq.AggregateScore(
                *key,
                value=total.value,
                n=n,
                reason=reason,
                is_share=True if _BINARY.fullmatch(key[0]) else None,
                std_error=total.std_error,
            )
            for key, total in reported.items()
        ),
        reported=reported,
        facts=_facts(name, results, n),
        higher_is_better=_directions(name, results),
    )


def _scores(metric: str, values: Sequence[float | None]) -> uq.Scores:
    matrix = np.array([[np.nan if value is None else float(value)] for value in values])
    scored = matrix[np.isfinite(matrix)]
    is_share = bool(_SHARES.fullmatch(metric)) and scored.size > 0 and scored.min() >= 0 and scored.max() <= 1
    is_binary = is_share and bool(_BINARY.fullmatch(metric)) and bool(np.isin(scored, (0, 1)).all())
    events = [name.format(match[1]) for pattern, name in _EVENTS.items() if (match := re.fullmatch(pattern, metric))]
    average = _AVERAGE.fullmatch(metric)
    return uq.Scores(
        metric,
        "none",
        matrix,
        levels=(0.0, 1.0) if is_binary else None,
        logged_trials=max(int(average[1]), 1) if average and len(average[1]) < 10 else 1,
        reduction="mean" if average else None,
        bounds=(0.0, 1.0) if is_share else None,
        bounds_source="its name" if is_share and not is_binary and scored.min() == scored.max() else None,
        event=events[0] if events and not events[0].endswith("@0") else None,
    )


def _reported(name: str, results: Results) -> dict[tuple[str, str], uq.HarnessResult]:
    """What lighteval reports for a task."""
    values = {key: finite_number(value) for key, value in results.results.get(name, {}).items()}
    given = {key: value for key, value in values.items() if value is not None}
    n = question_count(_config(name, results).effective_num_docs)
    return {
        (metric, "none"): uq.HarnessResult(value, given.get(f"{metric}_stderr"), n)
        for metric, value in given.items()
        if not metric.endswith("_stderr")
    }


def _config(name: str, results: Results) -> TaskConfig:
    """Configuration of a task, which older versions name without the number of examples."""
    return results.config_tasks.get(name) or results.config_tasks.get(name.rpartition("|")[0]) or TaskConfig()


def _directions(name: str, results: Results) -> dict[str, bool]:
    directions = dict[str, bool]()
    for metric in _config(name, results).metrics or ():
        if isinstance(metric.higher_is_better, dict):
            directions |= {str(key): value for key, value in metric.higher_is_better.items() if isinstance(value, bool)}
        elif isinstance(metric.metric_name, str) and isinstance(metric.higher_is_better, bool):
            directions[metric.metric_name] = metric.higher_is_better
    return directions


def _facts(name: str, results: Results, n_questions: int | None) -> uq.RunMetadata:
    config, general = _config(name, results), results.config_general
    n_all = question_count(config.original_num_docs)
    is_short = n_all is not None and n_questions is not None and n_questions < n_all
    return uq.RunMetadata(
        n_all=n_all,
        is_limited=is_short or general.max_samples is not None,
        settings=_generation(general),
    )


def _generation(general: GeneralConfig) -> dict[str, object]:
    """Parameters of the generation that have a simple value."""
    config = general.model_config if isinstance(general.model_config, dict) else {}
    parameters = config.get("generation_parameters") or general.generation_parameters
    if not isinstance(parameters, dict):
        return {}
    return {str(key): value for key, value in parameters.items() if isinstance(value, bool | int | float | str)}


def _system(results: Results, path: str) -> str:
    """Name of the model; without results, that of its folder."""
    general = results.config_general
    config = general.model_config if isinstance(general.model_config, dict) else {}
    name = general.model_name or config.get("model_name")
    return system_name(str(name) if name else _model_in(path), {})


def _model_in(path: str) -> str:
    folder = _key_of(path)[1]
    organization, model = uq.paths.name_of(uq.paths.folder_of(folder)), uq.paths.name_of(folder)
    return f"{organization}/{model}" if "/details/" in path else "unknown model"


def _source(results: Results, path: str) -> uq.Source:
    return uq.Source(path, NAME, results.config_general.lighteval_sha, _time_of(path))


def _resources(rows: Mapping[str, Row], results: Results, path: str) -> uq.Resources:
    usage = uq.TokenUsage(
        _system(results, path),
        input_tokens=known_amounts(np.array([[row.input_tokens] for row in rows.values()])),
        output_tokens=known_amounts(np.array([[row.output_tokens] for row in rows.values()])),
    )
    return uq.Resources((usage,))
