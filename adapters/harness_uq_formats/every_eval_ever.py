"""Every Eval Ever: records with the scores of a run, and files with the scores of its samples.

A record is a JSON file, or a line of a JSON Lines file. The samples of `NAME.json` are in `NAME_samples.jsonl`, with
one line for each sample, trial and metric. A metric whose samples are not in the file is read as a total.
"""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_formats.json_files import content_of, decode, decoded_lines, finite_number, heads_of
from harness_uq_formats.log_parts import differences, known_amounts, metadata_fields, system_name, trial_endings
from harness_uq_formats.messages import (
    CHECKSUM_DIFFERS,
    LINES_UNREADABLE,
    REDUCED_SCORE_REPEATED,
    REPEATED_RECORDS,
)

NAME: Final = "every-eval-ever"
EPOCH: Final = "epoch"
"""Key of the metadata of a sample under which the converter of Inspect, and harness_uq, write the trial."""
_SAMPLES_SUFFIX: Final = "_samples.jsonl"
_GENERATION: Final = ("temperature", "top_p", "top_k", "max_tokens", "reasoning", "reasoning_effort")
_CLUSTERS: Final = re.compile(r"\d+ by (?P<field>.+)", re.DOTALL)


class SourceMetadata(msgspec.Struct):
    """`source_metadata`."""

    source_name: str | None = None


class Library(msgspec.Struct):
    """`eval_library`."""

    name: str | None = None
    version: str | None = None


class ModelInfo(msgspec.Struct):
    """`model_info`."""

    id: str
    additional_details: dict[str, Any] | None = None


class SourceData(msgspec.Struct):
    """`source_data` of a result."""

    dataset_name: str | None = None


class MetricConfig(msgspec.Struct):
    """`metric_config` of a result; the bounds may be numbers or the texts `Infinity` and `-Infinity`."""

    metric_id: str | None = None
    metric_name: str | None = None
    metric_parameters: dict[str, Any] | None = None
    lower_is_better: bool = False
    score_type: str | None = None
    has_unknown_level: bool = False
    min_score: float | str | None = None
    max_score: float | str | None = None


class StandardError(msgspec.Struct, gc=False):
    """`standard_error`."""

    value: float | None = None


class Uncertainty(msgspec.Struct):
    """`uncertainty` of a score."""

    standard_error: StandardError | None = None
    num_samples: int | None = None


class ScoreDetails(msgspec.Struct):
    """`score_details` of a result."""

    score: float | None
    uncertainty: Uncertainty | None = None
    details: dict[str, Any] | None = None


class Generation(msgspec.Struct):
    """`generation_config` of a result."""

    generation_args: dict[str, Any] | None = None


class Result(msgspec.Struct):
    """One of `evaluation_results`."""

    evaluation_name: str
    metric_config: MetricConfig
    score_details: ScoreDetails
    evaluation_result_id: str | None = None
    source_data: SourceData | None = None
    generation_config: Generation | None = None


class DetailedResults(msgspec.Struct):
    """`detailed_evaluation_results`: the file of the samples."""

    hash_algorithm: str | None = None
    checksum: str | None = None


class Record(msgspec.Struct):
    """The scores of a run."""

    model_info: ModelInfo
    evaluation_results: list[Result]
    evaluation_id: str = ""
    source_metadata: SourceMetadata | None = None
    evaluation_timestamp: str | None = None
    eval_library: Library | None = None
    detailed_evaluation_results: DetailedResults | None = None


class Evaluation(msgspec.Struct, gc=False):
    """`evaluation` of a sample."""

    score: float | None


class Tokens(msgspec.Struct, gc=False):
    """`token_usage` of a sample."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    input_tokens_cache_read: float | None = None
    input_tokens_cache_write: float | None = None
    reasoning_tokens: float | None = None


class Performance(msgspec.Struct, gc=False):
    """`performance` of a sample."""

    latency_ms: float | None = None


class Sample(msgspec.Struct, gc=False):
    """A line of the file of the samples."""

    evaluation_id: str
    model_id: str
    evaluation_name: str
    evaluation: Evaluation
    sample_id: str | None = None
    sample_hash: str | None = None
    evaluation_result_id: str | None = None
    metadata: dict[str, Any] | None = None
    error: Any = None

    @property
    def epoch(self) -> int | None:
        """Number of the trial; None if the line does not contain it."""
        if not self.metadata or EPOCH not in self.metadata:
            return None
        text = str(self.metadata[EPOCH])
        return int(text) if text.isdecimal() and len(text) < 10 else None


class SampleWithUsage(Sample, gc=False):
    """A line with tokens and time."""

    token_usage: Tokens | None = None
    performance: Performance | None = None


@dataclass(slots=True)
class Column:
    """The lines of one result.

    `name`: `evaluation_name` of the lines. `questions`, `epochs`, `scores`: a value for each line. `tokens`,
    `latencies`: a value for each line; empty unless they are read. `places`: question and epoch of each line that has
    an epoch. `failed`: which lines have an error, by their number in the other lists.
    """

    name: str
    questions: list[str] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    tokens: list[Tokens | None] = field(default_factory=list)
    latencies: list[float | None] = field(default_factory=list)
    places: set[tuple[str, int]] = field(default_factory=set)
    failed: list[int] = field(default_factory=list)


@dataclass(slots=True)
class SampleSet:
    """The samples of one evaluation of one model.

    `columns`: the lines of each result by its identifier, or by its name if it has none. `fields`: metadata of each
    question. `repeated`: questions of lines that repeat the epoch of another line.
    """

    columns: dict[str, Column] = field(default_factory=dict)
    fields: dict[str, dict[str, object]] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        """Add a line. Raises LogError if the line does not identify its question."""
        question = sample.sample_id or sample.sample_hash
        if not question:
            raise uq.LogError("neither `sample_id` nor `sample_hash` identifies the question")
        key = sample.evaluation_result_id or sample.evaluation_name
        column = self.columns.get(key)
        if column is None:
            column = self.columns[key] = Column(sample.evaluation_name)
        epoch = sample.epoch
        if epoch is not None:
            if (question, epoch) in column.places:
                self.repeated.append(question)
                return
            column.places.add((question, epoch))
        if sample.error:
            column.failed.append(len(column.questions))
        column.questions.append(question)
        column.epochs.append(epoch or 0)
        column.scores.append(sample.evaluation.score)
        if isinstance(sample, SampleWithUsage):
            column.tokens.append(sample.token_usage)
            column.latencies.append(sample.performance.latency_ms if sample.performance else None)
        if question not in self.fields:
            metadata = (sample.metadata or {}).items()
            self.fields[question] = {
                name: value for name, value in metadata if name != EPOCH and isinstance(value, str | int | float)
            }


@dataclass(slots=True)
class SamplesFile:
    """What was read of a file of samples.

    `sets`: samples by the identifiers of the evaluation and of the model. `unread`: number and reason of each line that
    cannot be read. `digest`: checksum of the file; empty if the record has none of a known algorithm.
    """

    sets: dict[tuple[str, str], SampleSet] = field(default_factory=dict)
    unread: list[tuple[int, str]] = field(default_factory=list)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RecordRun(uq.Run):
    """A record and its samples.

    `record_file`: file of one or several records; None if there are only samples. `samples_file`: file of the samples;
    None if there is none.
    """

    record_file: str | None = None
    samples_file: str | None = None


# ---------------------------------------------------------------- files


def parts(files: Sequence[str]) -> Iterable[Sequence[str]]:
    """The file of a record with the file of its samples, every other file by itself."""
    groups = defaultdict[str, list[str]](list)
    for file in files:
        groups[file.removesuffix(_SAMPLES_SUFFIX) + ".json" if file.endswith(_SAMPLES_SUFFIX) else file].append(file)
    return groups.values()


def find(files: Sequence[str]) -> uq.Discovery:
    """A run for each file of records, with the samples of the record beside it, and for each file of samples alone."""
    records, samples = list[str](), list[str]()
    problems = list[tuple[str, uq.Message | str]]()
    for file, head in heads_of((file for file in files if file.endswith((".json", ".jsonl"))), problems):
        if b'"schema_version"' not in head or head.lstrip()[:1] != b"{":
            continue
        if file.endswith(".jsonl") and (b'"interaction_type"' in head or file.endswith(_SAMPLES_SUFFIX)):
            samples.append(file)
        elif b'"model_info"' in head or b'"evaluation_results"' in head:
            records.append(file)
    runs = list[uq.Run]()
    for file in records:
        beside = file.removesuffix(".json") + _SAMPLES_SUFFIX
        its_samples = beside if beside in samples else None
        runs.append(RecordRun(file, tuple(filter(None, (file, its_samples))), None, file, its_samples))
    claimed = {file for run in runs for file in run.files}
    runs += [RecordRun(file, (file,), None, None, file) for file in samples if file not in claimed]
    known = claimed.union(samples, (file for file, _ in problems))
    return uq.Discovery(tuple(runs), tuple(file for file in files if file not in known), tuple(problems))


def read(run: uq.Run, *, with_resources: bool) -> Iterator[uq.TaskLog]:
    """The tasks of the records, and of samples without a record. Raises LogError if a record cannot be read, or no line
    of the samples.
    """
    record_file, samples_file = (run.record_file, run.samples_file) if isinstance(run, RecordRun) else (None, None)
    records = list(_read_records(record_file)) if record_file else []
    described = records[0].detailed_evaluation_results if records else None
    samples = (
        _read_samples(samples_file, described, SampleWithUsage if with_resources else Sample)
        if samples_file
        else SamplesFile()
    )
    messages = tuple(_notes_on_file(samples, described))
    sets_by_evaluation = {name: sample_set for (name, _), sample_set in reversed(samples.sets.items())}
    paired = [(record, sets_by_evaluation.get(record.evaluation_id, SampleSet())) for record in records]
    used = [id(sample_set) for _, sample_set in paired]
    for (evaluation, model), sample_set in samples.sets.items():
        if id(sample_set) not in used:
            paired.append((Record(ModelInfo(model), [], evaluation_id=evaluation), sample_set))
    for record, sample_set in paired:
        for log in _task_logs(record, sample_set, run.name, with_resources=with_resources):
            yield replace(log, messages=(*log.messages, *messages))


def _read_records(file: str) -> Iterator[Record]:
    if not file.endswith(".jsonl"):
        yield decode(content_of(file), Record)
        return
    yield from decoded_lines(file, Record)


def _read_samples(file: str, described: DetailedResults | None, kind: type[Sample]) -> SamplesFile:
    """The lines of a file that can be read, and its checksum. Raises LogError if no line can be read."""
    samples = SamplesFile()
    algorithm = described.hash_algorithm if described and described.checksum else None
    digest = hashlib.new(algorithm, usedforsecurity=False) if algorithm in ("md5", "sha256") else None
    with uq.paths.reading(), uq.paths.open_binary(file) as lines:
        for number, line in enumerate(lines, 1):
            if digest is not None:
                digest.update(line)
            if line.isspace():
                continue
            try:
                sample = decode(line, kind)
                name = sample.evaluation_id, sample.model_id
                if name not in samples.sets:
                    samples.sets[name] = SampleSet()
                samples.sets[name].add(sample)
            except uq.LogError as error:
                samples.unread.append((number, str(error)))
    if samples.unread and not any(found.columns for found in samples.sets.values()):
        number, reason = samples.unread[0]
        raise uq.LogError(f"line {number}: {reason}")
    samples.digest = digest.hexdigest() if digest is not None else ""
    return samples


def _notes_on_file(samples: SamplesFile, described: DetailedResults | None) -> Iterator[uq.Message]:
    """Warnings about lines that cannot be read, and about a file that is not the one that the record describes."""
    if samples.unread:
        number, reason = samples.unread[0]
        yield LINES_UNREADABLE(n_lines=len(samples.unread), line=number, reason=reason)
    if described and samples.digest and samples.digest != described.checksum:
        yield CHECKSUM_DIFFERS(algorithm=described.hash_algorithm)


# ---------------------------------------------------------------- task logs


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a task: its result in the record, its lines in the file of the samples, or both."""

    name: str
    filter: str
    result: Result | None = None
    column: Column | None = None


def _task_logs(record: Record, samples: SampleSet, path: str, *, with_resources: bool) -> Iterator[uq.TaskLog]:
    uq.check_cells(1, len(record.evaluation_results) + len(samples.columns), uq.MAX_SCORES)
    for task, listed in _metrics_by_task(record, samples).items():
        metrics = dict[tuple[str, str], Metric]()
        repeated = [one.name for one in listed if metrics.setdefault((one.name, one.filter), one) is not one]
        log = _task_log(task, list(metrics.values()), record, samples, path, with_resources=with_resources)
        repeated += samples.repeated
        if repeated:
            message = REPEATED_RECORDS(n_repeated=len(repeated), examples=", ".join(repeated[:3]))
            log = replace(log, messages=(*log.messages, message))
        yield log


def _metrics_by_task(record: Record, samples: SampleSet) -> dict[str, list[Metric]]:
    """The metrics by the name of the dataset; those of lines without a result by the name of the evaluation."""
    names = [(_task(result), _metric(result), _filter(result)) for result in record.evaluation_results]
    n_alike = Counter(names)
    n_named = Counter(result.evaluation_name for result in record.evaluation_results)
    tasks, used = defaultdict[str, list[Metric]](list), set[str]()
    for (task, metric, filter_name), result in zip(names, record.evaluation_results, strict=True):
        keys = [result.evaluation_result_id, result.evaluation_name if n_named[result.evaluation_name] == 1 else None]
        key = next((key for key in keys if key in samples.columns and key not in used), None)
        if key is not None:
            used.add(key)
        if n_alike[task, metric, filter_name] > 1:
            metric = result.evaluation_result_id or result.evaluation_name
        tasks[task].append(Metric(metric, filter_name, result, samples.columns[key] if key else None))
    for key, column in samples.columns.items():
        if key not in used:
            tasks[column.name].append(Metric(key if key != column.name else "score", "none", None, column))
    return tasks


def _task(result: Result) -> str:
    return (result.source_data.dataset_name if result.source_data else None) or result.evaluation_name


def _metric(result: Result) -> str:
    config = result.metric_config
    return config.metric_id or config.metric_name or result.evaluation_result_id or result.evaluation_name


def _filter(result: Result) -> str:
    name = (result.metric_config.metric_parameters or {}).get("filter")
    return name if isinstance(name, str) and name else "none"


def _task_log(
    task: str, metrics: Sequence[Metric], record: Record, samples: SampleSet, path: str, *, with_resources: bool
) -> uq.TaskLog:
    questions = list(dict.fromkeys(question for one in metrics if one.column for question in one.column.questions))
    row_of = {question: row for row, question in enumerate(questions)}
    data, messages = list[uq.Scores | uq.AggregateScore](), list[uq.Message]()
    reported = dict[tuple[str, str], uq.HarnessResult]()
    for metric in metrics:
        if metric.result is not None:
            reported[metric.name, metric.filter] = _reported(metric.result)
        if metric.column is not None:
            scores, notes = _scores(metric, metric.column, row_of, record)
            data.append(scores)
            messages += notes
        elif metric.result is not None:
            data.append(_total(metric, metric.result, is_ours=_is_ours(record)))
    library = record.eval_library or Library()
    version = None if uq.is_unknown(library.version) else library.version
    columns = [metric.column for metric in metrics if metric.column]
    return uq.TaskLog(
        system=_system(record, metrics),
        task=task,
        source=uq.Source(path, NAME, version, _iso_time(record.evaluation_timestamp)),
        questions=uq.Questions(
            tuple(questions), fields=metadata_fields([samples.fields.get(question, {}) for question in questions])
        ),
        data=tuple(data),
        reported=reported,
        declared=_declared_clusters(metrics),
        facts=uq.RunMetadata(settings={"library": library.name}),
        higher_is_better={
            metric.name: not metric.result.metric_config.lower_is_better for metric in metrics if metric.result
        },
        messages=tuple(messages),
        resources=_resources(columns[0], row_of, record.model_info.id) if with_resources and columns else None,
        ended_by=_endings(columns, row_of),
    )


def _system(record: Record, metrics: Sequence[Metric]) -> str:
    """Name of the model with its settings."""
    settings = (record.model_info.additional_details or {}).get("settings")
    if _is_ours(record) and isinstance(settings, str):
        return f"{record.model_info.id} ({settings})"
    generation = next((one.result.generation_config for one in metrics if one.result), None)
    arguments = (generation.generation_args if generation else None) or {}
    return system_name(
        record.model_info.id,
        {name: value for name in _GENERATION if isinstance(value := arguments.get(name), bool | int | float | str)},
    )


def _is_ours(record: Record) -> bool:
    """Whether harness_uq wrote the record."""
    source = record.source_metadata.source_name if record.source_metadata else None
    return (source or "").startswith("harness_uq ")


def _reported(result: Result) -> uq.HarnessResult:
    uncertainty = result.score_details.uncertainty or Uncertainty()
    error = uncertainty.standard_error.value if uncertainty.standard_error else None
    return uq.HarnessResult(finite_number(result.score_details.score), finite_number(error), uncertainty.num_samples)


def _total(metric: Metric, result: Result, *, is_ours: bool) -> uq.AggregateScore:
    """A result without samples; harness_uq uses its method `totals` only for shares of correct answers."""
    reported = _reported(result)
    method = (result.score_details.details or {}).get("method")
    return uq.AggregateScore(
        metric.name,
        metric.filter,
        reported.value,
        reported.n,
        "The record has no scores of single samples",
        is_share=True if is_ours and method == "totals" else None,
        std_error=reported.std_error,
    )


def _scores(
    metric: Metric, column: Column, row_of: Mapping[str, int], record: Record
) -> tuple[uq.Scores, tuple[uq.Message, ...]]:
    """Scores of the samples, with the range and levels of the record."""
    config = metric.result.metric_config if metric.result else MetricConfig()
    unknown_score = -1.0 if config.has_unknown_level else None
    values = _matrix(column, row_of, [None if score == unknown_score else score for score in column.scores])
    n_scored = int(np.isfinite(values).sum())
    messages: tuple[uq.Message, ...] = ()
    library = record.eval_library.name if record.eval_library else None
    if library == "inspect_ai" and not _is_ours(record) and _repeats_its_first_trial(values):
        messages = (REDUCED_SCORE_REPEATED(metric=metric.name, n_trials=values.shape[1]),)
        values = values[:, :1]
    value = _reported(metric.result).value if metric.result else None
    if differences(metric.name, values[np.isfinite(values)], value, "the record"):
        # questions with different numbers of trials may have equal weights
        scored = values[np.isfinite(values).any(axis=1)]
        messages += differences(metric.name, np.nanmean(scored, axis=1), value, "the record")
    return (
        uq.Scores(
            metric.name,
            metric.filter,
            values,
            levels=(0.0, 1.0) if config.score_type == "binary" else None,
            logged_trials=values.shape[1],
            bounds=_bounds(config),
            is_complete=n_scored == len(column.scores),
        ),
        messages,
    )


def _matrix(column: Column, row_of: Mapping[str, int], values: Sequence[float | None]) -> NDArray[np.float64]:
    """Values of the lines as (n_questions, n_trials), the trials of a question in the order of their epochs."""
    rows = np.array([row_of[question] for question in column.questions], np.intp)
    order = np.lexsort((np.array(column.epochs), rows))
    rows = rows[order]
    n_trials = np.bincount(rows, minlength=len(row_of))
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(n_trials) - n_trials, n_trials)
    uq.check_cells(len(row_of), int(n_trials.max(initial=0)))
    matrix = np.full((len(row_of), int(n_trials.max(initial=0))), np.nan)
    matrix[rows, columns] = np.array([np.nan if value is None else value for value in values], np.float64)[order]
    matrix[np.isinf(matrix)] = np.nan
    return matrix


def _endings(columns: Sequence[Column], row_of: Mapping[str, int]) -> uq.TrialEndings | None:
    """How the trials ended; None if no line has an error, because some converters do not write errors.

    Lines with several metrics describe the same trials, so those of one metric are used.
    """
    column = max(columns, key=lambda one: (len(one.failed), len(one.questions)), default=None)
    if column is None or not column.failed:
        return None
    codes = np.full(len(column.questions), uq.ending_code("completed"))
    codes[column.failed] = uq.ending_code("error")
    return trial_endings(_matrix(column, row_of, codes.tolist()))


def _repeats_its_first_trial(values: NDArray[np.float64]) -> bool:
    """Whether there are several trials and all trials of each question have the same score."""
    return values.shape[1] > 1 and bool(np.all((values == values[:, :1]) | np.isnan(values)))


def _bounds(config: MetricConfig) -> tuple[float, float] | None:
    """The range of the metric, if it is known and finite; infinite bounds are numbers or texts."""
    try:
        low, high = float(config.min_score or 0.0), float(config.max_score or 0.0)
    except ValueError:
        return None
    is_known = config.min_score is not None and config.max_score is not None
    return (low, high) if is_known and math.isfinite(low) and math.isfinite(high) and low < high else None


def _declared_clusters(metrics: Sequence[Metric]) -> uq.ClusterDeclaration | None:
    """The clusters of the estimates in a record of harness_uq."""
    for metric in metrics:
        details = metric.result.score_details.details if metric.result else None
        match = _CLUSTERS.fullmatch(str((details or {}).get("clusters", "")))
        if match is not None and metric.column is not None:
            return uq.ClusterDeclaration(match["field"], "score_details.details.clusters")
    return None


def _resources(column: Column, row_of: Mapping[str, int], model: str) -> uq.Resources:
    """Tokens and time of the trials."""

    def amounts(name: str) -> NDArray[np.float64] | None:
        return known_amounts(
            _matrix(column, row_of, [getattr(usage, name) if usage else None for usage in column.tokens])
        )

    return uq.Resources(
        usage=(
            uq.TokenUsage(
                model,
                input_tokens=amounts("input_tokens"),
                output_tokens=amounts("output_tokens"),
                reasoning_tokens=amounts("reasoning_tokens"),
                cache_read_tokens=amounts("input_tokens_cache_read"),
                cache_write_tokens=amounts("input_tokens_cache_write"),
            ),
        ),
        total_time=known_amounts(_matrix(column, row_of, column.latencies) / 1000),  # milliseconds
    )


def _iso_time(text: str | None) -> str | None:
    """A time in seconds since 1970 as ISO 8601; any other text unchanged."""
    try:
        return datetime.fromtimestamp(float(text or ""), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return text
